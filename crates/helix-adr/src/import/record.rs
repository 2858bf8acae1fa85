//! What a foreign ADR says about itself outside of its sections: state, date, people.
//!
//! Must not lose a line: what is not understood is kept word for word by the caller.

use crate::syntax::{Adr, AdrForm, Section, paragraphs};
use crate::words::{SectionKind, Status};

/// The parts outside of sections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    /// The front matter without its delimiters.
    pub(super) front: &'a str,
    /// Between front matter and title.
    pub(super) before_title: &'a str,
    /// Between the title and the first section.
    pub(super) after_title: &'a str,
}

impl<'a> Record<'a> {
    pub(super) fn read(adr: &'a Adr, title: Option<&Section>) -> Self {
        let source = adr.source.as_str();
        let slice = |from: usize, to: usize| source.get(from..to).unwrap_or_default();
        let first =
            adr.sections.get(usize::from(title.is_some())).map_or(source.len(), |next| next.heading_range.start);
        let front = slice(adr.front_range.start, adr.front_range.end);
        let front = front.trim_start_matches('\u{feff}').trim_start_matches("---").trim_end();
        let front = front.strip_suffix("---").or_else(|| front.strip_suffix("...")).unwrap_or(front);
        let start = adr.front_range.end;
        match title {
            Some(title) => Self {
                front,
                before_title: slice(start, title.heading_range.start),
                after_title: slice(title.heading_range.end, first),
            },
            None => Self { front, before_title: slice(start, first), after_title: "" },
        }
    }

    /// Values of `Key: value` lines, in front matter, bullets and plain lines.
    fn value(&self, keys: &[&str]) -> Option<&'a str> {
        let lines = [self.front, self.before_title, self.after_title].into_iter().flat_map(str::lines);
        lines
            .filter_map(|line| {
                let plain = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '-' | '+' | '_'));
                let (key, value) = plain.split_once(':')?;
                let key = key.trim().trim_matches(['*', '_']);
                let known = keys.iter().any(|known| known.eq_ignore_ascii_case(key));
                let value = value.split("<!--").next().unwrap_or_default().trim().trim_matches(['*', '_']).trim();
                let value = value.trim_matches(['"', '\'']);
                (known && !value.is_empty()).then_some(value)
            })
            .next()
    }

    /// The date, as written.
    pub(super) fn date(&self) -> Option<&'a str> {
        self.value(&["date", "datum"])
    }

    /// What the file says of its state, word for word.
    pub(super) fn status_text(&self, adr: &'a Adr) -> Option<&'a str> {
        let section = adr.section_text(SectionKind::Status).map(str::trim).filter(|text| !text.is_empty());
        match adr.form {
            AdrForm::Nygard => section.or_else(|| self.value(&["status"])),
            AdrForm::Madr | AdrForm::Helix => self.value(&["status"]).or(section),
        }
    }

    /// The state; else what stood in its place, if anything did.
    pub(super) fn status(&self, adr: &'a Adr) -> Result<Status, Option<String>> {
        let Some(text) = self.status_text(adr) else { return Err(None) };
        status_of(text).ok_or_else(|| Some(text.lines().next().unwrap_or_default().chars().take(60).collect()))
    }
}

/// Words of other forms for states, besides those that every ADR may use.
const STATES: [(&str, Status); 7] = [
    ("superceded", Status::Superseded),
    ("replaced", Status::Superseded),
    ("draft", Status::Proposed),
    ("pending", Status::Proposed),
    ("entwurf", Status::Proposed),
    ("approved", Status::Accepted),
    ("decided", Status::Accepted),
];

/// The state that a text names first. A template's list of all states (`proposed | accepted | …`) names none.
fn status_of(text: &str) -> Option<Status> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let other = |word: &str| STATES.iter().find(|(known, _)| *known == word).map(|(_, status)| *status);
    let state = |word: &str| Status::named(word).map(|(status, _)| status).or_else(|| other(&word.to_lowercase()));
    let named: Vec<Status> = first.split(|c: char| !c.is_alphabetic()).filter_map(state).collect();
    if first.contains('|') && named.len() > 1 { None } else { named.first().copied() }
}

/// Sections in which a foreign form says how one sees that a decision is kept.
const CONFIRMING: [&str; 6] = ["confirmation", "validation", "compliance", "bestätigung", "validierung", "überprüfung"];

/// Sentences that become criteria: list items of those sections, or their paragraphs.
pub(super) fn criteria(adr: &Adr) -> Vec<String> {
    let mut found = Vec::new();
    for (number, section) in adr.sections.iter().enumerate() {
        let name = section.heading.to_lowercase();
        if CONFIRMING.iter().any(|known| name.starts_with(known)) {
            let (items, paragraphs) = paragraphs(adr.own_text(number));
            found.extend(if items.is_empty() { paragraphs } else { items });
        }
    }
    found
}

#[cfg(test)]
#[path = "record_test.rs"]
mod tests;
