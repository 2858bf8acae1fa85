//! Words of an agent that look like Helix's own blocks are made words: a chat client shows them as what they are.
//!
//! Must not change anything else. Text comes in pieces, and what may become such words waits for its rest.

use std::borrow::Cow;

/// How a block of Helix's own is known, behind the mark of a quotation: its kind in colour, and who speaks. Renderers differ in
/// what else may stand before such a mark (items, tasks, other marks), so that the words count wherever it stands before them; and
/// in what ends a quotation, so that only an empty line does here.
const OWN: [(&str, &str); 6] = [
    ("[!NOTE]", "**Note**"),
    ("[!TIP]", "**Tip**"),
    ("[!IMPORTANT]", "**Important**"),
    ("[!WARNING]", "**Warning**"),
    ("[!CAUTION]", "**Caution**"),
    ("**Helix:**", "“Helix:”"),
];

/// Reads an agent's text in pieces.
#[derive(Debug, Default)]
pub(super) struct AgentWords {
    /// What may become such words.
    held: String,
    /// Whether there was a mark of a quotation since the last empty line.
    is_quoted: bool,
    /// Whether the line has something else than white space.
    has_text: bool,
}

impl AgentWords {
    /// A piece of the text as it may be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.held) + piece;
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text.as_str());
        let begins = |text: &str, words: &str| {
            let length = words.len().min(text.len());
            text.get(..length).is_some_and(|begin| begin.eq_ignore_ascii_case(&words[..length]))
        };
        let counts = |letter: char, is_quoted: bool| match letter {
            '\n' => true,
            '[' | '*' => is_quoted,
            '>' => !is_quoted,
            _ => false,
        };
        while let Some(at) = rest.find(|letter| counts(letter, self.is_quoted)) {
            shown.push_str(&rest[..at]);
            self.has_text |= !rest[..at].trim().is_empty();
            rest = &rest[at..];
            let own = OWN.iter().find(|(words, _)| begins(rest, words));
            match own {
                Some((words, instead)) if rest.len() >= words.len() => {
                    shown.push_str(instead);
                    self.has_text = true;
                    rest = &rest[words.len()..];
                }
                Some(_) => {
                    self.held = rest.to_owned();
                    return shown;
                }
                None => {
                    let is_end = rest.starts_with('\n');
                    self.is_quoted = if is_end { self.is_quoted && self.has_text } else { true };
                    self.has_text = !is_end;
                    shown.push_str(&rest[..1]);
                    rest = &rest[1..];
                }
            }
        }
        self.has_text |= !rest.trim().is_empty();
        shown + rest
    }

    /// What waited, when nothing more comes or something else comes between.
    pub(super) fn rest(&mut self) -> String {
        self.has_text |= !self.held.is_empty();
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

#[cfg(test)]
#[path = "agent_words_test.rs"]
mod tests;
