//! What is known of failures, for those who read it: the memory, the reports of a job, and an answer about any log.
//!
//! Must not change anything: what is asked about here is neither remembered nor measured.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::event::{FailureEvent, ReportGenerated};
use helix_failure::memory::{Diagnosis, FailureDetail, SimilarQuery};
use helix_failure::report::{FailurePlace, Report, ReportRequest, Section};
use helix_failure::{Blame, Category, Classified, FailureObservation, Fingerprint, Log, RetryAdvice, fingerprint};
use helix_job::{JobEvent, JobStatus, JobView, PhaseStatus, Recorded};
use helix_store::Journal;
use helix_store::failures::{FailureFilter, FailureMemory, FailurePage, MemoryError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

use super::desk::{FailureDesk, MemoryUse, SIMILAR};
use crate::engine::{Engine, EngineError, journal_error};

/// Longest report that is read, in bytes. Reports hold excerpts, never whole logs; one that is longer is damaged.
const LONGEST_REPORT: u64 = 4 << 20;

/// A report that was written in a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobReport {
    /// Number of the job's event that tells of it.
    pub event: u64,
    /// When it was written.
    pub at: Timestamp,
    /// In which phase; absent for what belongs to no single one, such as an integration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// Which try of the phase failed, from 1.
    pub attempt: u32,
    /// Its file, relative to the state directory; absent when it could not be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artefact: Option<String>,
    /// The report; absent when it cannot be read any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl JobReport {
    /// Where it happened, in one line.
    pub fn title(&self) -> String {
        match &self.phase {
            Some(phase) => format!("{phase}, attempt {}", self.attempt),
            None => "the whole job".to_owned(),
        }
    }

    /// The report as GitHub Markdown below a heading of its own.
    pub fn markdown(&self) -> String {
        let body = match (&self.report, &self.trouble) {
            (Some(report), _) => report.markdown(),
            (None, Some(trouble)) => format!("_Not available:_ {trouble}\n"),
            (None, None) => "_Not available._\n".to_owned(),
        };
        format!("## {}\n\n{body}", self.title())
    }
}

/// What a log amounts to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Identity of the failure: the same for the same failure elsewhere.
    pub fingerprint: Fingerprint,
    /// One of the contract's ten.
    pub category: Category,
    /// The finer cause.
    pub cause: String,
    /// When trying again makes sense.
    pub retry: RetryAdvice,
    /// Whose move it is.
    pub blame: Blame,
    /// From 0 to 1; below a half: a guess.
    pub confidence: f64,
    /// What decided: `rule:…`, `fact:…` or `nothing`.
    pub decided_by: String,
    /// The line that names the cause, redacted; absent when none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_line: Option<String>,
    /// All of it for people and programs, with past failures and what to do.
    pub report: Report,
}

impl FailureDesk {
    /// Says what a failure amounts to that is not recorded. `None`: there is no classifier, which was logged.
    pub async fn explain(&self, observation: FailureObservation, log: Log, place: FailurePlace) -> Option<Explanation> {
        let context = Arc::new((observation, log));
        let classified = self.classified(Arc::clone(&context), |context| (&context.0, &context.1)).await?;
        let (observation, log) = (&context.0, &context.1);
        let similar = match self.memory() {
            None => Section::Missing("failures are not remembered here".to_owned()),
            Some(memory) => {
                let query =
                    SimilarQuery::like(&Diagnosis::of(&observation.tool, &classified), SIMILAR, Timestamp::now());
                let recalled = memory.similar(query).await;
                recalled.trouble.iter().for_each(|trouble| self.tell(trouble));
                match recalled.trouble {
                    Some(trouble) if recalled.failures.is_empty() => Section::Missing(trouble.message),
                    Some(_) | None => Section::Known(recalled.failures),
                }
            }
        };
        let similar = match &similar {
            Section::Known(past) => Section::Known(past.as_slice()),
            Section::Missing(reason) => Section::Missing(reason.clone()),
        };
        let report = Report::of(ReportRequest {
            place,
            observation,
            classified: Section::Known(&classified),
            log,
            similar,
            suggestions: &[],
        });
        Some(explanation(observation, &classified, report))
    }
}

