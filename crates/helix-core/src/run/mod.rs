//! Runs: what is known of an agent process (`RunFacts`) and what that amounts to (`Outcome`).
//!
//! Must not know any dialect's field names or texts: those became types at the boundary.

mod facts;
mod outcome;
mod walls;

pub use facts::{
    AgentErrorKind, Ending, RateLimit, RepeatedCall, RunFacts, StopCause, StopReason, StreamFacts, Terminal,
    TerminalKind, TerminalReason,
};
pub use outcome::{Completed, Failure, LimitKind, Outcome, OutcomeName, Retry};
pub use walls::{NetworkAccess, NoWall, SandboxMode, Wall, WallsHeld};
