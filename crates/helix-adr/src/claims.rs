//! Which decisions claim which files: so that a new decision is told whom it meets, and a change whose it is.
//!
//! Must not know a disk or git. A look-up costs the depth of a path and what lies at it, never a walk over all decisions.

use std::collections::BTreeMap;

use helix_plan::can_meet;

use super::syntax::Adr;
use super::words::{AdrId, Status};

/// A decision that claims a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claimant {
    pub id: AdrId,
    /// Its file, as the user calls it.
    pub file: String,
    pub title: String,
    /// The path or glob as it claims it.
    pub path: String,
}

/// The claims of the decisions in force (`Accepted` and `Implemented`), by path.
#[derive(Debug, Clone, Default)]
pub struct ClaimIndex {
    /// Claims by their path; those of globs by the directory before the first wildcard.
    by_path: BTreeMap<String, Vec<usize>>,
    claims: Vec<Claimant>,
}

impl Status {
    /// Whether the decision holds, so that what it claims is its own.
    pub fn is_in_force(self) -> bool {
        match self {
            Self::Accepted | Self::Implemented => true,
            Self::Proposed | Self::Superseded | Self::Rejected | Self::Deprecated => false,
        }
    }
}

impl ClaimIndex {
    pub(super) fn add(&mut self, adr: &Adr) {
        let (Some(front), Some(number)) = (&adr.front, adr.number()) else { return };
        if !adr.status().is_some_and(Status::is_in_force) {
            return;
        }
        for path in front.files.all() {
            let (id, title) = (AdrId::Number(number), adr.title().to_owned());
            let claim = Claimant { id, file: adr.file.clone(), title, path: path.to_owned() };
            self.by_path.entry(anchor(path).to_owned()).or_default().push(self.claims.len());
            self.claims.push(claim);
        }
    }

    /// The decisions that claim a path, a directory above it, or a glob that names it. For a glob or a directory also those
    /// that claim something in it. Each claim once, in the order of the decisions.
    pub fn of(&self, path: &str) -> Vec<&Claimant> {
        let plain = path.trim_end_matches('/');
        let own = anchor(plain);
        let mut found: Vec<usize> = Vec::new();
        let mut above = Some(own);
        while let Some(directory) = above {
            found.extend(self.by_path.get(directory).into_iter().flatten());
            above = match directory {
                "" => None,
                _ => Some(directory.rsplit_once('/').map_or("", |(parent, _)| parent)),
            };
        }
        // What lies below counts for a directory too: whether a plain path is one is not known here.
        let below = if own.is_empty() { String::new() } else { format!("{own}/") };
        let inside = self.by_path.range(below.clone()..).take_while(|(key, _)| key.starts_with(&below));
        found.extend(inside.flat_map(|(_, numbers)| numbers));
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .filter_map(|number| self.claims.get(number))
            // Too much work to know (a hostile glob) is taken for a meeting: to be told once too often does no harm.
            .filter(|claim| can_meet(claim.path.trim_end_matches('/'), plain).unwrap_or(true))
            .collect()
    }
}

/// The part of a path that has no wildcard, up to a slash.
fn anchor(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.find(['*', '?', '[', '{']) {
        Some(at) => path[..at].rsplit_once('/').map_or("", |(directory, _)| directory),
        None => path,
    }
}
