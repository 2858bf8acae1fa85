//! The difference of two commits as text, for people and prompts.
//!
//! Must not be used to decide anything: what changed is read from trees.

use helix_core::ids::CommitId;

use super::error::GitError;
use super::repository::Repository;

/// A difference as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// In git's own form, cut at a line's end.
    pub text: String,
    /// Bytes that were cut off.
    pub cut: usize,
}

impl Repository {
    /// What changed from one commit to another, in the named files or in all, at most so many bytes of it.
    ///
    /// # Errors
    /// Git failed, or one of the commits is not there.
    pub fn patch(&self, old: &CommitId, new: &CommitId, paths: &[String], max_bytes: usize) -> Result<Patch, GitError> {
        let fixed = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ];
        let ends = [old.as_str(), new.as_str(), "--"];
        // Paths are literal: a file may be called like a pattern.
        let paths: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let args = fixed.into_iter().chain(ends).chain(paths.iter().map(String::as_str));
        let output = self.git(self.top(), args).run()?.stdout;
        let whole = String::from_utf8_lossy(&output).into_owned();
        if whole.len() <= max_bytes {
            return Ok(Patch { text: whole, cut: 0 });
        }
        let end = whole.floor_char_boundary(max_bytes);
        let end = whole[..end].rfind('\n').map_or(end, |line| line + 1);
        Ok(Patch { text: whole[..end].to_owned(), cut: whole.len() - end })
    }
}
