//! Processes: the keeper that owns a run, the supervisor that starts and follows runs, and commands of gates as runs.
//!
//! Must not know agents, jobs, or what a process' output means.

mod command;
pub mod invocation;
mod keeper;
mod own_session;
mod proc;
mod program;
mod run_dir;
pub mod supervisor;
pub mod tail;

pub use command::*;
pub use invocation::{Grace, Invocation, RunEnd, RunKind, RunRequest, StreamEnd};
pub use keeper::keeper_main;
pub use own_session::in_own_session;
pub use proc::{Delivery, Marked, ProcessIdentity, marked};
pub use program::{NoProgram, find_program};
pub use run_dir::{RunDir, RunDirError, replace_file};
pub use supervisor::{RunHandle, Supervisor, SupervisorConfig};
pub use tail::{Line, LineReader, ReadError};
