//! Bytes in, whole lines out: each byte is looked at once, and memory is bounded by the longest line.
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
    pub(super) fn take_line(&mut self) -> Option<Bytes> {
        match memchr::memchr(b'\n', self.bytes.get(self.searched..)?) {
            Some(at) => {
                let mut line = self.bytes.split_to(self.searched + at + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                Some(line.freeze())
            }
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }

    /// What is left after the last newline.
    pub(super) fn into_tail(self) -> Vec<u8> {
        self.bytes.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `input` in pieces of the given sizes, as a file that grows would.
    fn read_in_pieces(input: &[u8], sizes: &[usize]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let (mut buffer, mut lines, mut rest) = (LineBuffer::new(), Vec::new(), input);
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let size = (*sizes.next().unwrap()).clamp(1, rest.len());
            let (piece, after) = rest.split_at(size);
            rest = after;
            buffer
                .fill(|space| {
                    space[..size].copy_from_slice(piece);
                    Ok(size)
                })
                .unwrap();
            while let Some(line) = buffer.take_line() {
                lines.push(line.to_vec());
            }
        }
        (lines, buffer.into_tail())
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_where_reads_end(
            input in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            sizes in proptest::collection::vec(1_usize..40, 1..10),
        ) {
            let (lines, tail) = read_in_pieces(&input, &sizes);
            let mut expected: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let expected_tail = expected.pop().unwrap();
            prop_assert_eq!(lines, expected);
            prop_assert_eq!(tail, expected_tail);
        }
    }

    #[test]
    fn reads_grow_while_there_is_more_and_shrink_again() {
        let mut buffer = LineBuffer::new();
        let mut rooms = Vec::new();
        for available in [usize::MAX, usize::MAX, usize::MAX, usize::MAX, usize::MAX, 10, 10, 10, 10] {
            let fill = buffer.fill(|space| {
                rooms.push(space.len() / 1024);
                Ok(space.len().min(available))
            });
            fill.unwrap();
        }
        assert_eq!(rooms, [4, 16, 64, 256, 256, 256, 64, 16, 4]);
        assert_eq!(buffer.into_tail().len(), (4 + 16 + 64 + 256 + 256) * 1024 + 4 * 10);
    }

    #[test]
    fn an_interrupted_read_is_repeated() {
        let (mut buffer, mut calls) = (LineBuffer::new(), 0);
        let read = buffer.fill(|space| {
            calls += 1;
            if calls == 1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            space[..2].copy_from_slice(b"x\n");
            Ok(2)
        });
        assert_eq!((read.unwrap(), calls), (2, 2));
        assert_eq!(buffer.take_line().unwrap(), "x");
    }
}
