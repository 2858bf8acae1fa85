//! What is known of a project's decisions when one of them is checked: their numbers, their links and the files that they claim.
//!
//! Must not know a disk or git.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::ClaimIndex;
use super::file_name::number_of_file_name;
use super::graph::Links;
use super::syntax::Adr;
use super::words::AdrId;

/// The decisions of a project.
#[derive(Debug, Clone, Default)]
pub struct KnownAdrs {
    /// Which files hold a decision of a number.
    files: BTreeMap<AdrId, Vec<String>>,
    claims: ClaimIndex,
    pub(super) supersedes: Links,
    pub(super) depends_on: Links,
}

impl KnownAdrs {
    /// Reads many ADRs once.
    pub fn new<'a>(adrs: impl IntoIterator<Item = &'a Adr> + Clone) -> Self {
        let mut files: BTreeMap<AdrId, Vec<String>> = BTreeMap::new();
        let (mut supersedes, mut depends_on) = (BTreeSet::new(), BTreeSet::new());
        for adr in adrs.clone() {
            let Some(id) = adr.id_or_named() else { continue };
            if let Some(front) = &adr.front {
                supersedes.extend(front.supersedes.iter().map(|other| (id.clone(), other.value.clone())));
                depends_on.extend(front.depends_on.iter().map(|other| (id.clone(), other.value.clone())));
            }
            files.entry(id).or_default().push(adr.file.clone());
        }
        let (supersedes, depends_on) = (Links::new(&supersedes), Links::new(&depends_on));
        Self { files, claims: ClaimIndex::new(adrs), supersedes, depends_on }
    }

    /// Whose the files are.
    pub fn claims(&self) -> &ClaimIndex {
        &self.claims
    }

    /// Ids that more than one file has, with those files.
    pub fn collisions(&self) -> BTreeMap<AdrId, Vec<String>> {
        self.files.iter().filter(|(_, files)| files.len() > 1).map(|(id, files)| (id.clone(), files.clone())).collect()
    }

    /// The files that hold a decision of this id; none for a draft, which nothing can name.
    pub fn files(&self, id: &AdrId) -> &[String] {
        self.files.get(id).map_or(&[], Vec::as_slice)
    }
}

impl Adr {
    /// What it is called by: its own id, or that of its file's name; a draft by nothing.
    pub fn id_or_named(&self) -> Option<AdrId> {
        self.decided_id().or_else(|| number_of_file_name(&self.file).map(AdrId::Number))
    }

    /// The number that it takes, if it takes one.
    pub fn number_or_named(&self) -> Option<u32> {
        self.id_or_named()?.number()
    }
}
