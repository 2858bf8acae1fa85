//! How alike two messages are: the words that an index finds them by, and the trigrams that rank what it found.
//!
//! Must not know an index.

use jiff::Timestamp;

use super::diagnosis::Diagnosis;

/// Most words of one message; messages have at most 400 characters.
const MOST_WORDS: usize = 48;
/// Longest word in bytes; what is longer is cut, on both sides alike.
const LONGEST_WORD: usize = 48;

/// What is asked of the memory: failures like this one.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarQuery {
    pub diagnosis: Diagnosis,
    /// Only what was seen in this project, and only what is known of it there: texts of one project never reach the agents of another.
    /// `None`: in any, which is for people alone.
    pub project: Option<String>,
    /// At most so many answers.
    pub most: usize,
    pub now: Timestamp,
}

/// The different words of a message in the form in which they are indexed: ASCII letters, digits and `_`, in lower case.
///
/// Letters of other scripts are spelled as their code points, so that no tokenizer has to know them; runs of Han, Kana and
/// Hangul, which have no spaces, become overlapping pairs.
pub fn words(message: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // There are few: looking through them costs less than keeping them in order.
    let mut keep = |word: String| {
        if words.len() < MOST_WORDS && !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    };
    for run in message.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if run.is_ascii() {
            keep(run.get(..run.len().min(LONGEST_WORD)).unwrap_or_default().to_ascii_lowercase());
            continue;
        }
        let characters: Vec<char> = run.chars().flat_map(char::to_lowercase).collect();
        if characters.iter().any(|c| is_unspaced(*c)) {
            let size = characters.len().min(2);
            characters.windows(size.max(1)).for_each(|pair| keep(spelled(pair)));
        } else {
            keep(spelled(&characters));
        }
    }
    words
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0x20000..=0x2FA1F)
}

fn spelled(characters: &[char]) -> String {
    let mut word = String::new();
    for c in characters {
        if c.is_ascii_alphanumeric() || *c == '_' {
            word.push(*c);
        } else if c.is_alphanumeric() {
            word.push_str(&format!("u{:x}", u32::from(*c)));
        }
        if word.len() >= LONGEST_WORD {
            break;
        }
    }
    word.truncate(LONGEST_WORD);
    word
}

/// A message that many others are compared with.
#[derive(Debug, Clone)]
pub struct MessageTrigrams(Vec<u64>);

impl MessageTrigrams {
    /// Takes a message apart.
    pub fn new(message: &str) -> Self {
        Self(trigrams(message))
    }

    /// How much another message has in common with it, from 0 to 1: Dice's coefficient of their character trigrams.
    pub fn resemblance(&self, other: &str) -> f64 {
        let (left, right) = (&self.0, trigrams(other));
        if left.is_empty() || right.is_empty() {
            return 0.0;
        }
        let (mut at, mut common) = (0, 0_usize);
        for trigram in left {
            while right.get(at).is_some_and(|other| other < trigram) {
                at += 1;
            }
            if right.get(at) == Some(trigram) {
                common += 1;
            }
        }
        2.0 * common as f64 / (left.len() + right.len()) as f64
    }
}

/// The different trigrams of a text, sorted; a text of one or two characters is padded. Each is one number: a character has
/// 21 bits.
fn trigrams(text: &str) -> Vec<u64> {
    const THREE: u64 = (1 << 63) - 1;
    let mut all = Vec::with_capacity(text.len() + 2);
    let (mut last, mut read) = (u64::from(' '), 1_usize);
    let lower = text.chars().flat_map(char::to_lowercase).chain(std::iter::once(' '));
    for character in lower {
        last = ((last << 21) | u64::from(character)) & THREE;
        read += 1;
        if read >= 3 {
            all.push(last);
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
#[path = "similarity_test.rs"]
mod tests;
