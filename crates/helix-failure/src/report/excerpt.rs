//! The part of a log that shows the cause: a few lines around it, redacted, with their numbers.
//!
//! Must not know how the cause was found.

use helix_core::secrets::redact;
use helix_core::text::{clip, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::neutral::LINE;
use crate::classify::CauseLine;
use crate::log::{LogLine, LogSample, Stream};
use crate::plain::{last_written, plain_text};

/// Lines shown before the cause.
const BEFORE: usize = 4;
/// Lines shown after it.
const AFTER: usize = 8;
/// Lines shown of a log that names no cause: its end.
const TAIL: usize = 12;
/// Lines looked at on each side for what spans lines, such as a private key, before the excerpt is cut out.
const CONTEXT: usize = 80;
/// Characters of one line that redaction looks at.
const READ: usize = 4_000;

/// A part of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excerpt {
    /// The lines, redacted, without control sequences, each at most 400 characters.
    pub lines: Vec<ExcerptLine>,
    /// How many lines the log had in all.
    pub of: u64,
}

/// One line of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcerptLine {
    /// In which stream.
    pub stream: Stream,
    /// Number within the stream, from 1; absent where redaction joined lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What it says.
    pub text: String,
    /// Whether it names the cause.
    #[serde(default)]
    pub cause: bool,
}

/// The lines around the cause, or the end of the log when no line names it.
pub(super) fn excerpt(log: &LogSample, cause: Option<&CauseLine>) -> Excerpt {
    let found = cause
        .and_then(|cause| log.lines.iter().position(|line| line.number == cause.number && line.stream == cause.stream));
    let (start, end) = match found {
        Some(at) => (at.saturating_sub(BEFORE), (at + AFTER + 1).min(log.lines.len())),
        None => {
            let end = log.lines.iter().rposition(|line| !line.raw.trim().is_empty()).map_or(0, |at| at + 1);
            (end.saturating_sub(TAIL), end)
        }
    };
    Excerpt { lines: clean(&log.lines, start, end, found), of: log.seen }
}

/// Redacts the lines together with those around them, then takes the wanted ones.
fn clean(lines: &[LogLine], start: usize, end: usize, cause: Option<usize>) -> Vec<ExcerptLine> {
    let (from, to) = (start.saturating_sub(CONTEXT), (end + CONTEXT).min(lines.len()));
    let around = lines.get(from..to).unwrap_or_default();
    if around.is_empty() {
        return Vec::new();
    }
    let texts: Vec<String> = around.iter().map(|line| one(&line.raw)).collect();
    let joined = texts.join("\n");
    let redacted = redact(&joined);
    let cleaned: Vec<&str> = redacted.split('\n').collect();
    if cleaned.len() == around.len() {
        let numbered = around.iter().zip(cleaned).enumerate().skip(start - from).take(end - start);
        return numbered
            .map(|(at, (line, text))| ExcerptLine {
                stream: line.stream,
                number: Some(line.number),
                text: shown(text),
                cause: cause == Some(from + at),
            })
            .collect();
    }
    // A secret over several lines is one now: numbers would be wrong. What follows the cause is found by its text.
    let wanted = cause.and_then(|cause| texts.get(cause - from)).map(|text| redact(text).into_owned());
    let at = wanted.and_then(|wanted| cleaned.iter().position(|text| *text == wanted));
    let (first, last) = match at {
        Some(at) => (at.saturating_sub(BEFORE), at + AFTER + 1),
        None => (cleaned.len().saturating_sub(TAIL), cleaned.len()),
    };
    let stream = around.first().map_or(Stream::Stdout, |line| line.stream);
    let wanted = cleaned.iter().enumerate().skip(first).take(last - first);
    wanted
        .map(|(here, text)| ExcerptLine { stream, number: None, text: shown(text), cause: at == Some(here) })
        .collect()
}

fn one(raw: &str) -> String {
    clip(last_written(&plain_text(raw)), READ)
}

fn shown(text: &str) -> String {
    clip(visible(text).replace('\n', " ").trim_end(), LINE)
}
