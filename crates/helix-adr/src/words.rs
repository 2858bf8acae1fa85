//! The words of ADRs: ids, states, classifications and sections, in English and German.
//!
//! Must not know where they are used; front matter, rules and template take their lists from here.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use helix_core::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// State of a decision; read case-insensitively, written capitalised.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum Status as "a status" in any case {
        Proposed = "Proposed",
        Accepted = "Accepted",
        Implemented = "Implemented",
        Superseded = "Superseded",
        Rejected = "Rejected",
        Deprecated = "Deprecated",
    }
}

words! {
    /// Kind of component.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum ComponentType {
        Tool = "TOOL",
        Node = "NODE",
        Agent = "AGENT",
        Process = "PROCESS",
        Service = "SERVICE",
        Skill = "SKILL",
        Prompt = "PROMPT",
        Config = "CONFIG",
        Docs = "DOCS",
        Misc = "MISC",
    }
}

words! {
    /// Kind of change.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum Classification {
        New = "NEW",
        Update = "UPDATE",
        Fix = "FIX",
        Refactor = "REFACTOR",
        Deprecate = "DEPRECATE",
    }
}

words! {
    /// Scope of the change.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum ChangeScope {
        Major = "major",
        Minor = "minor",
        Config = "config",
        Docs = "docs",
        Hotfix = "hotfix",
    }
}

impl Status {
    /// How German texts say it, the usual word first.
    const GERMAN: [(Self, &'static [&'static str]); 6] = [
        (Self::Proposed, &["Vorgeschlagen", "Vorschlag"]),
        (Self::Accepted, &["Angenommen", "Akzeptiert", "Beschlossen"]),
        (Self::Implemented, &["Umgesetzt", "Implementiert"]),
        (Self::Superseded, &["Ersetzt", "Abgelöst"]),
        (Self::Rejected, &["Abgelehnt", "Verworfen"]),
        (Self::Deprecated, &["Veraltet", "Überholt"]),
    ];

    /// The state that a word of a text names, and its language; in any case.
    pub fn named(word: &str) -> Option<(Self, Language)> {
        let lower = word.to_lowercase();
        let english = Self::WORDS.iter().find(|(known, _)| known.to_lowercase() == lower);
        let german = || Self::GERMAN.iter().find(|(_, words)| words.iter().any(|known| known.to_lowercase() == lower));
        match english {
            Some((_, status)) => Some((*status, Language::English)),
            None => german().map(|(status, _)| (*status, Language::German)),
        }
    }

    /// The word for it in the texts of a language.
    pub fn word_in(self, language: Language) -> &'static str {
        let german = Self::GERMAN.iter().find(|(status, _)| *status == self);
        language.pick(self.word(), german.map_or(self.word(), |(_, words)| words[0]))
    }

    /// Whether the decision is still to be carried out, so that its file claims are about the future.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::Accepted)
    }
}

words! {
    /// Language of a template.
    pub enum Language {
        /// English.
        English = "english",
        /// German.
        German = "german",
    }
}

impl Language {
    /// The one of two texts that is in this language.
    pub(super) fn pick<T>(self, english: T, german: T) -> T {
        match self {
            Self::English => english,
            Self::German => german,
        }
    }
}

words! {
    /// A section by its meaning, in the order of the template.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum SectionKind {
        Status = "status",
        Context = "context",
        Options = "options",
        Decision = "decision",
        Implementation = "implementation",
        Migration = "migration",
        Documentation = "documentation",
        AcceptanceCriteria = "acceptance_criteria",
        Consequences = "consequences",
    }
}

impl SectionKind {
    /// The kinds without which an ADR is not valid.
    pub const REQUIRED: [Self; 3] = [Self::Context, Self::Decision, Self::AcceptanceCriteria];

