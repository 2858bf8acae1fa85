//! The loop: effects in, events out. Carries out what `helix_job::decide` asks for, with agents, git and gates,
//! and keeps the conversations with the Consultant.
//!
//! Must not know HTTP, a terminal, or SQL text.

pub mod admission;
pub mod agent_run;
pub mod codes;
pub mod config;
pub mod consultant;
mod conversations;
pub mod crash_point;
mod decisions;
pub mod engine;
mod event_log;
pub mod evidence;
pub mod experts;
pub mod failures;
pub mod figures;
mod job;
mod mutex;
pub mod observer;
pub mod preview;
mod probes;
mod prompt;
pub mod questions;
pub mod reopen;
mod save_hook;
mod session_totals;
mod set_aside;
pub mod status_file;
pub mod submit;
pub mod tools;

pub use config::{ConsultantConfig, EngineConfig, FOLLOW_JOBS};
pub use consultant::ToolsEndpoint;
pub use engine::{Activity, Engine, EngineError, Follow};
// What a host needs to configure an engine, to be its agents' keeper, and to show what its agents did.
pub use helix_agents::{
    AgentKind, AgentProfile, DialectName, ExitMeaning, Program, RecordedRun, RecordingError, agent_kind, keeper_main,
};
pub use helix_store::{JobFilter, StateDir};
pub use prompt::{BUILT_IN as BUILT_IN_PROMPT, ConsultantPrompt, prompt_inputs};
