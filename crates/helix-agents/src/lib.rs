//! Agent processes: how they are kept (keeper, supervisor, line reader) and how they are spoken to (dialects).
//!
//! Must not know jobs, phases, databases or HTTP: a run is an id, an invocation, and how it ended.

pub mod dialect;
pub mod invocation;
mod keeper;
pub mod probe;
mod proc;
pub mod profile;
mod run_dir;
pub mod supervisor;
pub mod tail;

pub use dialect::{
    AgentKind, Classified, Dialect, Ended, ExitMeaning, InvocationError, Keeping, Limit, Program, Reader, RecordedRun,
    RecordingError, agent_kind, classify_recording, dialect, replay_main, run_labels,
};
pub use invocation::{Grace, Invocation, RUN_ID_VARIABLE, RunEnd, RunRequest, StreamEnd};
pub use keeper::keeper_main;
pub use probe::{Capabilities, ProbeError, Supported, Version, probe};
pub use profile::{
    AfterWriteHook, AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus, McpAccess, McpServer, SessionRef,
    Shell, SubAgent, ToolAccess,
};
pub use run_dir::RunDirError;
pub use supervisor::{RunHandle, Supervisor, SupervisorConfig};
pub use tail::{Line, LineReader, ReadError};