fn explanation(observation: &FailureObservation, classified: &Classified, report: Report) -> Explanation {
    Explanation {
        fingerprint: fingerprint(&observation.tool, classified),
        category: classified.category,
        cause: classified.cause.to_owned(),
        retry: classified.retry,
        blame: classified.blame,
        confidence: classified.confidence,
        decided_by: classified.evidence.decided_by.clone(),
        // The report's is redacted.
        cause_line: report.why.known().and_then(|why| why.cause_line.clone()),
        report,
    }
}

impl Engine {
    /// Where failures are classified, remembered and reported.
    pub fn failures(&self) -> &FailureDesk {
        &self.inner.failures
    }

    /// Failures that are remembered, the latest seen first, after a cursor.
    ///
    /// # Errors
    /// [`EngineError::Environment`] when none are remembered here, or the memory fails.
    pub async fn failure_list(
        &self,
        filter: FailureFilter,
        after: Option<String>,
        limit: usize,
    ) -> Result<FailurePage, EngineError> {
        self.memory()?.list(filter, after, limit).await.map_err(memory_error)
    }

    /// Failures whose texts have all of these words (the last one may be a beginning), best first.
    ///
    /// # Errors
    /// As for [`Engine::failure_list`].
    pub async fn failure_search(&self, words: &str, limit: usize) -> Result<FailurePage, EngineError> {
        let failures = self.memory()?.search(words.to_owned(), limit).await.map_err(memory_error)?;
        Ok(FailurePage { failures, next: None })
    }

    /// All that is remembered of one failure, by its fingerprint or a beginning of it that no other one has.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Ambiguous`], and as for [`Engine::failure_list`].
    pub async fn failure(&self, id: &str) -> Result<FailureDetail, EngineError> {
        match self.memory()?.show(id.to_owned()).await {
            Ok(found) => found.ok_or_else(|| EngineError::NotFound { kind: "failure", id: id.to_owned() }),
            Err(MemoryError::Ambiguous { prefix, candidates }) => Err(EngineError::Ambiguous { prefix, candidates }),
            Err(error) => Err(memory_error(error)),
        }
    }

    /// What a log amounts to. Nothing of it is remembered.
    ///
    /// # Errors
    /// [`EngineError::Environment`] when there is no classifier.
    pub async fn explain(&self, observation: FailureObservation, text: String) -> Result<Explanation, EngineError> {
        // Megabytes take a while, away from the runtime's threads.
        let reading = tokio::task::spawn_blocking(move || Log::of_texts(&text, ""));
        let log = reading.await.map_err(|error| EngineError::Environment {
            message: format!("the log could not be taken apart: {error}"),
            hint: Some("this is a defect of Helix".into()),
        })?;
        self.failures().explain(observation, log, FailurePlace::default()).await.ok_or_else(|| {
            EngineError::Environment {
                message: "failures cannot be classified".into(),
                hint: Some("Helix's own log says why; this is a defect of Helix".into()),
            }
        })
    }

    /// All reports of failures that a job's attempts have left, oldest first; the job by id or unique prefix.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`]. A report that cannot be read says so itself.
    pub async fn job_reports(&self, id: &str) -> Result<Vec<JobReport>, EngineError> {
        let job = self.job(id).await?.id;
        job_reports(self.inner.journal.as_ref(), self.inner.state.root(), &job).await
    }

    fn memory(&self) -> Result<Arc<dyn FailureMemory>, EngineError> {
        self.failures().memory().ok_or_else(|| match self.inner.config.failures.memory {
            MemoryUse::Off => EngineError::Environment {
                message: "failures are not remembered: the memory is switched off".into(),
                hint: Some("write `memory = \"on\"` into [failures] of helix.toml, and start the host again".into()),
            },
            MemoryUse::On => EngineError::Environment {
                message: "failures are not remembered: the memory could not be opened".into(),
                hint: Some("`helix doctor` examines the state directory; the host's log says why".into()),
            },
        })
    }
}

