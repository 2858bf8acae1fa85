//! Plans and ADRs as they were refused last, so that what mended one can be told from the text that was accepted.
//!
//! Must not grow: a few drafts, in memory only. What a restart forgets is that a change was this one, not that there was one.

use std::collections::VecDeque;

/// Drafts that are kept; the oldest goes first.
const KEPT: usize = 32;
/// Longest draft that is kept, in bytes. Plans and ADRs have a few thousand.
const LONGEST: usize = 256 << 10;

/// The texts of refused documents.
#[derive(Debug, Default)]
pub(super) struct RefusedDrafts(VecDeque<(String, String)>);

impl RefusedDrafts {
    /// Keeps a document's text.
    pub(super) fn keep(&mut self, document: &str, text: String) {
        self.0.retain(|(other, _)| other != document);
        if text.len() > LONGEST {
            return;
        }
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back((document.to_owned(), text));
    }

    /// Gives a document's text back, and forgets it.
    pub(super) fn take(&mut self, document: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == document)?;
        self.0.remove(at).map(|(_, text)| text)
    }
}

/// The stretch in which two texts differ, in the form of a diff: the lines between what both begin and end with.
pub(super) fn changed_stretch(file: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    let mut diff = format!("--- {file}\n+++ {file}\n@@ line {} @@\n", head + 1);
    for (sign, lines) in [('-', &old), ('+', &new)] {
        for line in lines.get(head..lines.len() - tail).unwrap_or_default() {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_stretch_is_what_both_do_not_share() {
        let diff = |before, after| changed_stretch("p", before, after);
        assert_eq!(diff("a\nb\nc\n", "a\nx\ny\nc\n"), "--- p\n+++ p\n@@ line 2 @@\n-b\n+x\n+y\n");
        assert_eq!(diff("a\na\n", "a\n"), "--- p\n+++ p\n@@ line 2 @@\n-a\n");
        assert_eq!(diff("", "a"), "--- p\n+++ p\n@@ line 1 @@\n+a\n");
    }

    #[test]
    fn few_drafts_are_kept_and_the_latest_text_counts() {
        let mut drafts = RefusedDrafts::default();
        for number in 0..KEPT + 3 {
            drafts.keep(&number.to_string(), "old".into());
        }
        drafts.keep("9", "new".into());
        drafts.keep("big", "x".repeat(LONGEST + 1));
        assert_eq!(drafts.0.len(), KEPT);
        assert_eq!((drafts.take("0"), drafts.take("9"), drafts.take("9")), (None, Some("new".into()), None));
        assert_eq!(drafts.take("big"), None);
    }
}
