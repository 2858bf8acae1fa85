//! Jobs under way: one loop each, which folds events, decides, and carries effects out.
//!
//! Must not know HTTP or a terminal.

mod advise;
mod agents;
mod base;
mod begin;
mod checks;
mod cited;
mod claim;
mod commit;
mod delivery;
mod effects;
mod elsewhere;
mod gate;
mod grow;
pub(crate) mod inputs;
mod integrate;
mod job_loop;
mod preflight;
mod repositories;
mod review;
mod rollback;
mod rules;
mod side_run;
mod target;
mod unsaved;
#[cfg(test)]
#[path = "../../../helix-job/tests/world/mod.rs"]
mod world;

pub(crate) use agents::{Configured, gate_environment, keep_configured, kept_configured, renew_configured};
pub(crate) use checks::to_try;
pub use checks::{PreflightCheck, PreflightFound};
pub(crate) use effects::{EffectOutcome, EffectRunner, Effects, PHASE_MCP_TOOLS, blocking};
pub(crate) use job_loop::{JobHandle, JobLoop, LoopEnd, Refused};
pub(crate) use review::who_looks;
pub(crate) use side_run::side_runs;
pub(crate) use target::Target;
pub(crate) use unsaved::unsaved;
