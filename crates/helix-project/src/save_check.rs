//! What a file is that an agent has just written, and what the rule set says of it: for the save hook, the tools and the
//! enforcement of answers alike.
//!
//! Must not hold any rule: those are in `helix_adr` and `helix_plan`. Must not know who asks.

use std::path::{Path, PathBuf};

use helix_adr::{Adr, NoRepo, RepoFacts, Status, built_in_rules, check, complete};
use helix_core::diagnostic::Diagnostic;

use crate::adr_files::{AdrDirectory, AdrFileError};
pub use crate::file_kind::{SavedKind, has_adr_id, looks_like_plan};
use crate::skills::SkillCatalog;
use crate::workflows::WorkflowPaths;
use helix_process::bounded::read_bytes;

/// Largest file that is looked at, in bytes; no ADR or plan comes near it.
const MAX_FILE: u64 = 8 << 20;

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFile {
    pub kind: SavedKind,
    /// Its name in the diagnostics.
    pub file: String,
    pub text: String,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl CheckedFile {
    /// The problems that block.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|one| one.is_error())
    }
}

/// What an ADR is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs<'a> {
    /// The files and decisions of this project.
    Project(&'a Path),
    /// A conversation that has chosen no project: there is no file yet that could be changed.
    NoProject,
    /// Nothing is known of other files.
    Unknown,
}

/// What is said with findings of [`Belongs::NoProject`].
pub const NO_PROJECT_CHOSEN: &str = "The session has no project yet, so no file exists. For work on an existing project call adr_list with its directory.";

/// The files of a project that is still to be made.
struct NoFiles;

impl RepoFacts for NoFiles {
    fn exists(&self, _: &str) -> Option<bool> {
        Some(false)
    }
    fn exists_now(&self, _: &str) -> Option<bool> {
        None
    }
}

/// Why a file cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SaveCheckError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The project's ADRs cannot be read.
    #[error("the ADRs of the project cannot be read")]
    Project(#[from] AdrFileError),
}

/// Looks at a file; `None` when it is neither ADR nor plan. `shown` is its name for people. `workflow_paths` have the workflows
/// that a plan may name.
///
/// # Errors
/// [`SaveCheckError`] when it cannot be read.
pub fn check_file(
    path: &Path,
    shown: &str,
    belongs: Belongs<'_>,
    skills: &SkillCatalog,
    workflow_paths: &WorkflowPaths,
) -> Result<Option<CheckedFile>, SaveCheckError> {
    // Cheap first: most files that agents write are neither.
    if !may_be_document(path) {
        return Ok(None);
    }
    let bytes = read_bounded(path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let within = match belongs {
        Belongs::Project(root) => path.strip_prefix(root).unwrap_or(path),
        Belongs::NoProject | Belongs::Unknown => path.file_name().map_or(path, Path::new),
    };
    let Some(kind) = SavedKind::detect(within, &text) else { return Ok(None) };
    let diagnostics = match kind {
        SavedKind::Adr => adr_diagnostics(shown, &bytes, belongs)?,
        SavedKind::Plan => plan_diagnostics(shown, &bytes, skills, workflow_paths),
    };
    Ok(Some(CheckedFile { kind, file: shown.to_owned(), text, diagnostics }))
}

/// Whether a file may be an ADR or a plan, by its name.
pub fn may_be_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| ["md", "markdown", "yaml", "yml"].iter().any(|own| end == *own))
}

/// Reads a file that may be an ADR or a plan.
///
/// # Errors
/// [`SaveCheckError`] when it cannot be read or is larger than any of these.
pub fn read_bounded(path: &Path) -> Result<Vec<u8>, SaveCheckError> {
    read_bytes(path, MAX_FILE).map_err(|source| SaveCheckError::Unreadable { path: path.to_path_buf(), source })
}

/// Everything that the rule set says of an ADR: validity and completeness.
///
/// # Errors
/// [`AdrFileError`] when the project's ADRs cannot be read.
pub fn adr_diagnostics(shown: &str, bytes: &[u8], belongs: Belongs<'_>) -> Result<Vec<Diagnostic>, AdrFileError> {
    let adr = match Adr::parse_bytes(shown, bytes) {
        Ok(adr) => adr,
        Err(diagnostic) => return Ok(vec![*diagnostic]),
    };
    let (mut found, rules) = match belongs {
        Belongs::Unknown => (check(&adr, &NoRepo), built_in_rules()),
        Belongs::NoProject => (check(&adr, &NoFiles), built_in_rules()),
        Belongs::Project(root) => {
            let facts = facts_for(root, &adr)?;
            (check(&adr, &facts), facts.rules()?)
        }
    };
    found.extend(complete(&adr, &rules));
    helix_core::source_text::sort_by_place(&mut found);
    Ok(found)
}

/// Everything that is wrong with a plan, its workflow included, and skills that nobody has.
pub fn plan_diagnostics(
    shown: &str,
    bytes: &[u8],
    skills: &SkillCatalog,
    workflow_paths: &WorkflowPaths,
) -> Vec<Diagnostic> {
    match workflow_paths.read(shown, bytes) {
        Ok(parsed) => {
            let mut found = parsed.warnings.clone();
            found.extend(skills.unknown_in(shown, &parsed));
            found
        }
        Err(diagnostics) => diagnostics,
    }
}

/// What the project knows when this ADR is checked. Whether claimed files exist is asked of drafts only: what a decision
/// creates is there once it has been carried out.
fn facts_for(root: &Path, adr: &Adr) -> Result<AdrDirectory, AdrFileError> {
    let adrs = AdrDirectory::open(root)?;
    let is_draft = adr.status().is_none_or(|status| status == Status::Proposed) && adr.decided_id().is_none();
    Ok(if is_draft { adrs } else { adrs.without_files() })
}

#[cfg(test)]
#[path = "save_check_test.rs"]
mod tests;
