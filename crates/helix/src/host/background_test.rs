use std::io::Write as _;

use super::*;

#[test]
fn a_log_that_has_grown_too_long_is_put_aside_once() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("host.log");
    open_log(&path).unwrap().write_all(b"first\n").unwrap();
    open_log(&path).unwrap().write_all(b"second\n").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\nsecond\n");
    open_log(&path).unwrap().set_len(LONGEST_LOG + 1).unwrap();
    open_log(&path).unwrap().write_all(b"third\n").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "third\n");
    let old = scratch.path().join("host.log.old");
    assert_eq!(old.metadata().unwrap().len(), LONGEST_LOG + 1);
    open_log(&path).unwrap().set_len(LONGEST_LOG + 2).unwrap();
    drop(open_log(&path).unwrap());
    assert_eq!(old.metadata().unwrap().len(), LONGEST_LOG + 2, "no third one");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 2);
}
