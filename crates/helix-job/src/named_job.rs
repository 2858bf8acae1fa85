//! The id of a job in the commands that its events name.
//!
//! Must not know how anything is recorded: the record does not name its job, and who reads it does.

use helix_core::ids::JobId;
use helix_core::said::of_job;

use super::event::{JobEnd, JobEvent};

impl JobEvent {
    /// Puts the id of its job into the commands that it names.
    pub fn name_job(&mut self, job: &JobId) {
        match self {
            Self::AttemptFaulted { fault, .. } => fault.name_job(job),
            Self::GateFinished { report, .. }
            | Self::HealthChecked { report, .. }
            | Self::RollbackFinished { report, .. } => report.verdict.name_job(job),
            Self::ReviewFinished { review, .. } => review.verdict.name_job(job),
            Self::QuestionAsked { question, .. } => {
                question.text = of_job(&question.text, job);
                question.said = question.said.of_job(job);
            }
            Self::JobFinished { end: JobEnd::Failed { hint, said, .. } } => {
                *hint = hint.take().map(|hint| of_job(&hint, job));
                if let Some(said) = said {
                    said.hint = said.hint.of_job(job);
                }
            }
            Self::AttemptStarted(begin) => {
                let findings = begin.correction.iter_mut().flat_map(|correction| &mut correction.findings);
                findings.for_each(|finding| finding.name_job(job));
            }
            Self::IntegrationFailed(failed) => failed.findings.iter_mut().for_each(|finding| finding.name_job(job)),
            Self::ResultCommitted { findings, .. } | Self::PhasesRejected { findings, .. } => {
                findings.iter_mut().for_each(|finding| finding.name_job(job));
            }
            Self::JobSubmitted { .. }
            | Self::RunFinished { .. }
            | Self::DeliveryBegun { .. }
            | Self::RollbackBegun { .. }
            | Self::RollbackRequested { .. }
            | Self::Reverted(_)
            | Self::Integrated(_)
            | Self::CancelRequested { .. }
            | Self::JobFinished { end: JobEnd::Succeeded | JobEnd::Cancelled { .. } }
            | Self::Failure(_)
            | Self::PhasesProposed { .. }
            | Self::QuestionAnswered { .. }
            | Self::QuestionExpired { .. }
            | Self::AdviceGiven { .. }
            | Self::ConflictFound { .. }
            | Self::JobResumed { .. }
            | Self::AgentRefused { .. } => {}
        }
    }
}
