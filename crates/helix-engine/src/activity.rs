//! What agents do in jobs, as it happens. Must not be kept: the run's record is.

use helix_core::agent_event::AgentEvent;
use helix_core::ids::{JobId, PhaseId, RunId};

/// What an agent does in a job, as it happens.
#[derive(Debug, Clone)]
pub struct Activity {
    pub job: JobId,
    pub phase: PhaseId,
    pub run: RunId,
    pub event: AgentEvent,
}
