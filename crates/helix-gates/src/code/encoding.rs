//! In which encoding Python reads a source: in some, what a comment shows is code.
//!
//! Must not decode anything.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;

/// A line that names an encoding, as the language defines it (PEP 263).
static NAMES_ENCODING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[ \t\x0c]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)"));

/// Encodings in which all that has a meaning for Python is what UTF-8 shows.
const PLAIN: [&str; 15] = [
    "utf-8",
    "utf8",
    "utf",
    "u8",
    "utf-8-sig",
    "ascii",
    "us-ascii",
    "latin-1",
    "latin1",
    "latin",
    "l1",
    "iso-8859-1",
    "iso8859-1",
    "iso-latin-1",
    "8859",
];

/// The line, from 1, on which a source of Python names another encoding than UTF-8, ASCII or Latin-1, and that encoding.
pub(crate) fn other_encoding(source: &str) -> Option<(u32, &str)> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    // Python ends lines at all three.
    let source = source.split_inclusive(['\n', '\r']).filter(|line| *line != "\n" || !source.contains("\r\n"));
    for (number, line) in (1..).zip(source.take(2)) {
        if let Some(name) = NAMES_ENCODING.captures(line).and_then(|found| found.get(1)).map(|name| name.as_str()) {
            return (!is_plain(name)).then_some((number, name));
        }
        let code = line.trim_matches([' ', '\t', '\u{c}', '\n', '\r']);
        if !code.is_empty() && !code.starts_with('#') {
            return None;
        }
    }
    None
}

/// Editors say in the same word how lines end.
fn is_plain(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let bare = ["-unix", "-dos", "-mac"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    PLAIN.contains(&bare)
}

#[cfg(test)]
#[path = "encoding_test.rs"]
mod tests;
