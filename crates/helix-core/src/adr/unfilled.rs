//! Which lines of an ADR still say what the template said: a decision that nobody has written down is none.
//!
//! Must not know how an ADR is checked; what a template says is asked of the template itself.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::import::unknown_criterion;
use super::rules::built_in_rules;
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
    let mut hints = Hints { lines: HashSet::new(), phrases: HashSet::new() };
    let rules = built_in_rules();
    for language in [Language::English, Language::German] {
        hints.add(unknown_criterion(language));
        hints.add(file_hint(language));
        SectionKind::ALL.into_iter().for_each(|kind| hints.add(hint(kind, language)));
        rules.iter().filter_map(|rule| rule.offer.as_ref()).for_each(|offer| hints.add(offer.text(language)));
    }
    hints
});

impl Hints {
    fn add(&mut self, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| line.contains('<')) {
            self.lines.insert(line.to_owned());
            self.phrases.extend(phrases(line).filter(|phrase| phrase.contains(' ')).map(str::to_owned));
        }
    }
}

/// Whether an author has left a line as the template has it.
pub(super) fn is_unfilled(line: &str) -> bool {
    line.contains('<')
        && (HINTS.lines.contains(line.trim()) || phrases(line).any(|phrase| HINTS.phrases.contains(phrase)))
}

/// What stands in `<…>` in a line, without the brackets.
fn phrases(line: &str) -> impl Iterator<Item = &str> {
    line.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(phrase, _)| phrase))
}

#[cfg(test)]
mod tests {
    use super::is_unfilled;

    #[test]
    fn only_what_the_template_says_is_unfilled() {
        for line in [
            "<what is the problem, and for whom>",
            "  - [ ] `<command>` exits 0 and shows `<result>`",
            "- `src/shop.py`: <what it holds>",
            "- `src/shop.py`: <was sie enthält>",
            "- [ ] <what one does, and what one sees then> — test: `tests/test_x.py::test_y`",
            "CLI usage: `<tool> <arguments>`",
        ] {
            assert!(is_unfilled(line), "{line}");
        }
        for line in [
            "",
            "- [ ] `shop export <file>` exits 0",
            "The page shows <b>bold</b> text<br/>and `Vec<Order>`.",
            "We compare a < b and b > c.",
            "CLI usage: `shop <command> <arguments>`",
        ] {
            assert!(!is_unfilled(line), "{line}");
        }
    }
}
