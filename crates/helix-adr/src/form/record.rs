//! What an ADR says about itself outside of its sections: state, date, people.
//!
//! Must not lose a line: what is not understood is left where it stands.

use std::ops::Range;

use super::AdrForm;
use crate::tree::Section;
use crate::words::{SectionKind, Status};

/// The parts outside of sections.
#[derive(Debug, Clone)]
pub(crate) struct Record<'a> {
    source: &'a str,
    /// The front matter without its delimiters.
    pub(crate) front: Range<usize>,
    /// Between front matter and title.
    pub(crate) before_title: Range<usize>,
    /// Between the title and the first section.
    pub(crate) after_title: Range<usize>,
}

/// The heading with the title: the first one, if it is of level 1.
pub(crate) fn title_heading(sections: &[Section]) -> Option<&Section> {
    sections.first().filter(|section| section.level == 1)
}

impl<'a> Record<'a> {
    pub(crate) fn read(source: &'a str, front: Range<usize>, body: usize, sections: &[Section]) -> Self {
        let title = title_heading(sections);
        let first = sections.get(usize::from(title.is_some())).map_or(source.len(), |next| next.heading_range.start);
        let (before_title, after_title) = match title {
            Some(title) => (body..title.heading_range.start, title.heading_range.end..first),
            None => (body..first, first..first),
        };
        Self { source, front, before_title, after_title }
    }

    pub(crate) fn text(&self, range: &Range<usize>) -> &'a str {
        self.source.get(range.clone()).unwrap_or_default()
    }

    /// Where a part of the source stands in it.
    pub(crate) fn place(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr().addr().saturating_sub(self.source.as_ptr().addr());
        start..start + part.len()
    }

    /// The value of a `Key: value` line, in front matter, bullets and plain lines.
    pub(crate) fn value(&self, keys: &[&str]) -> Option<&'a str> {
        let lines = [&self.front, &self.before_title, &self.after_title].into_iter();
        lines.flat_map(|part| self.text(part).lines()).find_map(|line| {
            let plain = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '-' | '+' | '_'));
            let (key, value) = plain.split_once(':')?;
            let key = key.trim().trim_matches(['*', '_']);
            let known = keys.iter().any(|known| known.eq_ignore_ascii_case(key));
            let value = value.split("<!--").next().unwrap_or_default().trim().trim_matches(['*', '_']).trim();
            let value = value.trim_matches(['"', '\'']);
            (known && !value.is_empty()).then_some(value)
        })
    }

    /// The date, as written.
    pub(crate) fn date(&self) -> Option<&'a str> {
        self.value(&["date", "datum"])
    }

    /// What the file says of its state, word for word.
    pub(crate) fn status_text(&self, form: AdrForm, sections: &[Section]) -> Option<&'a str> {
        let section = sections.iter().find(|section| section.kind == Some(SectionKind::Status));
        let section = section.map(|section| self.text(&section.body).trim()).filter(|text| !text.is_empty());
        match form {
            AdrForm::Nygard => section.or_else(|| self.value(&["status"])),
            AdrForm::Madr | AdrForm::Helix => self.value(&["status"]).or(section),
        }
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

/// The first line of what a file says of its state.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The state that a text names first, and the word. A template's list of all states (`proposed | accepted | …`) names none.
pub(crate) fn status_of(text: &str) -> Option<(Status, &str)> {
    let first = first_line(text);
    let other = |word: &str| STATES.iter().find(|(known, _)| *known == word).map(|(_, status)| *status);
    let state = |word: &str| Status::named(word).map(|(status, _)| status).or_else(|| other(&word.to_lowercase()));
    let words = first.split(|c: char| !c.is_alphabetic());
    let named: Vec<(Status, &str)> = words.filter_map(|word| Some((state(word)?, word))).collect();
    if first.contains('|') && named.len() > 1 { None } else { named.first().copied() }
}

#[cfg(test)]
#[path = "record_test.rs"]
mod tests;
