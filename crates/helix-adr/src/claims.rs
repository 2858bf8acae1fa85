//! Which decisions claim which files: so that a new decision is told whom it meets, and a change whose it is.
//!
//! Must not know a disk or git.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use helix_plan::can_meet;

use super::path_index::PathIndex;
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
pub struct ClaimIndex(PathIndex<Claimed>);

/// A path or glob, and who claims it, each decision once.
#[derive(Debug, Clone)]
struct Claimed {
    path: String,
    claimants: Vec<Claimant>,
}

impl Status {
    /// Whether the decision holds, so that what it claims is its own.
    pub fn is_in_force(self) -> bool {
        matches!(self, Self::Accepted | Self::Implemented)
    }
}

impl ClaimIndex {
    /// Reads the claims of many decisions.
    pub(super) fn new<'a>(adrs: impl IntoIterator<Item = &'a Adr>) -> Self {
        let mut by_claim: BTreeMap<&str, Vec<Claimant>> = BTreeMap::new();
        for adr in adrs {
            let (Some(front), Some(id)) = (&adr.front, adr.decided_id()) else { continue };
            if !adr.status().is_some_and(Status::is_in_force) {
                continue;
            }
            for path in front.files.all() {
                let (file, title) = (adr.file.clone(), adr.title().to_owned());
                let claimant = Claimant { id: id.clone(), file, title, path: path.to_owned() };
                by_claim.entry(path).or_default().push(claimant);
            }
        }
        let mut index = PathIndex::default();
        for (path, mut claimants) in by_claim {
            claimants.sort();
            claimants.dedup();
            index.insert(path, Claimed { path: path.to_owned(), claimants });
        }
        Self(index)
    }

    /// What is claimed and meets a path: the path, a directory above it, or a glob that names it. For a glob or a directory also
    /// what is claimed in it.
    fn meeting(&self, path: &str) -> impl Iterator<Item = &Claimed> {
        let path = path.trim_end_matches('/');
        // Too much work to know (a hostile glob) counts as a meeting: one notice too many does no harm.
        self.0.near(path).filter(move |claim| can_meet(claim.path.trim_end_matches('/'), path).unwrap_or(true))
    }

    /// The decisions that claim what meets a path, in the order of their ids.
    pub fn claimants(&self, path: &str) -> Vec<&Claimant> {
        let mut found: Vec<&Claimant> = self.meeting(path).flat_map(|claimed| &claimed.claimants).collect();
        found.sort();
        found
    }

    /// Shows the decisions before another one that claim what meets a path, of each claim the latest first, until there is enough:
    /// thousands may claim one file.
    pub(super) fn before<'s>(&'s self, path: &str, id: &AdrId, mut show: impl FnMut(&'s Claimant) -> ControlFlow<()>) {
        for claimed in self.meeting(path) {
            let end = match id {
                AdrId::Draft => claimed.claimants.len(),
                AdrId::Number(_) | AdrId::Named(_) => claimed.claimants.partition_point(|claimant| claimant.id < *id),
            };
            for claimant in claimed.claimants[..end].iter().rev() {
                if show(claimant).is_break() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "claims_test.rs"]
mod tests;
