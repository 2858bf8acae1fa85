//! `helix failures`, and the reports of failed jobs: for people, for programs, and over recorded failures.

mod comments;
mod memory;
mod reports;
mod trouble;

use crate::user::User;

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
        "build.log",
        "4 assertion `left == right` failed: total",
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
fn recorded_failures_give_one_prediction_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let cases = directory.path().join("cases.jsonl");
    std::fs::write(&cases, "{\"id\":\"a\",\"tool\":\"cargo\",\"signal\":9,\"oom_kill\":true}\n{\"id\":\"b\"}\n")
        .unwrap();
    let ran = User::new().run(&["failures", "explain", "--facts", cases.to_str().unwrap(), "--json"]);
    let lines: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["category"], &lines[0]["cause"]), (&"MEMORY_ERROR".into(), &"oom_kill".into()));
    assert_eq!((&lines[1]["id"], &lines[1]["cause_line"], lines.len()), (&"b".into(), &"".into(), 2));
}

/// npm on Windows ends with -4048, which Windows writes without a sign.
#[test]
fn a_broken_line_is_named_and_the_others_are_explained_whatever_system_recorded_them() {
    let directory = tempfile::tempdir().unwrap();
    let cases = directory.path().join("cases.jsonl");
    std::fs::write(&cases, "{\"id\":\"a\",\"exit_code\":4294963248,\"stderr_tail\":\"npm error code EPERM\"}\nnot json\n{\"id\":\"c\",\"exit_code\":-4048}\n{\"id\":\"d\",\"exit_code\":99999999999}\n").unwrap();
    let ran = User::new().run(&["failures", "explain", "--facts", cases.to_str().unwrap()]);
    let lines: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["category"], &lines[1]["id"], lines.len()), (&"FILE_ACCESS".into(), &"c".into(), 2));
    assert_eq!(ran.code, 2);
    for part in ["line 2: ", "line 4: ", "99999999999", "2 of 4 lines"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_report_comes_as_markdown_and_for_a_prompt_and_shows_no_secret() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("build.log");
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    std::fs::write(&log, format!("{LOG}token {key} of @octocat\n")).unwrap();
    let log = log.to_str().unwrap();
    let markdown = User::new().run(&["failures", "explain", log, "--command", "cargo test --lib", "--markdown"]);
    assert_eq!(markdown.code, 0, "{markdown:?}");
    for part in [
        "### What failed",
        "### Why",
        "### Similar past failures",
        "### Suggested actions",
        "<details>",
        "`cargo test --lib`",
    ] {
        assert!(markdown.stdout.contains(part), "{part}: {}", markdown.stdout);
    }
    let prompt = User::new().run(&["failures", "explain", log, "--prompt=200"]);
    assert_eq!(prompt.code, 0, "{prompt:?}");
    assert!(prompt.stdout.starts_with("## Historical context") && prompt.stdout.len() <= 600, "{}", prompt.stdout);
    let json = User::new().run(&["failures", "explain", log, "--json"]);
    assert_eq!(json.json()["report"]["what_failed"]["headline"], "assertion `left == right` failed: total");
    let plain = User::new().run(&["failures", "explain", log]);
    for shown in [&markdown.stdout, &prompt.stdout, &json.stdout, &plain.stdout] {
        assert!(!shown.contains(&key) && !shown.contains('\u{1b}'), "{shown}");
    }
    for wrong in [["--prompt=3", "--why"], ["--markdown", "--why"], ["--prompt=3", "--tool=x"]] {
        let ran = User::new().run(&["failures", "explain", log, wrong[0], wrong[1]]);
        assert_eq!(ran.code, 2, "{ran:?}");
    }
}

#[test]
fn an_empty_log_is_explained_too() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("empty.log");
    std::fs::write(&log, "").unwrap();
    for form in ["--markdown", "--prompt", "--why"] {
        let ran = User::new().run(&["failures", "explain", log.to_str().unwrap(), form]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("exit without reason"), "{form}: {}", ran.stdout);
    }
}
