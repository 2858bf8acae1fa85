//! `helix outcome` on recordings of the real CLI: the names are those of the recordings' manifest.

use crate::user::User;

fn outcome(scenario: &str, arguments: &[&str]) -> serde_json::Value {
    let path = format!("{}/tests/fixtures/claude/{scenario}/stdout.jsonl", env!("CARGO_MANIFEST_DIR"));
    let ran = User::new().run(&[&["outcome", path.as_str()], arguments].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[test]
fn recordings_are_classified_with_their_evidence() {
    let whole = outcome("01-trivial", &["--exit", "0"]);
    assert_eq!((&whole["outcome"], &whole["retry"]["advice"]), (&"COMPLETE".into(), &"accept".into()));
    for key in ["evidence", "facts", "usage", "answer", "session"] {
        assert!(!whole[key].is_null(), "{key}: {whole}");
    }
    assert_eq!(outcome("80-400-credit-balance", &["--exit", "1"])["outcome"], "FATAL_CREDENTIALS");
    assert_eq!(outcome("52b-json-schema-always-invalid", &["--exit", "1", "--asked-schema"])["outcome"], "LIMIT");
}

/// What can be given is listed where it is asked for, and what is misspelt is refused with the near word.
#[test]
fn reasons_and_languages_are_listed() {
    let user = User::new();
    let help = user.run(&["outcome", "--help"]).stdout;
    for word in ["cancelled", "deadline", "stalled", "lingered", "stuck", "output", "claude", "codex", "replay"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    user.run(&["outcome", "-", "--exit", "0", "--stopped", "canceled"]).refused(2, &["canceled", "cancelled"]);
    user.run(&["run", ".", "--budget", "-1"]).refused(2, &["must be above 0"]);
}

/// A signal is said in three ways, and none of them is a completion.
#[test]
fn a_signal_is_read_in_every_form() {
    for arguments in [&["--exit", "-9"][..], &["--signal", "KILL"], &["--exit=-9"], &["--exit", "0", "--signal", "9"]] {
        let killed = outcome("170-SIGKILL-then-resume-a", arguments);
        assert_eq!(killed["outcome"], "TRUNCATED", "{arguments:?}");
        assert_eq!(killed["facts"]["ending"]["signal"], 9, "{arguments:?}");
    }
    let ours = outcome("170-SIGKILL-then-resume-a", &["--exit", "-9", "--stopped", "cancelled"]);
    assert_eq!(ours["outcome"], "CANCELLED");
    assert_eq!(
        outcome("01-trivial", &["--exit", "-9"])["outcome"],
        "ERROR",
        "success and a signal contradict each other"
    );
}
