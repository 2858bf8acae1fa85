//! A project's decisions, where they lie: reading, checking, numbering, importing and drift, safe for several processes at once.
//!
//! Must not know what makes an ADR valid: that is the one rule set in `helix_adr`.

mod changes;
mod check;
mod drift;
mod error;
mod implemented;
mod import;
mod numbers;
mod place;
mod renumber;
mod summary;
mod threads;
mod writing;

use std::path::{Path, PathBuf};

use helix_adr::{
    Adr, AdrGraph, AdrId, ChangeScope, Classification, ComponentType, KnownAdrs, Language, RepoFacts, Rule, SiteFile,
    SiteWords, Style, TemplateRequest, built_in_rules, index_markdown, parse_rules, site, template as adr_template,
};

pub use crate::file_kind::is_decision_name;
pub use changes::Changed;
pub use check::CheckedFile;
pub use drift::{Drift, DriftError, DriftedFile, UndecidedFile, drift};
pub use error::AdrFileError;
use error::disk;
pub use implemented::Proven;
pub use import::{ImportedFile, Imports};
pub use numbers::Finalized;
pub use place::Place;
pub use renumber::{Mention, RenumberError, Renumbered};
pub use summary::AdrSummary;

use helix_process::bounded::{read_bytes, read_bytes_beneath, read_text};

/// Name of the generated index.
pub const INDEX: &str = "INDEX.md";
/// Name of the repository's own rules.
pub const RULES: &str = "rules.yaml";
/// Largest ADR that is read, in bytes.
pub const MAX_ADR: u64 = 8 << 20;

/// All ADRs of a project.
#[derive(Debug)]
pub struct AdrDirectory {
    root: PathBuf,
    place: Place,
    /// Whether the files of the project are facts for checks.
    knows_files: bool,
    adrs: Vec<Adr>,
    unreadable: Vec<(PathBuf, AdrFileError)>,
    known: KnownAdrs,
}

impl AdrDirectory {
    /// Reads the decisions of a project; one without a directory for them has none.
    ///
    /// # Errors
    /// [`AdrFileError::Place`] when it cannot be told where they are, [`AdrFileError::Disk`] when the directory cannot be listed. Files
    /// that cannot be read are in [`AdrDirectory::unreadable`].
    pub fn open(root: &Path) -> Result<Self, AdrFileError> {
        Self::open_in(root, &Place::find(root)?)
    }

    /// Reads those of a directory.
    fn open_in(root: &Path, place: &Place) -> Result<Self, AdrFileError> {
        let files = decisions_in(&root.join(&place.directory))?;
        let read = threads::each(&files, |path| read(root, path));
        let (mut adrs, mut unreadable) = (Vec::with_capacity(files.len()), Vec::new());
        for (path, read) in files.into_iter().zip(read) {
            match read {
                Ok(adr) => adrs.push(adr),
                Err(error) => unreadable.push((path, error)),
            }
        }
        Ok(Self::new(root.to_path_buf(), place.clone(), adrs, unreadable))
    }

    fn new(root: PathBuf, place: Place, mut adrs: Vec<Adr>, unreadable: Vec<(PathBuf, AdrFileError)>) -> Self {
        adrs.sort_by(|one, other| one.file.cmp(&other.file));
        let known = KnownAdrs::new(&adrs);
        Self { root, place, knows_files: true, adrs, unreadable, known }
    }

