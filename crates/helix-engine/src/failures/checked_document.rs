//! A plan or an ADR that was checked, on its way to the observer. Must not know what is remembered of it.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use jiff::Timestamp;

/// How far a document was checked. A shallower check does not prove gone what it did not look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// By the rule set.
    Rules,
    /// With everything that a job needs: repository, agents, inputs.
    Submission,
}

/// A plan or an ADR that was checked.
#[derive(Debug)]
pub(crate) struct CheckedDocument {
    pub(super) path: PathBuf,
    /// Root of its project, where that is known.
    pub(super) project: Option<PathBuf>,
    pub(super) depth: Depth,
    /// What was found; with an error among it, the document is refused.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Its text; `None` if it cannot be read or is too long to be compared.
    pub(super) text: Option<String>,
    pub(super) at: Timestamp,
}

impl CheckedDocument {
    /// Its name in a diff: within its project, if it lies in one.
    pub(super) fn shown(&self) -> String {
        let within = self.project.as_ref().and_then(|root| self.path.strip_prefix(root).ok());
        let name = within.or_else(|| self.path.file_name().map(Path::new)).unwrap_or(&self.path);
        name.to_string_lossy().replace('\\', "/")
    }
}
