//! Decisions in a line each, for terminals and programs.
//!
//! Must not know where the lines are shown.

use helix_adr::Adr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AdrDirectory;

/// A decision in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrSummary {
    /// What names it, such as `ADR-012`; `null` where nothing does.
    pub id: Option<String>,
    /// Its title, or an empty text.
    pub title: String,
    /// Its status, as it is written in every ADR; `null` where there is none that can be read.
    pub status: Option<String>,
    /// Its file, relative to the project.
    pub file: String,
    /// Acceptance criteria with a checkbox.
    pub criteria: usize,
    /// Those that are ticked.
    pub met: usize,
}

impl From<&Adr> for AdrSummary {
    fn from(adr: &Adr) -> Self {
        Self {
            id: adr.id().map(|id| id.to_string()),
            title: adr.title().to_owned(),
            status: adr.status().map(|status| status.word().to_owned()),
            file: adr.file.clone(),
            criteria: adr.criteria.len(),
            met: adr.criteria.iter().filter(|criterion| criterion.checked).count(),
        }
    }
}

impl AdrDirectory {
    /// All that could be read, by file name.
    pub fn summaries(&self) -> Vec<AdrSummary> {
        self.adrs().iter().map(AdrSummary::from).collect()
    }
}
