//! `helix failures explain`: for people, for programs, and over recorded failures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod user;

use user::User;

const LOG: &str = "running 2 tests\n\
    test refuses_connections ... ok\n\
    thread 'adds' panicked at src/lib.rs:10:34:\n\
    assertion `left == right` failed: total\n\
    connect: Connection refused (os error 111)\n\
    error: test failed, to rerun pass `--lib`\n";

#[test]
fn a_log_is_explained_with_its_line_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("build.log");
    std::fs::write(&log, LOG).unwrap();
    let log = log.to_str().unwrap();
    let people = User::new().run(&["failures", "explain", log, "--tool", "cargo", "--exit", "101", "--why"]);
    assert_eq!(people.code, 0, "{people:?}");
    for part in [
        "build.log:4",
        "assertion `left == right` failed: total",
        "ASSERTION_FAILURE",
        "1. ",
        "2. ",
        "rule:rust.assert",
    ] {
        assert!(people.stdout.contains(part), "{part}: {}", people.stdout);
    }
    let programs = User::new().run(&["failures", "explain", log, "--json"]).json();
    assert_eq!((&programs["category"], &programs["cause_line"]["number"]), (&"ASSERTION_FAILURE".into(), &4.into()));
    assert!(programs["actions"].as_array().unwrap().len() >= 2);
}

#[test]
fn recorded_failures_give_one_prediction_a_line_and_a_broken_line_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let cases = directory.path().join("cases.jsonl");
    std::fs::write(&cases, "{\"id\":\"a\",\"tool\":\"cargo\",\"signal\":9,\"oom_kill\":true}\n{\"id\":\"b\"}\n")
        .unwrap();
    let ran = User::new().run(&["failures", "explain", "--facts", cases.to_str().unwrap(), "--json"]);
    let lines: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["category"], &lines[0]["cause"]), (&"MEMORY_ERROR".into(), &"oom_kill".into()));
    assert_eq!((&lines[1]["id"], &lines[1]["cause_line"], lines.len()), (&"b".into(), &"".into(), 2));
    std::fs::write(&cases, "{\"id\":\"a\"}\nnot json\n").unwrap();
    let ran = User::new().run(&["failures", "explain", "--facts", cases.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("line 2"), "{ran:?}");
}
