//! Writes into a decision what a job's evidence proves: ticked criteria, and its state once all of them are.
//!
//! Must not judge evidence: what is proven is given to it.

use std::path::Path;

use helix_adr::{AdrId, Status};

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
    /// Ticks the criteria that are proven. The decision is Implemented once all of its criteria are, and the index says so.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::Unknown`] where there is no decision of this number.
    pub fn prove(root: &Path, id: AdrId, proven: &[String]) -> Result<Proven, AdrFileError> {
        let _lock = lock(root)?;
        let known = Self::open(root)?;
        let adr = known.find(id).ok_or(AdrFileError::Unknown { id })?;
        let (met, open): (Vec<String>, Vec<String>) =
            adr.criteria.iter().map(|criterion| criterion.text.clone()).partition(|text| proven.contains(text));
        let all = open.is_empty() && !met.is_empty();
        let before = adr.status();
        let status = match before {
            // What was given up or replaced does not come back because it was built once.
            Some(Status::Proposed | Status::Accepted) | None if all => Some(Status::Implemented),
            Some(_) | None => None,
        };
        let text = adr
            .with_met_criteria(&met, status)
            .map_err(|source| AdrFileError::Rewrite { file: adr.file.clone(), source })?;
        let path = root.join(&adr.file);
        if text != adr.source {
            replace(&path, &text).map_err(disk("write", &path))?;
            write_index(root)?;
        }
        Ok(Proven { path: adr.file.clone(), status: status.or(before).unwrap_or(Status::Proposed), met, open })
    }
}
