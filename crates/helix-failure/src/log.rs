//! A log of any size in bounded memory: its head, its tail, and suspicious lines from between.
//!
//! Must not know what the lines mean; it only keeps those that could name a cause.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::OnceLock;

/// Bytes read at once.
const PIECE: usize = 256 * 1024;
/// Bytes kept of one line; a longer line is cut.
const LINE_LIMIT: usize = 256 * 1024;
/// Bytes kept of the head, of the tail and of what is suspicious between, each.
const PART_BYTES: usize = 1024 * 1024;
/// Lines kept of each part.
const PART_LINES: usize = 4_000;

/// Where a line was written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output, or one log of both.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line as it was written, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub stream: Stream,
    /// Number within the stream, from 1.
    pub number: u64,
    /// The line; bytes that are not UTF-8 are replaced.
    pub raw: String,
}

/// The kept lines, in order, standard output first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogSample {
    pub lines: Vec<LogLine>,
    /// How many lines there were in all.
    pub seen: u64,
}

impl LogSample {
    /// Takes two whole texts.
    pub fn from_texts(stdout: &str, stderr: &str) -> Self {
        let mut log = Self::default();
        for (stream, text) in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)] {
            let mut collector = LogCollector::new(stream);
            collector.push(text.as_bytes());
            log.append(collector.finish());
        }
        log
    }

    /// Adds another stream's lines.
    pub fn append(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.seen += other.seen;
    }
}

/// Lines with their numbers, and how many bytes they have.
#[derive(Debug, Default)]
struct Part {
    lines: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
}

impl Part {
    fn has_room(&self) -> bool {
        self.lines.len() < PART_LINES && self.bytes < PART_BYTES
    }

    fn push(&mut self, number: u64, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back((number, line));
    }

    /// Takes the first line out, if there are more than the part may hold.
    fn overflow(&mut self) -> Option<(u64, Vec<u8>)> {
        let full = self.lines.len() > PART_LINES || (self.bytes > PART_BYTES && self.lines.len() > 1);
        let (number, line) = if full { self.lines.pop_front()? } else { return None };
        self.bytes -= line.len();
        Some((number, line))
    }
}

/// Takes a log in pieces of any size.
#[derive(Debug)]
pub struct LogCollector {
    stream: Stream,
    number: u64,
    partial: Vec<u8>,
    head: Part,
    suspicious: Part,
    tail: Part,
}

impl LogCollector {
    pub fn new(stream: Stream) -> Self {
        let (head, suspicious, tail) = (Part::default(), Part::default(), Part::default());
        Self { stream, number: 0, partial: Vec::new(), head, suspicious, tail }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        let mut pieces = piece.split(|byte| *byte == b'\n');
        let Some(first) = pieces.next() else { return };
        self.extend_partial(first);
        for next in pieces {
            self.end_line();
            self.extend_partial(next);
        }
    }

    /// Takes all that there is to read.
    ///
    /// # Errors
    /// What the reader says.
    pub fn read(mut self, mut input: impl Read) -> std::io::Result<LogSample> {
        let mut piece = vec![0_u8; PIECE];
        loop {
            match input.read(&mut piece) {
                Ok(0) => return Ok(self.finish()),
                Ok(count) => self.push(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn finish(mut self) -> LogSample {
        if !self.partial.is_empty() {
            self.end_line();
        }
        let stream = self.stream;
        let kept = self.head.lines.into_iter().chain(self.suspicious.lines).chain(self.tail.lines);
        let lines = kept
            .map(|(number, raw)| LogLine { stream, number, raw: String::from_utf8_lossy(&narrowed(raw)).into_owned() })
            .collect();
        LogSample { lines, seen: self.number }
    }

    fn extend_partial(&mut self, bytes: &[u8]) {
        let room = LINE_LIMIT.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..room]);
    }

    fn end_line(&mut self) {
        self.number += 1;
        let mut line = std::mem::take(&mut self.partial);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if self.tail.lines.is_empty() && self.head.has_room() {
            self.head.push(self.number, line);
            return;
        }
        self.tail.push(self.number, line);
        while let Some((number, line)) = self.tail.overflow() {
            if self.suspicious.has_room() && is_suspicious(&line) {
                self.suspicious.push(number, line);
            } else {
                // Its memory serves the next line.
                self.partial = line;
                self.partial.clear();
            }
        }
    }
}

/// A line of two-byte characters (some shells write such logs) as single ones, as far as it is ASCII.
fn narrowed(mut raw: Vec<u8>) -> Vec<u8> {
    let empty = raw.iter().filter(|byte| **byte == 0).count();
    if empty * 3 > raw.len() {
        raw.retain(|byte| !matches!(byte, 0 | 0xfe | 0xff | b'\r'));
    }
    raw
}

/// Whether a line from the middle of a huge log could name a cause.
fn is_suspicious(line: &[u8]) -> bool {
    static WORDS: OnceLock<Option<regex::bytes::Regex>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        regex::bytes::Regex::new(concat!(
            r"(?-u)[Ee]rror|ERR|E[A-Z]{5}|[Ff]ail|FAIL|[Ff]atal|FATAL|panic|[Ee]xception|[Tt]raceback|[Aa]ssert|",
            r"[Dd]enied|[Rr]efused|[Kk]illed|[Tt]imed? ?out|[Nn]o such|not found|[Cc]annot|CONFLI|KONFLIKT|",
            r"[Nn]o space|memory|[Ff]ehler|[Ee]rreur|\xe9\x94\x99\xe8\xaf\xaf|\xe5\xa4\xb1\xe8\xb4\xa5|undefined"
        ))
        .ok()
    });
    words.as_ref().is_none_or(|words| words.is_match(line))
}

#[cfg(test)]
#[path = "log_test.rs"]
mod tests;
