//! Processes: running a command of a gate or tool to its end, and ending what it leaves.
//!
//! Must not know agents, jobs, or what a command's output means.

mod command;
mod own_session;

pub use command::*;
pub use own_session::in_own_session;
