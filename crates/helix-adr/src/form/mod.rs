//! The forms in which decisions are written: Helix's own, MADR (2, 3, 4; also as log4brains writes it) and Nygard's (also as
//! adr-tools writes it). Each is read into the same [`Adr`](crate::Adr), and changed and written in its own words.
//!
//! Must not judge. What is asked of a form is in one table here; what differs between files of one form is a [`Style`].

mod edit;
mod links;
mod read;
mod record;
mod write;

use helix_core::document::Node;

use super::file_name::{Numbering, name_parts};
use super::rules::{Requirement, Rule};
use super::syntax::{Adr, Section};
use super::words::{AdrId, Language, SectionKind, Status};

pub(crate) use read::read;
pub(crate) use record::{Record, title_heading};
pub use write::Naming;
pub(crate) use write::{hints, with_headings};

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

/// How the decisions of a directory are written, as far as files of one form differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub form: AdrForm,
    /// Whether MADR's facts are front matter, not a list below the title.
    pub front: bool,
    /// What begins an item of a list.
    pub bullet: char,
    pub numbering: Numbering,
    pub language: Language,
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

    /// Whether what a rule asks for can stand in a file of this form: no other form than Helix's has criteria.
    pub(crate) fn can_keep(self, rule: &Rule) -> bool {
        self == Self::Helix || !rule.require.iter().any(|one| matches!(one, Requirement::Criteria { .. }))
    }

    /// The form of a file, by its front matter, headings and name.
    pub(crate) fn of(
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

impl Style {
    /// Helix's own.
    pub const HELIX: Self = Self {
        form: AdrForm::Helix,
        front: true,
        bullet: '-',
        numbering: Numbering::HELIX,
        language: Language::English,
    };
    /// MADR as its newest template has it.
    pub const MADR: Self = Self { form: AdrForm::Madr, bullet: '*', numbering: Numbering::Digits(4), ..Self::HELIX };
    /// MADR as log4brains writes it.
    pub const LOG4BRAINS: Self = Self { front: false, bullet: '-', numbering: Numbering::Dated, ..Self::MADR };
    /// Nygard's form as adr-tools writes it.
    pub const NYGARD: Self = Self { form: AdrForm::Nygard, front: false, ..Self::MADR };

    /// The style of the latest of these decisions, of Helix's own form if there are any; where there is none, the other style.
    pub fn of<'a>(adrs: impl IntoIterator<Item = &'a Adr>, otherwise: Self) -> Self {
        let decided = adrs.into_iter().filter_map(|adr| Some((adr.form == AdrForm::Helix, adr.decided_id()?, adr)));
        let latest = decided.max_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let Some((_, id, adr)) = latest else { return otherwise };
        if adr.form == AdrForm::Helix {
            return Self { language: language(&adr.sections), ..Self::HELIX };
        }
        let name = adr.file.rsplit('/').next().unwrap_or(&adr.file);
        let (_, digits, _) = name_parts(name);
        Self {
            form: adr.form,
            front: adr.form == AdrForm::Madr && !adr.front_range.is_empty(),
            bullet: if adr.body().lines().any(|line| line.starts_with("* ")) { '*' } else { '-' },
            numbering: match id {
                AdrId::Named(_) => Numbering::Dated,
                AdrId::Number(_) | AdrId::Draft => Numbering::Digits(digits.len().max(1)),
            },
            language: language(&adr.sections),
        }
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
