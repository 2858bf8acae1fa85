//! Where the front matter of a text lies: the lines between two of `---` at its beginning.
//!
//! Must not know what it holds.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter {
    /// Its lines without the two delimiters.
    pub inner: Range<usize>,
    /// With the delimiters; the text below begins at its end.
    pub whole: Range<usize>,
}

/// Finds the front matter that a text begins with, a byte order mark aside; `None` when it begins with none.
///
/// # Errors
/// The opening line, when no line closes it.
pub fn front_matter(text: &str) -> Result<Option<FrontMatter>, Range<usize>> {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut lines = text[mark..].split_inclusive('\n');
    let Some(first) = lines.next().filter(|first| first.trim_end() == "---") else { return Ok(None) };
    let start = mark + first.len();
    let mut at = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Ok(Some(FrontMatter { inner: start..at, whole: mark..at + line.len() }));
        }
        at += line.len();
    }
    Err(mark..start)
}
