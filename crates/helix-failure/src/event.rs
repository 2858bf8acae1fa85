//! The events of failure intelligence, as they stand in the journal: recorded, reported, suggested, resolved.
//!
//! Must not know who journals them. Each has the key or id of what it is about, so that writing it twice says nothing new.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::{Occurrence, Suggestion};
use super::report::{Report, Section};
use helix_core::ids::PhaseId;

/// Something that failure intelligence did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum FailureEvent {
    /// A failure was classified and remembered.
    #[serde(rename = "failure.recorded")]
    FailureRecorded {
        /// The failure, and where it happened.
        occurrence: Occurrence,
        /// From 0 to 1; below a half: a guess.
        confidence: f64,
    },
    /// A report was written.
    #[serde(rename = "report.generated")]
    ReportGenerated {
        /// Key of the occurrence that it is about.
        key: String,
        /// In which phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<PhaseId>,
        /// In which attempt, from 1; in a session the turn's number.
        attempt: u32,
        /// Where it is kept, relative to the state directory; absent if it is kept nowhere but in this journal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artefact: Option<String>,
        /// Sections that could not be made, each with its reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
        /// How many past failures it shows.
        similar: usize,
        /// How many actions it suggests.
        actions: usize,
    },
    /// An action was suggested, or held back for comparison.
    #[serde(rename = "suggestion.recorded")]
    SuggestionRecorded {
        /// What was suggested.
        suggestion: Suggestion,
    },
    /// It is known what came of a suggestion.
    #[serde(rename = "suggestion.resolved")]
    SuggestionResolved {
        /// What was suggested, with its outcome.
        suggestion: Suggestion,
    },
}

impl FailureEvent {
    /// What it says, and about which occurrence or suggestion: the same for an event that is written twice.
    pub fn key(&self) -> (&'static str, &str) {
        match self {
            Self::FailureRecorded { occurrence, .. } => ("failure.recorded", &occurrence.key),
            Self::ReportGenerated { key, .. } => ("report.generated", key),
            Self::SuggestionRecorded { suggestion } => ("suggestion.recorded", &suggestion.id),
            Self::SuggestionResolved { suggestion } => ("suggestion.resolved", &suggestion.id),
        }
    }

    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        self.key().0
    }

    /// A report was written.
    pub fn report_generated(occurrence: &Occurrence, report: &Report, artefact: Option<String>) -> Self {
        let mut missing = Vec::new();
        if let Section::Missing(reason) = &report.why {
            missing.push(format!("why: {reason}"));
        }
        if let Section::Missing(reason) = &report.similar {
            missing.push(format!("similar past failures: {reason}"));
        }
        Self::ReportGenerated {
            key: occurrence.key.clone(),
            phase: occurrence.place.work.phase().cloned(),
            attempt: occurrence.place.attempt,
            artefact,
            missing,
            similar: report.similar.known().map_or(0, Vec::len),
            actions: report.actions.len(),
        }
    }
}