fn memory_error(error: MemoryError) -> EngineError {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    EngineError::Environment { message, hint: Some(error.hint()) }
}

/// The reports of a job, oldest first, from the journal and the files beside it; with or without a host.
///
/// # Errors
/// [`EngineError::Journal`]. A report that cannot be read says so itself.
pub async fn job_reports(journal: &dyn Journal, state: &Path, job: &JobId) -> Result<Vec<JobReport>, EngineError> {
    let events = helix_store::job_events(journal, job, 0).await.map_err(journal_error)?;
    let mut reports: Vec<JobReport> = Vec::new();
    for Recorded { number, at, event, .. } in events {
        let JobEvent::Failure(event) = event else { continue };
        let FailureEvent::ReportGenerated(generated) = *event else { continue };
        // The same check of the same attempt writes the same file: only the last of them is there.
        reports.retain(|one| one.artefact.is_none() || one.artefact != generated.artefact);
        reports.push(read(state, number, at, generated).await);
    }
    Ok(reports)
}

async fn read(state: &Path, event: u64, at: Timestamp, generated: ReportGenerated) -> JobReport {
    let ReportGenerated { phase, attempt, artefact, .. } = generated;
    let (report, trouble) = match &artefact {
        None => (None, Some("it could not be kept when it was written".to_owned())),
        Some(artefact) => match load(state, artefact).await {
            Ok(report) => (Some(report), None),
            Err(error) => (None, Some(format!("{artefact} cannot be read: {error}"))),
        },
    };
    JobReport { event, at, phase, attempt, artefact, report, trouble }
}

async fn load(state: &Path, artefact: &str) -> std::io::Result<Report> {
    let relative = PathBuf::from(artefact);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(std::io::Error::other("it lies outside the state directory"));
    }
    let file = tokio::fs::File::open(state.join(relative)).await?;
    let mut bytes = Vec::new();
    file.take(LONGEST_REPORT).read_to_end(&mut bytes).await?;
    serde_json::from_slice(&bytes).map_err(std::io::Error::other)
}

/// The last report of each phase that has failed; that of the job itself if it failed and none of its phases did.
pub fn last_reports<'a>(view: &JobView, reports: &'a [JobReport]) -> Vec<&'a JobReport> {
    let last = |phase: Option<&PhaseId>| reports.iter().rfind(|one| one.phase.as_ref() == phase);
    let failed: Vec<&PhaseId> =
        view.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed).map(|phase| &phase.id).collect();
    match (failed.as_slice(), view.status) {
        ([], JobStatus::Failed) => last(None).into_iter().collect(),
        _ => failed.into_iter().filter_map(|phase| last(Some(phase))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_reports_below_the_state_directory_are_read_and_a_damaged_one_says_so() {
        let outer = tempfile::tempdir().unwrap();
        let state = outer.path().join("state");
        std::fs::create_dir_all(state.join("reports/j1")).unwrap();
        let secret = outer.path().join("secret.json");
        std::fs::write(&secret, "{}").unwrap();
        std::fs::write(state.join("reports/j1/a.json"), "{\"format\":").unwrap();
        for artefact in ["../secret.json", "reports/../../secret.json", secret.to_str().unwrap()] {
            let error = load(&state, artefact).await.unwrap_err().to_string();
            assert!(error.contains("outside"), "{artefact}: {error}");
        }
        let damaged = ReportGenerated {
            occurrence: "o".into(),
            phase: None,
            attempt: 1,
            artefact: Some("reports/j1/a.json".into()),
            missing: Vec::new(),
            similar: 0,
            actions: 2,
        };
        let read = read(&state, 7, Timestamp::UNIX_EPOCH, damaged).await;
        assert!(read.report.is_none() && read.trouble.as_ref().unwrap().contains("reports/j1/a.json"), "{read:?}");
        assert!(read.markdown().starts_with("## the whole job\n\n_Not available:_ "), "{}", read.markdown());
    }
}
