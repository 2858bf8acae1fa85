//! The vocabulary that every other crate shares: ids, findings, diagnostics, what a run amounted to, and the reader of
//! structured documents.
//!
//! Nothing in this crate reads a clock, a disk, a network, a process or the environment, and nothing is async. The same
//! holds for `helix-plan`, `helix-adr`, `helix-failure` and `helix-job`: equal arguments give equal answers, which is what
//! makes crash recovery "fold and decide".

pub mod agent_event;
pub mod diagnostic;
pub mod document;
mod error_chain;
pub mod evidence;
pub mod finding;
pub mod gate_name;
pub mod ids;
pub mod issue;
pub mod rule_file;
pub mod run;
pub mod said;
pub mod secrets;
pub mod slug;
pub mod source_text;
pub mod step_marker;
pub mod text;
pub mod usage;

pub use error_chain::error_chain;
