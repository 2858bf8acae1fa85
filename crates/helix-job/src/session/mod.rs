//! Conversations with the Consultant: a tree of turns, what happened in it, and where in it a client is.
//!
//! Must not know HTTP or any chat client: client ids are opaque texts here.

mod branches;
mod event;
mod locate;
mod turn;
mod view;
mod words;

pub use branches::{Branch, branches};
pub use event::{SessionEvent, TurnPlace};
pub use locate::{Exchange, Located, Mismatch, Side, TurnStub, exchanges, locate};
pub use turn::{AnswerCheck, AnswerFinding, Attachment, ClientIds, Delivery, TurnEnd, TurnView};
pub use view::{Applied, IllegalSessionEvent, SessionView};
pub use words::{TextRelation, WordsDigest, relation};
