#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::super::files::check;
use super::*;

fn read(text: &str) -> Workspace {
    assert!(check("helix.toml", text).is_empty(), "{:?}", check("helix.toml", text));
    let files = Files { files: vec![("/p/helix.toml".into(), text.to_owned())] };
    workspace(Path::new("/p"), files.merged().1.workspace.unwrap().value)
}

#[test]
fn every_key_counts() {
    let found = read(
        "[workspace]\nsetup = [\"npm ci\"]\ncopy = [\".env\"]\nlink = [\"data\"]\ncache = [\"node_modules\"]\n\
         env = { A = \"b\" }\ntimeout = \"90s\"\n[workspace.services.web]\ncommand = \"serve ${WEB_PORT}\"\n\
         ready = \"curl localhost\"\nport = \"WEB_PORT\"\ntimeout = \"5s\"\n",
    );
    assert_eq!(
        (found.setup, found.copy, found.link),
        (vec!["npm ci".into()], vec![".env".into()], vec!["data".into()])
    );
    assert_eq!((found.cache, found.timeout_seconds), (vec!["node_modules".to_owned()], 90));
    assert_eq!(found.env["A"], "b");
    let service = Service {
        command: "serve ${WEB_PORT}".into(),
        ready: Some("curl localhost".into()),
        port: Some("WEB_PORT".into()),
        timeout_seconds: 5,
    };
    assert_eq!(found.services["web"], service);
}

#[test]
fn what_is_no_command_no_path_and_no_variable_is_named() {
    for wrong in [
        "setup = [\"npm ci && npm test\"]",
        "setup = [\"\"]",
        "link = [\"../elsewhere\"]",
        "cache = [\"/tmp\"]",
        "services = { db = { command = \"x\", port = \"db port\" } }",
        "services = { db = { port = \"DB_PORT\" } }",
    ] {
        assert_eq!(check("helix.toml", &format!("[workspace]\n{wrong}\n")).len(), 1, "{wrong}");
    }
}
