//! Agents: their profiles, how they are asked and what they print (dialects), and what is known of a program (probe).
//!
//! Must not know jobs, phases, databases or HTTP, nor how a process is kept: that is `helix-process`.

pub mod dialect;
mod inherited;
pub mod own_settings;
pub mod probe;
pub mod profile;
pub mod tool_rule;
pub mod version;
mod walls;

pub use dialect::{
    AgentKind, Classified, Dialect, Ended, ExitMeaning, InvocationError, Keeping, Limit, OwnFiles, Product, Program,
    Reader, RecordedRun, RecordingError, acp_main, agent_kind, classify_recording, dialect, replay_main, run_labels,
};
pub use probe::{ProbeError, ProbeProblem, probe};
pub use profile::{
    AfterWriteHook, AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus, Inherited, McpAccess, McpPlace,
    McpServer, SessionRef, SubAgent, ToolAccess,
};
pub use tool_rule::{NoToolRule, ToolRule, ToolRules};
pub use version::{Capabilities, Supported, Version};
pub use walls::walls;
// What is run, and how it ended: a caller needs both.
pub use helix_process::{
    Gateway, Grace, Invocation, Limits, Line, LineReader, Network, ProviderAddress, ReadError, RunDirError, RunEnd,
    RunHandle, RunKind, RunRequest, RunSeal, Sandbox, StreamEnd, Supervisor, SupervisorConfig, ToolEnvironment, Walls,
    invocation, keeper_main, own_code, replace_file, supervisor, tail,
};
