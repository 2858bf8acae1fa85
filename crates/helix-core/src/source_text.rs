//! A source text with its name, so that any byte range of it can become a diagnostic with line and column.
//!
//! Must not know what the text means; finding a place costs a search over line starts, never a scan of the text.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Span};

/// Bytes between two remembered character counts: bounds the cost of a column in a very long line.
const STRIDE: usize = 256;

/// A text, what the user calls it, and where its lines begin.
#[derive(Debug, Clone)]
pub struct SourceText<'a> {
    file: &'a str,
    text: &'a str,
    line_starts: Vec<usize>,
    /// Characters before each multiple of [`STRIDE`] bytes.
    characters_before: Vec<usize>,
}

impl<'a> SourceText<'a> {
    /// Reads the text once to find its lines.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let mut line_starts = vec![0];
        let mut characters_before = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut characters = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STRIDE == 0 {
                characters_before.push(characters);
            }
            // Continuation bytes do not begin a character.
            if byte & 0xC0 != 0x80 {
                characters += 1;
            }
            if byte == b'\n' {
                line_starts.push(at + 1);
            }
        }
        Self { file, text, line_starts, characters_before }
    }

    /// What the user calls it.
    pub fn file(&self) -> &'a str {
        self.file
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text of a byte range; empty when the range is not one of this text.
    pub fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    /// Byte offset at which a line (from 1) begins; the end of the text for lines past it.
    pub fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// Line (from 1) that holds the byte offset.
    pub fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at).max(1)
    }

    /// Line and column of a byte range; offsets past the end are clamped to it.
    pub fn span(&self, range: Range<usize>) -> Span {
        let mut at = range.start.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line_of(at);
        let column = self.characters_until(at) - self.characters_until(self.line_start(line)) + 1;
        Span {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            start: at,
            end: range.end.clamp(at, self.text.len()),
        }
    }

    /// An error at a byte range.
    pub fn error(&self, code: &str, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.file, message).at(self.span(range))
    }

    /// A warning at a byte range.
    pub fn warning(&self, code: &str, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, self.file, message).at(self.span(range))
    }

    fn characters_until(&self, at: usize) -> usize {
        let block = (at / STRIDE).min(self.characters_before.len().saturating_sub(1));
        let counted = self.characters_before.get(block).copied().unwrap_or(0);
        let rest = self.text.as_bytes().get(block * STRIDE..at).unwrap_or_default();
        counted + rest.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
    }
}

/// The text of a file, which must be UTF-8.
///
/// # Errors
/// A diagnostic with this code at the first byte that is not UTF-8.
pub fn utf8<'b>(file: &str, bytes: &'b [u8], code: &str) -> Result<&'b str, Box<Diagnostic>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let readable = String::from_utf8_lossy(&bytes[..at]);
        let byte = bytes.get(at).copied().unwrap_or_default();
        let message = format!("the file is not UTF-8: invalid byte 0x{byte:02x} at offset {at}");
        let problem = SourceText::new(file, &readable).error(code, at..at, message);
        Box::new(problem.help("save the file as UTF-8"))
    })
}

/// Sorts diagnostics as a reader meets them: by place, the ones about the whole file first.
pub fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.start, span.end)));
}

#[cfg(test)]
#[path = "source_text_test.rs"]
mod tests;
