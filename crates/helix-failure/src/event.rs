//! The events of failure intelligence, as they stand in the journal: recorded, reported, suggested, resolved.
//!
//! Must not know who journals them. Each names what it is about by keys and ids, so that writing it twice says nothing new.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classify::Classified;
use super::fingerprint::Fingerprint;
use super::memory::{Exposure, Occurrence, Suggestion, SuggestionOutcome, SuggestionSource};
use super::report::{Report, Section};
use super::verdict::{Blame, Category, RetryAdvice};
use helix_core::ids::{PhaseId, RunId};

/// Something that failure intelligence did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum FailureEvent {
    /// A failure was classified and remembered.
    #[serde(rename = "failure.recorded")]
    FailureRecorded(FailureRecorded),
    /// A report was written.
    #[serde(rename = "report.generated")]
    ReportGenerated(ReportGenerated),
    /// An action was suggested, or held back for comparison.
    #[serde(rename = "suggestion.recorded")]
    SuggestionRecorded(SuggestionRecorded),
    /// It is known what came of a suggestion.
    #[serde(rename = "suggestion.resolved")]
    SuggestionResolved(SuggestionResolved),
}

impl FailureEvent {
    /// The name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::FailureRecorded(_) => "failure.recorded",
            Self::ReportGenerated(_) => "report.generated",
            Self::SuggestionRecorded(_) => "suggestion.recorded",
            Self::SuggestionResolved(_) => "suggestion.resolved",
        }
    }

    /// What it says, and about which occurrence or suggestion: the same for a note that is written twice.
    pub fn key(&self) -> (&'static str, &str) {
        let about = match self {
            Self::FailureRecorded(event) => &event.occurrence,
            Self::ReportGenerated(event) => &event.occurrence,
            Self::SuggestionRecorded(event) => &event.suggestion,
            Self::SuggestionResolved(event) => &event.suggestion,
        };
        (self.name(), about)
    }
}

/// `failure.recorded`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureRecorded {
    /// The occurrence's key: the same after a crash.
    pub occurrence: String,
    /// What makes it the same failure as others.
    pub fingerprint: Fingerprint,
    /// In which phase; absent for what belongs to no single phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// In which try, from 1; in a conversation the turn's number.
    pub attempt: u32,
    /// What saw it.
    pub check: String,
    /// The agent's run, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
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
    /// One line for people, redacted.
    pub summary: String,
}

/// `report.generated`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportGenerated {
    /// The occurrence that it is about.
    pub occurrence: String,
    /// In which phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// In which try, from 1; in a conversation the turn's number.
    pub attempt: u32,
    /// Where it is kept, relative to the state directory; absent if it is kept nowhere but in this journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artefact: Option<String>,
    /// Sections that could not be made, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How many past failures it shows.
    pub similar: u32,
    /// How many actions it suggests.
    pub actions: u32,
}

/// `suggestion.recorded`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestionRecorded {
    /// Names the suggestion for ever.
    pub suggestion: String,
    /// The failure that it is to mend.
    pub fingerprint: Fingerprint,
    /// That failure's category.
    pub category: Category,
    /// In which phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// Where it comes from.
    pub source: SuggestionSource,
    /// Whether the agent sees it.
    pub exposure: Exposure,
    /// What to do, redacted.
    pub text: String,
}

/// `suggestion.resolved`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestionResolved {
    /// Names the suggestion.
    pub suggestion: String,
    /// The failure that it was to mend.
    pub fingerprint: Fingerprint,
    /// In which phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// The attempt that had failed.
    pub attempt: u32,
    /// What came of it, by whether its fingerprint is gone in the next attempt.
    pub outcome: SuggestionOutcome,
}

impl FailureEvent {
    /// A failure was remembered.
    pub fn failure_recorded(occurrence: &Occurrence, classified: &Classified) -> Self {
        Self::FailureRecorded(FailureRecorded {
            occurrence: occurrence.key.clone(),
            fingerprint: occurrence.diagnosis.fingerprint.clone(),
            phase: occurrence.place.work.phase().cloned(),
            attempt: occurrence.place.attempt,
            check: occurrence.place.check.clone(),
            run: occurrence.place.run.clone(),
            category: occurrence.diagnosis.category,
            cause: occurrence.diagnosis.cause.clone(),
            retry: occurrence.diagnosis.retry,
            blame: occurrence.diagnosis.blame,
            confidence: classified.confidence,
            summary: super::redact(&occurrence.diagnosis.summary).into_owned(),
        })
    }

    /// A report was written.
    pub fn report_generated(occurrence: &Occurrence, report: &Report, artefact: Option<String>) -> Self {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut missing = Vec::new();
        if let Section::Missing(reason) = &report.why {
            missing.push(format!("why: {reason}"));
        }
        if let Section::Missing(reason) = &report.similar {
            missing.push(format!("similar past failures: {reason}"));
        }
        Self::ReportGenerated(ReportGenerated {
            occurrence: occurrence.key.clone(),
            phase: occurrence.place.work.phase().cloned(),
            attempt: occurrence.place.attempt,
            artefact,
            missing,
            similar: report.similar.known().map_or(0, |similar| count(similar.len())),
            actions: count(report.actions.len()),
        })
    }

    /// An action was suggested.
    pub fn suggestion_recorded(suggestion: &Suggestion) -> Self {
        Self::SuggestionRecorded(SuggestionRecorded {
            suggestion: suggestion.id.clone(),
            fingerprint: suggestion.fingerprint.clone(),
            category: suggestion.category,
            phase: suggestion.work.phase().cloned(),
            attempt: suggestion.attempt,
            source: suggestion.source.clone(),
            exposure: suggestion.exposure,
            text: super::redact(&suggestion.text).into_owned(),
        })
    }

    /// What came of a suggestion; nothing while that is not known.
    pub fn suggestion_resolved(suggestion: &Suggestion) -> Option<Self> {
        Some(Self::SuggestionResolved(SuggestionResolved {
            suggestion: suggestion.id.clone(),
            fingerprint: suggestion.fingerprint.clone(),
            phase: suggestion.work.phase().cloned(),
            attempt: suggestion.attempt,
            outcome: suggestion.outcome?,
        }))
    }
}
