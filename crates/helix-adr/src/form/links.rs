//! Which other ADRs one of another form names in its state or among its links, and what it says of them.
//!
//! Must not follow them.

use std::ops::Range;

use helix_core::document::Placed;

use super::AdrForm;
use super::record::Record;
use crate::file_name::{id_of_file, mentions};
use crate::tree::Section;
use crate::words::AdrId;

/// What a line says of the ADRs in it, by keys of the front matter; the first that is found counts.
const SAYINGS: [(&str, &[&str]); 4] = [
    ("superseded_by", &["superseded by", "superceded by", "replaced by", "ersetzt durch", "abgelöst durch"]),
    ("supersedes", &["supersedes", "supercedes", "replaces", "ersetzt", "löst"]),
    ("depends_on", &["depends on", "builds on", "requires", "hängt ab von", "basiert auf", "baut auf"]),
    ("related_to", &["amend", "clarifi", "refine", "relate", "see also", "ergänzt", "verwandt", "siehe"]),
];

/// Sections that list links.
pub(crate) const LINKS: [&str; 3] = ["links", "more information", "weitere informationen"];

/// Reads what the state and the lists of links say, by the keys of the front matter; each with its place.
pub(super) fn links(record: &Record<'_>, form: AdrForm, sections: &[Section]) -> Vec<(&'static str, Placed<AdrId>)> {
    let status = record.status_text(form, sections).unwrap_or_default();
    let listed = sections.iter().filter(|section| LINKS.contains(&section.heading.to_lowercase().as_str()));
    let listed = listed.flat_map(|section| record.text(&section.body).lines());
    let mut found = Vec::new();
    for line in status.lines().chain(listed) {
        let lower = line.to_lowercase();
        let Some((key, _)) = SAYINGS.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word))) else {
            continue;
        };
        let start = record.place(line).start;
        found.extend(
            ids(line).into_iter().map(|(id, range)| (*key, Placed::new(id, start + range.start..start + range.end))),
        );
    }
    found
}

/// The ADRs that a line names, by the targets of its links or as `ADR-12`, each with its place.
fn ids(line: &str) -> Vec<(AdrId, Range<usize>)> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let start = at + 2;
        let target = line[start..].split([')', ']', '#', ' ']).next().unwrap_or_default();
        let name = target.rsplit('/').next().unwrap_or(target);
        let file = if name.ends_with(".md") { name.to_owned() } else { format!("{name}.md") };
        let end = start + target.len();
        found.extend(id_of_file(&file).map(|id| (id, end - name.len()..end)));
    }
    if found.is_empty() {
        found.extend(mentions(line).into_iter().map(|(range, number)| (AdrId::Number(number), range)));
    }
    found
}
