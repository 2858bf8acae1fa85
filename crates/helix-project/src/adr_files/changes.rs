//! Changes what decisions say of their state and of each other: accepted, rejected, superseded, linked.
//!
//! Must not ask anybody: who said so is given. How a form says it is `helix_adr`'s.

use std::path::Path;

use helix_adr::{Acceptance, Adr, AdrId, Link, Status};

use super::writing::{disk, replace, update_index};
use super::{AdrDirectory, AdrFileError};

/// Files that were changed, relative to the project's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Decisions; the first is the one that was asked for.
    pub files: Vec<String>,
    /// The index, where there is one.
    pub index: Option<String>,
}

impl Changed {
    /// All of them.
    pub fn all(&self) -> Vec<String> {
        self.files.iter().chain(&self.index).cloned().collect()
    }
}

impl AdrDirectory {
    /// Makes a proposed decision an accepted one that says who has accepted it, where its form has a place for that.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::NotProposed`] where it is something else already.
    pub fn accept(root: &Path, id: &AdrId, acceptance: &Acceptance) -> Result<Changed, AdrFileError> {
        Self::change(root, &[id], |adrs| {
            proposed(adrs[0])?;
            Ok(vec![adrs[0].with_acceptance(acceptance)?])
        })
    }

    /// Makes a proposed decision a rejected one.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::NotProposed`] where it is something else already.
    pub fn reject(root: &Path, id: &AdrId) -> Result<Changed, AdrFileError> {
        Self::change(root, &[id], |adrs| {
            proposed(adrs[0])?;
            Ok(vec![adrs[0].with_status(Status::Rejected)?])
        })
    }

    /// Says of two decisions that the second has replaced the first, in both.
    ///
    /// # Errors
    /// [`AdrFileError`]; what was begun is completed by doing it again.
    pub fn supersede(root: &Path, old: &AdrId, new: &AdrId) -> Result<Changed, AdrFileError> {
        Self::change(root, &[old, new], |adrs| {
            Ok(vec![adrs[0].superseded_by(adrs[1])?, adrs[1].linked(Link::Supersedes, adrs[0])?])
        })
    }

    /// Says in a decision how it hangs together with another one.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn link(root: &Path, from: &AdrId, link: Link, to: &AdrId) -> Result<Changed, AdrFileError> {
        Self::change(root, &[from, to], |adrs| Ok(vec![adrs[0].linked(link, adrs[1])?]))
    }

    /// Writes the new texts of decisions, in their order, and the index.
    fn change(
        root: &Path,
        ids: &[&AdrId],
        texts: impl Fn(&[&Adr]) -> Result<Vec<String>, AdrFileError>,
    ) -> Result<Changed, AdrFileError> {
        let (_lock, known) = Self::locked(root)?;
        let adrs = ids.iter().map(|id| known.named(id)).collect::<Result<Vec<&Adr>, AdrFileError>>()?;
        let mut files = Vec::new();
        for (adr, text) in adrs.iter().zip(texts(&adrs)?) {
            let path = root.join(&adr.file);
            if text != adr.source {
                replace(&path, &text).map_err(disk("write", &path))?;
            }
            files.push(adr.file.clone());
        }
        Ok(Changed { files, index: update_index(root, &known.place)? })
    }

    pub(super) fn named(&self, id: &AdrId) -> Result<&Adr, AdrFileError> {
        let unknown = || AdrFileError::Unknown { id: id.clone(), directory: self.place.directory.clone() };
        self.find(id).ok_or_else(unknown)
    }
}

fn proposed(adr: &Adr) -> Result<(), AdrFileError> {
    match adr.status() {
        Some(Status::Proposed) | None => Ok(()),
        Some(status) => Err(AdrFileError::NotProposed { file: adr.file.clone(), status }),
    }
}
