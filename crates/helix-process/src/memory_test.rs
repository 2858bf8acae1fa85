#![allow(clippy::unwrap_used, reason = "a test says where it fails by panicking")]

use super::*;

fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("RssAnon")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A large block that was freed has the allocator take such blocks for usual, and put the next into an arena.
#[test]
#[expect(unsafe_code, reason = "mallinfo2 has no safe wrapper")]
fn a_large_block_comes_from_the_system_whatever_was_freed_before() {
    keep_little_memory();
    drop(vec![1_u8; 24 << 20]);
    let block = vec![1_u8; 20 << 20];
    // SAFETY: it may be called at any time, by any thread.
    let from_the_system = unsafe { libc::mallinfo2() }.hblkhd;
    assert!(from_the_system >= block.len(), "{from_the_system}");
}

/// Small pieces, each of which lies beside one that is still needed, are what the allocator keeps.
#[test]
fn what_was_freed_in_between_is_given_back() {
    let all: Vec<Vec<u8>> = (0..8_000).map(|_| vec![1; 16 << 10]).collect();
    let kept: Vec<Vec<u8>> = all.into_iter().step_by(40).collect();
    let before = resident_kib();
    give_memory_back();
    let after = resident_kib();
    assert!(
        after + (64 << 10) < before,
        "{before} KiB before, {after} KiB after, of which {} are in use",
        kept.len() * 16
    );
}
