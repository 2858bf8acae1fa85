//! A project's `adr/` directory: checking, numbering and finalizing, safe for several processes at once.
//!
//! Must not know what makes an ADR valid: that is the one rule set in `helix_core::adr`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use helix_core::adr::{
    Adr, AdrId, ChangeScope, Classification, ComponentType, Language, RepoFacts, Status, TemplateRequest, check,
    finalized_file_name, index_markdown, next_number, number_of_file_name, template as adr_template,
};
use helix_core::diagnostic::Diagnostic;
use rustix::fs::FlockOperation;

/// Name of the generated index.
pub const INDEX: &str = "INDEX.md";
/// Largest ADR that is read, in bytes.
const MAX_ADR: u64 = 8 << 20;

/// All ADRs of a project.
#[derive(Debug)]
pub struct AdrDirectory {
    root: PathBuf,
    adrs: Vec<Adr>,
}

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
    /// Its front matter cannot be completed.
    #[error("{file} cannot be given a number")]
    Rewrite {
        /// The file.
        file: String,
        /// Why not.
        source: helix_core::adr::RewriteError,
    },
}

/// A finalized ADR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finalized {
    /// Its number.
    pub number: u32,
    /// Its file, relative to the project's root.
    pub path: String,
    /// The index, relative to the project's root.
    pub index: String,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// An ADR and what is wrong with it.
#[derive(Debug)]
pub struct CheckedAdr {
    /// The ADR.
    pub adr: Adr,
    /// In the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl AdrDirectory {
    /// Reads `adr/` of a project; a project without one has no ADRs.
    ///
    /// # Errors
    /// [`AdrFileError::Disk`]. Files that are no ADRs are left out: they are found when they are checked.
    pub fn open(root: &Path) -> Result<Self, AdrFileError> {
        let directory = root.join("adr");
        let mut files: Vec<PathBuf> = match std::fs::read_dir(&directory) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(AdrFileError::Disk { action: "list", path: directory, source }),
        };
        files.retain(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with(INDEX));
        files.sort();
        let adrs = files.iter().filter_map(|path| read(path, &relative(root, path)).ok()).collect();
        Ok(Self { root: root.to_path_buf(), adrs })
    }

    /// The ADRs in the order of their file names.
    pub fn adrs(&self) -> &[Adr] {
        &self.adrs
    }

    /// Checks a file, which need not lie in the directory.
    ///
    /// # Errors
    /// [`AdrFileError`] when it cannot be read.
    pub fn check(&self, path: &Path) -> Result<CheckedAdr, AdrFileError> {
        let adr = read(path, &relative(&self.root, path))?;
        let diagnostics = check(&adr, self);
        Ok(CheckedAdr { adr, diagnostics })
    }

    /// The number that the next ADR gets.
    pub fn next_number(&self) -> u32 {
        next_number(&self.adrs.iter().filter_map(number).collect::<Vec<_>>())
    }

    /// The index of all ADRs.
    pub fn index(&self) -> String {
        index_markdown(&self.adrs)
    }

    /// Gives a draft the next number and its place, and writes the index. Two at once get two numbers. A draft that lies
    /// in `adr/` itself is moved; any other stays where it is.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn finalize(root: &Path, draft: &Path) -> Result<Finalized, AdrFileError> {
        let directory = root.join("adr");
        let disk = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| AdrFileError::Disk { action, path, source }
        };
        std::fs::create_dir_all(&directory).map_err(disk("create", &directory))?;
        // The lock is the directory itself: it leaves no file behind, and the kernel drops it when its holder dies.
        let lock = File::open(&directory).map_err(disk("open", &directory))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| disk("lock", &directory)(error.into()))?;
        let known = Self::open(root)?;
        let CheckedAdr { adr, diagnostics } = known.check(draft)?;
        let file = adr.file.clone();
        if let Some(id @ AdrId::Number(_)) = id_of(&adr) {
            return Err(AdrFileError::Numbered { file, id });
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(AdrFileError::Invalid { file, source_text: adr.source, diagnostics });
        }
        let number = known.next_number();
        let status = match adr.front.as_ref().and_then(|front| front.status.as_ref()).map(|status| status.value) {
            Some(Status::Proposed) | None => Status::Accepted,
            Some(other) => other,
        };
        let text = adr
            .with_id_and_status(AdrId::Number(number), status)
            .map_err(|source| AdrFileError::Rewrite { file, source })?;
        let path = directory.join(finalized_file_name(number, adr.title()));
        write_new(&path, &text).map_err(disk("write", &path))?;
        if draft.parent().and_then(|parent| parent.canonicalize().ok()) == directory.canonicalize().ok() {
            std::fs::remove_file(draft).map_err(disk("remove", draft))?;
        }
        let index = directory.join(INDEX);
        replace(&index, &Self::open(root)?.index()).map_err(disk("write", &index))?;
        Ok(Finalized { number, path: relative(root, &path), index: relative(root, &index), warnings: diagnostics })
    }
}

