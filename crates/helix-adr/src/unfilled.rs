//! Which lines of an ADR still say what the template said: they have not been filled in yet.
//!
//! Must not know how an ADR is checked; what a template says is asked of the template itself.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::rules::built_in_rules;
use super::style::hints;
use super::template::{file_hint, hint};
use super::words::{Language, SectionKind};

/// What templates say where an author is to write.
struct Hints {
    /// Whole lines, without indentation: `<command>` alone also stands in finished texts.
    lines: HashSet<String>,
    /// What stands in `<…>` and has several words, which nobody writes by chance.
    phrases: HashSet<String>,
}

static HINTS: LazyLock<Hints> = LazyLock::new(|| {
    let mut known = Hints { lines: HashSet::new(), phrases: HashSet::new() };
    let rules = built_in_rules();
    for language in [Language::English, Language::German] {
        known.add(file_hint(language));
        SectionKind::ALL.into_iter().for_each(|kind| known.add(hint(kind, language)));
        rules.iter().filter_map(|rule| rule.offer.as_ref()).for_each(|offer| known.add(offer.text(language)));
    }
    hints().for_each(|text| known.add(&text));
    known
});

impl Hints {
    fn add(&mut self, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| line.contains('<')) {
            self.lines.insert(line.to_owned());
            self.phrases.extend(phrases(line).filter(|phrase| phrase.contains(' ')).map(str::to_owned));
        }
    }
}

/// Whether an author has left a line as the template gave it.
pub(super) fn is_left(line: &str) -> bool {
    line.contains('<')
        && (HINTS.lines.contains(line.trim()) || phrases(line).any(|phrase| HINTS.phrases.contains(phrase)))
}

/// What stands in `<…>` in a line, without the brackets.
fn phrases(line: &str) -> impl Iterator<Item = &str> {
    line.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(phrase, _)| phrase))
}

#[cfg(test)]
#[path = "unfilled_test.rs"]
mod tests;
