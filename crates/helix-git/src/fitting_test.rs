#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

#[test]
fn a_pattern_fits_its_path_alone() {
    assert_eq!(pattern("node_modules"), "/node_modules");
    assert_eq!(pattern("a/[b] *.c"), "/a/\\[b\\]\\ \\*.c");
}

#[test]
fn nothing_is_put_through_a_link_or_over_what_is_there() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (tree, top, out) = (root.join("tree"), root.join("top"), root.join("out"));
    for directory in [&tree.join("modules"), &top, &out] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(tree.join(".env"), "TOKEN=1").unwrap();
    std::os::unix::fs::symlink(&out, top.join("packages")).unwrap();
    fs::write(top.join("kept"), "own").unwrap();

    fit_one(&tree.join("modules"), &top.join("packages/modules"), &top).unwrap();
    fit_one(&tree.join(".env"), &top.join("packages/.env"), &top).unwrap();
    fit_one(&tree.join(".env"), &top.join(".git/hooks/x"), &top).unwrap();
    fit_one(&tree.join(".env"), &top.join("../outside"), &top).unwrap();
    fit_one(&tree.join(".env"), &top.join("kept"), &top).unwrap();
    assert!(fs::read_dir(&out).unwrap().next().is_none());
    assert!(!top.join(".git").exists() && !root.join("outside").exists());
    assert_eq!(fs::read_to_string(top.join("kept")).unwrap(), "own");

    fit_one(&tree.join(".env"), &top.join("a/b/.env"), &top).unwrap();
    fit_one(&tree.join("modules"), &top.join("modules"), &top).unwrap();
    assert_eq!(fs::read_to_string(top.join("a/b/.env")).unwrap(), "TOKEN=1");
    assert!(top.join("modules").is_dir());
}
