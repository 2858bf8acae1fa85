//! The one place where the engine hands in failures and gets back what is known about them.
//!
//! Must not fail outward: trouble with the memory is logged once of each kind, and everything else goes on without it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_failure::event::FailureEvent;
use helix_failure::memory::{
    AttemptAnswer, Diagnosis, Holdout, Occurrence, PastFailure, Resolution, SimilarQuery, Suggestion, SuggestionDraft,
    SuggestionSource, Work,
};
use helix_failure::report::{HISTORY_TOKENS, Report, ReportRequest, Section, suggest};
use helix_failure::{Classified, Classifier, Fingerprint, Log, normalise, plain_text, redact};
use helix_store::failures::{
    Ceasing, FailureMemory, MemoryError, MemoryOptions, OpenFailure, SqliteFailureMemory, Stale, Trouble,
};
use helix_store::{Access, StateDir};
use jiff::{SignedDuration, Timestamp};

use super::context::{AttemptSite, FailureContext};
use super::drafts::RefusedDrafts;
use super::renewal;

/// Past failures that are looked for.
pub(super) const SIMILAR: usize = 3;
/// Failures that were seen once are forgotten after half a year without another.
const ONCE: SignedDuration = SignedDuration::from_hours(24 * 180);
/// Others after two years.
const ANY: SignedDuration = SignedDuration::from_hours(24 * 730);
/// At most so many at a start, so that no start waits for it.
const FORGOTTEN_AT_ONCE: usize = 200;

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

/// Whether failures are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryUse {
    /// They are.
    On,
    /// They are classified and reported only.
    Off,
}

impl Default for FailureSettings {
    fn default() -> Self {
        Self { memory: MemoryUse::On, holdout: Holdout::default(), deadline: Duration::from_secs(2) }
    }
}

/// Classifies, remembers, reports. Cheap to clone; all clones are the same desk.
#[derive(Clone)]
pub struct FailureDesk {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) memory: Option<Arc<dyn FailureMemory>>,
    /// Compiled at the first failure: it takes tenths of a second and 25 MiB, which a host that sees none need not pay.
    /// `None` if the rule table does not compile, which a test excludes.
    classifier: OnceLock<Option<Classifier>>,
    holdout: Holdout,
    /// Kinds of trouble that were logged.
    told: Mutex<BTreeSet<String>>,
    /// Plans and ADRs as they were refused last.
    refused: Mutex<RefusedDrafts>,
}

impl Shared {
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

/// What is known of a failure once it is handed in.
#[derive(Debug, Clone)]
pub struct RecordedFailure {
    /// What is remembered of it; `None` if it could not be classified.
    pub occurrence: Option<Occurrence>,
    /// What it is.
    pub classified: Option<Classified>,
    /// How often the same failure had been seen before.
    pub seen_before: u64,
    /// Past failures like it, with known ends.
    pub similar: Vec<PastFailure>,
    /// Two to four suggestions as they were recorded, shown ones and ones that are held back.
    pub suggestions: Vec<Suggestion>,
    /// All of that for people, GitHub, programs and prompts.
    pub report: Report,
}

impl RecordedFailure {
    /// What the agent's next prompt is told of it: within the usual budget, and without what is held back.
    pub fn prompt(&self) -> String {
        self.report.prompt(HISTORY_TOKENS)
    }

