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
    files: BTreeMap<u32, Vec<String>>,
    claims: ClaimIndex,
    pub(super) supersedes: Links,
    pub(super) depends_on: Links,
}

impl KnownAdrs {
    /// Reads many ADRs once.
    pub fn new<'a>(adrs: impl IntoIterator<Item = &'a Adr>) -> Self {
        let mut known = Self::default();
        let (mut supersedes, mut depends_on) = (BTreeSet::new(), BTreeSet::new());
        for adr in adrs {
            let Some(number) = adr.number_or_named() else { continue };
            known.files.entry(number).or_default().push(adr.file.clone());
            known.claims.add(adr);
            let id = AdrId::Number(number);
            if let Some(front) = &adr.front {
                supersedes.extend(front.supersedes.iter().map(|other| (id, other.value)));
                depends_on.extend(front.depends_on.iter().map(|other| (id, other.value)));
            }
        }
        Self { supersedes: Links::new(&supersedes), depends_on: Links::new(&depends_on), ..known }
    }

    /// Whose the files are.
    pub fn claims(&self) -> &ClaimIndex {
        &self.claims
    }

    /// Numbers that more than one file has, with those files.
    pub fn collisions(&self) -> BTreeMap<u32, Vec<String>> {
        self.files.iter().filter(|(_, files)| files.len() > 1).map(|(number, files)| (*number, files.clone())).collect()
    }

    /// The files that hold a decision of a number; none for a draft, which nothing can name.
    pub fn files(&self, id: AdrId) -> &[String] {
        match id {
            AdrId::Number(number) => self.files.get(&number).map_or(&[], Vec::as_slice),
            AdrId::Draft => &[],
        }
    }
}

impl Adr {
    /// The number that it takes: its own, or that of its file's name.
    pub fn number_or_named(&self) -> Option<u32> {
        self.number().or_else(|| number_of_file_name(&self.file))
    }
}
