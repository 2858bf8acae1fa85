//! What clients show of an answer other than the agent's words: Helix's blocks and activity are removed from the history, and links are what
//! the agent wrote, so that no agent reads anything else as its own words.
//!
//! Must not know how an answer is sent.

use std::borrow::Cow;
use std::sync::LazyLock;

use helix_engine::consultant::phrases::BLOCK;
use regex::{Captures, Regex};

use super::link_scan;
use crate::linked_files::{FileToken, PATH};

/// What is removed from answers: Helix's own blocks, and the activity that Open WebUI and other clients keep as `<details type="…">`; a
/// user's own `<details>` has no type.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let activity = r#"<details type="(?:reasoning|tool_calls)"(?s:.)*?</details>"#;
    Regex::new(&format!("(?m)^(?:{BLOCK}|{activity})")).ok()
});

/// Addresses of linked files.
static ADDRESSES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"https?://[^\s()<>]*?{PATH}([\w.-]+)")).ok());

/// What Helix's own blocks said, as the client shows them.
pub(crate) fn shown(text: &str) -> String {
    link_scan::restored(text).into_owned()
}

/// An answer without Helix's marks.
pub(crate) fn strip(text: &str) -> String {
    let stripped = MARKS.as_ref().map_or(Cow::Borrowed(text), |marks| marks.replace_all(text, ""));
    let written =
        |found: &Captures<'_>| FileToken::read(&found[1]).map_or_else(|| found[0].to_owned(), |token| token.written);
    let restored = ADDRESSES.as_ref().map_or(Cow::Borrowed(&*stripped), |all| all.replace_all(&stripped, written));
    link_scan::restored(&restored).trim().to_owned()
}

#[cfg(test)]
#[path = "marks_test.rs"]
mod tests;