impl RepoFacts for AdrDirectory {
    fn exists(&self, path: &str) -> Option<bool> {
        self.root.join(path).try_exists().ok()
    }

    fn known_adr(&self, id: AdrId) -> Option<bool> {
        Some(self.adrs.iter().any(|adr| id_of(adr) == Some(id)))
    }

    fn supersedes(&self, id: AdrId) -> Vec<AdrId> {
        let found = self.adrs.iter().find(|adr| id_of(adr) == Some(id)).and_then(|adr| adr.front.as_ref());
        found.map(|front| front.supersedes.iter().map(|other| other.value).collect()).unwrap_or_default()
    }

    fn others_with_number(&self, id: AdrId, file: &str) -> Vec<String> {
        let others = self.adrs.iter().filter(|adr| id_of(adr) == Some(id) && adr.file != file);
        others.map(|adr| adr.file.clone()).collect()
    }
}

/// The form of an ADR as the Consultant is given it: generated from the rule set that checks it [45].
pub fn template() -> String {
    let request = TemplateRequest {
        language: Language::English,
        title: "Export orders as CSV".into(),
        component_type: ComponentType::Tool,
        classification: Classification::New,
        change_scope: ChangeScope::Minor,
        creates: vec!["src/export.py".into()],
    };
    let text = adr_template(&request);
    let fence = helix_core::finding::fence_for(&text);
    format!("{fence}markdown\n{text}\n{fence}")
}

/// Numbers in use, with the files that hold them; more than one file is a collision.
pub fn collisions(directory: &AdrDirectory) -> BTreeMap<u32, Vec<String>> {
    let mut files: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for adr in &directory.adrs {
        if let Some(number) = number(adr) {
            files.entry(number).or_default().push(adr.file.clone());
        }
    }
    files.retain(|_, holders| holders.len() > 1);
    files
}

fn id_of(adr: &Adr) -> Option<AdrId> {
    Some(adr.front.as_ref()?.adr_id.as_ref()?.value)
}

fn number(adr: &Adr) -> Option<u32> {
    match id_of(adr) {
        Some(AdrId::Number(number)) => Some(number),
        Some(AdrId::Draft) | None => number_of_file_name(&adr.file),
    }
}

fn read(path: &Path, name: &str) -> Result<Adr, AdrFileError> {
    let disk = |source| AdrFileError::Disk { action: "read", path: path.to_path_buf(), source };
    let bytes = std::fs::metadata(path).map_err(disk)?.len();
    if bytes > MAX_ADR {
        return Err(AdrFileError::TooLarge { path: path.to_path_buf(), bytes });
    }
    let bytes = std::fs::read(path).map_err(disk)?;
    Adr::parse_bytes(name, &bytes).map_err(AdrFileError::Unreadable)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Writes a file that must not exist, whole or not at all.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = write_beside(path, text)?;
    // A hard link never replaces: a file that is there already is an error, not lost.
    let linked = std::fs::hard_link(&temporary, path);
    std::fs::remove_file(&temporary)?;
    linked
}

/// Replaces a file, whole or not at all.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::rename(write_beside(path, text)?, path)
}

fn write_beside(path: &Path, text: &str) -> std::io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(temporary)
}
