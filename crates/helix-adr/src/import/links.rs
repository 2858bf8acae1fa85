//! Which other ADRs a foreign one names in its state or among its links, and what it says of them.
//!
//! Must not follow them.

use std::collections::{BTreeMap, BTreeSet};

use crate::file_name::{mentions, number_of_file_name};
use crate::syntax::Adr;

use super::record::Record;

/// Numbers by their meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Links {
    depends_on: BTreeSet<u32>,
    related_to: BTreeSet<u32>,
    supersedes: BTreeSet<u32>,
    superseded_by: BTreeSet<u32>,
}

/// What a line says of the ADRs in it; the first that is found counts.
const SUPERSEDED_BY: [&str; 5] = ["superseded by", "superceded by", "replaced by", "ersetzt durch", "abgelöst durch"];
const SUPERSEDES: [&str; 5] = ["supersedes", "supercedes", "replaces", "ersetzt", "löst"];
const DEPENDS_ON: [&str; 6] = ["depends on", "builds on", "requires", "hängt ab von", "basiert auf", "baut auf"];
const RELATED: [&str; 12] = [
    "amends",
    "amended",
    "clarifies",
    "clarified",
    "refines",
    "refined",
    "relates",
    "related",
    "see also",
    "ergänzt",
    "verwandt",
    "siehe",
];

impl Links {
    pub(super) fn read(adr: &Adr, record: &Record<'_>, renumbered: &BTreeMap<u32, u32>) -> Self {
        let mut links = Self::default();
        let status = record.status_text(adr).unwrap_or_default();
        let listed = adr.sections.iter().filter(|section| {
            let name = section.heading.to_lowercase();
            ["links", "more information", "weitere informationen"].contains(&name.as_str())
        });
        let listed = listed.filter_map(|section| adr.source.get(section.body.clone()));
        for line in status.lines().chain(listed.flat_map(str::lines)) {
            let lower = line.to_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            let list = if says(&SUPERSEDED_BY) {
                &mut links.superseded_by
            } else if says(&SUPERSEDES) {
                &mut links.supersedes
            } else if says(&DEPENDS_ON) {
                &mut links.depends_on
            } else if says(&RELATED) {
                &mut links.related_to
            } else {
                continue;
            };
            list.extend(numbers(line).into_iter().map(|number| renumbered.get(&number).copied().unwrap_or(number)));
        }
        links
    }

    /// Keys of the front matter with their numbers.
    pub(super) fn lists(&self) -> [(&'static str, &BTreeSet<u32>); 4] {
        [
            ("depends_on", &self.depends_on),
            ("related_to", &self.related_to),
            ("supersedes", &self.supersedes),
            ("superseded_by", &self.superseded_by),
        ]
    }
}

/// The ADRs that a line names: by the targets of its links, or as `ADR-12`.
fn numbers(line: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let target = line[at + 2..].split([')', '#', ' ']).next().unwrap_or_default();
        let target = if target.ends_with(".md") { target.to_owned() } else { format!("{target}.md") };
        found.extend(number_of_file_name(&target));
    }
    if found.is_empty() {
        found.extend(mentions(line).into_iter().map(|(_, number)| number));
    }
    found
}
