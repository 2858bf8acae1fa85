//! What a failure is, wherever and whenever it happens: what makes it the same one, and what the classifier said of it.
//!
//! Must not know where it happened.

use helix_core::secrets::redact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::classify::Classified;
use crate::code::tool_code;
use crate::fingerprint::{Fingerprint, normalise};
use crate::location::Ownership;
use crate::plain::plain_text;
use crate::verdict::{Blame, Category, RetryAdvice};

/// Characters of a cause's line that count and are remembered.
const CAUSE_LINE: usize = 1_000;
/// Characters of a summary.
const SUMMARY: usize = 200;

/// What a failure is. Texts are redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Its identity: what makes it the same failure as others.
    pub fingerprint: Fingerprint,
    /// The tool that reported it, such as `cargo`; empty when not known.
    pub tool: String,
    /// The tool's own code for it, such as `E0308` or `TS2322`; empty when it names none.
    #[serde(default)]
    pub code: String,
    /// The cause's line without what varies from run to run; empty when no line names the cause.
    pub message: String,
    /// File name of the nearest of the project's own places; empty when none is named.
    #[serde(default)]
    pub frame: String,
    /// One of the contract's ten.
    pub category: Category,
    /// The finer cause.
    pub cause: String,
    /// When trying again makes sense.
    pub retry: RetryAdvice,
    /// Whose move it is.
    pub blame: Blame,
    /// The line that named the cause when it was seen last, without control sequences, cut to 1,000 characters.
    pub cause_line: String,
    /// One line for people, at most 200 characters.
    pub summary: String,
}

impl Diagnosis {
    /// What is remembered of a classified failure of this tool.
    pub fn new(tool: &str, classified: &Classified) -> Self {
        let plain = classified.cause_line.as_ref().map(|line| plain_text(&line.text)).unwrap_or_default();
        let cause_line = counted(&plain);
        let frame = classified.locations.iter().find(|location| location.ownership == Ownership::Project);
        let frame = frame.map(|frame| frame.path.rsplit(['/', '\\']).next().unwrap_or(&frame.path)).unwrap_or_default();
        let (tool, frame) = (redact(tool).into_owned(), redact(frame).into_owned());
        // Numbers of the message are masked; the tool's own code tells failures apart and is not.
        let code = tool_code(&cause_line).unwrap_or_default().to_owned();
        let message = normalise(&cause_line);
        Self {
            fingerprint: Fingerprint::from_parts([&tool, classified.cause, &code, &message, &frame]),
            tool,
            code,
            message,
            frame,
            category: classified.category,
            cause: classified.cause.to_owned(),
            retry: classified.retry,
            blame: classified.blame,
            summary: summary(&cause_line, classified),
            cause_line,
        }
    }
}

/// The part of a line that counts. What is masked must not tell failures apart: a key is another one the next time.
fn counted(line: &str) -> String {
    redact(line).trim().chars().take(CAUSE_LINE).collect::<String>().trim_end().to_owned()
}

/// The cause's line on one line, or the cause's name when no line says it.
fn summary(line: &str, classified: &Classified) -> String {
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    if words.is_empty() {
        return classified.cause.replace(['_', '-'], " ");
    }
    words.join(" ").chars().take(SUMMARY).collect()
}
