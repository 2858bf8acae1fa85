//! Reading output: every byte, whole lines, no limit, and an end that means the end..
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bed;

use std::io::Write;
use std::time::Duration;

use bed::Bed;
use helix_agents::supervisor::Watching;
use helix_agents::{AskedSchema, DialectName, ExitStatus, ReadError, dialect};
use helix_core::run::{Ending, StopCause};

/// The predecessor lost everything behind the first line above 64 KiB.
#[tokio::test]
async fn a_line_of_ten_megabytes_arrives_whole() {
    let bed = Bed::new();
    let request = bed.script("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo after");
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    let long = lines.next().await.unwrap().unwrap();
    assert_eq!(long.len(), 10_000_000);
    assert!(long.iter().all(|byte| *byte == b'x'));
    assert_eq!(bed::next_line(&mut lines).await, "after");
    assert!(lines.next().await.is_none());
}

#[tokio::test]
async fn bytes_that_are_no_text_and_a_line_without_end_arrive_as_they_are() {
    let bed = Bed::new();
    let request = bed.script("printf 'a\\377\\000b\\n\\nlast \\303'");
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    assert_eq!(&lines.next().await.unwrap().unwrap()[..], b"a\xff\0b");
    assert_eq!(&lines.next().await.unwrap().unwrap()[..], b"");
    assert!(lines.next().await.is_none());
    let end = lines.end();
    assert!(end.read_to_end);
    assert_eq!((end.lines, end.bytes, end.tail.as_slice()), (2, 12, &b"last \xc3"[..]));
}

#[tokio::test]
async fn a_flood_is_read_by_two_readers_without_losing_a_line() {
    let bed = Bed::new();
    let request = bed.script("seq 1 200000");
    let handle = bed.start(&request).await;
    let mut readers = [handle.lines(), handle.lines()];
    for reader in &mut readers {
        let mut expected = 0_u32;
        while let Some(line) = reader.next().await {
            expected += 1;
            assert_eq!(line.unwrap(), expected.to_string());
        }
        assert_eq!(expected, 200_000);
        assert!(reader.end().read_to_end);
    }
}

