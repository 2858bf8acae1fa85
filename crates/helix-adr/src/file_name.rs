//! Names and numbers of finalized ADRs.
//!
//! Must not know the directory: which numbers are taken comes from the caller, who also makes the allocation atomic.

use std::ops::Range;

use helix_core::slug::slug;

use super::words::AdrId;

/// Longest slug; with number and ending this stays far below what file systems allow.
const MAX_SLUG: usize = 60;

/// How the files of a directory are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// By numbers with at least so many digits: `012-title.md`, `0012-title.md`.
    Digits(usize),
    /// By the day on which they were written: `20261127-title.md`.
    Dated,
}

impl Numbering {
    /// Helix's own.
    pub const HELIX: Self = Self::Digits(3);

    /// A number as it begins a file's name.
    pub fn digits(self, number: u32) -> String {
        match self {
            Self::Digits(width) => format!("{number:0width$}"),
            Self::Dated => number.to_string(),
        }
    }

    /// The file name of an ADR: `012-title-in-few-words.md`, in ASCII, umlauts written out.
    pub fn file_name(self, number: u32, title: &str) -> String {
        format!("{}-{}.md", self.digits(number), title_slug(title))
    }
}

/// A title as part of a file name.
pub fn title_slug(title: &str) -> String {
    match slug(title, MAX_SLUG) {
        slug if slug.is_empty() => "decision".to_owned(),
        slug => slug,
    }
}

/// What a file's name names: its number, also with fewer digits than Helix writes, or the whole name where that begins with a
/// date; directories before it do not matter.
pub fn id_of_file(file: &str) -> Option<AdrId> {
    let stem = file.rsplit(['/', '\\']).next()?.strip_suffix(".md")?;
    let number = || {
        let (_, digits, rest) = name_parts(stem);
        digits.parse().ok().filter(|_| rest.is_empty() || rest.starts_with(['-', '_', '.'])).map(AdrId::Number)
    };
    AdrId::dated(stem).or_else(number)
}

/// The number in a file name of the form `012-…​.md` or `ADR-012-…​.md`; directories before it do not matter.
pub fn number_of_file_name(file: &str) -> Option<u32> {
    let stem = file.rsplit(['/', '\\']).next()?.strip_suffix(".md")?;
    let (_, digits, rest) = name_parts(stem);
    if AdrId::dated(stem).is_some() {
        return None;
    }
    let is_whole = digits.len() >= 3 && (rest.is_empty() || rest.starts_with('-'));
    digits.parse().ok().filter(|_| is_whole)
}

/// A file name as `adr-`, where it begins so, the digits that follow, and the rest.
pub(super) fn name_parts(name: &str) -> (&str, &str, &str) {
    let prefix = name.get(..4).filter(|prefix| prefix.eq_ignore_ascii_case("adr-")).unwrap_or_default();
    let rest = &name[prefix.len()..];
    let (digits, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
    (prefix, digits, rest)
}

/// Where a text names decisions by their numbers, such as `ADR-012`, `adr 12` or `ADR012`: the digits, and the number.
pub(super) fn mentions(text: &str) -> Vec<(Range<usize>, u32)> {
    let mut found = Vec::new();
    // ASCII case alone: places in the lower-case text are those of the text.
    for (at, word) in text.to_ascii_lowercase().match_indices("adr") {
        if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        let after = &text[at + word.len()..];
        let sign = after.chars().next().filter(|sign| matches!(sign, '-' | ' ' | '_' | '#' | '\u{a0}'));
        let start = at + word.len() + sign.map_or(0, char::len_utf8);
        // Longer than any number: keeps a text of digits from being read again and again.
        let digits = text.as_bytes()[start..].iter().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let range = start..start + digits;
        found.extend(text[range.clone()].parse().ok().map(|number| (range, number)));
    }
    found
}

/// The number after the highest that is taken, counting from 1; `taken` may be in any order.
pub fn next_number(taken: &[u32]) -> u32 {
    taken.iter().copied().max().unwrap_or(0).saturating_add(1)
}

#[cfg(test)]
#[path = "file_name_test.rs"]
mod tests;
