#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Instant;

use super::*;

fn start(program: &str, argument: &str) -> Apart {
    Apart::start(Path::new(program), argument).unwrap()
}

#[test]
fn questions_are_answered_one_after_the_other_until_it_ends() {
    // `cat` gives back what it is asked.
    let mut echo = start("/bin/cat", "-");
    let long = vec![b'x'; 1 << 20];
    for question in [b"one".as_slice(), b"", &long] {
        assert_eq!(echo.ask(question, || true).unwrap(), question);
    }
    assert!(matches!(start("/bin/true", "-").ask(b"one", || true), Err(NoAnswer::TooMuch)));
    assert!(matches!(Apart::start(Path::new("/no/such/program"), "-"), Err(NoAnswer::Unstartable(_))));
}

#[test]
fn what_nobody_wants_any_more_is_ended_at_once() {
    let begun = Instant::now();
    let mut endless = start("/bin/sleep", "1000");
    let process = endless.child.id();
    assert!(matches!(endless.ask(b"one", || false), Err(NoAnswer::Unwanted)));
    drop(endless);
    assert!(!Path::new(&format!("/proc/{process}")).exists());
    assert!(begun.elapsed() < Duration::from_secs(60));
}
