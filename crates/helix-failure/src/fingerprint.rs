//! What makes two failures the same one: tool, cause, message and top frame, without what varies from run to run.
//!
//! Must not know where fingerprints are kept.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use sha2::{Digest, Sha256};

/// Characters of a message that count.
const MESSAGE: usize = 400;

fn is_fingerprint(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

helix_core::text_id!(
    /// The identity of a failure across attempts.
    Fingerprint, "failure", is_fingerprint, "use 32 lower-case hexadecimal digits"
);

impl Fingerprint {
    /// The identity of what has these parts.
    pub(crate) fn from_parts(parts: [&str; 5]) -> Self {
        Self(digest(&parts))
    }
}

/// Thirty-two hexadecimal digits made from texts.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal ids, and the words and numbers that look alike.
const HEXADECIMAL: &str = r"\b[0-9a-f]{7,64}\b";

static MASKS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    // Order matters: what contains numbers goes before numbers. A mask never yields what a later one matches.
    let masks = [
        (r"[\x00-\x1f\x7f]+", " "),
        (
            r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
            "<time>",
        ),
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
        (r"\b(?:msg|req|toolu|call|resp|sess|chatcmpl|run|job|ses)_[A-Za-z0-9]{6,}\b", "<id>"),
        (r"\b[A-Za-z][A-Za-z0-9+.-]{1,10}://[^\s'\x22`<>()\]]+", "<url>"),
        (r"(?:\b[A-Za-z]:)?(?:[/\\][\w.@+~-]+){2,}[/\\]?|(?:\b[\w.@+~-]+[/\\])+[\w.@+~-]*", "<path>"),
        (r"\b0x[0-9a-fA-F]+\b", "<id>"),
        (HEXADECIMAL, "<id>"),
        (r"\d+(?:[.,:]\d+)*", "<n>"),
        (r"\s+", " "),
    ];
    masks.iter().filter_map(|(pattern, mask)| Some((Regex::new(pattern).ok()?, *mask))).collect()
});

/// A plain message without what varies: times, ids, addresses, paths, numbers. Applying it twice changes nothing.
pub fn normalise(message: &str) -> String {
    let cut: String = message.chars().take(MESSAGE * 4).collect();
    let mut text = mask(&cut);
    // Masks can make new matches possible; there are few rounds to a fixed point, and each ends.
    for _ in 0..6 {
        let again = mask(&text);
        if again == text {
            break;
        }
        text = again;
    }
    let cut: String = text.chars().take(MESSAGE).collect();
    cut.trim().to_owned()
}

fn mask(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, mask) in MASKS.iter() {
        let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
            // Words have no digits, numbers have no letters: only what has both is an id.
            let has = |kind: fn(&u8) -> bool| found[0].bytes().any(|byte| kind(&byte));
            let is_id = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase);
            if pattern.as_str() == HEXADECIMAL && !is_id { found[0].to_owned() } else { (*mask).to_owned() }
        });
        text = replaced.into_owned();
    }
    text.trim().to_owned()
}

#[cfg(test)]
#[path = "fingerprint_test.rs"]
mod tests;
