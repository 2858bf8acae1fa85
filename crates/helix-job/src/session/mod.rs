//! Sessions with the Consultant: a tree of turns, what happened in it, and where in it a client is.
//!
//! Must not know HTTP or any chat client: client ids are opaque texts here.

mod branches;
mod digest;
mod event;
mod history;
mod turn;
mod view;

pub use branches::{Branch, branches};
pub use digest::{TextDigest, TextRelation, relation, rest_after};
pub use event::{SessionEvent, TurnParent};
pub use history::{Author, Exchange, HistoryMatch, Mismatch, TurnSummary, exchanges, match_history};
pub use turn::{AnswerCheck, AnswerFinding, Attachment, ClientIds, Delivery, TurnEnd, TurnStart, TurnView};
pub use view::{IllegalSessionEvent, SessionState, SessionView};
