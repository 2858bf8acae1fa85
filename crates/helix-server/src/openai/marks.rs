//! What clients show of an answer beside the agent's words: removed from the history, so that no agent reads it as its own words.
//!
//! Must not know how an answer is sent.

use std::borrow::Cow;
use std::sync::LazyLock;

use helix_engine::consultant::phrases::BLOCK;
use regex::Regex;

/// What is removed from answers: Helix's own blocks, and the activity that Open WebUI and other clients keep as `<details type="…">`; a
/// user's own `<details>` has no type.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let activity = r#"<details type="(?:reasoning|tool_calls)"(?s:.)*?</details>"#;
    Regex::new(&format!("(?m)^(?:{BLOCK}|{activity})")).ok()
});

/// An answer without Helix's marks.
pub(crate) fn strip(text: &str) -> String {
    let stripped = MARKS.as_ref().map_or(Cow::Borrowed(text), |marks| marks.replace_all(text, ""));
    stripped.trim().to_owned()
}

#[cfg(test)]
#[path = "marks_test.rs"]
mod tests;
