//! Bytes in, whole lines out: each byte is looked at once, and memory is bounded by the longest line.
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
pub(super) struct LineBuffer {
    bytes: BytesMut,
    /// How much the next read may bring.
    room: usize,
    /// How far `bytes` is known to hold no newline, so that a long line is not searched again with each read.
    searched: usize,
}

impl LineBuffer {
    pub(super) fn new() -> Self {
        Self { bytes: BytesMut::new(), room: SMALLEST_READ, searched: 0 }
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
    pub(super) fn take_line(&mut self) -> Option<BytesMut> {
        match memchr::memchr(b'\n', self.bytes.get(self.searched..)?) {
            Some(at) => {
                let mut line = self.bytes.split_to(self.searched + at + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                Some(line)
            }
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }

    /// Forgets what is not taken; returns how much that was.
    pub(super) fn forget(&mut self) -> u64 {
        let forgotten = self.bytes.len() as u64;
        self.bytes.clear();
        self.searched = 0;
        forgotten
    }

    /// What is left after the last newline.
    pub(super) fn into_tail(self) -> Vec<u8> {
        self.bytes.to_vec()
    }
}

#[cfg(test)]
#[path = "buffer_test.rs"]
mod tests;
