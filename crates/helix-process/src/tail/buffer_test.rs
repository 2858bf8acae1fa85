use proptest::prelude::*;

use super::*;

/// Feeds `input` in pieces of the given sizes, as a file that grows would. Lines, tail, and how many of them were cut.
fn read_in_pieces(input: &[u8], sizes: &[usize], most: usize) -> (Vec<Vec<u8>>, Vec<u8>, u64) {
    let (mut buffer, mut lines, mut rest) = (LineBuffer::new(most), Vec::new(), input);
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
    let cut = buffer.cut();
    (lines, buffer.into_tail(), cut)
}

proptest! {
    #[test]
    fn lines_and_what_is_dropped_of_long_ones_do_not_depend_on_where_reads_end(
        input in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
        sizes in proptest::collection::vec(1_usize..40, 1..10),
        most in prop_oneof![1_usize..60, Just(usize::MAX)],
    ) {
        let (lines, tail, cut) = read_in_pieces(&input, &sizes, most);
        let whole = input.split(|byte| *byte == b'\n');
        prop_assert_eq!(cut, whole.clone().filter(|line| line.len() > most).count() as u64);
        let mut expected: Vec<Vec<u8>> = whole.map(|line| line[..line.len().min(most)].to_vec()).collect();
        let expected_tail = expected.pop().unwrap();
        prop_assert_eq!(lines, expected);
        prop_assert_eq!(tail, expected_tail);
    }
}

#[test]
fn reads_grow_while_there_is_more_and_shrink_again() {
    let mut buffer = LineBuffer::new(usize::MAX);
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
    let (mut buffer, mut calls) = (LineBuffer::new(usize::MAX), 0);
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

#[test]
fn a_line_without_an_end_is_not_held() {
    let mut buffer = LineBuffer::new(1 << 20);
    for _ in 0..400 {
        buffer.fill(|space| Ok(space.len())).unwrap();
        assert!(buffer.take_line().is_none());
        assert!(buffer.bytes.capacity() <= 4 << 20, "{}", buffer.bytes.capacity());
    }
    assert_eq!((buffer.cut(), buffer.into_tail().len()), (1, 1 << 20));
}

#[test]
fn what_is_forgotten_is_read_again_from_the_end_of_the_last_whole_line() {
    let mut buffer = LineBuffer::new(8);
    let give = |buffer: &mut LineBuffer, text: &[u8]| {
        let read = buffer.fill(|space| {
            space[..text.len()].copy_from_slice(text);
            Ok(text.len())
        });
        assert_eq!(read.unwrap(), text.len());
    };
    give(&mut buffer, b"a\n0123456789abcdef");
    assert_eq!(buffer.take_line().unwrap(), "a");
    assert!(buffer.take_line().is_none());
    assert_eq!((buffer.cut(), buffer.forget(), buffer.cut()), (1, 2, 0));
    give(&mut buffer, b"0123456789abcdef\nb");
    assert_eq!(buffer.take_line().unwrap(), "01234567");
    assert!(buffer.take_line().is_none());
    assert_eq!((buffer.cut(), buffer.forget()), (1, 19));
}
