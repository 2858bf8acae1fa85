//! Classifies failures, remembers them, and reports what is known about them.
//!
//! Must not fail outward: trouble with the memory is logged once per kind, and everything else works without it.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use helix_core::error_chain;
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_core::secrets::redact;
use helix_failure::event::FailureEvent;
use helix_failure::memory::{
    AttemptAnswer, Diagnosis, Exposure, Holdout, Occurrence, PastFailure, Resolution, SimilarQuery, Suggestion,
    SuggestionDraft, SuggestionSource, Work,
};
use helix_failure::report::{Report, ReportRequest, Section, suggest};
use helix_failure::{Classified, Classifier, FailureObservation, Fingerprint, LogSample, normalise, plain_text};
use helix_store::failures::{Ceasing, FailureMemory, MemoryError, OpenFailure};
use helix_store::{Access, DatabaseOptions, StateDir};
use jiff::Timestamp;
use tokio::sync::{OnceCell, mpsc};

use super::checked_document::CheckedDocument;
use super::context::FailureContext;
use super::reports::{Prompt, ReportStore};

/// Past failures that a report shows.
pub(super) const SIMILAR: usize = 3;
/// Checked documents that wait for the observer; further ones are not remembered.
const DOCUMENTS_WAITING: usize = 64;
/// Why a report lacks similar failures.
const NOT_REMEMBERED: &str = "failures are not remembered here";

/// How the memory is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureSettings {
    /// Whether failures are remembered at all.
    pub memory: MemoryUse,
    /// Share of what the memory offers that is kept from agents, for comparison.
    pub holdout: Holdout,
    /// How long any answer of the memory may take; at most the contract's five seconds.
    pub deadline: Duration,
}

helix_core::words! {
    /// Whether failures are remembered, or classified and reported only.
    pub enum MemoryUse {
        On = "on",
        Off = "off",
    }
}

impl Default for FailureSettings {
    fn default() -> Self {
        Self { memory: MemoryUse::On, holdout: Holdout::default(), deadline: Duration::from_secs(2) }
    }
}

/// Classifies, remembers, reports. Cheap to clone; all clones share one memory.
#[derive(Clone)]
pub struct FailureService {
    pub(super) state: Arc<ServiceState>,
}

pub(super) struct ServiceState {
    /// Where the memory is; `None` if failures are not remembered.
    file: Option<PathBuf>,
    access: Access,
    /// Opened by the first who needs it, which is never a job.
    pub(super) memory: OnceCell<FailureMemory>,
    settings: FailureSettings,
    /// Compiled before the first failure, when an attempt starts; a host without jobs does not pay for it. `None` if the rule
    /// table does not compile, which a test excludes.
    classifier: OnceLock<Option<Classifier>>,
    reports: ReportStore,
    /// Kinds of trouble that were logged.
    logged: Mutex<BTreeSet<&'static str>>,
    documents: mpsc::Sender<CheckedDocument>,
    /// Taken by the observer.
    checked: Mutex<Option<mpsc::Receiver<CheckedDocument>>>,
}

/// What is known of a failure.
#[derive(Debug, Clone)]
pub struct RecordedFailure {
    /// What is remembered of it; `None` if it could not be classified.
    pub occurrence: Option<(Occurrence, Classified)>,
    /// Two to four suggestions as they were recorded, shown ones and ones that are held back.
    pub suggestions: Vec<Suggestion>,
    /// All of that for people, GitHub, programs and prompts.
    pub report: Report,
    /// Where the report is, relative to the state directory.
    pub artefact: Option<String>,
}

impl RecordedFailure {
    /// The journal's events about it.
    pub fn events(&self) -> Vec<FailureEvent> {
        let Some((occurrence, classified)) = &self.occurrence else { return Vec::new() };
        let mut events = vec![
            FailureEvent::FailureRecorded { occurrence: occurrence.clone(), confidence: classified.confidence },
            FailureEvent::report_generated(occurrence, &self.report, self.artefact.clone()),
        ];
        let suggestions = self.suggestions.iter().cloned();
        events.extend(suggestions.map(|suggestion| FailureEvent::SuggestionRecorded { suggestion }));
        events
    }
}

impl FailureService {
    /// Failure intelligence for the state directory with this root. Opens nothing: a locked memory delays no start.
    pub fn new(root: &Path, settings: FailureSettings) -> Self {
        Self::with_access(root, settings, Access::ReadWrite)
    }

    pub(crate) fn memory_use(&self) -> MemoryUse {
        self.state.settings.memory
    }

