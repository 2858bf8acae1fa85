//! Why something of a host cannot be read or changed.
//!
//! Must not know HTTP or exit codes; the one who shows an error chooses them by its variant.

use helix_core::finding::Fault;
use helix_core::ids::JobId;
use helix_core::said::of_job;
use helix_job::IllegalEvent;
use helix_store::{DatabaseError, ReadError};

/// Why something cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The beginning of an id fits several.
    #[error("{prefix:?} fits several, such as {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of those that it fits.
        candidates: Vec<String>,
    },
    /// There is no such thing.
    #[error("no {kind} {id:?}")]
    NotFound {
        /// What was looked for, such as `job`.
        kind: &'static str,
        id: String,
    },
    /// The job is over: nothing can be changed.
    #[error("job {id} is over ({status})")]
    Over { id: JobId, status: String },
    /// It cannot be done as things stand.
    #[error("{message}")]
    Refused {
        message: String,
        /// The job that it is about, where there is one.
        job: Option<JobId>,
    },
    /// It is done as far as Helix may; the rest is a person's, as the message says.
    #[error("{message}")]
    LeftToPerson { message: String },
    #[error("the journal failed")]
    Journal(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is recorded of a job cannot have happened in this order.
    #[error("the record of job {job} contradicts itself")]
    Contradiction {
        job: JobId,
        /// The first event that cannot follow.
        source: Box<IllegalEvent>,
    },
    /// Anything else of the environment.
    #[error("{message}")]
    Environment { message: String, hint: Option<String> },
}

impl From<ReadError> for EngineError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Ambiguous { prefix, candidates } => Self::Ambiguous { prefix, candidates },
            ReadError::Database(_) | ReadError::Event(_) => Self::journal(error),
        }
    }
}

impl EngineError {
    pub(crate) fn not_found(kind: &'static str, id: impl ToString) -> Self {
        Self::NotFound { kind, id: id.to_string() }
    }

    pub(crate) fn refused(why: impl ToString) -> Self {
        Self::Refused { message: why.to_string(), job: None }
    }

    /// The same with the id of the job in the commands that a refusal names.
    pub(crate) fn of_job(self, job: &JobId) -> Self {
        match self {
            Self::Refused { message, .. } => Self::Refused { message: of_job(&message, job), job: Some(job.clone()) },
            other => other,
        }
    }

    pub(crate) fn journal(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Journal(Box::new(error))
    }

    /// Whether one record is at fault, and all others can be read.
    pub(crate) fn is_of_one_record(&self) -> bool {
        let Self::Journal(source) = self else { return false };
        match source.downcast_ref::<ReadError>() {
            Some(ReadError::Database(error)) => {
                matches!(error, DatabaseError::Unreadable { .. } | DatabaseError::Altered { .. })
            }
            Some(ReadError::Event(_)) => true,
            Some(ReadError::Ambiguous { .. }) | None => false,
        }
    }

    pub(crate) fn of_fault(fault: Fault) -> Self {
        Self::Environment { message: fault.message, hint: fault.hint }
    }

    pub(crate) fn environment(error: impl std::error::Error) -> Self {
        Self::Environment { message: helix_core::error_chain(&error), hint: None }
    }
}
