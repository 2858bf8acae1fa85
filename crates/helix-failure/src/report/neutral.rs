//! Makes text from outside harmless where it is shown: no control sequences, no tricks with directions, no live Markdown.
//!
//! Must not know reports. Secrets are masked before, by `redact`.

use helix_core::secrets::redact;
use helix_core::text::{clip, visible};

use crate::plain::plain_text;

/// Characters of one line that are shown.
pub(super) const LINE: usize = 400;

/// A text from a log as one harmless line: redacted, without control sequences, at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    let shown = visible(&redact(&plain_text(text)));
    let words: Vec<&str> = shown.split_whitespace().collect();
    clip(&words.join(" "), most)
}

/// A text as a code span: nothing in it is live, whatever it contains.
pub(super) fn code_span(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    // A blank keeps a backtick at either end from joining the delimiter; Markdown takes one blank off each end.
    let blank = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// A text from outside as one code span: redacted, harmless, cut where it is long.
pub fn quoted(text: &str) -> String {
    code_span(&line(text, LINE))
}

/// Prose in which single words may be anything: words of letters stay, everything that Markdown or GitHub could take for
/// more becomes a code span. Parts in backticks stay code.
pub(super) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Without its partner the last backtick is a character like others.
    let paired = parts.len() % 2 == 1;
    let mut out: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let code = at % 2 == 1 && (paired || at + 1 < parts.len());
        if code {
            if !part.trim().is_empty() {
                out.push(code_span(part));
            }
            continue;
        }
        out.extend(part.split_whitespace().map(|word| if is_plain(word) { word.to_owned() } else { spanned(word) }));
    }
    join(&out)
}

/// A word as code, but not the signs that close a clause after it.
fn spanned(word: &str) -> String {
    let core = word.trim_end_matches([',', ';', ':', '.', '?']);
    if core.is_empty() {
        code_span(word)
    } else {
        format!("{}{}", code_span(core), word.get(core.len()..).unwrap_or_default())
    }
}

/// Words with blanks between, but none before what closes a clause.
fn join(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        let closes = word.starts_with([',', '.', ';', ':', ')', '?', '!']);
        if !text.is_empty() && !closes && !text.ends_with('(') {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// A word that can be nothing but a word.
fn is_plain(word: &str) -> bool {
    let harmless = |c: char| {
        (c.is_alphanumeric() && !c.is_control())
            || matches!(c, ',' | '.' | ';' | ':' | '(' | ')' | '?' | '\'' | '-' | '…' | '%' | '/')
    };
    let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
    let commit = letters.len() >= 7 && letters.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lower = word.to_ascii_lowercase();
    let link = lower.contains("://") || lower.contains("www.") || lower.starts_with("gh-") || lower.contains("mailto:");
    let list = !word.contains(char::is_alphanumeric) && word.contains('-');
    word.chars().all(harmless) && !commit && !link && !list
}

#[cfg(test)]
#[path = "neutral_test.rs"]
mod tests;
