//! A host's engine: carries jobs out as `helix_job::decide` says, with agents, git and gates, and joins them with the
//! sessions with the Consultant, projects and reports.
//!
//! Must not know HTTP, a terminal, or SQL text.

mod absent;
mod activity;
pub mod audit;
pub mod codes;
pub mod config;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod failures;
mod job;
mod job_record;
pub mod jobs;
pub mod keys;
pub mod logins;
pub mod observer;
pub mod preflight;
pub mod preview;
mod probes;
pub mod projects;
mod prompt;
pub mod reports;
pub mod sessions;
pub mod submit;
pub mod tools;
pub mod work_gates;

pub use activity::Activity;
pub use config::{EngineConfig, WorkspaceSource};
pub use engine::Engine;
pub use error::EngineError;
pub use jobs::Follow;
// What a host needs to configure an engine, to be its agents' keeper, and to show what its agents did.
pub use helix_agents::{
    AgentKind, AgentProfile, DialectName, ExitMeaning, Product, Program, RecordedRun, RecordingError, agent_kind,
    keeper_main,
};
pub use helix_consultant::{
    self as consultant, BUILT_IN_PROMPT, ConsultantConfig, ConsultantPrompt, FOLLOW_JOBS, experts, prompt_inputs,
};
pub use helix_gates::{READ_SOURCES, read_sources_main};
pub use helix_plan::modern_id;
pub use helix_process::{Passage, peer, secrets};
pub use helix_runs::services::{TOOL_NAMES, TOOL_SERVER};
pub use helix_runs::{admission, agent_run, crash_point};
use helix_runs::{event_log, mutex, services};
pub use helix_store::{JobFilter, JobPage, Moved, SessionPage, StateDir, Stream};