    /// For a command that only reads: what does not exist is not made.
    pub fn read_only(root: &Path) -> Self {
        Self::with_access(root, FailureSettings::default(), Access::ReadOnly)
    }

    fn with_access(root: &Path, settings: FailureSettings, access: Access) -> Self {
        let file = match settings.memory {
            MemoryUse::On => Some(root.join(StateDir::FAILURES)),
            MemoryUse::Off => {
                tracing::warn!(
                    "failures are classified and reported, but not remembered: `[failures] memory` of helix.toml is off"
                );
                None
            }
        };
        let (documents, checked) = mpsc::channel(DOCUMENTS_WAITING);
        Self {
            state: Arc::new(ServiceState {
                file,
                access,
                memory: OnceCell::new(),
                settings,
                classifier: OnceLock::new(),
                reports: ReportStore::new(root),
                logged: Mutex::default(),
                documents,
                checked: Mutex::new(Some(checked)),
            }),
        }
    }

    /// The memory, opened if need be; `None` if failures are not remembered or it cannot be opened, which is logged. The next
    /// caller tries again.
    #[boxed]
    pub async fn memory(&self) -> Option<FailureMemory> {
        let file = self.state.file.clone()?;
        let deadline = self.state.settings.deadline.min(Duration::from_secs(5));
        let opening = self.state.memory.get_or_try_init(|| async {
            let options = DatabaseOptions::new(file, self.state.access).within(deadline);
            FailureMemory::open(options).await
        });
        opening.await.map_err(|error| self.log(error.code(), &error.hint(), &error)).ok().cloned()
    }

    /// Where reports are kept.
    pub(crate) fn reports(&self) -> &ReportStore {
        &self.state.reports
    }

    /// Compiles the rules in the background, if that was not done yet: a tenth of a second that the first failure need not wait.
    pub(crate) fn warm_up(&self) {
        if self.state.classifier.get().is_none() {
            let state = Arc::clone(&self.state);
            drop(helix_process::spawn_blocking(move || state.classifier().is_some()));
        }
    }

    /// Hands a checked document to the observer, without waiting: what does not fit is not remembered.
    pub(super) fn hand_over(&self, document: CheckedDocument) {
        if let Err(error) = self.state.documents.try_send(document) {
            tracing::debug!(%error, "a checked document is not remembered");
        }
    }

