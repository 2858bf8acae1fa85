use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{PermissionOption, PermissionOptionKind, ToolCallUpdateFields};
use serde_json::{Value, json};

use super::{Permissions, choice};
use crate::profile::ToolAccess;

fn may(deny: &[&str], change: impl FnOnce(&mut ToolAccess)) -> Permissions {
    let mut tools = ToolAccess { read: true, ..ToolAccess::default() };
    tools.rules.deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
    change(&mut tools);
    Permissions::new(&tools, Path::new("/p"))
}

fn worker(deny: &[&str]) -> Permissions {
    may(deny, |tools| {
        tools.write_below = vec![PathBuf::from("/p")];
        tools.shell = true;
    })
}

fn call(fields: Value) -> ToolCallUpdateFields {
    serde_json::from_value(fields).unwrap()
}

fn edit(path: &str) -> ToolCallUpdateFields {
    call(json!({ "kind": "edit", "locations": [{ "path": path }] }))
}

fn run(command: Value) -> ToolCallUpdateFields {
    call(json!({ "kind": "execute", "rawInput": { "command": command } }))
}

#[test]
fn files_change_below_what_may_be_written_alone() {
    let worker = worker(&["write:*.lock", "write:ci/"]);
    assert!(worker.allow(&edit("/p/src/a.rs")) && worker.allow(&edit("src/a.rs")));
    for refused in ["/etc/passwd", "/p/../etc/passwd", "../a", "/p/Cargo.lock", "/p/a/b.lock", "/p/x/ci/run"] {
        assert!(!worker.allow(&edit(refused)), "{refused}");
    }
    // A call that does not say which file, and one that changes another one besides.
    assert!(!worker.allow(&call(json!({ "kind": "edit" }))));
    let two = json!({ "kind": "edit", "locations": [{ "path": "/p/a" }], "content": [{ "type": "diff", "path": "/a", "newText": "" }] });
    assert!(!worker.allow(&call(two)));
    assert!(!may(&[], |_| {}).allow(&edit("/p/a")));
}

#[test]
fn commands_run_where_a_shell_is_allowed_and_no_rule_is_against_it() {
    let worker = worker(&["shell:git push *"]);
    for allowed in [json!("pytest -q"), json!(["/bin/bash", "-lc", "git status"]), json!("git pull")] {
        assert!(worker.allow(&run(allowed.clone())), "{allowed}");
    }
    for refused in [
        json!("git push origin main"),
        json!("git push"),
        json!("cd x && git push -f"),
        json!(["/bin/bash", "-lc", "git push origin"]),
        json!({}),
    ] {
        assert!(!worker.allow(&run(refused.clone())), "{refused}");
    }
    // What does not say what it is may be a command.
    assert!(!may(&[], |_| {}).allow(&call(json!({ "title": "anything" }))));
    assert!(!may(&["shell"], |tools| tools.shell = true).allow(&run(json!("true"))));
}

#[test]
fn reading_the_web_and_modes_are_decided_by_what_work_allows() {
    let read = |path: &str| call(json!({ "kind": "read", "locations": [{ "path": path }] }));
    let reader = may(&["read:.env"], |_| {});
    assert!(reader.allow(&read("/p/a")) && !reader.allow(&read("/p/x/.env")));
    // Of a search that names no file, nobody knows what it reads.
    assert!(
        !reader.allow(&call(json!({ "kind": "search" }))) && may(&[], |_| {}).allow(&call(json!({ "kind": "search" })))
    );
    let fetch = call(json!({ "kind": "fetch" }));
    assert!(!reader.allow(&fetch) && may(&[], |tools| tools.web = true).allow(&fetch));
    assert!(!worker(&[]).allow(&call(json!({ "kind": "switch_mode" }))));
}

/// What a person would have to be asked about is refused: nobody is there.
#[test]
fn what_is_to_be_asked_is_refused() {
    let asks = may(&[], |tools| {
        tools.shell = true;
        tools.rules.ask = vec!["shell:rm *".parse().unwrap()];
    });
    assert!(!asks.allow(&run(json!("rm -r x"))) && asks.allow(&run(json!("ls"))));
}

/// A yes for good would be one to calls that nobody has looked at; a no may be.
#[test]
fn a_yes_is_to_this_call_alone() {
    let only = |kind: PermissionOptionKind| [PermissionOption::new("one", "One", kind)];
    assert!(choice(&only(PermissionOptionKind::AllowOnce), true).is_some());
    assert!(choice(&only(PermissionOptionKind::AllowAlways), true).is_none());
    assert!(choice(&only(PermissionOptionKind::RejectAlways), false).is_some());
    assert!(choice(&only(PermissionOptionKind::AllowOnce), false).is_none());
}
