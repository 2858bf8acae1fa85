use super::*;

#[test]
fn every_tool_of_helix_has_words_and_no_name_of_a_machine_is_shown() {
    for tool in helix_engine::TOOL_NAMES {
        for is_done in [true, false] {
            assert!(phrases::tool(Language::English, tool, is_done).is_some(), "{tool} has none");
            let words = shown(Language::English, &format!("mcp__helix__{tool}"), is_done);
            assert!(!words.contains('_') && words.starts_with(char::is_uppercase), "{words}");
        }
    }
    assert_eq!(shown(Language::English, "mcp__issue_tracker__list_open", true), "issue tracker: list open");
    assert_eq!(shown(Language::English, "mcp__helix__new_tool", true), "new tool");
    for kept in ["Bash", "mcp__", "mcp____x", "my__tool"] {
        assert_eq!(shown(Language::English, kept, false), kept);
    }
}

#[test]
fn a_call_says_what_it_has_done_and_never_more_than_its_output() {
    let words = |name: &str, input: Value| CallWords::new(name, &input);
    let pytest =
        words("Bash", serde_json::json!({ "command": "cd /home/me/shop && pytest -q", "description": "Run tests" }));
    assert_eq!(pytest.begun(Language::English), "Run pytest -q");
    assert_eq!(
        pytest.ended(Language::English, "..F\n1 failed, 2 passed in 0.1s\n", true),
        "Ran pytest -q: 2 passed, 1 failed"
    );
    assert_eq!(
        pytest.ended(Language::English, "\nbash: pytest: command not found\n", true),
        "Run pytest -q: failed (bash: pytest: command not found)"
    );
    assert_eq!(pytest.ended(Language::English, "", true), "Run pytest -q: failed");
    let cargo = words("Bash", serde_json::json!({ "command": "cargo test" }));
    let parts =
        "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 4 passed; 1 failed; 0 ignored\n";
    assert_eq!(cargo.ended(Language::English, parts, true), "Ran cargo test: 7 passed, 1 failed", "all parts count");
    let both = words("Bash", serde_json::json!({ "command": "pytest && ruff check" }));
    for (output, failed, expected) in [
        ("==== 3 passed in 0.10s ====\nE501 line too long\n", true, "Ran pytest && ruff check: 3 passed; failed"),
        (
            "==== 1 failed in 0.1s ====\n==== 3 passed in 0.1s ====\n",
            false,
            "Ran pytest && ruff check: 3 passed, 1 failed",
        ),
        ("==== 3 passed, 1 warning in 61.20s (0:01:01) ====\n", false, "Ran pytest && ruff check: 3 passed"),
        (
            "==== 1 failed, 2 passed, 1 error in 3s ====\n",
            true,
            "Ran pytest && ruff check: 2 passed, 1 failed, 1 error",
        ),
        ("log: 3 passed the gate\n", true, "Run pytest && ruff check: failed (log: 3 passed the gate)"),
        ("log: 3 passed the gate\n", false, "Ran pytest && ruff check"),
        ("99999999999999999999 passed in 1s", false, "Ran pytest && ruff check: 18446744073709551615 passed"),
    ] {
        assert_eq!(both.ended(Language::English, output, failed), expected);
    }
    let read = words("Read", serde_json::json!({ "file_path": "/home/me/shop/report.py" }));
    assert_eq!(
        (read.begun(Language::English), read.ended(Language::English, "3 passed", false)),
        ("Read report.py".into(), "Read report.py".into())
    );
    let missing = "<tool_use_error>File does not exist. Note: your current working directory is /x.</tool_use_error>";
    assert_eq!(read.ended(Language::English, missing, true), "Read report.py: failed (File does not exist)");
    assert_eq!(
        words("Write", serde_json::json!({ "file_path": "a/b.md", "content": "x" })).ended(
            Language::English,
            "ok",
            false
        ),
        "Wrote b.md"
    );
    assert_eq!(
        words("Grep", serde_json::json!({ "path": "/x", "pattern": "total" })).ended(Language::English, "", false),
        "Searched for total"
    );
    assert_eq!(
        words("mcp__helix__plan_check", serde_json::json!({})).ended(Language::English, "no phases", true),
        "Check plan: failed (no phases)"
    );
    assert_eq!(
        words("mcp__helix__job_start", serde_json::json!({})).ended(Language::German, "job j1", false),
        "Job gestartet"
    );
    assert_eq!(
        words("TodoWrite", serde_json::json!({ "todos": [] })).ended(Language::English, "ok", false),
        "TodoWrite"
    );
    assert_eq!(
        words("Bash", serde_json::json!({ "command": "x".repeat(999) })).begun(Language::English).chars().count(),
        64
    );
}

#[test]
fn what_is_written_is_counted_in_lines() {
    let edited = |name: &str, input: serde_json::Value| CallWords::new(name, &input).edited();
    let write = serde_json::json!({ "file_path": "/w/adr.md", "content": "a\nb\nc\n" });
    assert_eq!(edited("Write", write).as_deref(), Some("✎ adr.md (+3)"));
    let edit = serde_json::json!({ "file_path": "/w/adr.md", "old_string": "a\nb", "new_string": "c" });
    assert_eq!(edited("Edit", edit).as_deref(), Some("✎ adr.md (+1 −2)"));
    assert_eq!(edited("Read", serde_json::json!({ "file_path": "/w/adr.md" })), None);
}