    /// The journal's events about it; `artefact` is where the report was saved, relative to the state directory.
    pub fn events(&self, artefact: Option<String>) -> Vec<FailureEvent> {
        let (Some(occurrence), Some(classified)) = (&self.occurrence, &self.classified) else { return Vec::new() };
        let mut events = vec![
            FailureEvent::failure_recorded(occurrence, classified),
            FailureEvent::report_generated(occurrence, &self.report, artefact),
        ];
        events.extend(self.suggestions.iter().map(FailureEvent::suggestion_recorded));
        events
    }
}

/// How an attempt ended: what its checks really saw, and what was changed.
#[derive(Debug, Clone)]
pub struct AttemptEnd {
    /// Where.
    pub site: AttemptSite,
    /// Checks that were made and found nothing, by the names of [`helix_failure::memory::check`]. What was not
    /// reached or was inconclusive is not among them.
    pub passed: Vec<String>,
    /// Files changed since the commit that [`FailureDesk::changed_since`] names.
    pub files: Vec<String>,
    /// That change as a unified diff.
    pub diff: String,
    /// When.
    pub at: Timestamp,
}

impl FailureDesk {
    /// Opens the memory of a state directory. Without one that works, failures are classified and reported all the same.
    pub async fn open(state: &StateDir, settings: FailureSettings) -> Self {
        let mut trouble = None;
        let memory: Option<Arc<dyn FailureMemory>> = match settings.memory {
            MemoryUse::Off => None,
            MemoryUse::On => {
                let options = MemoryOptions::new(state.failures(), Access::ReadWrite);
                match SqliteFailureMemory::open(options.within(settings.deadline.min(Duration::from_secs(5)))).await {
                    Ok(memory) => Some(Arc::new(memory)),
                    Err(error) => {
                        trouble = Some(Trouble::from(&error));
                        None
                    }
                }
            }
        };
        if settings.memory == MemoryUse::Off {
            tracing::warn!(
                "failures are classified and reported, but not remembered: `[failures] memory` of helix.toml is off"
            );
        }
        let desk = Self::with_memory(memory, settings.holdout);
        trouble.iter().for_each(|trouble| desk.tell(trouble));
        tokio::spawn(renewal::run(Arc::downgrade(&desk.shared)));
        desk.forget_stale(Timestamp::now()).await;
        desk
    }

    /// A desk over this memory, or over none.
    pub fn with_memory(memory: Option<Arc<dyn FailureMemory>>, holdout: Holdout) -> Self {
        Self {
            shared: Arc::new(Shared {
                memory,
                classifier: OnceLock::new(),
                holdout,
                told: Mutex::default(),
                refused: Mutex::default(),
            }),
        }
    }

    /// The memory, for those who list, show and search it.
    pub fn memory(&self) -> Option<Arc<dyn FailureMemory>> {
        self.shared.memory.clone()
    }

    /// Classifies a failure, remembers it, recalls what is like it, records what is suggested, and reports.
    pub async fn record_failure(&self, context: FailureContext) -> RecordedFailure {
        let context = Arc::new(context);
        let Some(classified) = self.classify(&context).await else {
            let missing = || "the failure could not be classified".to_owned();
            let report = Report::of(ReportRequest {
                place: context.report_place.clone(),
                observation: &context.observation,
                classified: Section::Missing(missing()),
                log: &context.log,
                similar: Section::Missing(missing()),
                suggestions: &[],
            });
            return RecordedFailure {
                occurrence: None,
                classified: None,
                seen_before: 0,
                similar: Vec::new(),
                suggestions: Vec::new(),
                report,
            };
        };
        let occurrence = Occurrence::of(&context.observation.tool, &classified, context.place.clone(), context.at);
        let (seen_before, similar) = self.remember(&occurrence).await;
        let found = similar.known().cloned().unwrap_or_default();
        let drafts = suggest(&context.observation, &classified, &context.log, &context.report_place, &found);
        let drafts = self.ranked(&occurrence.diagnosis.cause, drafts).await;
        let suggestions: Vec<Suggestion> =
            drafts.into_iter().map(|draft| Suggestion::of(draft, &occurrence, self.shared.holdout)).collect();
        if let Some(memory) = &self.shared.memory {
            self.heard(memory.record_suggestions(suggestions.clone()).await);
        }
        let report = Report::of(ReportRequest {
            place: context.report_place.clone(),
            observation: &context.observation,
            classified: Section::Known(&classified),
            log: &context.log,
            similar: match &similar {
                Section::Known(similar) => Section::Known(similar),
                Section::Missing(reason) => Section::Missing(reason.clone()),
            },
            suggestions: &suggestions,
        });
        RecordedFailure {
            occurrence: Some(occurrence),
            classified: Some(classified),
            seen_before,
            similar: found,
            suggestions,
            report,
        }
    }

