//! Which other ADRs a foreign one names in its state or among its links, and what it says of them.
//!
//! Must not follow them.

use std::collections::{BTreeMap, BTreeSet};

use crate::file_name::{mentions, number_of_file_name};
use crate::syntax::Adr;

use super::record::Record;

/// Numbers by the keys of the front matter.
pub(super) type Links = BTreeMap<&'static str, BTreeSet<u32>>;

/// What a line says of the ADRs in it, by keys; the first that is found counts.
const SAYINGS: [(&str, &[&str]); 4] = [
    ("superseded_by", &["superseded by", "superceded by", "replaced by", "ersetzt durch", "abgelöst durch"]),
    ("supersedes", &["supersedes", "supercedes", "replaces", "ersetzt", "löst"]),
    ("depends_on", &["depends on", "builds on", "requires", "hängt ab von", "basiert auf", "baut auf"]),
    ("related_to", &["amend", "clarifi", "refine", "relate", "see also", "ergänzt", "verwandt", "siehe"]),
];

/// Reads what the state and the lists of links say, with the new numbers of ADRs that are converted too.
pub(super) fn links(adr: &Adr, record: &Record<'_>, renumbered: &BTreeMap<u32, u32>) -> Links {
    let mut links = Links::new();
    let status = record.status_text(adr).unwrap_or_default();
    let listed = adr.sections.iter().filter(|section| {
        let name = section.heading.to_lowercase();
        ["links", "more information", "weitere informationen"].contains(&name.as_str())
    });
    let listed = listed.filter_map(|section| adr.source.get(section.body.clone()));
    for line in status.lines().chain(listed.flat_map(str::lines)) {
        let lower = line.to_lowercase();
        if let Some((key, _)) = SAYINGS.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word))) {
            let numbers = numbers(line).into_iter().map(|number| renumbered.get(&number).copied().unwrap_or(number));
            links.entry(key).or_default().extend(numbers);
        }
    }
    links
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