    /// The documents that are handed over; there is one receiver.
    pub(crate) fn checked_documents(&self) -> Option<mpsc::Receiver<CheckedDocument>> {
        self.state.checked.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Classifies and reports a failure, then asks the memory, and reports what that adds. The first report does not wait for
    /// the memory, so that the next prompt has at least that.
    #[boxed]
    pub async fn record(&self, context: FailureContext) -> RecordedFailure {
        let context = Arc::new(context);
        let Some(classified) = self.classified(Arc::clone(&context), |one| (&one.observation, &one.log)).await else {
            let missing = || "the failure could not be classified".to_owned();
            let report = report(&context, Section::Missing(missing()), Section::Missing(missing()), &[]);
            let artefact = self.state.reports.keep(&report, &context.place).await.artefact;
            return RecordedFailure { occurrence: None, suggestions: Vec::new(), report, artefact };
        };
        let occurrence = Occurrence::new(&context.observation.tool, &classified, context.place.clone(), context.at);
        let drafts = |past: &[PastFailure]| {
            suggest(&context.observation, &classified, &context.log, &context.report_place, past)
        };
        let suggested = |drafts: Vec<SuggestionDraft>| -> Vec<Suggestion> {
            let holdout = self.state.settings.holdout;
            drafts.into_iter().map(|draft| Suggestion::new(draft, &occurrence, holdout)).collect()
        };
        let known = || Section::Known(&classified);
        if let Some(file) = &self.state.file {
            let asking = Section::Missing(format!("{} has not answered yet", file.display()));
            let first = report(&context, known(), asking, &suggested(drafts(&[])));
            self.state.reports.keep(&first, &context.place).await;
        }

        // Captured first: a fix that has just not held is not offered any more.
        let memory = self.memory().await;
        let memory = memory.as_ref();
        if let Some(memory) = memory {
            self.answered(memory.capture(occurrence.clone()).await);
        }
        let project = Some(occurrence.place.project.clone());
        let similar = self.recalled(memory, &occurrence.diagnosis, project, occurrence.at, occurrence.at).await;
        let past = similar.known().cloned().unwrap_or_default();
        let mut suggestions = suggested(self.ranked(memory, &occurrence.diagnosis.cause, drafts(&past)).await);
        let report = report(&context, known(), similar, &suggestions);
        let kept = self.state.reports.keep(&report, &context.place).await;
        if kept.prompt == Prompt::TooLate {
            // Nothing may be learned from the next attempt about what its agent never saw.
            for one in suggestions.iter_mut().filter(|one| matches!(one.source, SuggestionSource::PastFix { .. })) {
                one.exposure = Exposure::Missed;
            }
        }
        if let Some(memory) = memory {
            self.answered(memory.record_suggestions(suggestions.clone()).await);
        }
        RecordedFailure { occurrence: Some((occurrence, classified)), suggestions, report, artefact: kept.artefact }
    }

    /// Past failures of a project, or with `None` of any, like one that is not recorded.
    #[boxed]
    pub async fn similar(
        &self,
        observation: FailureObservation,
        log: LogSample,
        project: Option<String>,
    ) -> Vec<PastFailure> {
        let context = Arc::new((observation, log));
        let Some(classified) = self.classified(Arc::clone(&context), |one| (&one.0, &one.1)).await else {
            return Vec::new();
        };
        self.recall(&Diagnosis::new(&context.0.tool, &classified), project, Timestamp::MAX)
            .await
            .known()
            .cloned()
            .unwrap_or_default()
    }

    /// The commit from which the change of an attempt is measured: that of the oldest failure of its work that is open.
    #[boxed]
    pub async fn changed_since(&self, work: &Work) -> Option<CommitId> {
        self.open_failures(work).await.into_iter().find_map(|open| open.commit)
    }

    /// Draws what follows from an attempt: only what its checks looked at is resolved. Its files and diff are those since the commit
    /// that [`FailureService::changed_since`] names.
    #[boxed]
    pub async fn attempt_ended(&self, answer: AttemptAnswer) -> Resolution {
        let Some(memory) = self.memory().await else { return Resolution::default() };
        self.answered(memory.resolve_outstanding(answer).await).unwrap_or_default()
    }

    /// Draws what follows from an attempt that failed again, in this check and with this log. Its own failure was recorded before.
    #[boxed]
    pub async fn attempt_failed_again(&self, answer: AttemptAnswer, check: String, log: LogSample) -> Resolution {
        let open = self.open_failures(&answer.change.work).await;
        let (attempt, failed) = (answer.change.attempt, vec![check.clone()]);
        let looked = helix_process::spawn_blocking(move || still_there(&open, attempt, &check, &log)).await;
        let still = looked.unwrap_or_else(|error| {
            tracing::error!(%error, "earlier failures were not looked for in the log");
            Vec::new()
        });
        self.attempt_ended(AttemptAnswer { failed, still, ..answer }).await
    }

    /// Notes that the work on a phase (or with `None` on a whole job) ceased; returns the suggestions whose outcome stays unknown.
    #[boxed]
    pub async fn cease(&self, job: &JobId, phase: Option<&PhaseId>, how: Ceasing, at: Timestamp) -> Vec<Suggestion> {
        let Some(memory) = self.memory().await else { return Vec::new() };
        self.answered(memory.cease(job.clone(), phase.cloned(), how, at).await).unwrap_or_default()
    }

    pub(super) async fn open_failures(&self, work: &Work) -> Vec<OpenFailure> {
        let Some(memory) = self.memory().await else { return Vec::new() };
        self.answered(memory.open_failures(work.clone()).await).unwrap_or_default()
    }

    pub(super) async fn last_attempt(&self, work: &Work) -> u32 {
        let Some(memory) = self.memory().await else { return 0 };
        self.answered(memory.last_attempt(work.clone()).await).unwrap_or_default()
    }

    /// Classifies away from the runtime's threads: a log has megabytes.
    pub(crate) async fn classified<T: Send + Sync + 'static>(
        &self,
        context: Arc<T>,
        parts: fn(&T) -> (&FailureObservation, &LogSample),
    ) -> Option<Classified> {
        let state = Arc::clone(&self.state);
        let working = helix_process::spawn_blocking(move || {
            let (observation, log) = parts(&context);
            state.classifier().map(|classifier| classifier.classify(observation, log))
        });
        working.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a failure was not classified");
            None
        })
    }

    /// Past failures like this one, or why none can be named.
    pub(crate) async fn recall(
        &self,
        diagnosis: &Diagnosis,
        project: Option<String>,
        before: Timestamp,
    ) -> Section<Vec<PastFailure>> {
        self.recalled(self.memory().await.as_ref(), diagnosis, project, Timestamp::now(), before).await
    }

    async fn recalled(
        &self,
        memory: Option<&FailureMemory>,
        diagnosis: &Diagnosis,
        project: Option<String>,
        at: Timestamp,
        before: Timestamp,
    ) -> Section<Vec<PastFailure>> {
        let Some(memory) = memory else { return Section::Missing(NOT_REMEMBERED.to_owned()) };
        let query = SimilarQuery { diagnosis: diagnosis.clone(), project, most: SIMILAR, now: at };
        match memory.similar(query).await {
            Ok(mut failures) => {
                // A failure whose report is made late is in the memory itself.
                failures.retain(|past| past.known.first_seen < before);
                Section::Known(failures)
            }
            Err(error) => {
                self.log(error.code(), &error.hint(), &error);
                Section::Missing(error_chain(&error))
            }
        }
    }

    /// What the memory offers stays first; the rest is ordered by how well it did, in steps of a tenth, so that little
    /// evidence changes nothing.
    async fn ranked(
        &self,
        memory: Option<&FailureMemory>,
        cause: &str,
        drafts: Vec<SuggestionDraft>,
    ) -> Vec<SuggestionDraft> {
        let Some(memory) = memory else { return drafts };
        let texts = drafts.iter().map(|draft| redact(&draft.text).into_owned()).collect();
        let Some(rates) = self.answered(memory.effectiveness(cause.to_owned(), texts).await) else { return drafts };
        let mut rated: Vec<_> = drafts.into_iter().zip(rates).collect();
        rated.sort_by_key(|(draft, effectiveness)| match draft.source {
            SuggestionSource::PastFix { .. } => i64::MIN,
            SuggestionSource::Cause | SuggestionSource::Phase => -((effectiveness.rate * 10.0).round() as i64),
        });
        rated.into_iter().map(|(draft, _)| draft).collect()
    }

    /// Forgets what was not seen for long.
    pub(crate) async fn forget_stale(&self, now: Timestamp) {
        let Some(memory) = self.memory().await else { return };
        let forgotten = self.answered(memory.decay(now).await).unwrap_or_default();
        if forgotten > 0 {
            tracing::info!(forgotten, "forgot failures that were not seen for long");
        }
    }

    fn answered<T>(&self, answer: Result<T, MemoryError>) -> Option<T> {
        answer.map_err(|error| self.log(error.code(), &error.hint(), &error)).ok()
    }

    /// Logs trouble, once per kind.
    fn log(&self, code: &'static str, hint: &str, error: &dyn std::error::Error) {
        let new = self.state.logged.lock().unwrap_or_else(PoisonError::into_inner).insert(code);
        if new {
            tracing::warn!(code, hint, "the memory of failures is of no help: {}", error_chain(error));
        }
    }
}

