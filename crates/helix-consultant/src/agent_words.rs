//! Words of an agent that look like Helix's own blocks are made words: a chat client shows them as what they are.
//!
//! Must not change anything else. Text comes in pieces, and what may become such words waits for its rest.

use std::borrow::Cow;

/// How a block of Helix's own is known, after the marks of a quotation: its kind in colour, and who speaks.
const KINDS: [(&str, &str); 5] = [
    ("[!NOTE]", "**Note**"),
    ("[!TIP]", "**Tip**"),
    ("[!IMPORTANT]", "**Important**"),
    ("[!WARNING]", "**Warning**"),
    ("[!CAUTION]", "**Caution**"),
];
const SPEAKER: (&str, &str) = ("**Helix:**", "“Helix:”");
/// Longest beginning of a line that may hide a quotation, in bytes.
const LONGEST_START: usize = 64;

/// Reads an agent's text in pieces.
#[derive(Debug, Default)]
pub(super) struct AgentWords {
    /// The beginning of a line that may become such words.
    held: String,
    is_within_line: bool,
}

impl AgentWords {
    /// A piece of the text as it may be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.held) + piece;
        let mut shown = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            if !self.is_within_line {
                let start = Start::from_line(line);
                match start {
                    Start::Open if !line.ends_with('\n') => {
                        self.held = line.to_owned();
                        break;
                    }
                    Start::Open | Start::Plain => shown.push_str(line),
                    Start::Own { marks, words, instead } => {
                        shown.push_str(&line[..marks]);
                        shown.push_str(instead);
                        shown.push_str(&line[marks + words..]);
                    }
                }
            } else {
                shown.push_str(line);
            }
            self.is_within_line = !line.ends_with('\n');
        }
        shown
    }

    /// What waited, when nothing more comes or something else comes between.
    pub(super) fn rest(&mut self) -> String {
        self.is_within_line = false;
        std::mem::take(&mut self.held)
    }
}

/// A whole text as it may be shown.
pub(super) fn of_whole(text: &str) -> Cow<'_, str> {
    if !text.contains('>') {
        return Cow::Borrowed(text);
    }
    let mut words = AgentWords::default();
    let shown = words.push(text);
    Cow::Owned(shown + &words.rest())
}

/// How a line begins.
enum Start {
    /// Nothing follows yet that decides it.
    Open,
    Plain,
    /// With marks of a quotation and words of Helix, these many bytes each.
    Own {
        marks: usize,
        words: usize,
        instead: &'static str,
    },
}

impl Start {
    fn from_line(line: &str) -> Self {
        let is_mark = |one: char| one.is_ascii_digit() || " \t>*+-.)".contains(one);
        // A star may be of the words.
        let all = line.trim_end_matches(['\r', '\n']);
        let after = all.trim_start_matches(is_mark);
        let marks = all.len() - after.len();
        if marks > LONGEST_START {
            return Self::Plain;
        }
        let with_stars = all[..marks].trim_end_matches('*').len();
        for at in [marks, with_stars] {
            let rest = &all[at..];
            let own = KINDS
                .iter()
                .chain([&SPEAKER])
                .find(|(words, _)| rest.get(..words.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(words)));
            match own {
                Some((words, instead)) if all[..at].contains('>') => {
                    return Self::Own { marks: at, words: words.len(), instead };
                }
                _ => {}
            }
            let begins = |words: &str| words.get(..rest.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(rest));
            if KINDS.iter().chain([&SPEAKER]).any(|(words, _)| begins(words)) {
                return Self::Open;
            }
        }
        Self::Plain
    }
}

#[cfg(test)]
#[path = "agent_words_test.rs"]
mod tests;
