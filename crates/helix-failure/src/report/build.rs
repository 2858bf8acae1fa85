//! Builds a report from what is known: four sections, each of which is there whatever became of the others.
//!
//! Must not know how a report looks anywhere.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::excerpt::{Excerpt, excerpt};
use super::neutral::{LINE, line};
use super::place::FailurePlace;
use super::suggest::{FEWEST_ACTIONS, MOST_ACTIONS, suggest};
use crate::cause;
use crate::classify::Classified;
use crate::fingerprint::Fingerprint;
use crate::json_line::{self, Record};
use crate::location::Location;
use crate::log::LogSample;
use crate::memory::{
    Closeness, Diagnosis, Exposure, FailureEnd, PastFailure, Suggestion, SuggestionDraft, SuggestionSource,
};
use crate::observation::{FailureObservation, Termination};
use crate::plain::plain_text;
use crate::verdict::{Blame, Category, RetryAdvice};
use helix_core::ids::{CommitId, JobId};
use helix_core::said::of_job;
use helix_core::secrets::redact;

/// Version of the JSON form.
const FORMAT: u32 = 1;
const SIMILAR: usize = 3;
/// Characters shown of the diff of a past fix.
const DIFF: usize = 2_000;
/// Characters shown of a goal.
const GOAL: usize = 600;

/// A section: what it says, or why it says nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", content = "content", rename_all = "snake_case")]
pub enum Section<T> {
    /// It says this.
    Known(T),
    /// It could not be made, for this reason.
    Missing(String),
}

impl<T> Section<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(content) => Some(content),
            Self::Missing(_) => None,
        }
    }
}

/// What a report is made from.
#[derive(Debug, Clone)]
pub struct ReportRequest<'a> {
    pub place: FailurePlace,
    /// What the supervisor saw.
    pub observation: &'a FailureObservation,
    /// What the classifier says; or why there is no answer.
    pub classified: Section<&'a Classified>,
    pub log: &'a LogSample,
    /// What the memory knows of failures like this; or why it could not be asked.
    pub similar: Section<Vec<PastFailure>>,
    /// What was recorded as suggested for this occurrence. None: the report suggests by itself, and nothing is measured.
    pub suggestions: &'a [Suggestion],
}

/// Who reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person, who sees everything.
    Person,
    /// An agent, who does not see what is held back for comparison.
    Agent,
}

/// A failure report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Version of this form.
    pub format: u32,
    /// Identity of the failure across attempts, if it was classified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// What failed.
    pub what_failed: WhatFailed,
    /// Why.
    pub why: Section<Why>,
    /// Failures of the past that resemble it, nearest first; may be empty.
    pub similar: Section<Vec<SimilarFailure>>,
    /// Two to four things to do, most useful first.
    pub actions: Vec<SuggestedAction>,
    /// Whether the agent may see what comes from the memory: a share is held back, so that its benefit can be measured.
    pub exposure: Exposure,
}

/// The first section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhatFailed {
    /// One line: what failed.
    pub headline: String,
    /// Where.
    pub place: FailurePlace,
    /// The tool; empty when not known.
    pub tool: String,
    /// The command line, redacted; empty when not known.
    pub command: String,
    /// How it ended, in words.
    pub ended: String,
}

/// What a failure was classified as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
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
}

/// The second section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The answer.
    #[serde(flatten)]
    pub classification: Classification,
    /// What the category means, in words.
    pub meaning: String,
    /// Places in files near the cause, the project's own first.
    pub locations: Vec<Location>,
    /// The log around the cause.
    pub excerpt: Excerpt,
}

/// One past failure, as a report shows it. Everything in it is data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarFailure {
    /// Its identity: `helix failures show` knows it.
    pub fingerprint: Fingerprint,
    /// One line.
    pub summary: String,
    /// The finer cause.
    pub cause: String,
    /// How close it is.
    pub closeness: Closeness,
    /// How often it was seen.
    pub count: u64,
    /// When it was seen last.
    pub last_seen: Timestamp,
    /// How it ended: `fixed`, `went_away`, `gave_up` or `open`.
    pub ended: String,
    /// Files that the fix changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The commit of the fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The job of the fix; absent where it was not made in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The fix as a unified diff, redacted and cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedAction {
    /// Names the recorded suggestion, if it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What to do.
    pub text: String,
    /// Where it comes from.
    pub source: SuggestionSource,
}

