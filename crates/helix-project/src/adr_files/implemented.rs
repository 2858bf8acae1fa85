//! Writes into a decision what became of it: the criteria that a job's evidence proves, and its state once all
//! of them are.
//!
//! Must not judge evidence or ask anybody: what is proven, and who said yes, is given to it.

use std::path::Path;

use helix_adr::{Acceptance, Adr, AdrForm, AdrId, Status};

use super::writing::{disk, replace, update_index};
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
    /// Ticks the criteria that are proven. The decision is Implemented once all of its criteria are, and the index says so. A
    /// proposed one that a person has approved in the job becomes an accepted one first.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed. [`AdrFileError::Unknown`] where there is no decision of this number,
    /// [`AdrFileError::NotAccepted`] where it is only proposed.
    pub fn prove(
        root: &Path,
        id: &AdrId,
        proven: &[String],
        approved: Option<&Acceptance>,
    ) -> Result<Proven, AdrFileError> {
        let (_lock, known) = Self::locked(root)?;
        let adr = known.named(id)?;
        let (met, open): (Vec<String>, Vec<String>) =
            adr.criteria.iter().map(|criterion| criterion.text.clone()).partition(|text| proven.contains(text));
        let all = open.is_empty() && !met.is_empty();
        let proposed = adr.status() == Some(Status::Proposed);
        let accepted = match approved {
            _ if !proposed => None,
            Some(by) => Some(Adr::parse(&adr.file, &adr.with_acceptance(by)?)),
            None => return Err(AdrFileError::NotAccepted { file: adr.file.clone(), id: id.clone() }),
        };
        let (source, adr) = (&adr.source, accepted.as_ref().unwrap_or(adr));
        let before = adr.status();
        let status = match before {
            // What was given up or replaced does not come back because it was built once.
            // Other forms know no such state: their boxes are ticked, and no more is said.
            Some(Status::Proposed | Status::Accepted) | None if all && adr.form == AdrForm::Helix => {
                Some(Status::Implemented)
            }
            Some(_) | None => None,
        };
        let text = adr.with_met_criteria(&met, status)?;
        let path = root.join(&adr.file);
        if text != *source {
            replace(&path, &text).map_err(disk("write", &path))?;
            update_index(root, &known.place)?;
        }
        Ok(Proven { path: adr.file.clone(), status: status.or(before).unwrap_or(Status::Proposed), met, open })
    }
}
