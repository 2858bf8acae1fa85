//! Processes: the keeper that owns a run, the supervisor that starts and follows runs, and commands of gates as runs.
//!
//! Must not know agents, jobs, or what a process' output means.

mod apart;
mod blocking;
pub mod bounded;
mod command;
pub mod invocation;
mod keeper;
mod memory;
mod own_code;
mod own_session;
pub mod peer;
mod prepared;
mod proc;
mod program;
mod remove_tree;
mod run_dir;
mod sandbox;
pub mod secrets;
mod session_leader;
pub mod supervisor;
pub mod tail;
mod tryout;
pub mod walls;

pub use apart::{Apart, NoAnswer, answer_apart};
pub use blocking::{EndedEarly, spawn_blocking};
pub use command::*;
pub use invocation::{
    Grace, Invocation, MAX_OUTPUT, RUN_DIR_VARIABLE, RunEnd, RunKind, RunRequest, StreamEnd, WITHIN_RUN_VARIABLE,
};
pub use keeper::{Passage, ServeGateway, keeper_main};
pub use memory::{give_memory_back, keep_little_memory};
pub use own_code::{below, own_code, paths_in};
pub use own_session::{close_to_others, end_with_parent, in_own_session};
pub use prepared::{Layer, Prepared, SERVICES_VARIABLE, WITH_SERVICES};
pub use proc::{Delivery, Marked, ProcessIdentity, marked};
pub use program::{NoProgram, find_program};
pub use remove_tree::remove_tree;
pub use run_dir::{RunDir, RunDirError, RunSeal, end_of_file, replace_file, replace_private};
pub use sandbox::Sandbox;
pub use session_leader::{Input, SessionLeader};
pub use supervisor::{RunHandle, Supervisor, SupervisorConfig};
pub use tail::{Line, LineReader, ReadError};
pub use tryout::{may_take_memory, program_of_untrusted_work, try_out, untrusted_work_by};
pub use walls::{Gateway, Limits, Network, ProviderAddress, Walls};
