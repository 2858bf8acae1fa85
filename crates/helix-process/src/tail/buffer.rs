//! Bytes in, whole lines out: each byte is looked at once, and memory is bounded. Of a line that is too long its beginning is kept.
//!
//! Must not know where the bytes come from.

use std::io;

use bytes::BytesMut;

/// How much is read at once: little while lines come one by one, since room for a read has to be found and cleared
/// each time, and more while there is more than there is room for.
const SMALLEST_READ: usize = 4 * 1024;
const LARGEST_READ: usize = 256 * 1024;

/// Collects bytes until they are whole lines.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: BytesMut,
    /// How much the next read may bring.
    room: usize,
    /// How far `bytes` is known to hold no newline, so that a long line is not searched again with each read.
    searched: usize,
    /// Most bytes of a line that are kept.
    most: usize,
    /// Bytes of the line under way that were dropped.
    dropped: u64,
    /// Bytes of the lines that were taken, with newlines and with what was dropped.
    consumed: u64,
    /// Lines of which something was dropped, the one under way included.
    cut: u64,
}

impl LineBuffer {
    pub fn new(most: usize) -> Self {
        Self { bytes: BytesMut::new(), room: SMALLEST_READ, searched: 0, most, dropped: 0, consumed: 0, cut: 0 }
    }

    /// How many lines so far were longer than what is kept of one.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Appends what `read` puts into the space it is given; returns how much that was.
    pub fn fill(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let old = self.bytes.len();
        self.bytes.resize(old + self.room, 0);
        let result = loop {
            match self.bytes.get_mut(old..).map_or(Ok(0), &mut read) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let read = result.as_ref().map_or(0, |read| *read);
        self.bytes.truncate(old + read);
        // A read that was refused says nothing of what is there.
        if result.is_ok() {
            let room = if read == self.room { self.room * 4 } else { self.room / 4 };
            self.room = room.clamp(SMALLEST_READ, LARGEST_READ);
        }
        result
    }

    /// Takes the next whole line, without its newline.
    pub fn take_line(&mut self) -> Option<BytesMut> {
        match memchr::memchr(b'\n', self.bytes.get(self.searched..)?) {
            Some(at) => {
                let mut line = self.bytes.split_to(self.searched + at + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                self.consumed += (line.len() + 1) as u64 + self.dropped;
                self.drop_rest(line.len());
                self.dropped = 0;
                line.truncate(self.most);
                Some(line)
            }
            None => {
                self.drop_rest(self.bytes.len());
                self.bytes.truncate(self.most);
                self.searched = self.bytes.len();
                None
            }
        }
    }

    /// Forgets what is not taken, and what was dropped of it; returns how many bytes the lines had that were taken.
    pub fn forget(&mut self) -> u64 {
        self.bytes.clear();
        self.searched = 0;
        self.cut -= u64::from(self.dropped > 0);
        self.dropped = 0;
        self.consumed
    }

    /// Counts what is dropped of a line of this length; one line once.
    fn drop_rest(&mut self, length: usize) {
        let rest = length.saturating_sub(self.most) as u64;
        self.cut += u64::from(rest > 0 && self.dropped == 0);
        self.dropped += rest;
    }

    /// What is left after the last newline.
    pub fn into_tail(self) -> Vec<u8> {
        self.bytes.to_vec()
    }
}

#[cfg(test)]
#[path = "buffer_test.rs"]
mod tests;
