//! Numbers of ADRs: allocated one at a time, no matter who asks.
//!
//! Must not know rules. Numbers on other branches and in other worktrees of the repository count as taken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use helix_adr::{Adr, AdrId, Standing, Status, check_as, finalized_file_name, next_number, number_of_file_name};
use helix_core::diagnostic::Diagnostic;

use super::writing::{disk, lock, repository, write_index, write_new};
use super::{AdrDirectory, AdrFileError, read, relative};

/// Branches whose numbers count, the youngest first: enough for all that are being worked on.
const BRANCHES: usize = 50;

/// A finalized ADR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finalized {
    pub number: u32,
    /// Its file, relative to the project's root.
    pub path: String,
    /// The index, relative to the project's root.
    pub index: String,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// Numbers that are taken on other branches and in other worktrees of the repository.
pub(super) fn taken_elsewhere(root: &Path) -> Vec<u32> {
    let Some(repository) = repository(root) else { return Vec::new() };
    let mut taken = Vec::new();
    let count = format!("--count={BRANCHES}");
    let refs =
        ["for-each-ref", "--sort=-committerdate", &count, "--format=%(objectname)", "refs/heads", "refs/remotes"];
    match repository.git(root, refs).run() {
        Ok(output) => {
            for commit in output.text().lines().collect::<BTreeSet<&str>>() {
                match repository.git(root, ["ls-tree", "-z", "--name-only", commit, "adr/"]).accept(&[0, 128]).run() {
                    Ok(output) => {
                        let names = String::from_utf8_lossy(&output.stdout).into_owned();
                        taken.extend(names.split('\0').filter_map(number_of_file_name));
                    }
                    Err(error) => tracing::warn!(%error, commit, "the ADRs of a branch cannot be listed"),
                }
            }
        }
        Err(error) => tracing::warn!(%error, "the branches cannot be listed"),
    }
    let own = root.strip_prefix(repository.top()).unwrap_or(Path::new(""));
    match repository.git(root, ["worktree", "list", "--porcelain", "-z"]).accept(&[0, 128, 129]).run() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            for place in text.split('\0').filter_map(|line| line.strip_prefix("worktree ")) {
                let directory = Path::new(place).join(own).join("adr");
                // A worktree without ADRs, or one whose directory is gone, takes no number.
                let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
                taken.extend(names.filter_map(|entry| number_of_file_name(&entry.file_name().to_string_lossy())));
            }
        }
        Err(error) => tracing::warn!(%error, "the worktrees cannot be listed"),
    }
    taken
}

impl AdrDirectory {
    /// The number that the next ADR gets, after all that are taken here, on other branches and in other worktrees.
    pub fn next_number(&self) -> u32 {
        let mut taken: Vec<u32> = self.adrs.iter().filter_map(Adr::number_or_named).collect();
        taken.extend(self.unreadable.iter().filter_map(|(path, _)| number_of_file_name(&path.to_string_lossy())));
        taken.extend(taken_elsewhere(&self.root));
        next_number(&taken)
    }

    /// Gives a draft the next number and its place, and writes the index. Two at once get two numbers. A draft that lies
    /// in `adr/` itself is moved; any other stays where it is. A draft whose finalizing was interrupted gets the number that
    /// it was given then.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn finalize(root: &Path, draft: &Path) -> Result<Finalized, AdrFileError> {
        let _lock = lock(root)?;
        let directory = root.join("adr");
        let known = Self::open(root)?;
        let file = relative(root, draft);
        let adr = read(root, draft)?;
        let diagnostics = check_as(&adr, &known, Standing::Decision);
        if let Some(number) = adr.number() {
            return Err(AdrFileError::Numbered { file, id: AdrId::Number(number) });
        }
        let same = |other: &&Adr| other.body() == adr.body() && other.title() == adr.title();
        let mut before =
            known.adrs.iter().filter(same).filter_map(|other| Some((other.number()?, root.join(&other.file))));
        let (number, path) = match before.next() {
            Some(done) => done,
            None => {
                if diagnostics.iter().any(Diagnostic::is_error) {
                    return Err(AdrFileError::Invalid { file, source_text: adr.source, diagnostics });
                }
                let number = known.next_number();
                let status = adr.status().unwrap_or(Status::Proposed);
                let text = adr.with_id_and_status(AdrId::Number(number), status)?;
                let path = directory.join(finalized_file_name(number, adr.title()));
                write_new(&path, &text).map_err(disk("write", &path))?;
                (number, path)
            }
        };
        if draft.parent().and_then(|parent| parent.canonicalize().ok()) == directory.canonicalize().ok() {
            std::fs::remove_file(draft).map_err(disk("remove", draft))?;
        }
        let index = write_index(root)?;
        Ok(Finalized { number, path: relative(root, &path), index: relative(root, &index), warnings: diagnostics })
    }

    /// Writes the index whole or not at all, waiting for other writers of the directory; gives its place.
    ///
    /// # Errors
    /// [`AdrFileError`] when the directory cannot be read or written.
    pub fn regenerate_index(root: &Path) -> Result<PathBuf, AdrFileError> {
        let _lock = lock(root)?;
        write_index(root)
    }
}