impl Report {
    /// Builds a report. Every section is made by itself: one that cannot be made says why, and the others are as they are.
    pub fn build(request: ReportRequest<'_>) -> Self {
        let classified = request.classified.known().copied();
        let similar = match &request.similar {
            Section::Known(past) => Section::Known(past.iter().take(SIMILAR).map(similar_failure).collect()),
            Section::Missing(reason) => Section::Missing(line(reason, LINE)),
        };
        let held_back = request.suggestions.iter().any(|suggestion| suggestion.exposure == Exposure::HeldBack);
        Self {
            format: FORMAT,
            fingerprint: classified.map(|classified| Diagnosis::new(&request.observation.tool, classified).fingerprint),
            what_failed: what_failed(&request, classified),
            why: match &request.classified {
                Section::Known(classified) => Section::Known(why(classified, request.log, request.place.job.as_ref())),
                Section::Missing(reason) => Section::Missing(line(reason, LINE)),
            },
            similar,
            actions: actions(&request, classified),
            exposure: if held_back { Exposure::HeldBack } else { Exposure::Shown },
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Past failures as this reader sees them; nothing where they are kept from it.
    pub(super) fn similar_for(&self, reader: Reader) -> Option<&Section<Vec<SimilarFailure>>> {
        (reader == Reader::Person || self.exposure != Exposure::HeldBack).then_some(&self.similar)
    }

    /// The actions that this reader sees.
    pub(super) fn actions_for(&self, reader: Reader) -> impl Iterator<Item = &SuggestedAction> {
        let all = self.similar_for(reader).is_some();
        self.actions.iter().filter(move |action| all || !matches!(action.source, SuggestionSource::PastFix { .. }))
    }
}

fn what_failed(request: &ReportRequest<'_>, classified: Option<&Classified>) -> WhatFailed {
    let observation = request.observation;
    let place = FailurePlace {
        project: line(&request.place.project, LINE),
        phase_name: line(&request.place.phase_name, LINE),
        goal: line(&request.place.goal, GOAL),
        check: line(&request.place.check, LINE),
        adr: request.place.adr.as_deref().map(|adr| line(adr, LINE)),
        issue: request.place.issue.as_deref().map(|issue| line(issue, LINE)),
        document: line(&request.place.document, LINE),
        log: line(&request.place.log, LINE),
        ..request.place.clone()
    };
    let said = classified
        .and_then(|classified| classified.cause_line.as_ref())
        .map(|cause| line(&displayed_text(&cause.text), 160));
    let headline = said.filter(|said| !said.is_empty()).unwrap_or_else(|| match classified {
        Some(classified) => classified.cause.replace('_', " "),
        None => "it is not known what failed".to_owned(),
    });
    WhatFailed {
        headline,
        place,
        tool: line(&observation.tool, 80),
        command: line(&observation.argv.join(" "), LINE),
        ended: ended(observation),
    }
}

/// What a line says: the text that a record of a tool or an agent stands for, or the line itself.
fn displayed_text(raw: &str) -> String {
    let plain = plain_text(raw);
    let text = match json_line::read(plain.trim()) {
        Some(Record::Diagnostic(text) | Record::Text(text)) => text,
        // The classifier's form of an agent's result: what it is by, a colon, and the agent's own words.
        Some(Record::AgentResult(text)) => match text.split_once(": ") {
            Some((facts, words)) if facts.starts_with("agent-result ") => {
                let kind = facts.split(' ').find_map(|fact| fact.strip_prefix("subtype=")).unwrap_or_default();
                if words.trim().is_empty() { format!("the agent's result is {kind}") } else { words.to_owned() }
            }
            Some(_) | None => text,
        },
        Some(Record::AgentContent | Record::AgentEvent | Record::Noise) | None => String::new(),
    };
    if text.trim().is_empty() { plain } else { text }
}

fn ended(observation: &FailureObservation) -> String {
    let mut parts = Vec::new();
    if observation.deadline_passed {
        parts.push("stopped at its time limit".to_owned());
    }
    if observation.oom_kills > 0 {
        parts.push("killed for memory".to_owned());
    }
    match observation.termination {
        Termination::Exited { code } => parts.push(format!("exit status {code}")),
        Termination::Signaled { signal } => parts.push(format!("ended by signal {signal}")),
        Termination::NotStarted { errno } => parts.push(format!("could not be started (error {errno})")),
        Termination::Cancelled => parts.push("cancelled".to_owned()),
        Termination::Unknown => {}
    }
    if let Some(status) = observation.http_status {
        parts.push(format!("HTTP status {status}"));
    }
    parts.join(", ")
}

fn why(classified: &Classified, log: &LogSample, job: Option<&JobId>) -> Why {
    let mut excerpt = excerpt(log, classified.cause_line.as_ref());
    if let Some(job) = job {
        excerpt.lines.iter_mut().for_each(|shown| shown.text = of_job(&shown.text, job));
    }
    let cause_line = classified.cause_line.as_ref().map(|cause| line(&cause.text, LINE));
    Why {
        classification: Classification {
            category: classified.category,
            cause: classified.cause.to_owned(),
            retry: classified.retry,
            blame: classified.blame,
            confidence: classified.confidence,
            decided_by: classified.evidence.decided_by.clone(),
            cause_line: cause_line.filter(|text| !text.is_empty()),
        },
        meaning: meaning(classified.category).to_owned(),
        locations: classified
            .locations
            .iter()
            .map(|location| Location { path: line(&location.path, LINE), ..location.clone() })
            .collect(),
        excerpt,
    }
}

/// What a category means, for people.
fn meaning(category: Category) -> &'static str {
    match category {
        Category::FileAccess => "a path is missing, or access to it is refused",
        Category::FunctionError => "something that is named does not exist",
        Category::SyntaxError => "something does not parse",
        Category::AssertionFailure => "a check said no",
        Category::TypeError => "types do not fit",
        Category::Timeout => "a deadline passed",
        Category::MemoryError => "memory ran out",
        Category::NetworkError => "the network, or a service, did not work",
        Category::ResourceError => "something limited ran out or was refused",
        Category::Unknown => "none of the known kinds",
    }
}

fn similar_failure(past: &PastFailure) -> SimilarFailure {
    let known = &past.known;
    let link = match &known.end {
        FailureEnd::Fixed { link, .. } => Some(link),
        FailureEnd::WentAway | FailureEnd::GaveUp | FailureEnd::Open => None,
    };
    SimilarFailure {
        fingerprint: known.diagnosis.fingerprint.clone(),
        summary: line(&known.diagnosis.summary, LINE),
        cause: line(&known.diagnosis.cause, 80),
        closeness: past.closeness,
        count: known.count,
        last_seen: known.last_seen,
        ended: known.end.word().to_owned(),
        files: link
            .map(|link| link.change.files.iter().take(10).map(|file| line(file, LINE)).collect())
            .unwrap_or_default(),
        commit: link.and_then(|link| link.change.commit.clone()),
        job: link.and_then(|link| link.change.work.job().cloned()),
        diff: link
            .map(|link| helix_core::text::clip(&helix_core::text::visible(&redact(&link.change.diff)), DIFF))
            .unwrap_or_default(),
    }
}

/// What was recorded, filled up to two from cause and phase; or what the report would suggest itself.
fn actions(request: &ReportRequest<'_>, classified: Option<&Classified>) -> Vec<SuggestedAction> {
    let recorded = request.suggestions.iter().map(|suggestion| SuggestedAction {
        id: Some(suggestion.id.clone()),
        text: line(&suggestion.text, LINE),
        source: suggestion.source.clone(),
    });
    let mut actions: Vec<SuggestedAction> =
        recorded.filter(|action| !action.text.is_empty()).take(MOST_ACTIONS).collect();
    if actions.len() < FEWEST_ACTIONS {
        let past = request.similar.known().map(Vec::as_slice).unwrap_or_default();
        let own = match classified {
            Some(classified) => suggest(request.observation, classified, request.log, &request.place, past),
            None => unexplained(),
        };
        for draft in own {
            let text = line(&draft.text, LINE);
            if actions.len() < MOST_ACTIONS && actions.iter().all(|action| action.text != text) {
                actions.push(SuggestedAction { id: None, text, source: draft.source });
            }
        }
    }
    actions
}

/// What to do about a failure that could not be classified at all.
fn unexplained() -> Vec<SuggestionDraft> {
    let draft = |text: &str| SuggestionDraft { text: text.to_owned(), source: SuggestionSource::Cause };
    cause::UNEXPLAINED.actions.map(draft).into()
}
