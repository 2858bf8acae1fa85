//! What a new session is told of the attempts before the last one, within a budget: what was found about the last one is its correction,
//! and stands in the prompt in full.
//!
//! Must not know templates.

use helix_core::finding::{Correction, Finding};
use helix_job::Attempt;
use serde::Serialize;

/// Most of the whole section, in bytes. Twenty attempts with fifty findings each would be megabytes, which no session can use
const BUDGET: usize = 16 << 10;
/// Most of the newest of these attempts, with the evidence of its findings.
const NEWEST: usize = 8 << 10;
/// Changed files of a try that are named; more say nothing that the diff does not.
const FILES_NAMED: usize = 30;
/// Findings of a shortened try that are named.
const FINDINGS_NAMED: usize = 8;
/// Most of one message or path, in characters.
const LINE: usize = 240;

/// An earlier try, as a session that knows nothing of it is told.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    number: u32,
    changed: String,
    found: String,
}

impl Tried {
    pub(super) fn new(number: u32, changed: &str, found: String) -> Self {
        Self { number, changed: changed.into(), found }
    }

    fn from_attempt(one: &Attempt, found: String) -> Self {
        let files: Vec<&str> =
            one.result.iter().flat_map(|result| &result.changed).map(|file| file.path.as_str()).collect();
        let mut changed = files.iter().take(FILES_NAMED).map(|path| line(path)).collect::<Vec<_>>().join(", ");
        if files.len() > FILES_NAMED {
            changed.push_str(&format!(" and {} more", files.len() - FILES_NAMED));
        }
        Self { number: one.begin.attempt, changed, found }
    }

    fn bytes(&self) -> usize {
        self.changed.len() + self.found.len()
    }
}

/// The attempts before the last one, oldest first: the newest with its evidence, those before it without, and of those as many as
/// there is room for.
pub(super) fn tried(earlier: &[Attempt]) -> Vec<Tried> {
    // The last one's finding is the correction itself.
    let before = earlier.split_last().map_or(&[][..], |(_, before)| before);
    let (mut told, mut bytes) = (Vec::new(), 0);
    // What was found about a try is what the next one was told.
    for (one, next) in before.iter().zip(before.iter().skip(1)).rev() {
        let correction = next.begin.correction.as_ref();
        let whole = correction.map_or_else(|| "Nothing was found about it.".to_owned(), Correction::to_markdown);
        let found = match correction {
            Some(correction) if !told.is_empty() || whole.len() > NEWEST => shortened(correction),
            Some(_) | None => whole,
        };
        let one = Tried::from_attempt(one, found);
        bytes += one.bytes();
        if bytes > BUDGET {
            break;
        }
        told.push(one);
    }
    told.reverse();
    told
}

/// A correction without evidence, each finding in a line.
fn shortened(correction: &Correction) -> String {
    let mut text = format!("{}\n", line(&correction.summary));
    for finding in correction.findings.iter().take(FINDINGS_NAMED) {
        text.push_str(&told(finding));
    }
    if correction.findings.len() > FINDINGS_NAMED {
        text.push_str(&format!("- and {} more findings\n", correction.findings.len() - FINDINGS_NAMED));
    }
    text
}

/// A finding in a line.
pub(super) fn told(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(|place| format!("{}: ", line(&place.to_string()))).unwrap_or_default();
    format!("- {place}{}\n", line(&finding.message))
}

/// The first line of a text, cut.
fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let mut cut: String = first.chars().take(LINE).collect();
    if cut.len() < text.trim().len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
#[path = "tried_test.rs"]
mod tests;
