//! What makes two failures the same one: tool, cause, message and top frame, without what varies from run to run.
//!
//! Must not know where fingerprints are kept.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Characters of a message that count.
const MESSAGE: usize = 400;

/// The identity of a failure across attempts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Fingerprint(String);

/// A text that is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a fingerprint: 32 lower-case hexadecimal digits")]
pub struct InvalidFingerprint(String);

impl Fingerprint {
    /// Checks the form.
    ///
    /// # Errors
    /// [`InvalidFingerprint`].
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidFingerprint> {
        let text = text.into();
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
        if text.len() == 32 && digits { Ok(Self(text)) } else { Err(InvalidFingerprint(text)) }
    }

    /// The identity of what has these parts.
    pub(crate) fn from_parts(parts: [&str; 5]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = InvalidFingerprint;
    fn try_from(text: String) -> Result<Self, InvalidFingerprint> {
        Self::new(text)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.0
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Marks the mask of hexadecimal ids, which has a condition.
const HEXADECIMAL: &str = "<hexadecimal>";

struct Masks(Vec<(Regex, &'static str)>);

static MASKS: LazyLock<Masks> = LazyLock::new(|| {
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
        (r"\b[0-9a-f]{7,64}\b", HEXADECIMAL),
        (r"\d+(?:[.,:]\d+)*", "<n>"),
        (r"\s+", " "),
    ];
    Masks(masks.iter().filter_map(|(pattern, mask)| Some((Regex::new(pattern).ok()?, *mask))).collect())
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
    for (pattern, mask) in &MASKS.0 {
        text = if *mask == HEXADECIMAL {
            // Words have no digits, numbers have no letters: only what has both is an id.
            let mixed = |found: &str| {
                found.contains(|c: char| c.is_ascii_digit()) && found.contains(|c: char| c.is_ascii_lowercase())
            };
            pattern
                .replace_all(
                    &text,
                    |found: &regex::Captures<'_>| {
                        if mixed(&found[0]) { "<id>".to_owned() } else { found[0].to_owned() }
                    },
                )
                .into_owned()
        } else {
            pattern.replace_all(&text, *mask).into_owned()
        };
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mask_compiles() {
        assert_eq!(MASKS.0.len(), 10);
    }

    #[test]
    fn what_varies_goes_and_what_tells_stays() {
        let same = |left: &str, right: &str| assert_eq!(normalise(left), normalise(right));
        same("error at /home/user/b.rs:3:4 in 12ms", "error at /srv/x/y.rs:30:1 in 7ms");
        same("2026-01-01T00:00:00Z req_abcdef123 failed", "2026-02-03T10:20:30.5+01:00 req_zzzzzz999 failed");
        same(r"C:\a\b.ts: no", r"D:\c\d\e.ts: no");
        same("commit deadbeef12 is bad", "commit 0123abcd99 is bad");
        assert_ne!(normalise("cannot find `parse`"), normalise("cannot find `print`"));
    }
}
