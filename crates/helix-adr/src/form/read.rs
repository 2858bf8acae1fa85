//! Reads a decision of another form into what Helix knows of decisions: each fact with the place where it stands.
//!
//! Must not add a fact: what the file does not say is absent.

use std::collections::HashSet;

use helix_core::diagnostic::{Diagnostic, Severity};
use helix_core::document::{Node, Placed, Value};
use helix_core::source_text::SourceText;
use helix_core::text::clip;

use super::links::links;
use super::record::{Record, first_line, status_of, title_heading};
use super::{AdrForm, heading_number};
use crate::codes;
use crate::file_name::id_of_file;
use crate::front_matter::{self, FrontMatter};
use crate::tree::Section;
use crate::words::AdrId;

/// Reads the facts of a file; what is odd about them comes back beside them, as warnings: other tools take the file as it is.
pub(crate) fn read(
    form: AdrForm,
    text: &SourceText<'_>,
    node: Option<&Node>,
    record: &Record<'_>,
    sections: &[Section],
) -> (FrontMatter, Vec<Diagnostic>) {
    let (mut front, mut problems) = match node {
        Some(node) if matches!(node.value, Value::Mapping(_)) => front_matter::read_claims(node, text),
        Some(_) | None => (FrontMatter::default(), Vec::new()),
    };
    let heading = title_heading(sections);
    let top = heading.map_or(0..0, |heading| heading.heading_range.clone());
    let (number, title) = heading.map_or((None, None), |heading| {
        let (number, title) = heading_number(&heading.heading);
        (number, Some(title))
    });
    front.title = title.map(|title| Placed::new(title.to_owned(), top.clone()));
    // Where the heading has the number too, it is the place that says it.
    let said = heading.filter(|_| number.is_some()).and_then(|heading| {
        let written = record.text(&heading.heading_range);
        let start = written.find(|c: char| c.is_ascii_digit())?;
        let digits = written[start..].bytes().take_while(u8::is_ascii_digit).count();
        Some(heading.heading_range.start + start..heading.heading_range.start + start + digits)
    });
    let named = id_of_file(text.file());
    if let (Some(AdrId::Number(named)), Some(number), Some(place)) = (&named, number, &said)
        && *named != number
    {
        let message = format!("the file name says {named}, the heading says {number}");
        let help = "correct the one that is wrong; Helix goes by the file name";
        problems.push(text.warning(codes::NUMBER_COLLISION, place.clone(), message).help(help));
    }
    let id = named.or(number.map(AdrId::Number));
    let place = said.filter(|_| id == number.map(AdrId::Number)).unwrap_or(top.start..top.start);
    front.adr_id = id.map(|id| Placed::new(id, place));
    if let Some(said) = record.status_text(form, sections) {
        match status_of(said) {
            Some((status, word)) => front.status = Some(Placed::new(status, record.place(word))),
            None => {
                let line = first_line(said);
                let message = format!("unknown status `{}`", clip(line, 60));
                let help = "begin it with proposed, accepted, rejected, deprecated or superseded";
                problems.push(text.warning(codes::UNKNOWN_WORD, record.place(line), message).help(help));
            }
        }
    }
    front.date = record.date().map(|date| Placed::new(date.to_owned(), record.place(date)));
    let mut known: HashSet<(&str, AdrId)> =
        front.links().into_iter().flat_map(|(key, ids)| ids.iter().map(move |id| (key, id.value.clone()))).collect();
    for (key, id) in links(record, form, sections) {
        if !known.insert((key, id.value.clone())) {
            continue;
        }
        let list = match key {
            "superseded_by" => &mut front.superseded_by,
            "supersedes" => &mut front.supersedes,
            "depends_on" => &mut front.depends_on,
            _ => &mut front.related_to,
        };
        list.push(id);
    }
    for problem in &mut problems {
        problem.severity = Severity::Warning;
    }
    (front, problems)
}
