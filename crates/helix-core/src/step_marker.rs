//! The marker by which the Consultant says where it thinks a session stands: one enum, one parser.
//!
//! Metadata only: it plays no part in completion, its absence means nothing, and nothing is ever inferred.

use crate::words;

words! {
    /// Where a session stands.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum Step {
        What = "what",
        Why = "why",
        Constraints = "constraints",
        Generate = "generate",
        Finalize = "finalize",
        Done = "done",
    }
}

/// What an answer ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// No marker. Means nothing.
    Absent,
    /// A marker with a known step.
    Step(Step),
    /// A marker with an unknown step.
    Unknown(String),
}

/// How every marker begins.
const OPENING: &str = "<!--";
/// How it ends.
const CLOSING: &str = "-->";
/// Longest marker, in bytes.
const LONGEST: usize = 200;

/// What a user sees of an answer: no marker on a line of its own, nor at its end.
pub fn visible(answer: &str) -> String {
    let mut filter = MarkerFilter::default();
    filter.push(answer) + &filter.finish().0
}

/// Splits an answer into what stands before its marker and the marker that ends it. An unknown step is one only on a line of its own.
pub fn split(answer: &str) -> (&str, Marker) {
    let start = possible_marker(answer);
    let (before, rest) = answer.split_at(start);
    let own_line = before.is_empty() || rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    match parse_line(rest) {
        Marker::Absent => (answer, Marker::Absent),
        Marker::Unknown(_) if !own_line => (answer, Marker::Absent),
        marker => (before, marker),
    }
}

/// Where the text begins that is or may become the marker, with the white space before it; or else trailing white space.
fn possible_marker(answer: &str) -> usize {
    let text = answer.trim_end();
    let whole = text.rfind(OPENING).filter(|start| may_be_marker(&text[*start..]));
    let begun = || (1..OPENING.len()).rev().find(|length| text.ends_with(&OPENING[..*length]));
    let start = whole.or_else(|| Some(text.len() - begun()?));
    start.map_or(text.len(), |start| text[..start].trim_end().len())
}

/// Whether a comment is a marker, or how one begins.
fn may_be_marker(comment: &str) -> bool {
    let inner = comment[OPENING.len()..].trim_start().to_ascii_lowercase();
    let key = inner.strip_prefix("step").map(str::trim_start);
    let names_step = "step".starts_with(&inner) || key.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    let ends = comment.find(CLOSING).is_none_or(|end| end + CLOSING.len() == comment.len());
    names_step && ends && comment.len() <= LONGEST && !comment.contains('\n')
}

fn parse_line(line: &str) -> Marker {
    let inner = line.trim().strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING)).map(str::trim);
    let named =
        inner.and_then(|inner| inner.split_once(':')).filter(|(key, _)| key.trim().eq_ignore_ascii_case("step"));
    let Some(word) = named.map(|(_, word)| word.trim()) else { return Marker::Absent };
    Step::from_word(&word.to_lowercase()).map_or_else(|| Marker::Unknown(word.to_owned()), Marker::Step)
}

/// Takes the marker out of a streamed answer. Holds back only what could still become one.
#[derive(Debug, Default)]
pub struct MarkerFilter {
    held: String,
    /// Whether what was shown last ends within a line.
    within_line: bool,
}

impl MarkerFilter {
    /// Takes a piece of the answer; returns what can be shown by now. A marker on a line of its own is never shown: an agent that
    /// says more after it has begun anew.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let keep_from = possible_marker(&self.held);
        let rest = self.held.split_off(keep_from);
        let text = std::mem::replace(&mut self.held, rest);
        let mut shown = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (is_whole, is_marker) = (line.ends_with('\n'), matches!(parse_line(line), Marker::Step(_)));
            match !self.within_line && is_marker {
                true if is_whole => {}
                // What follows on its line decides.
                true => self.held.insert_str(0, line),
                false => {
                    self.within_line = !is_whole;
                    shown.push_str(line);
                }
            }
        }
        shown
    }

    /// Ends the answer; returns the rest of what can be shown, and the marker.
    pub fn finish(self) -> (String, Marker) {
        match split(&self.held) {
            (_, Marker::Unknown(_)) if self.within_line && !self.held.trim_end().contains('\n') => {
                (self.held, Marker::Absent)
            }
            (shown, marker) => (shown.to_owned(), marker),
        }
    }
}

#[cfg(test)]
#[path = "step_marker_test.rs"]
mod tests;
