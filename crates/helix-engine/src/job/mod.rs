//! Jobs under way: one loop each, which folds events, decides, and carries effects out.
//!
//! Must not know HTTP or a terminal.

mod effects;
mod gate;
pub(crate) mod inputs;
mod integrate;
mod job_loop;
mod log;

pub(crate) use effects::{Carrier, environment, lock};
pub(crate) use job_loop::{JobHandle, JobLoop};
pub(crate) use log::JobLog;
