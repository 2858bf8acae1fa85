//! Why an event cannot follow what happened before it.
//!
//! Must not know what is done about it.

use helix_core::finding::Finding;
use helix_core::ids::{InvalidId, PhaseId, TreeId};

use super::question::AnswerMisfit;

/// An event that cannot follow those before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("event {number} ({event}) cannot follow")]
pub struct IllegalEvent {
    /// Number of the event in its stream.
    pub number: u64,
    /// Name of the event.
    pub event: &'static str,
    /// What speaks against it.
    #[source]
    pub why: Illegal,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Illegal {
    #[error("the job does not exist yet")]
    NoJob,
    #[error("the job exists already")]
    JobExists,
    #[error("the job is not over")]
    JobNotOver,
    #[error("the job is over")]
    JobOver,
    #[error("the job is being cancelled")]
    Cancelling,
    #[error("event {next} comes next")]
    OutOfOrder { next: u64 },
    #[error("no phase {0}")]
    UnknownPhase(PhaseId),
    #[error("phase {phase} is {state}")]
    WrongState { phase: PhaseId, state: &'static str },
    #[error("attempt {attempt} is not the current or next attempt of phase {phase}")]
    WrongAttempt { phase: PhaseId, attempt: u32 },
    #[error("the start of phase {0} is not approved")]
    NotApproved(PhaseId),
    #[error("phase {0} has no result")]
    NoResult(PhaseId),
    #[error("phase {0} has not ended")]
    NotEnded(PhaseId),
    #[error("tree {tree} is not the result of phase {phase}")]
    WrongTree { phase: PhaseId, tree: TreeId },
    #[error("gate {gate} of phase {phase} delivers nothing")]
    NoDelivery { phase: PhaseId, gate: usize },
    #[error("gate {gate} of phase {phase} has not begun to deliver")]
    NotBegun { phase: PhaseId, gate: usize },
    #[error("gate {gate} of phase {phase} has begun to deliver already")]
    BegunBefore { phase: PhaseId, gate: usize },
    #[error("no gate has validated what phase {0} is to deliver")]
    NotValidated(PhaseId),
    #[error("gate {gate} of phase {phase} has not passed on tree {tree}")]
    NotPassed { phase: PhaseId, gate: usize, tree: TreeId },
    #[error("the results are not integrated")]
    NotIntegrated,
    #[error("the results are integrated already")]
    IntegratedBefore,
    #[error("a conflict needs phases")]
    EmptyConflict,
    #[error("this conflict is known already")]
    KnownConflict,
    #[error("the phases do not fit the plan: {}", .0.first().map_or("", |finding| finding.message.as_str()))]
    Plan(Vec<Finding>),
    #[error("question {next} comes next in phase {phase}")]
    WrongQuestion { phase: PhaseId, next: u32 },
    #[error("phase {0} has asked too many questions")]
    TooManyQuestions(PhaseId),
    #[error("question {number} of phase {phase} is still open")]
    QuestionOpen { phase: PhaseId, number: u32 },
    #[error("question {number} of phase {phase} is not open")]
    QuestionSettled { phase: PhaseId, number: u32 },
    #[error("the answer does not fit question {number} of phase {phase}")]
    Answer { phase: PhaseId, number: u32, source: AnswerMisfit },
    #[error(transparent)]
    Id(#[from] InvalidId),
}