/// A reader may be dropped in the middle of waiting (a select) and asked again.
#[tokio::test]
async fn giving_up_a_wait_loses_nothing() {
    let bed = Bed::new();
    let request = bed.script("seq 1 2000; sleep 0.05; seq 2001 4000");
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    let mut seen = Vec::new();
    loop {
        tokio::select! {
            biased;
            line = lines.next() => match line {
                Some(line) => seen.push(String::from_utf8(line.unwrap().to_vec()).unwrap()),
                None => break,
            },
            () = tokio::task::yield_now() => {}
        }
    }
    assert_eq!(seen, (1..=4000).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn without_inotify_the_same_is_read() {
    let bed = Bed::watching(Watching::Timed(Duration::from_millis(20)));
    let request = bed.script("for i in 1 2 3; do echo $i; sleep 0.05; done");
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    assert_eq!(bed::all_lines(&mut lines).await, ["1", "2", "3"]);
    assert!(lines.end().read_to_end);
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
}

/// A record that shrinks under its reader is an error with a place, neither a hang nor an end.
#[tokio::test]
async fn a_cut_record_is_an_error() {
    let bed = Bed::new();
    let request = bed.script("echo one; sleep 600");
    let (handle, mut lines) = bed.begun(&request, "one").await;
    std::fs::OpenOptions::new().write(true).open(handle.directory().join("stdout.jsonl")).unwrap().set_len(1).unwrap();
    let error = lines.next().await.unwrap().unwrap_err();
    assert!(matches!(error, ReadError::Truncated { length: 1, expected: 4, .. }), "{error}");
    assert!(lines.next().await.is_none());
    assert!(!lines.end().read_to_end);
    handle.stop(StopCause::Cancelled).await.unwrap();
    handle.ended().await;
}

#[tokio::test]
async fn a_removed_record_is_an_error() {
    let bed = Bed::new();
    let request = bed.script("echo one; sleep 600");
    let (handle, mut lines) = bed.begun(&request, "one").await;
    std::fs::remove_file(handle.directory().join("stdout.jsonl")).unwrap();
    // Its last link is gone but nobody wrote: the directory itself tells.
    std::fs::File::create(handle.directory().join("stdout.jsonl")).unwrap().write_all(b"forged\n").unwrap();
    let error = lines.next().await.unwrap().unwrap_err();
    assert!(matches!(error, ReadError::Removed { .. }), "{error}");
    handle.stop(StopCause::Cancelled).await.unwrap();
    handle.ended().await;
}

/// Bytes that vanish between the end of the run and the reading of it are missed, too.
#[tokio::test]
async fn a_record_shorter_than_its_end_says_is_an_error() {
    let bed = Bed::new();
    let request = bed.script("seq 1 100");
    let handle = bed.start(&request).await;
    handle.ended().await;
    std::fs::OpenOptions::new().write(true).open(handle.directory().join("stdout.jsonl")).unwrap().set_len(10).unwrap();
    let mut lines = handle.lines();
    let mut last = lines.next().await;
    while let Some(Ok(_)) = last {
        last = lines.next().await;
    }
    assert!(matches!(last, Some(Err(ReadError::Truncated { length: 10, .. }))), "{last:?}");
}

/// What a program without a record prints is its answer, with its lines and paragraphs: the reader of lines hands them on
/// without their newlines.
#[tokio::test]
async fn the_answer_of_a_command_keeps_its_lines() {
    let bed = Bed::new();
    let request = bed.script("printf 'one\\ntwo\\n\\nthree\\n'");
    let handle = bed.start(&request).await;
    let mut reader = dialect(DialectName::Command).reader(AskedSchema::No, ExitStatus::Trusted);
    let (mut lines, mut events) = (handle.lines(), Vec::new());
    while let Some(line) = lines.next().await {
        reader.line(&line.unwrap(), &mut events);
    }
    reader.facts(&(&handle.ended().await).into(), lines.end());
    assert_eq!(reader.run().answer, "one\ntwo\n\nthree");
}

#[tokio::test]
async fn of_a_line_that_is_too_long_the_rest_is_dropped_and_said() {
    let bed = Bed::new();
    let zeros = |count: u32| format!("head -c {count} /dev/zero");
    let script = format!("{}; echo; echo next; {}; echo; echo last", zeros(10_000_000), zeros(80 << 20));
    let handle = bed.start(&bed.script(&script)).await;
    let mut lines = handle.lines();
    let mut lengths = Vec::new();
    while let Some(line) = lines.next().await {
        lengths.push(line.unwrap().len());
    }
    assert_eq!(lengths, [10_000_000, 4, 32 << 20, 4], "what an agent really writes is read as a whole");
    let end = lines.end();
    assert!(end.read_to_end);
    assert_eq!((end.cut, end.lines, end.bytes), (1, 4, 10_000_000 + (80 << 20) + 12));
}

#[tokio::test]
async fn a_run_that_prints_without_end_is_stopped_and_what_is_kept_of_it_is_bounded() {
    for endless in
        ["cat /dev/zero", "cat /dev/zero >&2", "head -c 300000000 /dev/zero", "yes $(seq 900) >&2 & yes $(seq 900)"]
    {
        let bed = Bed::new();
        let handle = bed.start(&bed.script(endless)).await;
        let mut lines = handle.lines();
        while let Some(line) = lines.next().await {
            line.unwrap();
        }
        let end = handle.ended().await;
        assert_eq!(end.stopped, Some(StopCause::Output), "{endless}");
        assert!(lines.end().read_to_end, "{endless}");
        assert_eq!(lines.end().bytes, end.stdout_bytes, "{endless}");
        for name in ["stdout.jsonl", "stderr.txt"] {
            let length = std::fs::metadata(handle.directory().join(name)).unwrap().len();
            assert!(length <= helix_process::MAX_OUTPUT, "{endless}: {name} has {length} bytes");
        }
    }
}
