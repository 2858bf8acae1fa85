//! What a file is for Helix: a decision, a plan or neither.
//!
//! Must not know whether it is a good one.

use std::path::{Component, Path};

/// Directories whose ADRs and plans are samples or somebody else's.
const SAMPLES: [&str; 7] = ["fixtures", "testdata", "snapshots", "node_modules", "target", ".git", "vendor"];

/// What a file is for Helix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedKind {
    /// An architecture decision record, draft or not.
    Adr,
    Plan,
}

impl SavedKind {
    /// Tells by name, place and content; `None` for every other file.
    ///
    /// An ADR is a Markdown file below `adr/`, `adrs/` or `decisions/` (not its index or README), one whose name begins with
    /// `adr`, or one whose front matter has an `adr_id`. A plan is `phases.yaml`, `*.phases.yaml`, or a YAML file with
    /// `name:`, `phases:` and phases with an `id`. Samples (`fixtures/`, `testdata/` and the like) are neither.
    pub fn detect(path: &Path, text: &str) -> Option<Self> {
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
                Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
            })
            .collect();
        let (name, directories) = names.split_last()?;
        if directories.iter().any(|directory| SAMPLES.contains(&directory.as_str())) {
            return None;
        }
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "md" | "markdown" => {
                let placed = matches!(directories.last().map(String::as_str), Some("adr" | "adrs" | "decisions"))
                    || stem.strip_prefix("adr").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
                (placed && (extension != "md" || is_decision_name(name)) || has_adr_id(text)).then_some(Self::Adr)
            }
            "yaml" | "yml" => {
                (stem == "phases" || stem.ends_with(".phases") || looks_like_plan(text)).then_some(Self::Plan)
            }
            _ => None,
        }
    }

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Adr => "ADR",
            Self::Plan => "plan",
        }
    }
}

/// Whether a Markdown file of a directory of decisions can be one by its name: neither its index nor its readme nor a template.
pub fn is_decision_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(stem) = lower.strip_suffix(".md") else { return false };
    let template = stem == "template" || stem == "adr-template" || stem.starts_with("adr-template-");
    !stem.is_empty() && !name.starts_with('.') && !matches!(stem, "index" | "readme") && !template
}

/// Whether the front matter has the key that only ADRs have.
pub fn has_adr_id(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().is_some_and(|first| first.trim_end() == "---")
        && lines.take_while(|line| line.trim_end() != "---").any(|line| line.starts_with("adr_id:"))
}

/// Whether a YAML text has what every plan has at its top.
pub fn looks_like_plan(text: &str) -> bool {
    let top = |key: &str| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    let phase = |line: &str| line.trim_start().trim_start_matches("- ").starts_with("id:");
    top("phases") && (top("name") || top("project")) && text.lines().any(phase)
}

#[cfg(test)]
#[path = "file_kind_test.rs"]
mod tests;