    /// Past failures like one that is not recorded: for conversations and tools.
    pub async fn similar(&self, observation: helix_failure::FailureObservation, log: Log) -> Vec<PastFailure> {
        let Some(memory) = &self.shared.memory else { return Vec::new() };
        let at = Timestamp::now();
        let context = Arc::new((observation, log));
        let Some(classified) = self.classified(Arc::clone(&context), |context| (&context.0, &context.1)).await else {
            return Vec::new();
        };
        let query = SimilarQuery::like(&Diagnosis::of(&context.0.tool, &classified), SIMILAR, at);
        let recalled = memory.similar(query).await;
        recalled.trouble.iter().for_each(|trouble| self.tell(trouble));
        recalled.failures
    }

    /// The commit from which the change of an attempt is measured: that of the oldest failure of its work that is open.
    pub async fn changed_since(&self, work: &Work) -> Option<CommitId> {
        self.open_failures(work).await.into_iter().find_map(|open| open.commit)
    }

    /// Draws what follows from an attempt that passed: only what its checks looked at is resolved.
    pub async fn attempt_passed(&self, end: AttemptEnd) -> Resolution {
        self.resolve(end, Vec::new(), Vec::new()).await
    }

    /// Draws what follows from an attempt that failed again, in these checks and with these logs. Its own failures were
    /// recorded before.
    pub async fn attempt_failed_again(&self, end: AttemptEnd, failed: Vec<(String, Log)>) -> Resolution {
        let open = self.open_failures(&end.site.work).await;
        let attempt = end.site.attempt;
        let names = failed.iter().map(|(check, _)| check.clone()).collect();
        let looked = tokio::task::spawn_blocking(move || still_there(&open, attempt, &failed)).await;
        let still = looked.unwrap_or_else(|error| {
            tracing::error!(%error, "earlier failures were not looked for in the log");
            Vec::new()
        });
        self.resolve(end, names, still).await
    }

    /// Notes that a phase (or with `None` a whole job) was given up; returns the suggestions whose outcome stays unknown.
    pub async fn gave_up(&self, job: &JobId, phase: Option<&PhaseId>, at: Timestamp) -> Vec<Suggestion> {
        self.cease(job, phase, Ceasing::GaveUp, at).await
    }

    /// Notes that a job was stopped, which says nothing about its failures; returns as [`FailureDesk::gave_up`].
    pub async fn stopped(&self, job: &JobId, at: Timestamp) -> Vec<Suggestion> {
        self.cease(job, None, Ceasing::Stopped, at).await
    }

    async fn cease(&self, job: &JobId, phase: Option<&PhaseId>, how: Ceasing, at: Timestamp) -> Vec<Suggestion> {
        let Some(memory) = &self.shared.memory else { return Vec::new() };
        self.heard(memory.cease(job.clone(), phase.cloned(), how, at).await).unwrap_or_default()
    }

    async fn resolve(&self, end: AttemptEnd, failed: Vec<String>, still: Vec<Fingerprint>) -> Resolution {
        let Some(memory) = &self.shared.memory else { return Resolution::default() };
        let AttemptEnd { site, passed, files, diff, at } = end;
        let answer = AttemptAnswer {
            project: site.project,
            work: site.work,
            attempt: site.attempt,
            passed,
            failed,
            still,
            commit: site.commit,
            files,
            diff,
            at,
        };
        self.heard(memory.resolve_outstanding(answer).await).unwrap_or_default()
    }

    pub(super) async fn open_failures(&self, work: &Work) -> Vec<OpenFailure> {
        let Some(memory) = &self.shared.memory else { return Vec::new() };
        self.heard(memory.open_failures(work.clone()).await).unwrap_or_default()
    }

    async fn classify(&self, context: &Arc<FailureContext>) -> Option<Classified> {
        self.classified(Arc::clone(context), |context| (&context.observation, &context.log)).await
    }

