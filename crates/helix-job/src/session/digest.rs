//! Texts compared as chat clients send them back: without regard to white space, as digests where that is enough.
//!
//! Must not know which marks a client adds: the caller has taken those out.

use std::io::{BufWriter, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Letters that are hashed at once, in bytes.
const PIECE: usize = 4_096;

/// Digest of a text without its white space: 32 hexadecimal digits; empty for a text that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TextDigest(String);

/// How what a client shows of an answer relates to the record of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRelation {
    Same,
    /// One is the beginning of the other: the client stopped reading, or the agent wrote.
    Part,
    /// Neither: somebody changed it.
    Different,
}

impl TextDigest {
    /// Digest of a text.
    pub fn new(text: &str) -> Self {
        let mut hash = Sha256::new();
        // In pieces: a history of megabytes is told by its letters with every message.
        let mut pieces = BufWriter::with_capacity(PIECE, &mut hash);
        for word in text.split(|letter| !is_letter(letter)) {
            // A hash takes all that it is given.
            drop(pieces.write_all(word.as_bytes()));
        }
        drop(pieces);
        let bytes = hash.finalize();
        Self(bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A digest that was stored.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// Compares two texts without regard to white space.
pub fn relation(one: &str, other: &str) -> TextRelation {
    let (mut one, mut other) = (letters(one), letters(other));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return TextRelation::Same,
            (None, Some(_)) | (Some(_), None) => return TextRelation::Part,
            (Some(left), Some(right)) if left == right => {}
            (Some(_), Some(_)) => return TextRelation::Different,
        }
    }
}

/// What a text has after a beginning, compared without regard to white space; `None` where it begins otherwise.
pub fn rest_after<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let (mut all, mut end) = (text.char_indices().filter(|(_, letter)| is_letter(*letter)), 0);
    for letter in letters(beginning) {
        let (at, _) = all.next().filter(|(_, found)| *found == letter)?;
        end = at + letter.len_utf8();
    }
    Some(&text[end..])
}

fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|letter| is_letter(*letter))
}

fn is_letter(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control()
}

#[cfg(test)]
#[path = "digest_test.rs"]
mod tests;
