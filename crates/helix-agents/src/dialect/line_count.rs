//! Counts what a reader was given, so that the evidence shows whether all of it was.
//!
//! Must not know what the lines mean.

use helix_core::run::StreamFacts;

use super::json_line::JsonLine;
use crate::invocation::StreamEnd;

/// The counts of one stream.
#[derive(Debug, Default)]
pub(crate) struct LineCount {
    lines: u64,
    unparsable: u64,
    tail: Tail,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Tail {
    #[default]
    NotTaken,
    Whole,
    Broken,
}

impl LineCount {
    /// Counts a line that ended with a newline.
    pub(crate) fn line(&mut self, line: &JsonLine) {
        self.lines += 1;
        self.unparsable += u64::from(matches!(line, JsonLine::Other));
    }

    /// Notes what stood after the last newline.
    pub(crate) fn tail(&mut self, tail: &JsonLine) {
        self.tail = if matches!(tail, JsonLine::Other) { Tail::Broken } else { Tail::Whole };
    }

    /// Whether the tail was taken.
    pub(crate) fn tail_taken(&self) -> bool {
        self.tail != Tail::NotTaken
    }

    /// The evidence.
    pub(crate) fn facts(&self, stream: &StreamEnd) -> StreamFacts {
        StreamFacts {
            // A reader that was not given every line knows nothing of the rest.
            read_to_end: stream.read_to_end && self.lines >= stream.lines,
            lines: self.lines,
            unparsable: self.unparsable,
            broken_tail: self.tail == Tail::Broken,
        }
    }
}
