use serde_json::json;

use super::*;

fn call(name: &str, input: Value) -> String {
    tool_call(&"j1".parse().unwrap(), name, &input)
}

#[test]
fn calls_are_told_by_what_they_are_about() {
    let file = "/var/state/worktrees/j1/page.1/src/shop.py";
    assert_eq!(call("Read", json!({ "file_path": file })), "Read src/shop.py");
    assert_eq!(call("Write", json!({ "file_path": file, "content": "a\nb" })), "✎ src/shop.py (+2)");
    let edit = json!({ "file_path": file, "old_string": "a", "new_string": "b\nc" });
    assert_eq!(call("Edit", edit), "✎ src/shop.py (+2 −1)");
    assert_eq!(call("Bash", json!({ "command": "pytest\t-q\u{1b}[2J" })), "$ pytest -q[2J");
    assert_eq!(call("shell", json!({ "command": ["ls", "-l"] })), "$ ls -l");
    assert_eq!(call("Grep", json!({ "pattern": "total" })), "Grep total");
    assert_eq!(call("other", json!({ "a": 1 })), "other {\"a\":1}");
}

#[test]
fn places_of_other_jobs_stay_as_they_are() {
    let other = "/var/state/worktrees/j2/page.1/a.py";
    assert_eq!(call("Read", json!({ "file_path": other })), format!("Read {other}"));
    let within = json!({ "command": "cat /var/state/worktrees/j1/page.1/a.py | head" });
    assert_eq!(call("Bash", within), "$ cat a.py | head");
}
