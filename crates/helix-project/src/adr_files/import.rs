//! MADR and Nygard files become ADRs of the project, under their own numbers where those are free.
//!
//! Must not know how a file is converted: that is `helix_adr::import`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use helix_adr::{Adr, Imported, Numbering, check, import};
use helix_core::diagnostic::Diagnostic;
use serde::Serialize;

use super::numbers::taken_elsewhere;
use super::writing::{disk, lock, replace, write_index, write_new};
use super::{AdrDirectory, AdrFileError, Place, read, relative};

/// A foreign file and what it becomes.
#[derive(Debug, Serialize)]
pub struct ImportedFile {
    pub from: PathBuf,
    /// Where the ADR lies, or would lie, relative to the project's root.
    pub to: String,
    pub number: u32,
    /// The number that it had, if it had one.
    pub number_before: Option<u32>,
    #[serde(flatten)]
    pub imported: Imported,
    /// What the rule set says about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Files that were converted together.
#[derive(Debug)]
pub struct Imports {
    /// In the order in which they were given.
    pub files: Vec<ImportedFile>,
    /// The index, if something was written.
    pub index: Option<String>,
}

struct Foreign {
    path: PathBuf,
    adr: Adr,
    before: Option<u32>,
}

impl AdrDirectory {
    /// Converts files and shows what would be written.
    ///
    /// # Errors
    /// [`AdrFileError`] when one cannot be read or is no foreign ADR.
    pub fn preview_import(root: &Path, files: &[PathBuf]) -> Result<Imports, AdrFileError> {
        let known = Self::open_in(root, &Place::own())?;
        Ok(Imports { files: known.convert(files)?, index: None })
    }

    /// Converts files, writes the ADRs and the index. A foreign file that lies in `adr/` itself is replaced; any other stays.
    ///
    /// # Errors
    /// [`AdrFileError`]; before anything is written if a file cannot be read or is no foreign ADR.
    pub fn import(root: &Path, files: &[PathBuf]) -> Result<Imports, AdrFileError> {
        let place = Place::own();
        let _lock = lock(root, &place)?;
        let known = Self::open_in(root, &Place::own())?;
        let converted = known.convert(files)?;
        let directory = root.join(&place.directory).canonicalize().ok();
        for file in &converted {
            let path = root.join(&file.to);
            if path.canonicalize().is_ok() && path.canonicalize().ok() == file.from.canonicalize().ok() {
                replace(&path, &file.imported.text).map_err(disk("write", &path))?;
                continue;
            }
            write_new(&path, &file.imported.text).map_err(disk("write", &path))?;
            if file.from.parent().and_then(|parent| parent.canonicalize().ok()) == directory {
                std::fs::remove_file(&file.from).map_err(disk("remove", &file.from))?;
            }
        }
        let index = write_index(root, &place)?;
        Ok(Imports { files: converted, index: Some(relative(root, &index)) })
    }

    fn convert(&self, files: &[PathBuf]) -> Result<Vec<ImportedFile>, AdrFileError> {
        let mut foreign = Vec::new();
        for path in files {
            let adr = read(&self.root, path)?;
            let before = adr.number();
            foreign.push(Foreign { path: path.clone(), adr, before });
        }
        let numbers = self.allocate(&foreign);
        let renumbered: BTreeMap<u32, u32> =
            foreign.iter().zip(&numbers).filter_map(|(one, number)| Some((one.before?, *number))).collect();
        let replaced: BTreeSet<String> = foreign.iter().map(|one| one.adr.file.clone()).collect();
        let mut files = Vec::new();
        for (Foreign { path: from, adr, before: number_before }, number) in foreign.into_iter().zip(numbers) {
            let imported =
                import(&adr, number, &renumbered).map_err(|source| AdrFileError::Import { file: adr.file, source })?;
            let to = format!("{}/{}", self.place.directory, Numbering::HELIX.file_name(number, &imported.title));
            files.push(ImportedFile { from, to, number, number_before, imported, diagnostics: Vec::new() });
        }
        // The converted files are judged as part of the project that they are about to be part of.
        let read: Vec<Adr> = files.iter().map(|file| Adr::parse(&file.to, &file.imported.text)).collect();
        let others = self.adrs.iter().filter(|adr| !replaced.contains(&adr.file));
        let project =
            Self::new(self.root.clone(), self.place.clone(), others.chain(&read).cloned().collect(), Vec::new());
        for (file, adr) in files.iter_mut().zip(&read) {
            file.diagnostics = check(adr, &project);
        }
        Ok(files)
    }

    /// The number of each file: its own where no other decision of the project has it, else the next.
    fn allocate(&self, foreign: &[Foreign]) -> Vec<u32> {
        let own: BTreeSet<&str> = foreign.iter().map(|one| one.adr.file.as_str()).collect();
        let mut taken: BTreeSet<u32> =
            self.adrs.iter().filter(|adr| !own.contains(adr.file.as_str())).filter_map(Adr::number_or_named).collect();
        let mut given: Vec<Option<u32>> = Vec::new();
        for one in foreign {
            given.push(one.before.filter(|number| taken.insert(*number)));
        }
        let highest = taken.iter().copied().chain(taken_elsewhere(&self.root, &self.place)).max().unwrap_or(0);
        let mut next = highest;
        let numbers = given.into_iter().map(|number| {
            number.unwrap_or_else(|| {
                next = next.saturating_add(1);
                next
            })
        });
        numbers.collect()
    }
}
