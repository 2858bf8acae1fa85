//! The words and pairs of words that a message is made of, without what varies: names in quotes, paths, numbers.
//!
//! Must not know what any of them means.

use std::collections::BTreeSet;

/// Bytes of a line that are looked at.
const READ: usize = 600;

/// Bytes that a name in quotes has at most; what is longer is text.
const QUOTED: usize = 80;

/// Stand for what varies.
const NAME: &str = "§name";
const PATH: &str = "§path";
const NUMBER: &str = "§number";

/// The words of a line in small letters (names of classes are split into theirs, scripts without blanks into pairs of
/// letters), and each with the one after it as `first_second`.
pub fn words(line: &str) -> BTreeSet<String> {
    let read = line.get(..line.floor_char_boundary(READ)).unwrap_or(line);
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = read;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        // An apostrophe inside a word quotes nothing.
        if !before.is_alphanumeric()
            && let Some(length) = quoted(rest)
        {
            tokens.push(NAME.to_owned());
            before = ' ';
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        if !letter.is_alphanumeric() && !matches!(letter, '/' | '.' | '~' | '\\') {
            before = letter;
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            continue;
        }
        let end = rest
            .find(|other: char| {
                other.is_whitespace() || matches!(other, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | ',' | ';')
            })
            .unwrap_or(rest.len())
            .max(letter.len_utf8());
        let chunk = rest.get(..end).unwrap_or(rest);
        chunk_tokens(chunk, &mut tokens);
        before = chunk.chars().next_back().unwrap_or(' ');
        rest = rest.get(chunk.len()..).unwrap_or_default();
    }
    let pairs: Vec<String> = tokens.windows(2).map(|pair| format!("{}_{}", pair[0], pair[1])).collect();
    tokens.into_iter().chain(pairs).collect()
}

/// Length of the name in quotes that the text begins with.
fn quoted(text: &str) -> Option<usize> {
    let opening = text.chars().next()?;
    let closing: &[char] = match opening {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`', '\''],
        '‘' => &['’'],
        '“' | '„' => &['”', '“'],
        '«' => &['»'],
        '»' => &['«'],
        _ => return None,
    };
    let inside = text.get(opening.len_utf8()..)?;
    let length = inside.find(closing)?;
    let close = inside.get(length..)?.chars().next()?;
    (length <= QUOTED).then(|| opening.len_utf8() + length + close.len_utf8())
}

/// The words of a part without blanks.
fn chunk_tokens(chunk: &str, tokens: &mut Vec<String>) {
    let path = chunk.trim_end_matches([':', '.']);
    if path.len() > 1 && path.contains(['/', '\\']) {
        tokens.push(PATH.to_owned());
        return;
    }
    for run in chunk.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.bytes().all(|byte| byte.is_ascii_digit()) || run.strip_prefix("0x").is_some() {
            if tokens.last().is_none_or(|last| last != NUMBER) {
                tokens.push(NUMBER.to_owned());
            }
        } else if run.chars().any(|letter| letter > '\u{2e80}') {
            let letters: Vec<char> = run.chars().collect();
            tokens.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            humps(run, tokens);
        }
    }
}

/// The words of `ModuleNotFoundError`; a code such as `E0308` is one.
fn humps(run: &str, tokens: &mut Vec<String>) {
    let mut word = String::new();
    let mut before = ' ';
    for letter in run.chars() {
        if letter.is_uppercase() && before.is_lowercase() && !word.is_empty() {
            push_word(std::mem::take(&mut word), tokens);
        }
        word.extend(letter.to_lowercase());
        before = letter;
    }
    push_word(word, tokens);
}

fn push_word(word: String, tokens: &mut Vec<String>) {
    if word.chars().count() > 1 {
        tokens.push(word);
    }
}

#[cfg(test)]
#[path = "words_test.rs"]
mod tests;
