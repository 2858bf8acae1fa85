//! Bytes in, whole lines out: each byte is looked at once, and memory is bounded. Of a line that is too long its beginning is kept.
//!
//! Must not know where the bytes come from.

use std::io;

use bytes::{Bytes, BytesMut};

/// How much is read at once: little while lines come one by one, since room for a read has to be found and cleared
/// each time, and more while there is more than there is room for.
const SMALLEST_READ: usize = 4 * 1024;
const LARGEST_READ: usize = 256 * 1024;

/// Collects bytes until they are whole lines.
#[derive(Debug)]
pub(super) struct LineBuffer {
    bytes: BytesMut,
    /// How much the next read may bring.
    room: usize,
    /// How far `bytes` is known to hold no newline, so that a long line is not searched again with each read.
    searched: usize,
    /// Most bytes of a line that are kept.
    most: usize,
    /// Whether bytes of the line under way were dropped.
    dropped: bool,
    /// Lines of which something was dropped, the one under way included.
    cut: u64,
}

impl LineBuffer {
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: BytesMut::new(), room: SMALLEST_READ, searched: 0, most, dropped: false, cut: 0 }
    }

    /// How many lines so far were longer than what is kept of one.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }

    /// Appends what `read` puts into the space it is given; returns how much that was.
    pub(super) fn fill(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
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
        let room = if read == self.room { self.room * 4 } else { self.room / 4 };
        self.room = room.clamp(SMALLEST_READ, LARGEST_READ);
        result
    }

    /// Takes the next whole line, without its newline.
    pub(super) fn take_line(&mut self) -> Option<Bytes> {
        match memchr::memchr(b'\n', self.bytes.get(self.searched..)?) {
            Some(at) => {
                let mut line = self.bytes.split_to(self.searched + at + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                self.drop_rest(line.len());
                self.dropped = false;
                line.truncate(self.most);
                Some(line.freeze())
            }
            None => {
                self.drop_rest(self.bytes.len());
                self.bytes.truncate(self.most);
                self.searched = self.bytes.len();
                None
            }
        }
    }

    /// Notes whether a line of this length is one that is cut; once for each.
    fn drop_rest(&mut self, length: usize) {
        if length > self.most && !self.dropped {
            self.dropped = true;
            self.cut += 1;
        }
    }

    /// What is left after the last newline.
    pub(super) fn into_tail(self) -> Vec<u8> {
        self.bytes.to_vec()
    }
}

#[cfg(test)]
#[path = "buffer_test.rs"]
mod tests;
