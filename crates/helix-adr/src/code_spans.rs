//! Splits a paragraph of Markdown into code spans and the text between them, both with their places.
//!
//! Must not know what the spans mean; one reading, whatever the text is.

use std::ops::Range;

/// A part of a paragraph. Text and code alternate as they stand; text between two spans may be empty and is there then too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// Text outside of code.
    Text(Range<usize>),
    Code {
        whole: Range<usize>,
        /// Without them and without padding.
        inner: Range<usize>,
    },
}

/// Reads the segments. A run of backticks opens a span when a run of the same length follows, as CommonMark says.
pub(super) fn segments(text: &str) -> Vec<Segment> {
    let runs = backticks(text);
    let mut out = Vec::new();
    let (mut from, mut next) = (0, 0);
    // Lengths of runs that no later one closes: keeps a text of single runs from being searched again and again.
    let mut unclosed: Vec<usize> = Vec::new();
    while next < runs.len() {
        let open = runs[next].clone();
        let escaped = text[..open.start].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let length = open.len();
        let known = unclosed.contains(&length);
        let close = if escaped || known { None } else { runs[next + 1..].iter().position(|run| run.len() == length) };
        let Some(close) = close else {
            if !escaped && !known {
                unclosed.push(length);
            }
            next += 1;
            continue;
        };
        let close_run = runs[next + 1 + close].clone();
        out.push(Segment::Text(from..open.start));
        out.push(Segment::Code { whole: open.start..close_run.end, inner: unpadded(text, open.end..close_run.start) });
        from = close_run.end;
        next += close + 2;
    }
    out.push(Segment::Text(from..text.len()));
    out
}

fn backticks(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            Some(_) | None => runs.push(at..at + 1),
        }
    }
    runs
}

fn unpadded(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let padded = inner.len() > 2 && inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
    if padded { range.start + 1..range.end - 1 } else { range }
}

#[cfg(test)]
#[path = "code_spans_test.rs"]
mod tests;
