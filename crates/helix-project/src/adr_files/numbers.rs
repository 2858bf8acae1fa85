//! Numbers of ADRs: allocated one at a time, no matter who asks.
//!
//! Must not know rules. Numbers on other branches and in other worktrees of the repository count as taken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use helix_adr::{
    Adr, AdrForm, AdrId, Language, Naming, Numbering, Standing, Status, Style, check_as, id_of_file, next_number,
    title_slug,
};
use helix_core::diagnostic::Diagnostic;
use helix_process::bounded::read_text;
use jiff::Zoned;

use super::writing::{disk, is_own_index, lock, repository, update_index, write_index, write_new};
use super::{AdrDirectory, AdrFileError, INDEX, MAX_ADR, Place, read, relative};

/// Branches whose numbers count, the youngest first: enough for all that are being worked on.
const BRANCHES: usize = 50;

/// Templates of adr-tools, log4brains and MADR.
const TEMPLATES: [&str; 3] = ["templates/template.md", "template.md", "adr-template.md"];

/// A finalized ADR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finalized {
    pub id: AdrId,
    /// Its file, relative to the project's root.
    pub path: String,
    /// The index, relative to the project's root, where there is one.
    pub index: Option<String>,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// The template of a directory of decisions, if it has one.
fn own_template(root: &Path, place: &Place) -> Result<Option<String>, AdrFileError> {
    for name in TEMPLATES {
        let path = root.join(&place.directory).join(name);
        let text = read_text(Some(root), &path, MAX_ADR).map_err(disk("read", &path))?;
        if text.is_some() {
            return Ok(text);
        }
    }
    Ok(None)
}

