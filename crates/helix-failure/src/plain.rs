//! Takes terminal control sequences out of a text, for showing it anywhere.
//!
//! Must not know what the text means.

/// The text without colours, cursor movements and titles.
pub fn plain_text(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// What a person saw of a line: progress bars write over themselves, and what was written last stays.
pub(crate) fn last_written(plain: &str) -> &str {
    plain.trim_end().rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
#[path = "plain_test.rs"]
mod tests;
