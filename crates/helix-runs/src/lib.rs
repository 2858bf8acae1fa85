//! Agent runs: who may start, one run from its ask to its evidence, and the logs of jobs and sessions that record it.
//!
//! Must not know what a job or a session does next, HTTP, a terminal, or SQL text.

pub mod admission;
pub mod agent_run;
pub mod crash_point;
pub mod event_log;
pub mod mutex;
pub mod secret;
pub mod services;
mod session_totals;