    /// Classifies away from the runtime's threads: a log has megabytes.
    pub(super) async fn classified<T: Send + Sync + 'static>(
        &self,
        context: Arc<T>,
        parts: fn(&T) -> (&helix_failure::FailureObservation, &Log),
    ) -> Option<Classified> {
        let shared = Arc::clone(&self.shared);
        let working = tokio::task::spawn_blocking(move || {
            let (observation, log) = parts(&context);
            shared.classifier().map(|classifier| classifier.classify(observation, log))
        });
        working.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a failure was not classified");
            None
        })
    }

    /// Captures, then recalls: a fix that has just not held is not offered any more.
    async fn remember(&self, occurrence: &Occurrence) -> (u64, Section<Vec<PastFailure>>) {
        let Some(memory) = &self.shared.memory else {
            return (0, Section::Missing("failures are not remembered here".into()));
        };
        let captured = self.heard(memory.capture(occurrence.clone()).await);
        let recalled = memory.similar(SimilarQuery::like(&occurrence.diagnosis, SIMILAR, occurrence.at)).await;
        let similar = match recalled.trouble {
            Some(trouble) => {
                self.tell(&trouble);
                Section::Missing(trouble.message)
            }
            None => Section::Known(recalled.failures),
        };
        (captured.map_or(0, |captured| captured.count.saturating_sub(1)), similar)
    }

    /// What the memory offers stays first; the rest is ordered by how well it did, in steps of a tenth, so that little
    /// evidence changes nothing.
    async fn ranked(&self, cause: &str, drafts: Vec<SuggestionDraft>) -> Vec<SuggestionDraft> {
        let Some(memory) = &self.shared.memory else { return drafts };
        let texts = drafts.iter().map(|draft| redact(&draft.text).into_owned()).collect();
        let Some(rates) = self.heard(memory.effectiveness(cause.to_owned(), texts).await) else { return drafts };
        let mut rated: Vec<_> = drafts.into_iter().zip(rates).collect();
        rated.sort_by_key(|(draft, effectiveness)| match draft.source {
            SuggestionSource::PastFix { .. } => i64::MIN,
            SuggestionSource::Cause | SuggestionSource::Phase => -((effectiveness.rate * 10.0).round() as i64),
        });
        rated.into_iter().map(|(draft, _)| draft).collect()
    }

    async fn forget_stale(&self, now: Timestamp) {
        let Some(memory) = &self.shared.memory else { return };
        let before = |age| now.checked_sub(age).unwrap_or(Timestamp::MIN);
        let stale = Stale { once_before: before(ONCE), any_before: before(ANY), most: FORGOTTEN_AT_ONCE };
        if let Some(forgotten) = self.heard(memory.decay(stale).await)
            && forgotten > 0
        {
            tracing::info!(forgotten, "forgot failures that were not seen for long");
        }
    }

    /// Keeps a document's text as it was refused, or takes it out.
    pub(super) fn refused(&self) -> std::sync::MutexGuard<'_, RefusedDrafts> {
        self.shared.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn last_attempt(&self, work: &Work) -> u32 {
        let Some(memory) = &self.shared.memory else { return 0 };
        self.heard(memory.last_attempt(work.clone()).await).unwrap_or_default()
    }

    fn heard<T>(&self, answer: Result<T, MemoryError>) -> Option<T> {
        self.shared.heard(answer)
    }

    /// Logs trouble, once of each kind.
    pub(super) fn tell(&self, trouble: &Trouble) {
        self.shared.tell(trouble);
    }
}

impl Shared {
    pub(super) fn heard<T>(&self, answer: Result<T, MemoryError>) -> Option<T> {
        answer.map_err(|error| self.tell(&Trouble::from(&error))).ok()
    }

    fn tell(&self, trouble: &Trouble) {
        let new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(trouble.code.clone());
        if new {
            let Trouble { code, message, hint } = trouble;
            tracing::warn!(code, hint, "the memory of failures is of no help: {message}");
        }
    }
}

/// Earlier failures that a log still shows, though another one is the cause now.
fn still_there(open: &[OpenFailure], attempt: u32, failed: &[(String, Log)]) -> Vec<Fingerprint> {
    let earlier = open.iter().filter(|open| open.attempt < attempt && !open.message.is_empty());
    let shown = earlier.filter(|open| {
        // Normalising every line of a log would take long: only lines with the message's longest word are.
        let Some(mark) = longest_word(&open.message) else { return false };
        let logs = failed.iter().filter(|(check, _)| *check == open.check);
        logs.flat_map(|(_, log)| &log.lines)
            .any(|line| line.raw.contains(mark) && normalise(&plain_text(&line.raw)) == open.message)
    });
    shown.map(|open| open.fingerprint.clone()).collect()
}

/// The longest word of a normalised message that is no mask.
fn longest_word(message: &str) -> Option<&str> {
    let parts = message.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|part| !["", "n", "id", "path", "url", "time"].contains(part)).max_by_key(|part| part.len())
}
