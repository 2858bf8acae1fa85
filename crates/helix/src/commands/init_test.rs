//! What is copied for agents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

#[test]
fn only_what_git_ignores_for_itself_is_copied_and_names_are_patterns() {
    let directory = tempfile::tempdir().unwrap();
    for (file, text) in [
        (".gitignore", ".env*\nvendor/\n!.env.test\n"),
        (".env", ""),
        (".env.test", ""),
        ("app/[id]/.env", ""),
        ("vendor/p/.env", ""),
        ("node_modules/p/.env", ""),
        (".cache/.env", ""),
    ] {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    assert!(ignored_settings(directory.path()).is_empty(), "it is no repository");
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(directory.path()).status();
    assert!(git.unwrap().success());
    assert_eq!(ignored_settings(directory.path()), ["/.env", "/app/\\[id\\]/.env"]);
    // They are patterns for the whole work tree, wherever in it `helix init` was called.
    assert_eq!(ignored_settings(&directory.path().join("app")), ["/.env", "/app/\\[id\\]/.env"]);
}

#[test]
fn settings_of_production_are_nothing_for_agents() {
    for name in [".env", ".env.local", ".env.test", ".env.development"] {
        assert!(is_settings(name), "{name}");
    }
    for name in [".env.production", ".env.production.local", ".env.prod", ".env.Prod.local", ".envrc", "a.env"] {
        assert!(!is_settings(name), "{name}");
    }
}