    /// The heading in a language.
    pub fn heading(self, language: Language) -> &'static str {
        let (english, german) = self.names();
        language.pick(english[0], german[0])
    }

    /// English and German names; the first of each is the one that Helix writes.
    fn names(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Status => (&["Status"], &["Status"]),
            Self::Context => (&["Context", "Context and problem statement"], &["Kontext"]),
            Self::Options => (
                &["Considered options", "Options considered", "Alternatives"],
                &["Betrachtete Optionen", "Mögliche Optionen", "Alternativen"],
            ),
            Self::Decision => (&["Decision", "Decision outcome"], &["Entscheidung", "Entscheidungsergebnis"]),
            Self::Implementation => (&["Implementation"], &["Umsetzung", "Implementierung"]),
            Self::Migration => (&["Migration", "Migration plan"], &["Migration", "Migrationsplan"]),
            Self::Documentation => (&["Documentation"], &["Dokumentation"]),
            Self::AcceptanceCriteria => (&["Acceptance criteria"], &["Akzeptanzkriterien", "Abnahmekriterien"]),
            Self::Consequences => (&["Consequences"], &["Konsequenzen", "Folgen"]),
        }
    }

    /// The kind that a heading names, if any: numbering, case, emphasis and an addition after it do not matter.
    pub fn of_heading(heading: &str) -> Option<Self> {
        let plain = heading.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        Self::ALL.into_iter().find(|kind| {
            let (english, german) = kind.names();
            english.iter().chain(german).any(|name| {
                plain.strip_prefix(&name.to_lowercase()).is_some_and(|rest| {
                    let rest = rest.trim_end();
                    rest.is_empty()
                        || [":", " (", " /", "/", " &", " -", " –", " and ", " und "]
                            .iter()
                            .any(|next| rest.starts_with(next))
                })
            })
        })
    }
}

/// What names an ADR, or that nothing does yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum AdrId {
    /// Not yet finalized.
    Draft,
    /// Finalized under this number.
    Number(u32),
    /// Named by its file, which begins with a date: `20261127-title`, as in log4brains. Two decisions of a day are two names.
    Named(Arc<str>),
}

impl AdrId {
    /// The number, if it is one.
    pub fn number(&self) -> Option<u32> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The name that a text is, if it begins with a date.
    pub(super) fn dated(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(DATE)?;
        let is_name = date.bytes().all(|byte| byte.is_ascii_digit()) && rest.len() > 1 && rest.starts_with('-');
        (is_name && !rest.contains(['/', '\\']) && !rest.contains(char::is_whitespace))
            .then(|| Self::Named(text.into()))
    }
}

/// Digits of a date in a name: `20261127`.
pub(super) const DATE: usize = 8;

/// A text that is not an ADR id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an ADR id")]
pub struct InvalidAdrId {
    /// What was given.
    pub text: String,
}

impl FromStr for AdrId {
    type Err = InvalidAdrId;

    /// Reads `012`, `12`, `ADR-012`, `adr-12`, `20261127-title` and `draft`.
    fn from_str(text: &str) -> Result<Self, InvalidAdrId> {
        let invalid = || InvalidAdrId { text: text.chars().take(60).collect() };
        let plain = text.trim();
        if plain.eq_ignore_ascii_case("draft") {
            return Ok(Self::Draft);
        }
        if let Some(dated) = Self::dated(plain) {
            return Ok(dated);
        }
        let digits = match plain.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("adr-") || prefix.eq_ignore_ascii_case("adr ") => &plain[4..],
            Some(_) | None => plain,
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        digits.parse().map(Self::Number).map_err(|_| invalid())
    }
}

impl fmt::Display for AdrId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draft => f.write_str("draft"),
            Self::Number(number) => write!(f, "ADR-{number:03}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl TryFrom<String> for AdrId {
    type Error = InvalidAdrId;
    fn try_from(text: String) -> Result<Self, InvalidAdrId> {
        text.parse()
    }
}

impl From<AdrId> for String {
    fn from(id: AdrId) -> String {
        id.to_string()
    }
}

#[cfg(test)]
#[path = "words_test.rs"]
mod tests;
