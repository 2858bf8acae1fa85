//! What can be wrong with a file of ADRs. Must not know how it is shown.

use std::path::PathBuf;

use helix_adr::AdrId;
use helix_core::diagnostic::Diagnostic;

/// Why a file of the directory cannot be dealt with.
#[derive(Debug, thiserror::Error)]
pub enum AdrFileError {
    /// It cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Disk {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is larger than any ADR.
    #[error("{} has {bytes} bytes; an ADR has at most 8 MiB", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It is not UTF-8.
    #[error("{0}")]
    Unreadable(Box<Diagnostic>),
    /// `adr/rules.yaml` holds something that is no rule.
    #[error("adr/rules.yaml cannot be read")]
    Rules {
        /// What is wrong, and where.
        diagnostic: Box<Diagnostic>,
        /// Its text.
        source_text: String,
    },
    /// It has errors, so that it is not finalized.
    #[error("{file} has {} error(s)", diagnostics.iter().filter(|one| one.is_error()).count())]
    Invalid {
        /// The file.
        file: String,
        /// Its text.
        source_text: String,
        /// Errors and warnings.
        diagnostics: Vec<Diagnostic>,
    },
    /// It has a number already.
    #[error("{file} is {id} already; only drafts are finalized")]
    Numbered {
        /// The file.
        file: String,
        /// Its id.
        id: AdrId,
    },
    /// There is no decision of this number.
    #[error("there is no {id} in adr/")]
    Unknown {
        /// The number.
        id: AdrId,
    },
    /// Its front matter cannot be completed.
    #[error("the front matter of {file} cannot be rewritten")]
    Rewrite {
        /// The file.
        file: String,
        /// Why not.
        source: helix_adr::RewriteError,
    },
    /// It is no foreign ADR.
    #[error("{file} cannot be imported")]
    Import {
        /// The file.
        file: String,
        /// Why not.
        source: helix_adr::ImportError,
    },
}
