//! Bad input gets a clear error with place and remedy, the right exit code, and changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod user;

use user::User;

const PLAN: &str =
    "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [a.txt]\n";

#[test]
fn wrong_usage_is_exit_2_and_json_when_asked() {
    let user = User::new();
    user.run(&["frobnicate"]).refused(2, &["unrecognized subcommand"]);
    let ran = user.run(&["--json", "frobnicate"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("HX0900")), "{ran:?}");
}

#[test]
fn plans_that_cannot_be_read_or_are_wrong_are_shown_with_their_place() {
    let user = User::new();
    user.run(&["plan", "check", "none.yaml"]).refused(2, &["HX0921", "none.yaml", "hint:"]);
    user.write("p.yaml", &PLAN.replace("outputs", "outptus"));
    user.run(&["plan", "check", "p.yaml"]).refused(2, &["HX0106", "p.yaml:7:5", "did you mean"]);
    user.write("c.yaml", &PLAN.replace("    outputs", "    depends_on: [a]\n    outputs"));
    user.run(&["plan", "check", "c.yaml"]).refused(2, &["HX0114", "c.yaml:7:"]);
    let path = user.work().join("l.yaml");
    std::fs::write(&path, b"name: caf\xe9\n").unwrap();
    user.run(&["plan", "check", "l.yaml"]).refused(2, &["HX0101", "l.yaml:1:10"]);
    user.run(&["run", "l.yaml", "--dry-run"]).refused(2, &["HX0930", "HX0101"]);
}

#[test]
fn a_wrong_configuration_is_refused_before_anything_happens() {
    let user = User::new();
    user.write("helix.toml", "[server]\nlissten = \"x\"\n");
    user.run(&["serve"]).refused(2, &["HX0902", "helix.toml:2:1", "did you mean `listen`?"]);
    user.write("helix.toml", "[defaults]\nagent = \"nobody\"\n");
    user.run(&["doctor"]).refused(2, &["HX0905", "nobody", "helix.toml:2"]);
    assert!(!user.state().exists(), "nothing was changed");
}

/// Root may write anywhere, so a file stands where the directory should be.
#[test]
fn a_state_directory_that_cannot_be_written_is_named() {
    let user = User::new();
    let file = user.write("file", "");
    let ran = user.run(&["--state-dir", file.to_str().unwrap(), "serve", "--listen", "127.0.0.1:0"]);
    ran.refused(2, &["HX0301", "file", "--state-dir"]);
}

#[test]
fn a_taken_port_and_an_open_address_are_refused() {
    let user = User::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    user.run(&["serve", "--listen", &address]).refused(2, &["HX0911", &address, "--listen"]);
    user.run(&["serve", "--listen", "0.0.0.0:0", "--no-auth"]).refused(2, &["HX0910", "--no-auth"]);
    user.run(&["serve", "--listen", "nonsense"]).refused(2, &["HX0912", "127.0.0.1:8787"]);
}

#[test]
fn jobs_that_do_not_exist_are_not_found() {
    let user = User::new();
    user.run(&["jobs", "show", "j1"]).refused(2, &["HX0920", "j1"]);
    let ran = user.run(&["jobs", "list", "--json"]);
    assert_eq!((ran.code, ran.stdout.trim()), (0, "[]"));
    assert!(!user.state().exists(), "reading creates nothing");
}

#[test]
fn a_plan_outside_of_a_repository_or_without_identity_or_agent_is_refused() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("plans/p/phases.yaml", PLAN);
    user.git(&["init", "-q", "-b", "main"]);
    let before = user.git(&["status", "--porcelain"]);
    let ran = user.run(&["run", "plans/p/phases.yaml"]);
    ran.refused(2, &["error[HX0405]", "hint:"]);
    user.repository();
    user.run(&["run", "plans/p/phases.yaml", "--agent", "nobody"]).refused(2, &["nobody", "hint:"]);
    user.run(&["run", "plans/p/phases.yaml", "--phase", "b"]).refused(2, &["b", "hint:"]);
    assert_eq!(before, "?? plans/\n");
    assert_eq!(user.git(&["status", "--porcelain"]), "", "nothing was changed");
    assert_eq!(user.run(&["--json", "jobs"]).json(), serde_json::json!([]), "no job was made");
}

#[test]
fn recordings_that_cannot_be_read_are_exit_2() {
    let user = User::new();
    user.run(&["outcome", "none.jsonl", "--exit", "0"]).refused(2, &["HX0921", "none.jsonl"]);
    user.run(&["outcome", ".", "--exit", "0"]).refused(2, &["HX0921", "directory"]);
    user.write("r.jsonl", "");
    user.run(&["outcome", "r.jsonl", "--exit", "999"]).refused(2, &["HX0900", "999"]);
    user.run(&["outcome", "r.jsonl"]).refused(2, &["--exit"]);
}
