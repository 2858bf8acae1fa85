//! The forms in which decisions are written: Helix's own, MADR (2, 3, 4; also as log4brains writes it) and Nygard's (also as
//! adr-tools writes it). Each is read into the same [`Adr`](crate::Adr).
//!
//! Must not judge, nor change a file. What is asked of a form is in one table here.

mod links;
mod read;
mod record;

use helix_core::document::Node;

use super::file_name::name_parts;
use super::tree::Section;
use super::words::{Language, SectionKind, Status};

pub(crate) use links::LINKS;
pub(crate) use read::read;
pub(crate) use record::{Record, first_line, title_heading};

/// The convention that an ADR file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdrForm {
    /// Helix's own, or too little to tell.
    Helix,
    /// Markdown Any Decision Records.
    Madr,
    /// A title with a number, a section Status, and plain sections.
    Nygard,
}

/// Keys that only Helix's own front matter has.
const HELIX_KEYS: [&str; 4] = ["adr_id", "component_type", "classification", "change_scope"];
/// Keys that only MADR's front matter has.
const MADR_KEYS: [&str; 4] = ["decision-makers", "deciders", "consulted", "informed"];
/// Headings of MADR, in English and in the German translation.
const MADR_HEADINGS: [&str; 10] = [
    "context and problem statement",
    "considered options",
    "decision drivers",
    "decision outcome",
    "kontext und problemstellung",
    "betrachtete optionen",
    "mögliche optionen",
    "entscheidungsfaktoren",
    "entscheidungsergebnis",
    "vor- und nachteile der optionen",
];
/// Digits with which a file's name begins where other tools than Helix number it.
const FOREIGN_DIGITS: usize = 4;

impl AdrForm {
    /// The name that people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Helix => "Helix",
            Self::Madr => "MADR",
            Self::Nygard => "Nygard",
        }
    }

    /// What it calls a section, in English and German.
    pub(crate) fn headings(self, kind: SectionKind) -> (&'static str, &'static str) {
        match (self, kind) {
            (Self::Madr, SectionKind::Context) => ("Context and Problem Statement", "Kontext und Problemstellung"),
            (Self::Madr, SectionKind::Options) => ("Considered Options", "Betrachtete Optionen"),
            (Self::Madr, SectionKind::Decision) => ("Decision Outcome", "Entscheidung"),
            (Self::Madr, SectionKind::AcceptanceCriteria) => ("Confirmation", "Prüfung"),
            (Self::Helix | Self::Madr | Self::Nygard, kind) => {
                (kind.heading(Language::English), kind.heading(Language::German))
            }
        }
    }

    /// How it writes a state.
    pub(crate) fn status_word(self, status: Status, language: Language) -> String {
        let word = status.word_in(language);
        match self {
            Self::Madr => word.to_lowercase(),
            Self::Helix | Self::Nygard => word.to_owned(),
        }
    }

    /// The form of a file, by its front matter, headings and name.
    pub(crate) fn read(
        file: &str,
        front: Option<&Node>,
        has_front: bool,
        sections: &[Section],
        record: &Record<'_>,
    ) -> Self {
        let key = |keys: &[&str]| front.is_some_and(|front| keys.iter().any(|key| front.get(key).is_some()));
        let means = |kind: SectionKind| sections.iter().any(|section| section.kind == Some(kind));
        let criteria = means(SectionKind::AcceptanceCriteria);
        if key(&HELIX_KEYS) || key(&["title"]) && criteria {
            return Self::Helix;
        }
        let numbered = title_heading(sections).is_some_and(|title| heading_number(&title.heading).0.is_some());
        let parts = [SectionKind::Status, SectionKind::Context, SectionKind::Decision].map(means);
        let few = parts.into_iter().filter(|is_there| *is_there).count();
        let free = !key(&["title", "status"]);
        if free && parts[0] && few > 1 && (numbered || few == parts.len() && !criteria) {
            return Self::Nygard;
        }
        let of_madr = |section: &Section| MADR_HEADINGS.contains(&section.heading.to_lowercase().as_str());
        if key(&MADR_KEYS) || sections.iter().any(of_madr) || record.value(&["status"]).is_some() && !has_front {
            return Self::Madr;
        }
        if has_front && front.is_none() || !free {
            return Self::Helix;
        }
        let (_, digits, rest) = name_parts(file.rsplit(['/', '\\']).next().unwrap_or(file));
        let named = digits.len() >= FOREIGN_DIGITS && rest.starts_with('-') && !criteria;
        if named { Self::Nygard } else { Self::Helix }
    }
}

/// Number and text of a heading such as `12. Use CSV` or `ADR-0012: Use CSV`.
pub(crate) fn heading_number(heading: &str) -> (Option<u32>, &str) {
    let after_word = ["ADR-", "adr-", "ADR ", "adr ", "ADR", "adr"].iter().find_map(|word| heading.strip_prefix(word));
    let rest = after_word.unwrap_or(heading);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, tail) = rest.split_at(digits);
    let separated = tail.trim_start_matches([' ', '\t']);
    let shorter = separated.strip_prefix(['.', ':', ')', '-', '–', '—']).filter(|text| text.starts_with(' '));
    let title = match (shorter, after_word) {
        (Some(title), _) => title.trim(),
        (None, Some(_)) if tail.starts_with(' ') => separated.trim(),
        (None, _) => return (None, heading),
    };
    match number.parse() {
        Ok(number) if !title.is_empty() => (Some(number), title),
        Ok(_) | Err(_) => (None, heading),
    }
}

/// The language of a text's headings.
pub(crate) fn language(sections: &[Section]) -> Language {
    let german = ["kontext", "entscheidung", "konsequenzen", "folgen"];
    let found = sections.iter().any(|section| {
        let lower = section.heading.to_lowercase();
        german.iter().any(|word| lower.starts_with(word))
    });
    if found { Language::German } else { Language::English }
}
