//! Writes into a decision what became of it: who has accepted it, the criteria that a job's evidence proves, and its state once all
//! of them are.
//!
//! Must not judge evidence or ask anybody: what is proven, and who said yes, is given to it.

use std::path::Path;

use helix_adr::{Acceptance, Adr, AdrId, Status};

use super::writing::{disk, lock, replace, write_index};
use super::{AdrDirectory, AdrFileError};

/// What was written into a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// Its file, relative to the project's root.
    pub path: String,
    pub status: Status,
    /// Criteria that are met now, as they read.
    pub met: Vec<String>,
    /// Criteria that nothing proves.
    pub open: Vec<String>,
}

impl AdrDirectory {
    /// Makes a proposed decision an accepted one that says who has accepted it; the index says so, too. Gives its file, relative to
    /// the project's root.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::NotProposed`] where it is something else already.
    pub fn accept(root: &Path, id: AdrId, acceptance: &Acceptance) -> Result<String, AdrFileError> {
        let _lock = lock(root)?;
        let known = Self::open(root)?;
        let adr = known.find(id).ok_or(AdrFileError::Unknown { id })?;
        match adr.status() {
            Some(Status::Proposed) | None => {}
            Some(status) => return Err(AdrFileError::NotProposed { file: adr.file.clone(), status }),
        }
        let text = adr.with_acceptance(acceptance)?;
        let path = root.join(&adr.file);
        replace(&path, &text).map_err(disk("write", &path))?;
        write_index(root)?;
        Ok(adr.file.clone())
    }

    /// Ticks the criteria that are proven. The decision is Implemented once all of its criteria are, and the index says so. A
    /// proposed one that a person has approved in the job becomes an accepted one first.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::Unknown`] where there is no decision of this number.
    pub fn prove(
        root: &Path,
        id: AdrId,
        proven: &[String],
        approved: Option<&Acceptance>,
    ) -> Result<Proven, AdrFileError> {
        let _lock = lock(root)?;
        let known = Self::open(root)?;
        let adr = known.find(id).ok_or(AdrFileError::Unknown { id })?;
        let (met, open): (Vec<String>, Vec<String>) =
            adr.criteria.iter().map(|criterion| criterion.text.clone()).partition(|text| proven.contains(text));
        let all = open.is_empty() && !met.is_empty();
        let proposed = adr.status() == Some(Status::Proposed);
        let accepted = match approved.filter(|_| proposed) {
            Some(by) => Some(Adr::parse(&adr.file, &adr.with_acceptance(by)?)),
            None => None,
        };
        let (source, adr) = (&adr.source, accepted.as_ref().unwrap_or(adr));
        let before = adr.status();
        let status = match before {
            // What was given up or replaced does not come back because it was built once.
            Some(Status::Proposed | Status::Accepted) | None if all => Some(Status::Implemented),
            Some(_) | None => None,
        };
        let text = adr.with_met_criteria(&met, status)?;
        let path = root.join(&adr.file);
        if text != *source {
            replace(&path, &text).map_err(disk("write", &path))?;
            write_index(root)?;
        }
        Ok(Proven { path: adr.file.clone(), status: status.or(before).unwrap_or(Status::Proposed), met, open })
    }
}