    /// The same, without saying which files there are.
    pub(crate) fn without_files(self) -> Self {
        Self { knows_files: false, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where they lie, relative to the root.
    pub fn directory(&self) -> &str {
        &self.place.directory
    }

    /// How a new one is written here: as the latest one.
    pub fn style(&self) -> Style {
        Style::of(&self.adrs, self.place.first)
    }

    /// The ADRs in the order of their file names.
    pub fn adrs(&self) -> &[Adr] {
        &self.adrs
    }

    /// Files of the directory that could not be read, with the reason.
    pub fn unreadable(&self) -> &[(PathBuf, AdrFileError)] {
        &self.unreadable
    }

    /// The index of all ADRs.
    pub fn index(&self) -> String {
        index_markdown(&self.adrs)
    }

    /// How the ADRs hang together.
    pub fn graph(&self) -> AdrGraph {
        AdrGraph::new(&self.adrs)
    }

    /// The files of a site of all ADRs.
    pub fn site(&self, words: &SiteWords) -> Vec<SiteFile> {
        // On a thread for parsing: texts may be nested deeply.
        let made = threads::each(&[words], |words| site(&self.adrs, &self.graph(), words));
        made.into_iter().flatten().collect()
    }

    /// What is known of all ADRs.
    pub fn known(&self) -> &KnownAdrs {
        &self.known
    }

    /// The rules of completeness: the built-in ones, and those of `rules.yaml` beside the decisions.
    ///
    /// # Errors
    /// [`AdrFileError`] when that file cannot be read or holds something that is no rule.
    pub fn rules(&self) -> Result<Vec<Rule>, AdrFileError> {
        let mut rules = built_in_rules();
        let path = self.root.join(&self.place.directory).join(RULES);
        let Some(text) = read_text(Some(&self.root), &path, MAX_ADR).map_err(disk("read", &path))? else {
            return Ok(rules);
        };
        let name = relative(&self.root, &path);
        let own = parse_rules(&name, &text)
            .map_err(|diagnostic| AdrFileError::Rules { diagnostic, source_text: text.clone() })?;
        rules.extend(own);
        Ok(rules)
    }

    /// The ADR of a number or name.
    pub fn find(&self, id: &AdrId) -> Option<&Adr> {
        self.by_file(self.known.files(id).first()?)
    }

    /// The ADR of a file, relative to the root.
    pub fn by_file(&self, file: &str) -> Option<&Adr> {
        self.adrs.binary_search_by(|adr| adr.file.as_str().cmp(file)).ok().and_then(|at| self.adrs.get(at))
    }
}

impl RepoFacts for AdrDirectory {
    fn exists(&self, path: &str) -> Option<bool> {
        self.root.join(path).try_exists().ok().filter(|_| self.knows_files)
    }

    fn adrs(&self) -> Option<&KnownAdrs> {
        Some(&self.known)
    }
}

/// The form of an ADR as the Consultant is given it: generated from the rule set that checks it.
pub fn template() -> String {
    let text = adr_template(&example_request());
    let fence = helix_core::finding::fence_for(&text);
    format!("{fence}markdown\n{text}\n{fence}")
}

/// What the Consultant's example is about.
fn example_request() -> TemplateRequest {
    TemplateRequest {
        language: Language::English,
        title: "Export orders as CSV".into(),
        component_type: ComponentType::Tool,
        classification: Classification::New,
        change_scope: ChangeScope::Minor,
        creates: vec!["src/export.py".into()],
    }
}

/// ADRs of a directory in the order of their names, without index and readme; none if it is not there.
///
/// # Errors
/// [`AdrFileError::Disk`] when it cannot be listed.
pub fn decisions_in(directory: &Path) -> Result<Vec<PathBuf>, AdrFileError> {
    let listed = std::fs::read_dir(directory)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
    let mut files = match listed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        listed => listed.map_err(disk("read", directory))?,
    };
    files.retain(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_decision_name));
    files.sort();
    Ok(files)
}

/// Reads a decision: one of the project beneath its root, any other as it was named.
fn read(root: &Path, path: &Path) -> Result<Adr, AdrFileError> {
    let bytes =
        if path.starts_with(root) { read_bytes_beneath(root, path, MAX_ADR) } else { read_bytes(path, MAX_ADR) };
    Adr::parse_bytes(&relative(root, path), &bytes.map_err(disk("read", path))?).map_err(AdrFileError::Unreadable)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "mod_test.rs"]
mod tests;
