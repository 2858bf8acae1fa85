//! What can be wrong with a file of ADRs. Must not know how it is shown.

use std::path::{Path, PathBuf};

use helix_adr::{AdrId, Status};
use helix_core::diagnostic::Diagnostic;
use helix_core::text::count;

/// Why a file of the directory cannot be dealt with.
#[derive(Debug, thiserror::Error)]
pub enum AdrFileError {
    /// It cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Disk { action: &'static str, path: PathBuf, source: std::io::Error },
    /// It is not UTF-8.
    #[error("{0}")]
    Unreadable(Box<Diagnostic>),
    /// It cannot be told where the decisions lie.
    #[error("{message}")]
    Place {
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The rules of the repository hold something that is no rule.
    #[error("{} cannot be read", diagnostic.file)]
    Rules {
        /// What is wrong, and where.
        diagnostic: Box<Diagnostic>,
        source_text: String,
    },
    /// It has errors, so that it is not finalized.
    #[error("{file} has {}", count(diagnostics.iter().filter(|one| one.is_error()).count(), "error"))]
    Invalid { file: String, source_text: String, diagnostics: Vec<Diagnostic> },
    /// It has a number already.
    #[error("{file} is {id} already; only drafts are finalized")]
    Numbered { file: String, id: AdrId },
    /// There is no decision of this number.
    #[error("no {id} in {directory}/")]
    Unknown { id: AdrId, directory: String },
    /// Only a proposed decision can be accepted or rejected.
    #[error("{file} is {}; only a proposed decision can be accepted or rejected", status.word())]
    NotProposed { file: String, status: Status },
    /// Nobody has accepted it, so that it is not an implemented one.
    #[error("{file} is {}: nobody has accepted it", Status::Proposed.word())]
    NotAccepted { file: String, id: AdrId },
    /// Its front matter cannot be completed.
    #[error(transparent)]
    Rewrite(#[from] helix_adr::RewriteError),
    /// It is no foreign ADR.
    #[error("{file} cannot be imported")]
    Import { file: String, source: helix_adr::ImportError },
}

/// What failed on the disk, and where.
pub(super) fn disk(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> AdrFileError {
    let path = path.to_path_buf();
    move |source| AdrFileError::Disk { action, path, source }
}
