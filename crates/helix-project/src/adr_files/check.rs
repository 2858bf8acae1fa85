//! Checking many ADRs at once, and repairing what can be repaired exactly.
//!
//! Must not know any rule.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use helix_adr::{Adr, Rule, check, complete, repair_mojibake};
use helix_core::diagnostic::Diagnostic;

use super::writing::{disk, replace};
use super::{AdrDirectory, AdrFileError, read, relative, threads};

/// A file and what is wrong with it.
#[derive(Debug)]
pub struct CheckedFile<'d> {
    pub adr: Cow<'d, Adr>,
    /// Validity in the order of the file, then completeness if rules were given.
    pub diagnostics: Vec<Diagnostic>,
}

impl AdrDirectory {
    /// Checks many files on all processors, in their order; also by rules of completeness where some are given. What the
    /// directory has read already is not read again.
    pub fn check_files(&self, paths: &[PathBuf], rules: &[Rule]) -> Vec<Result<CheckedFile<'_>, AdrFileError>> {
        threads::each(paths, |path| {
            let name = relative(&self.root, path);
            let adr = match self.by_file(&name) {
                Some(known) => Cow::Borrowed(known),
                None => Cow::Owned(read(&self.root, path)?),
            };
            let mut diagnostics = check(&adr, self);
            if !rules.is_empty() {
                diagnostics.extend(complete(&adr, rules));
            }
            Ok(CheckedFile { adr, diagnostics })
        })
    }

    /// Repair wrongly encoded text if the original is unambiguous; gives the number of places. Nothing else in the file
    /// changes, and a file without such a place is not written.
    ///
    /// # Errors
    /// [`AdrFileError`] when it cannot be read or written.
    pub fn repair(root: &Path, path: &Path) -> Result<usize, AdrFileError> {
        let adr = read(root, path)?;
        let (text, places) = repair_mojibake(&adr.source);
        if places > 0 {
            replace(path, &text).map_err(disk("write", path))?;
        }
        Ok(places)
    }
}
