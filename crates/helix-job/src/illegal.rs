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
    #[error("{0}")]
    Job(&'static str),
    #[error("event {next} comes next")]
    OutOfOrder { next: u64 },
    #[error("no phase {0}")]
    UnknownPhase(PhaseId),
    #[error("phase {phase} {why}")]
    Phase { phase: PhaseId, why: String },
    #[error("tree {tree} is not the result of phase {phase}")]
    WrongTree { phase: PhaseId, tree: TreeId },
    #[error("gate {gate} of phase {phase} has not begun to deliver")]
    NotBegun { phase: PhaseId, gate: usize },
    #[error("the phases do not fit the plan: {}", .0.first().map_or("", |finding| finding.message.as_str()))]
    Plan(Vec<Finding>),
    #[error("the answer does not fit question {number} of phase {phase}")]
    Answer { phase: PhaseId, number: u32, source: AnswerMisfit },
    #[error(transparent)]
    Id(#[from] InvalidId),
}

impl Illegal {
    pub(super) const CANCELLING: Self = Self::Job("the job is being cancelled");
    pub(super) const INTEGRATED: Self = Self::Job("the results are integrated already");
    pub(super) const NOT_INTEGRATED: Self = Self::Job("the results are not integrated");
    pub(super) const EMPTY_CONFLICT: Self = Self::Job("a conflict needs phases");
}