/// Numbers that are taken on other branches and in other worktrees of the repository.
pub(super) fn taken_elsewhere(root: &Path, place: &Place) -> Vec<u32> {
    let directory = format!("{}/", place.directory);
    let Some(repository) = repository(root) else { return Vec::new() };
    let mut taken = Vec::new();
    let count = format!("--count={BRANCHES}");
    let refs =
        ["for-each-ref", "--sort=-committerdate", &count, "--format=%(objectname)", "refs/heads", "refs/remotes"];
    match repository.git(root, refs).run() {
        Ok(output) => {
            for commit in output.text().lines().collect::<BTreeSet<&str>>() {
                match repository.git(root, ["ls-tree", "-z", "--name-only", commit, &directory]).accept(&[0, 128]).run()
                {
                    Ok(output) => {
                        let names = String::from_utf8_lossy(&output.stdout).into_owned();
                        taken.extend(names.split('\0').filter_map(number_of));
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
            for tree in text.split('\0').filter_map(|line| line.strip_prefix("worktree ")) {
                let directory = Path::new(tree).join(own).join(&place.directory);
                // A worktree without ADRs, or one whose directory is gone, takes no number.
                let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
                taken.extend(names.filter_map(|entry| number_of(&entry.file_name().to_string_lossy())));
            }
        }
        Err(error) => tracing::warn!(%error, "the worktrees cannot be listed"),
    }
    taken
}

impl Finalized {
    /// Its number, if it has one.
    pub fn number(&self) -> Option<u32> {
        self.id.number()
    }

    /// All files that were written.
    pub fn files(&self) -> Vec<String> {
        std::iter::once(&self.path).chain(&self.index).cloned().collect()
    }
}

/// The number that a file's name takes, in any form.
pub(super) fn number_of(name: &str) -> Option<u32> {
    id_of_file(name)?.number()
}

/// Today, where the user is.
fn today() -> String {
    Zoned::now().strftime("%F").to_string()
}

impl AdrDirectory {
    /// The number that the next ADR gets, after all that are taken here, on other branches and in other worktrees.
    pub fn next_number(&self) -> u32 {
        let mut taken: Vec<u32> = self.adrs.iter().filter_map(Adr::number_or_named).collect();
        taken.extend(self.unreadable.iter().filter_map(|(path, _)| number_of(&path.to_string_lossy())));
        taken.extend(taken_elsewhere(&self.root, &self.place));
        next_number(&taken)
    }

    /// What the name of the next file begins with, after all that are taken.
    pub fn next_prefix(&self) -> String {
        match self.style().numbering {
            numbering @ Numbering::Digits(_) => numbering.digits(self.next_number()),
            Numbering::Dated => today().replace('-', ""),
        }
    }

    /// Gives a draft the next number and its place, in the form of the directory, and keeps the index. Two at once get two numbers. A
    /// draft that lies in the directory itself is moved; any other stays where it is. A draft whose finalizing was interrupted gets the
    /// number that it was given then.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn finalize(root: &Path, draft: &Path) -> Result<Finalized, AdrFileError> {
        let (_lock, known) = Self::locked(root)?;
        let directory = root.join(&known.place.directory);
        let file = relative(root, draft);
        let adr = read(root, draft)?;
        let diagnostics = check_as(&adr, &known, Standing::Decision);
        if let Some(id) = adr.decided_id() {
            return Err(AdrFileError::Numbered { file, id });
        }
        let (id, path) = match known.finalized_before(&adr) {
            Some(done) => done,
            None => {
                if diagnostics.iter().any(Diagnostic::is_error) {
                    return Err(AdrFileError::Invalid { file, source_text: adr.source, diagnostics });
                }
                known.write_new(adr.title(), |naming| known.finalized(&adr, naming))?
            }
        };
        if draft.parent().and_then(|parent| parent.canonicalize().ok()) == directory.canonicalize().ok() {
            std::fs::remove_file(draft).map_err(disk("remove", draft))?;
        }
        Ok(Finalized { id, path, index: update_index(root, &known.place)?, warnings: diagnostics })
    }

    /// Writes a new decision, a proposal, in the form of the directory and under the next number.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn create(root: &Path, title: &str, language: Option<Language>) -> Result<Finalized, AdrFileError> {
        let (_lock, known) = Self::locked(root)?;
        let style = known.style();
        let style = Style { language: language.unwrap_or(style.language), ..style };
        let template = if style.form == AdrForm::Helix { None } else { own_template(root, &known.place)? };
        let (id, path) = known.write_new(title, |naming| {
            let filled = template.and_then(|template| style.filled(&template, title, naming));
            Ok(filled.unwrap_or_else(|| style.draft(title, naming)))
        })?;
        Ok(Finalized { id, path, index: update_index(root, &known.place)?, warnings: Vec::new() })
    }

    /// The text of a draft under its number, in the form of the directory.
    fn finalized(&self, adr: &Adr, naming: &Naming<'_>) -> Result<String, AdrFileError> {
        let style = self.style();
        match style.form {
            AdrForm::Helix => {
                let status = adr.status().unwrap_or(Status::Proposed);
                Ok(adr.with_id_and_status(AdrId::Number(naming.number), status)?)
            }
            AdrForm::Madr | AdrForm::Nygard => Ok(style.written(adr, naming)),
        }
    }

    /// The decision that a draft has become by a call that was interrupted.
    fn finalized_before(&self, adr: &Adr) -> Option<(AdrId, String)> {
        let same = |other: &&Adr| {
            let naming = Naming {
                number: other.number().unwrap_or_default(),
                day: other.front.as_ref().and_then(|front| front.date.as_ref()).map_or("", |date| &date.value),
            };
            let became = || self.finalized(adr, &naming).ok();
            other.title() == adr.title() && (other.body() == adr.body() || became().as_ref() == Some(&other.source))
        };
        let other = self.adrs.iter().filter(|other| other.decided_id().is_some()).find(same)?;
        Some((other.decided_id()?, other.file.clone()))
    }

    /// Writes a file under the next name; the caller holds the lock.
    fn write_new(
        &self,
        title: &str,
        text: impl FnOnce(&Naming<'_>) -> Result<String, AdrFileError>,
    ) -> Result<(AdrId, String), AdrFileError> {
        let (style, day, slug) = (self.style(), today(), title_slug(title));
        let directory = self.root.join(&self.place.directory);
        let number = match style.numbering {
            Numbering::Digits(_) => self.next_number(),
            Numbering::Dated => 0,
        };
        let naming = Naming { number, day: &day };
        let id = naming.id(style, &slug);
        let name = match &id {
            AdrId::Named(name) => format!("{name}.md"),
            AdrId::Number(_) | AdrId::Draft => style.numbering.file_name(number, title),
        };
        let (path, text) = (directory.join(name), text(&naming)?);
        write_new(&path, &text).map_err(disk("write", &path))?;
        Ok((id, relative(&self.root, &path)))
    }

    /// Keeps the index as the decisions are, where there is one.
    ///
    /// # Errors
    /// [`AdrFileError`] when the directory cannot be read or written.
    pub fn refresh_index(root: &Path) -> Result<Option<String>, AdrFileError> {
        let place = Place::find(root)?;
        let _lock = lock(root, &place)?;
        update_index(root, &place)
    }

    /// Writes the index whole or not at all, waiting for other writers of the directory; gives its place.
    ///
    /// # Errors
    /// [`AdrFileError`] when the directory cannot be read or written.
    pub fn regenerate_index(root: &Path) -> Result<PathBuf, AdrFileError> {
        let place = Place::find(root)?;
        let _lock = lock(root, &place)?;
        let path = root.join(&place.directory).join(INDEX);
        let own = Self::open_in(root, &place)?.style().form == AdrForm::Helix;
        // Another tool, or a person, may have written a file of this name.
        if !own && path.exists() && !is_own_index(root, &path)? {
            let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "Helix has not written this file");
            return Err(disk("replace", &path)(taken));
        }
        write_index(root, &place)
    }
}
