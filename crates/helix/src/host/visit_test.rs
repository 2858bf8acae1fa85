use super::*;

#[test]
fn a_visit_is_seen_until_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let state = StateDir::open(directory.path()).unwrap();
    assert!(!is_visited(&state));
    let (first, second) = (Visit::begin(&state).unwrap(), Visit::begin(&state).unwrap());
    drop(first);
    assert!(is_visited(&state));
    drop(second);
    assert!(!is_visited(&state));
}
