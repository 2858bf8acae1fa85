//! What is known of failures, for those who read it: the memory, the reports of a job, and an answer about any log.
//!
//! Must not change anything: what is asked about here is neither remembered nor measured.

use async_recursion::async_recursion as boxed;
use std::path::Path;
use std::sync::Arc;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::memory::Diagnosis;
use helix_failure::report::{Classification, FailurePlace, Report, ReportRequest, Section};
use helix_failure::{FailureObservation, Fingerprint, LogSample};
use helix_job::{JobEvent, JobState, JobStatus, JobView, PhaseStatus};
use helix_language::{Language, RECORD, say};
use helix_store::Journal;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::JobRecord;
use crate::error::EngineError;
use crate::failures::{FailureContext, FailureService};

/// The report of a failure in a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobReport {
    /// Number of the event that tells of the failure.
    pub event: u64,
    /// When it happened.
    pub at: Timestamp,
    /// In which phase; absent for what belongs to no single one, such as an integration.
    pub phase: Option<PhaseId>,
    /// Which attempt at the phase failed, from 1.
    pub attempt: u32,
    /// Its file, relative to the state directory; absent while it is not written.
    pub artefact: Option<String>,
    /// The report; absent when it cannot be read.
    pub report: Option<Report>,
    /// Why it cannot be read.
    pub trouble: Option<String>,
}

impl JobReport {
    /// Where it happened, in one line.
    pub fn title(&self, language: Language) -> String {
        match &self.phase {
            Some(phase) => say!(language, "report-of-attempt", phase = phase.as_str(), attempt = self.attempt),
            None => say!(language, "report-of-job"),
        }
    }

    /// The report as GitHub Markdown below a heading of its own.
    pub fn markdown(&self) -> String {
        let why = self.trouble.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let body = self.report.as_ref().map_or_else(|| format!("_Not available_{why}\n"), Report::markdown);
        format!("## {}\n\n{body}", self.title(RECORD))
    }
}

/// What a log amounts to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Identity of the failure: the same for the same failure elsewhere.
    pub fingerprint: Fingerprint,
    /// The answer.
    #[serde(flatten)]
    pub classification: Classification,
    /// All of it for people and programs, with past failures and what to do.
    pub report: Report,
}

impl FailureService {
    /// Says what a failure amounts to that is not recorded. `None`: there is no classifier, which was logged.
    #[boxed]
    pub async fn explain(
        &self,
        observation: FailureObservation,
        log: LogSample,
        place: FailurePlace,
    ) -> Option<Explanation> {
        self.explain_from(observation, log, place, Timestamp::MAX).await
    }

    /// The same with what was first seen before this time as its past.
    pub(crate) async fn explain_from(
        &self,
        observation: FailureObservation,
        log: LogSample,
        place: FailurePlace,
        before: Timestamp,
    ) -> Option<Explanation> {
        let context = Arc::new((observation, log));
        let classified = self.classified(Arc::clone(&context), |one| (&one.0, &one.1)).await?;
        let (observation, log) = (&context.0, &context.1);
        let diagnosis = Diagnosis::new(&observation.tool, &classified);
        // A person may ask about a failure of no project.
        let project = Some(place.project.clone()).filter(|project| !project.is_empty());
        let similar = self.recall(&diagnosis, project, before).await;
        let report = Report::build(ReportRequest {
            place,
            observation,
            classified: Section::Known(&classified),
            log,
            similar,
            suggestions: &[],
        });
        // The report's is redacted.
        let classification = report.why.known()?.classification.clone();
        Some(Explanation { fingerprint: diagnosis.fingerprint, classification, report })
    }
}

/// The reports of a job's failures, oldest first, with or without a host. What the observer has not written yet is made here,
/// and nothing is kept of it.
///
/// # Errors
/// [`EngineError::Journal`]. A report that cannot be read says so itself.
#[boxed]
pub async fn job_reports(
    journal: &dyn Journal,
    root: &Path,
    job: &JobId,
    failures: &FailureService,
) -> Result<Vec<JobReport>, EngineError> {
    let (mut state, mut reports) = (JobState::New, Vec::<(String, JobReport)>::new());
    for recorded in helix_store::job_events(journal, job, 0).await? {
        state = state.apply(&recorded).map_err(EngineError::journal)?;
        let Some(active) = state.active() else { continue };
        if let JobEvent::JobResumed { check, accept: None, .. } = &recorded.event {
            // The gates look again: what they found before no longer counts.
            let last = |phase: &PhaseId| Some(active.progress(phase)?.last_attempt()?.begin.attempt);
            let looks_at = |phase: &PhaseId, one| check.contains(phase) && last(phase) == Some(one);
            reports.retain(|(_, one)| !one.phase.as_ref().is_some_and(|phase| looks_at(phase, one.attempt)));
        }
        let Some(context) = (JobRecord { root, job, active }).failure(&recorded).await else { continue };
        let key = context.place.key();
        // The same check of the same attempt writes the same file: only the last of them is there.
        reports.retain(|(earlier, _)| *earlier != key);
        reports.push((key, read(recorded.number, context, active.submitted_at, failures).await));
    }
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

/// What was first seen since the job began is no past failure of it.
async fn read(event: u64, context: FailureContext, began: Timestamp, failures: &FailureService) -> JobReport {
    let FailureContext { place, report_place, observation, log, at } = context;
    let mut read = JobReport {
        event,
        at,
        phase: place.work.phase().cloned(),
        attempt: place.attempt,
        artefact: None,
        report: None,
        trouble: None,
    };
    match failures.reports().load(&place, at).await {
        Ok(Some((artefact, report))) => (read.artefact, read.report) = (Some(artefact), Some(report)),
        Ok(None) => {
            let explained = failures.explain_from(observation, log, report_place, began).await;
            read.report = explained.map(|explained| explained.report);
        }
        Err(error) => read.trouble = Some(error.to_string()),
    }
    read
}

/// Of the last attempt at each phase that has failed: the first report and the last, such as a deployment's and that of the rollback
/// that failed after it. The last of the job itself if it failed and none of its phases did.
pub fn last_reports<'a>(view: &JobView, reports: &'a [JobReport]) -> Vec<&'a JobReport> {
    let failed = view.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed);
    let mut of: Vec<Option<&PhaseId>> = failed.map(|phase| Some(&phase.id)).collect();
    let is_whole = of.is_empty() && view.status == JobStatus::Failed;
    of.extend(is_whole.then_some(None));
    let of_one = |phase: Option<&PhaseId>| {
        let last = reports.iter().rfind(|one| one.phase.as_ref() == phase)?;
        let first = reports.iter().find(|one| (&one.phase, one.attempt) == (&last.phase, last.attempt));
        Some(first.filter(|first| first.event != last.event).into_iter().chain([last]))
    };
    of.into_iter().filter_map(of_one).flatten().collect()
}
