//! The work in whose course a failure happens: attempts are numbered within it, and a later one shows what became of an earlier.
//!
//! Must not know what the work is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::ids::{JobId, PhaseId, SessionId, TurnId};

/// The work in whose course a failure happened.
///
/// On the wire its fields stand beside those of what has it: `job` and `phase`, or `session`, or `document`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Work {
    /// A phase of a job, or the job itself. Attempts are those of the phase.
    Job {
        /// Which job.
        job: JobId,
        /// Which phase; `None` for what belongs to no single phase, such as an integration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<PhaseId>,
    },
    /// A session with the Consultant. An attempt is a turn, with its number.
    Session {
        /// Which one.
        session: SessionId,
    },
    /// A plan or an ADR that somebody is writing. An attempt begins when it is refused and ends when it is accepted.
    Document {
        /// Its path.
        document: String,
    },
}

impl Work {
    /// A phase of a job.
    pub fn phase_of(job: &JobId, phase: Option<&PhaseId>) -> Self {
        Self::Job { job: job.clone(), phase: phase.cloned() }
    }

    /// The job, if it is one.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Job { job, .. } => Some(job),
            Self::Session { .. } | Self::Document { .. } => None,
        }
    }

    /// The phase, if it is one.
    pub fn phase(&self) -> Option<&PhaseId> {
        match self {
            Self::Job { phase, .. } => phase.as_ref(),
            Self::Session { .. } | Self::Document { .. } => None,
        }
    }

    /// The turn with this number, if it is a session.
    pub fn turn(&self, number: u32) -> Option<TurnId> {
        match self {
            Self::Session { session } => Some(TurnId::nth(session, number)),
            Self::Job { .. } | Self::Document { .. } => None,
        }
    }

    /// Its name without the phase: different for different work. A job's id has no colon.
    pub fn name(&self) -> String {
        match self {
            Self::Job { job, .. } => job.to_string(),
            Self::Session { session } => format!("session:{session}"),
            Self::Document { document } => format!("document:{document}"),
        }
    }
}

#[cfg(test)]
#[path = "work_test.rs"]
mod tests;
