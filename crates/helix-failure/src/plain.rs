//! Takes terminal control sequences out of a text, for showing it anywhere.
//!
//! Must not know what the text means.

/// The text without colours, cursor movements and titles.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            // Ends with its first letter or the like.
            Some('[') => while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // Ends with a bell or another escape sequence.
            Some(']') => while characters.next_if(|c| *c != '\u{7}' && *c != '\u{1b}').is_some() {},
            Some('(' | ')') => {
                characters.next();
            }
            Some(_) | None => {}
        }
    }
    plain
}

/// What a person saw of a line: progress bars write over themselves, and what was written last stays.
pub(crate) fn last_written(plain: &str) -> &str {
    plain.trim_end().rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
#[path = "plain_test.rs"]
mod tests;
