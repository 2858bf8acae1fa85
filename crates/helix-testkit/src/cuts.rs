//! Cuts a recording where a crash or a lost pipe might have cut it.
//!
//! Must not know what the bytes mean.

use crate::random::Random;

/// Every cut at a line boundary (before and after the line feed) and at `count` random bytes, never the whole.
pub fn truncations(bytes: &[u8], seed: u64, count: usize) -> impl Iterator<Item = &[u8]> {
    let mut random = Random::new(seed);
    let mut ends: Vec<usize> = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            ends.extend([at, at + 1]);
        }
    }
    ends.extend((0..count).map(|_| random.below(bytes.len())));
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().filter(|end| *end < bytes.len()).map(|end| &bytes[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_lines_and_never_gives_the_whole() {
        let cuts: Vec<_> = truncations(b"ab\ncd\n", 7, 0).collect();
        assert_eq!(cuts, [&b""[..], b"ab", b"ab\n", b"ab\ncd"]);
        let bytes = vec![b'x'; 1000];
        let many: Vec<_> = truncations(&bytes, 7, 50).map(<[u8]>::len).collect();
        assert!(many.len() > 40 && many.iter().all(|length| *length < 1000));
        assert_eq!(many, truncations(&bytes, 7, 50).map(<[u8]>::len).collect::<Vec<_>>());
    }
}