impl ServiceState {
    /// Blocks while the rules are compiled.
    fn classifier(&self) -> Option<&Classifier> {
        let compile = || match Classifier::new() {
            Ok(classifier) => Some(classifier),
            Err(error) => {
                tracing::error!(%error, "failures are not classified");
                None
            }
        };
        self.classifier.get_or_init(compile).as_ref()
    }
}

fn report(
    context: &FailureContext,
    classified: Section<&Classified>,
    similar: Section<Vec<PastFailure>>,
    suggestions: &[Suggestion],
) -> Report {
    Report::build(ReportRequest {
        place: context.report_place.clone(),
        observation: &context.observation,
        classified,
        log: &context.log,
        similar,
        suggestions,
    })
}

/// Earlier failures that a check's log still shows, though another one is the cause now.
fn still_there(open: &[OpenFailure], attempt: u32, check: &str, log: &LogSample) -> Vec<Fingerprint> {
    let earlier =
        open.iter().filter(|open| open.attempt < attempt && open.check == check && !open.diagnosis.message.is_empty());
    let shown = earlier.filter(|open| {
        // Normalising every line of a log would take long: only lines with the message's longest word are.
        let Some(mark) = longest_word(&open.diagnosis.message) else { return false };
        log.lines
            .iter()
            .any(|line| line.raw.contains(mark) && normalise(&plain_text(&line.raw)) == open.diagnosis.message)
    });
    shown.map(|open| open.diagnosis.fingerprint.clone()).collect()
}

/// The longest word of a normalised message that is no mask.
fn longest_word(message: &str) -> Option<&str> {
    let parts = message.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|part| !["", "n", "id", "path", "url", "time"].contains(part)).max_by_key(|part| part.len())
}
