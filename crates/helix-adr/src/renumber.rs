//! What texts say when a decision gets another number: its own file, and all that name it.
//!
//! Must not write files: it turns one text into another, and everything but the number stays as it is.

use std::ops::Range;

use helix_core::document::Placed;
use helix_core::source_text::SourceText;

use super::file_name::{mentions, name_parts};
use super::finalize::replace;
use super::syntax::Adr;
use super::words::AdrId;

/// A decision that gets another number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renumbering {
    from: u32,
    to: u32,
    old_name: String,
    new_name: String,
}

/// What becomes of a decision that is named by its number alone, where two have that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByNumber {
    /// The renumbered one is meant.
    Follows,
    /// The other one is meant, or it is unknown which.
    Stays,
}

/// A text that names a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The text as it is now.
    pub text: String,
    /// How many names were changed.
    pub changed: usize,
    /// Lines, from 1, that name the old number and were left.
    pub left: Vec<u32>,
}

impl Renumbering {
    /// A decision with this file name gets another number; the rest of the name stays. `None` when the name begins with no
    /// number.
    pub fn new(file_name: &str, to: u32) -> Option<Self> {
        let (prefix, digits, rest) = name_parts(file_name);
        let from = digits.parse().ok()?;
        let new_name = format!("{prefix}{}{rest}", like(digits, to));
        Some(Self { from, to, old_name: file_name.to_owned(), new_name })
    }

    /// The same with the number that the front matter gives, where that is another one than the file name's.
    #[must_use]
    pub fn numbered(self, from: u32) -> Self {
        Self { from, ..self }
    }

    pub fn from(&self) -> u32 {
        self.from
    }

    /// The number from now on.
    pub fn to(&self) -> u32 {
        self.to
    }

    /// The file's name from now on.
    pub fn new_name(&self) -> &str {
        &self.new_name
    }

    /// The decision's own text: what it calls itself follows; links to others that bear its number mean others.
    pub fn own(&self, adr: &Adr) -> Renamed {
        let id = adr.front.iter().filter_map(|front| front.adr_id.as_ref());
        self.renamed(&adr.source, adr.front_range.end, id, ByNumber::Follows)
    }

    /// Another decision, whose front matter may link this one.
    pub fn in_adr(&self, adr: &Adr, by_number: ByNumber) -> Renamed {
        let links = adr.front.iter().flat_map(|front| front.links().into_iter().flat_map(|(_, ids)| ids));
        self.renamed(&adr.source, adr.front_range.end, links, by_number)
    }

    /// Any other text: a plan, a page.
    pub fn in_text(&self, text: &str, by_number: ByNumber) -> Renamed {
        self.renamed(text, 0, [], by_number)
    }

    /// A text with ids before the place where its body begins.
    fn renamed<'a>(
        &self,
        text: &str,
        body: usize,
        ids: impl IntoIterator<Item = &'a Placed<AdrId>>,
        by_number: ByNumber,
    ) -> Renamed {
        let mentions = self.mentions(text).into_iter().filter(|(range, _)| range.start >= body);
        let numbers: Vec<_> = ids.into_iter().filter_map(|id| self.within(text, id)).chain(mentions).collect();
        let (mut edits, mut left) = (self.names(text), Vec::new());
        match by_number {
            ByNumber::Follows => edits.extend(numbers),
            ByNumber::Stays => {
                let source = SourceText::new("", text);
                left.extend(numbers.into_iter().map(|(range, _)| source.span(range).line));
            }
        }
        left.sort_unstable();
        left.dedup();
        edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        // A number within a file name is part of that name.
        let mut end = 0;
        edits.retain(|(range, _)| {
            let free = range.start >= end;
            end = end.max(range.end);
            free
        });
        Renamed { changed: edits.len(), text: replace(text, edits), left }
    }

    /// Where the file is named.
    fn names(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        text.match_indices(&self.old_name)
            .map(|(start, name)| start..start + name.len())
            .filter(|range| {
                let before = text[..range.start].chars().next_back();
                let after = text[range.end..].chars().next();
                !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
            })
            .map(|range| (range, self.new_name.clone()))
            .collect()
    }

    /// Where the decision is named by its number, such as `ADR-012`, `adr 12` or `ADR012`: the digits.
    fn mentions(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let own = mentions(text).into_iter().filter(|(range, number)| {
            let mut after = text[range.end..].chars();
            let goes_on = match after.next() {
                // A longer name, such as that of another file with the same number.
                Some('-' | '_') => after.next().is_some_and(char::is_alphanumeric),
                Some(next) => next.is_alphanumeric(),
                None => false,
            };
            *number == self.from && !goes_on
        });
        own.map(|(range, _)| (range.clone(), like(&text[range], self.to))).collect()
    }

    /// The digits of an id in front matter, if it is this decision's.
    fn within(&self, source: &str, id: &Placed<AdrId>) -> Option<(Range<usize>, String)> {
        if id.value != AdrId::Number(self.from) {
            return None;
        }
        let written = source.get(id.range.clone())?;
        let before = written.find(|c: char| c.is_ascii_digit())?;
        let (_, digits, _) = name_parts(&written[before..]);
        let start = id.range.start + before;
        Some((start..start + digits.len(), like(digits, self.to)))
    }
}

/// A number with as many digits as another one was written with.
fn like(digits: &str, number: u32) -> String {
    let width = digits.len();
    format!("{number:0width$}")
}

#[cfg(test)]
#[path = "renumber_test.rs"]
mod tests;
