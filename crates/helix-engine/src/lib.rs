//! The loop: effects in, events out. Carries out what `helix_job::decide` asks for, with agents, git and gates,
//! and keeps the conversations with the Consultant.
//!
//! Must not know HTTP, a terminal, or SQL text.

mod activity;
pub mod admission;
pub mod agent_run;
pub mod codes;
pub mod config;
pub mod consultant;
pub mod crash_point;
pub mod engine;
pub mod error;
mod event_log;
pub mod evidence;
pub mod experts;
pub mod failures;
mod job;
mod job_record;
pub mod jobs;
mod mutex;
pub mod observer;
pub mod preview;
mod probes;
pub mod projects;
mod prompt;
pub mod reports;
pub mod services;
mod session_totals;
pub mod sessions;
pub mod submit;
pub mod tools;

pub use activity::Activity;
pub use config::EngineConfig;
pub use consultant::{ConsultantConfig, FOLLOW_JOBS};
pub use engine::Engine;
pub use error::EngineError;
pub use jobs::Follow;
// What a host needs to configure an engine, to be its agents' keeper, and to show what its agents did.
pub use helix_agents::{
    AgentKind, AgentProfile, DialectName, ExitMeaning, Program, RecordedRun, RecordingError, agent_kind, keeper_main,
};
pub use helix_store::{JobFilter, StateDir};
pub use prompt::{BUILT_IN as BUILT_IN_PROMPT, ConsultantPrompt, prompt_inputs};
pub use services::{TOOL_NAMES, ToolsEndpoint};
