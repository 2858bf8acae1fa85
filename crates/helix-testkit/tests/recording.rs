//! The recorder, on the real CLI: its output has the form of the fixtures, and nothing of the machine in it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeSet;

use helix_testkit::locate::{PINNED_CLAUDE, claude_binary};
use helix_testkit::model::Script;
use helix_testkit::recording::{all, record, write_manifest};
use serde_json::{Value, json};

#[test]
fn scenarios_have_valid_scripts_and_names_of_their_own() {
    let names: BTreeSet<_> = all().iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), all().len());
    assert!(names.len() >= 25);
    for scenario in all() {
        scenario.script.parse::<Script>().unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    }
}

#[test]
fn recording_has_the_form_of_the_fixtures() {
    let claude = claude_binary(PINNED_CLAUDE).unwrap_or_else(|error| panic!("{error}"));
    let target = tempfile::tempdir().unwrap();
    let mut rows = Vec::new();
    for scenario in all().iter().filter(|scenario| ["tools", "sigint-mid-api"].contains(&scenario.name)) {
        rows.push(record(scenario, &claude, PINNED_CLAUDE, target.path()).unwrap());
    }
    write_manifest(&rows, target.path()).unwrap();
    let manifest: Value = serde_json::from_slice(&std::fs::read(target.path().join("manifest.json")).unwrap()).unwrap();
    let row = |scenario: &str, signals: Value, verdict: &str| {
        json!({"scenario": scenario, "agent": "claude", "cli_version": PINNED_CLAUDE, "exit": 0, "signals": signals,
            "verdict": verdict, "schema": false})
    };
    assert_eq!(
        manifest,
        json!([row("tools", Value::Null, "COMPLETE"), row("sigint-mid-api", json!("SIGINT"), "INTERRUPTED")])
    );
    for name in ["cmd.txt", "exit.txt", "stdout.jsonl", "stderr.txt"] {
        let text = std::fs::read_to_string(target.path().join("tools").join(name)).unwrap();
        assert!(!text.contains("helix-test-"), "{name} names the sandbox: {text}");
    }
    let stdout = std::fs::read_to_string(target.path().join("tools/stdout.jsonl")).unwrap();
    let last: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["result"], "done");
    let exit = std::fs::read_to_string(target.path().join("sigint-mid-api/exit.txt")).unwrap();
    assert!(exit.starts_with("exit=0\n") && exit.contains("'SIGINT', 'pid')]"), "{exit}");
}
