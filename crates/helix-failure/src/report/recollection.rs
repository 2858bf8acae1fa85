//! What is known of a failure from before, in one sentence: for a caution in a chat, under the errors of a plan.
//!
//! Must not know where it is shown; names from outside stand in code spans.

use super::build::{Report, SimilarFailure};
use super::neutral::code_span;
use super::terminal::short_id;
use crate::memory::Closeness;

/// Files of a fix that are named.
const FILES: usize = 3;

impl Report {
    /// Whether the failure was seen before, and what helped. `None` if nothing is known that was not known before.
    pub fn recollection(&self, seen_before: u64) -> Option<String> {
        let similar = self.similar.known().map(Vec::as_slice).unwrap_or_default();
        let same = similar.iter().find(|one| one.closeness == Closeness::Exact);
        let times = match seen_before {
            1 => "once".to_owned(),
            many => format!("{many} times"),
        };
        let (text, about) = match (same, seen_before, similar.first()) {
            (Some(same), 1.., _) => (format!("This was seen {times} before: {}", end(same)), &same.fingerprint),
            (Some(same), 0, _) => (format!("This was seen before: {}", end(same)), &same.fingerprint),
            (None, 1.., _) => {
                (format!("This was seen {times} before; what mends it is not known yet"), self.fingerprint.as_ref()?)
            }
            (None, 0, Some(near)) => (
                format!("Something similar was seen before ({}): {}", code_span(&near.summary), end(near)),
                &near.fingerprint,
            ),
            (None, 0, None) => return None,
        };
        Some(format!("{text} (`helix failures show {}`)", short_id(about)))
    }
}

/// How it ended.
fn end(one: &SimilarFailure) -> String {
    match one.ended.as_str() {
        "fixed" if one.files.is_empty() => "it was gone after a change".to_owned(),
        "fixed" => {
            let mut files: Vec<String> = one.files.iter().take(FILES).map(|file| code_span(file)).collect();
            if let Some(more) = one.files.len().checked_sub(FILES).filter(|more| *more > 0) {
                files.push(format!("{more} more"));
            }
            format!("it was gone after a change of {}", files.join(", "))
        }
        "went_away" => "it went away without a change: trying again, or a person, was enough".to_owned(),
        "gave_up" => "the work was given up then".to_owned(),
        _ => "how it ended is not known".to_owned(),
    }
}
