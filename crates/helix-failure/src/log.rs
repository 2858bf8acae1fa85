//! A log of any size in bounded memory: its head, its tail, and suspicious lines from between.
//!
//! Must not know what the lines mean; it only keeps those that could name a cause.

use std::collections::VecDeque;
use std::sync::OnceLock;

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
pub struct Log {
    pub lines: Vec<LogLine>,
    /// How many lines there were in all.
    pub seen: u64,
}

impl Log {
    /// Takes two whole texts.
    pub fn of_texts(stdout: &str, stderr: &str) -> Self {
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

type Kept = (u64, Vec<u8>);

/// Takes a log in pieces of any size.
#[derive(Debug)]
pub struct LogCollector {
    stream: Stream,
    number: u64,
    partial: Vec<u8>,
    head: Vec<Kept>,
    head_bytes: usize,
    suspicious: Vec<Kept>,
    suspicious_bytes: usize,
    tail: VecDeque<Kept>,
    tail_bytes: usize,
}

impl LogCollector {
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            number: 0,
            partial: Vec::new(),
            head: Vec::new(),
            head_bytes: 0,
            suspicious: Vec::new(),
            suspicious_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
        }
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

    pub fn finish(mut self) -> Log {
        if !self.partial.is_empty() {
            self.end_line();
        }
        let stream = self.stream;
        let kept = self.head.into_iter().chain(self.suspicious).chain(self.tail);
        let lines = kept
            .map(|(number, raw)| LogLine { stream, number, raw: String::from_utf8_lossy(&narrowed(raw)).into_owned() })
            .collect();
        Log { lines, seen: self.number }
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
        if self.tail.is_empty() && self.head.len() < PART_LINES && self.head_bytes < PART_BYTES {
            self.head_bytes += line.len();
            self.head.push((self.number, line));
            return;
        }
        self.tail_bytes += line.len();
        self.tail.push_back((self.number, line));
        while self.tail.len() > PART_LINES || (self.tail_bytes > PART_BYTES && self.tail.len() > 1) {
            let Some((number, line)) = self.tail.pop_front() else { return };
            self.tail_bytes -= line.len();
            let room = self.suspicious.len() < PART_LINES && self.suspicious_bytes < PART_BYTES;
            if room && is_suspicious(&line) {
                self.suspicious_bytes += line.len();
                self.suspicious.push((number, line));
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
mod tests {
    use super::*;

    #[test]
    fn a_log_of_two_byte_characters_is_read() {
        let mut collector = LogCollector::new(Stream::Stdout);
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        collector.push(&[0xff, 0xfe]);
        collector.push(&wide("error TS2304: x\r\nnext\r\n"));
        let log = collector.finish();
        let lines: Vec<&str> = log.lines.iter().map(|line| line.raw.as_str()).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["error TS2304: x", "next"]);
    }
}
