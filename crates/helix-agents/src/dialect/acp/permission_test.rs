use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{PermissionOption, PermissionOptionKind, ToolCallUpdateFields};
use serde_json::{Value, json};

use super::{Permissions, Reply, choice};
use crate::profile::ToolAccess;

fn may(deny: &[&str], change: impl FnOnce(&mut ToolAccess)) -> Permissions {
    let mut tools = ToolAccess { read: true, ..ToolAccess::default() };
    tools.rules.deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
    change(&mut tools);
    Permissions::new(&tools, Path::new("/p"), false)
}

impl Permissions {
    fn allow(&self, call: &ToolCallUpdateFields) -> bool {
        self.reply(call) == Reply::Yes
    }
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

fn asking(rules: &[&str], can_ask: bool) -> Permissions {
    let mut tools = ToolAccess { write_below: vec!["/p".into()], shell: true, ..ToolAccess::read_only() };
    tools.rules.ask = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    tools.rules.deny = vec!["shell:rm -rf *".parse().unwrap()];
    Permissions::new(&tools, Path::new("/p"), can_ask).with_servers(vec!["tracker".into()])
}

/// A person is asked about what a rule says, unless it is denied anyway; where nobody can be asked, it is refused.
#[test]
fn what_is_to_be_asked_is_put_to_a_person() {
    let rules = ["shell:rm *", "write:infra/**", "mcp:tracker/close", "tool:deploy"];
    let close = |title: &str| call(json!({ "kind": "other", "title": title, "rawInput": { "issue": 1 } }));
    for (call, reply) in [
        (run(json!("rm -r x")), Reply::Ask),
        (run(json!("rm -rf x")), Reply::No),
        (run(json!("ls")), Reply::Yes),
        (call(json!({ "kind": "execute", "rawInput": { "command": "rm", "args": ["-r", "x"] } })), Reply::Ask),
        (edit("/p/infra/a"), Reply::Ask),
        (edit("/p/a"), Reply::Yes),
        (edit("/elsewhere/infra/a"), Reply::No),
        (close("mcp__tracker__close"), Reply::Ask),
        (close("tracker_close"), Reply::Ask),
        (close("mcp__tracker__list"), Reply::Yes),
        (call(json!({ "kind": "fetch", "title": "mcp__tracker__close" })), Reply::No),
        (call(json!({ "kind": "read", "title": "mcp__tracker__close" })), Reply::Ask),
        (call(json!({ "kind": "other", "title": "mcp__tracker__close", "rawInput": { "command": "x" } })), Reply::Ask),
        (close("mcp__unknown__list"), Reply::No),
        // What may run something, and does not say what, may be what is denied.
        (close("deploy"), Reply::No),
        (call(json!({ "kind": "other", "title": "x", "rawInput": { "script": "true" } })), Reply::No),
        (call(json!({ "kind": "other", "title": "x" })), Reply::No),
    ] {
        assert_eq!(asking(&rules, true).reply(&call), reply, "{call:?}");
        let without = if reply == Reply::Ask { Reply::No } else { reply };
        assert_eq!(asking(&rules, false).reply(&call), without, "{call:?}");
    }
}

/// The same call is the same question, whatever an agent counts or dates; another one is another question.
#[test]
fn a_person_is_asked_about_what_a_call_does() {
    let may = asking(&[], true);
    let codex = |at: u64, command: &str| {
        let input = json!({ "call_id": format!("{at}"), "started_at_ms": at, "command": ["/bin/sh", "-lc", command] });
        may.shown(&call(json!({ "kind": "execute", "rawInput": input })))
    };
    assert_eq!(codex(1, "rm x"), codex(2, "rm x"));
    assert_eq!(codex(1, "rm x"), json!({ "command": "/bin/sh -lc rm x" }));
    let elsewhere = json!({ "command": "rm x", "cwd": "/elsewhere" });
    assert_eq!(may.shown(&call(json!({ "kind": "execute", "rawInput": elsewhere }))), elsewhere);
    let change = |title: &str, old: &str, new: &str| {
        let diff = json!([{ "type": "diff", "path": "/p/a", "oldText": old, "newText": new }]);
        may.shown(&call(json!({ "kind": "edit", "title": title, "rawInput": { "diff": title }, "content": diff })))
    };
    assert_eq!(change("1", "a", "x"), change("2", "a", "x"));
    assert_ne!(change("1", "a", "x"), change("1", "a", "y"));
    assert_ne!(change("1", "a", "x"), change("1", "b", "x"), "what goes is a part of it");
    let titled = |title: &str| may.shown(&call(json!({ "kind": "execute", "title": title })));
    assert_ne!(titled("rm a"), titled("rm b"));
    let with = |title: &str, issue: u64| {
        may.shown(&call(json!({ "kind": "other", "title": title, "rawInput": { "issue": issue } })))
    };
    assert_ne!(with("close", 1), with("close", 2));
    assert_ne!(with("close", 1), with("delete", 1));
}

/// A yes for good would let calls pass that nobody has looked at.
#[test]
fn a_yes_is_for_one_call() {
    let option = |kind| PermissionOption::new(format!("{kind:?}"), "", kind);
    let options = [option(PermissionOptionKind::AllowAlways), option(PermissionOptionKind::RejectAlways)];
    assert_eq!(choice(&options, true), None);
    assert_eq!(choice(&options, false).map(|one| one.kind), Some(PermissionOptionKind::RejectAlways));
    let options = [option(PermissionOptionKind::AllowAlways), option(PermissionOptionKind::AllowOnce)];
    assert_eq!(choice(&options, true).map(|one| one.kind), Some(PermissionOptionKind::AllowOnce));
}
