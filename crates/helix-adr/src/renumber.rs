//! What texts say when a decision gets another number: its own file, and all that name it.
//!
//! Must not write files: it turns one text into another, and everything but the number stays as it is.

use std::ops::Range;

use helix_core::document::Placed;
use helix_core::source_text::SourceText;

use super::file_name::mentions;
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
    /// The other one is meant, or nobody knows.
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
        let start = file_name.find(|c: char| c.is_ascii_digit())?;
        let prefix = &file_name[..start];
        if !(prefix.is_empty() || prefix.eq_ignore_ascii_case("adr-")) {
            return None;
        }
        let rest = &file_name[start..];
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let from = digits.parse().ok()?;
        let new_name = format!("{prefix}{}{}", like(digits, to), &rest[digits.len()..]);
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
        Renamed { text: replace(text, &edits), changed: edits.len(), left }
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
        let start = written.find(|c: char| c.is_ascii_digit())?;
        let digits = &written[start..];
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        let start = id.range.start + start;
        Some((start..start + digits.len(), like(digits, self.to)))
    }
}

/// A number with as many digits as another one was written with.
fn like(digits: &str, number: u32) -> String {
    let width = digits.len();
    format!("{number:0width$}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const OWN: &str = "---\nadr_id: \"012\"\ntitle: JSON export\nstatus: accepted # yes\ndepends_on: [12, ADR-007]\n---\n\n\
        # ADR-012: JSON export\n\nADR 12 says so, see [it](012-json-export.md), not 012-csv-export.md, adr-0123 or quadr-012.\n";

    fn json() -> Renumbering {
        Renumbering::new("012-json-export.md", 13).unwrap()
    }

    #[test]
    fn a_decision_follows_its_number_and_nothing_else_changes() {
        let renamed = json().own(&Adr::parse("adr/012-json-export.md", OWN));
        let expected = OWN
            .replace("adr_id: \"012\"", "adr_id: \"013\"")
            .replace("# ADR-012:", "# ADR-013:")
            .replace("ADR 12 says", "ADR 13 says")
            .replace("(012-json", "(013-json");
        assert_eq!((renamed.text, renamed.changed), (expected, 4));
        assert_eq!(json().new_name(), "013-json-export.md");
        for (name, to, new) in [
            ("ADR-012-x.md", 7, Some("ADR-007-x.md")),
            ("0012-x.md", 13, Some("0013-x.md")),
            ("999-x.md", 1000, Some("1000-x.md")),
            ("x-012.md", 1, None),
            ("notes.md", 1, None),
        ] {
            assert_eq!(Renumbering::new(name, to).map(|one| one.new_name), new.map(str::to_owned), "{name}");
        }
    }

    #[test]
    fn who_names_the_file_means_it_and_who_names_the_number_may_mean_another() {
        let text = "---\nadr_id: \"014\"\ntitle: T\nstatus: Proposed\nsupersedes: \"012\"\nrelated_to:\n  - 12\n---\n\nADR-012 and adr/012-json-export.md.\n";
        let adr = Adr::parse("adr/014-t.md", text);
        let stays = json().in_adr(&adr, ByNumber::Stays);
        assert_eq!(stays.text, text.replace("012-json", "013-json"));
        assert_eq!((stays.changed, stays.left), (1, vec![5, 7, 10]));
        let follows = json().in_adr(&adr, ByNumber::Follows);
        let expected = text.replace("012", "013").replace("- 12", "- 13");
        assert_eq!((follows.text, follows.changed, follows.left), (expected, 4, Vec::new()));
        let plan = "name: x\nadr: adr/012-json-export.md\nphases: [] # ADR-012\n";
        assert_eq!(json().in_text(plan, ByNumber::Follows).text, plan.replace("012", "013"));
        let other = "see adr/012-csv-export.md and ADR-012-csv-export.md, ADR-0120 and (ADR-012)";
        let told = json().in_text(other, ByNumber::Follows);
        assert_eq!(told.text, other.replace("(ADR-012)", "(ADR-013)"));
    }
}
