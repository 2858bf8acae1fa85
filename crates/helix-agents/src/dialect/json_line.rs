//! One line of JSON as an object, as tolerantly as evidence allows.
//!
//! Must not guess at broken records: a line that is no whole JSON object is none.

use serde_json::{Map, Value};

/// What a line is.
#[derive(Debug)]
pub(crate) enum JsonLine {
    /// Nothing but white space.
    Blank,
    Object(Map<String, Value>),
    /// Anything else: not JSON, not UTF-8, not an object.
    Other,
}

impl JsonLine {
    /// Reads one line, with or without its newline. A byte order mark, which editors put before a text, is no part of it.
    pub(crate) fn read(line: &[u8]) -> Self {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Self::Blank;
        }
        let parsed = serde_json::from_slice(line).or_else(|error| match without_lone_surrogates(line) {
            Some(repaired) => serde_json::from_slice(&repaired),
            None => Err(error),
        });
        match parsed {
            Ok(Value::Object(object)) => Self::Object(object),
            Ok(_) | Err(_) => Self::Other,
        }
    }
}

/// Replaces escapes of lone surrogates by U+FFFD; `None` if there are none. JavaScript writes them where it cut a text
/// in the middle of a character, and no Rust string can hold them; the record around them is whole all the same.
fn without_lone_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    const REPLACEMENT: &[u8] = b"\\ufffd";
    let mut repaired = Vec::new();
    let (mut place, mut kept) = (0, 0);
    while let Some(step) = line[place..].iter().position(|byte| *byte == b'\\') {
        place += step;
        match escaped_unit(&line[place..]) {
            Some(0xD800..=0xDBFF) if matches!(line.get(place + 6..).and_then(escaped_unit), Some(0xDC00..=0xDFFF)) => {
                place += 12;
            }
            Some(0xD800..=0xDFFF) => {
                repaired.extend_from_slice(&line[kept..place]);
                repaired.extend_from_slice(REPLACEMENT);
                place += 6;
                kept = place;
            }
            Some(_) => place += 6,
            // Any other escape is two bytes long; so a backslash that is escaped itself starts nothing.
            None => place = (place + 2).min(line.len()),
        }
    }
    if kept == 0 {
        return None;
    }
    repaired.extend_from_slice(&line[kept..]);
    Some(repaired)
}

/// The UTF-16 unit of a `\uXXXX` at the start of these bytes.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
#[path = "json_line_test.rs"]
mod tests;
