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

/// What a user sees of an answer: no marker on a line of its own.
pub fn visible(answer: &str) -> String {
    let mut filter = MarkerFilter::default();
    filter.push(answer) + &filter.finish().0
}

/// Splits an answer into what stands before its marker and the marker that ends it, on a line of its own or not.
pub fn split(answer: &str) -> (&str, Marker) {
    let start = possible_marker(answer);
    match parse_line(&answer[start..]) {
        Marker::Absent => (answer, Marker::Absent),
        marker => (&answer[..start], marker),
    }
}

/// Where the text begins that is or may become the marker, with the white space before it; or else trailing white space.
fn possible_marker(answer: &str) -> usize {
    let text = answer.trim_end();
    let begun = (1..OPENING.len()).rev().find(|length| text.ends_with(&OPENING[..*length]));
    let start = begun.map(|length| text.len() - length).or_else(|| text.rfind(OPENING));
    let could_be = |start: &usize| {
        let rest = &text[*start..];
        !rest.contains('\n') && rest.find(CLOSING).is_none_or(|end| end + CLOSING.len() == rest.len())
    };
    start.filter(could_be).map_or(text.len(), |start| text[..start].trim_end().len())
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
    /// Whether the end of a marker's line is still to come; it goes with the marker.
    line_goes_on: bool,
}

impl MarkerFilter {
    /// Takes a piece of the answer; returns what can be shown by now. A marker on a line of its own is never shown: an agent that
    /// says more after it has begun anew.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let keep_from = possible_marker(&self.held);
        let rest = self.held.split_off(keep_from);
        let mut text = std::mem::replace(&mut self.held, rest);
        if !text.is_empty() && std::mem::take(&mut self.line_goes_on) {
            let end = text.find('\n').filter(|end| text[..*end].trim().is_empty());
            text.drain(..end.map_or(0, |end| end + 1));
        }
        let mut shown = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let is_whole = line.ends_with('\n');
            if !self.within_line && matches!(parse_line(line), Marker::Step(_)) {
                self.line_goes_on = !is_whole;
            } else {
                self.within_line = !is_whole;
                shown.push_str(line);
            }
        }
        shown
    }

    /// Ends the answer; returns the rest of what can be shown, and the marker.
    pub fn finish(self) -> (String, Marker) {
        let (shown, marker) = split(&self.held);
        (shown.to_owned(), marker)
    }
}

#[cfg(test)]
#[path = "step_marker_test.rs"]
mod tests;
