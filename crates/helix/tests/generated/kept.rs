//! What a clone does not have of a repository: files of submodules, objects of Git LFS, ignored files with settings.

use std::process::Command;

use super::corner::{Corner, Work};

/// A module that reads a file which only the submodule, or the object store, has.
const READS: Work = Work {
    path: "total.py",
    wrong: "def total(prices):\n    return sum(prices) + len(open('vendor/rates/rate.txt').read())\n",
    right: "def total(prices):\n    return sum(prices) + int(open('vendor/rates/rate.txt').read())\n",
    test: (
        "tests/test_total.py",
        "import unittest\n\nfrom total import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([2, 4]), 13)\n",
    ),
    refused_by: "tests_pass",
    gates: &["tests_pass: python3 -m unittest discover -s tests"],
    passed: 1,
};

const PROJECT: (&str, &str) = ("pyproject.toml", "[project]\nname = \"bill\"\nversion = \"0.1.0\"\n");

/// `git submodule add`: its files are there for agents and gates, its hooks do not run, and the result still names its commit.
#[test]
fn a_repository_with_a_submodule() {
    let corner = Corner::new(&[PROJECT]);
    let other = corner.root().with_file_name("rates");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("rate.txt"), "7\n").unwrap();
    let git = |directory: &std::path::Path, arguments: &[&str]| {
        let mut command: Command = corner.command("git");
        let output = command.current_dir(directory).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&other, &["init", "-q", "-b", "main"]);
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-qm", "Rates"]);
    git(corner.root(), &["init", "-q", "-b", "main"]);
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "add", "-q", &other.display().to_string(), "vendor/rates"];
    git(corner.root(), &add);
    let commit = git(corner.root(), &["rev-parse", ":vendor/rates"]);
    // It would run at each checkout of the submodule by its own git.
    let hooks = corner.root().join(".git/modules/vendor/rates/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let (hook, ran) = (hooks.join("post-checkout"), corner.root().with_file_name("ran"));
    std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    corner.first_try(&READS);
    assert_eq!(git(corner.root(), &["rev-parse", "HEAD:vendor/rates"]), commit);
    assert!(!ran.exists(), "a hook of the submodule has run");
}

/// Git LFS, with its objects in the user's repository: no program of it is on this machine, nor needed.
#[test]
fn a_repository_with_git_lfs() {
    let corner = Corner::new(&[PROJECT, (".gitattributes", "*.txt filter=lfs diff=lfs merge=lfs -text\n")]);
    let digest = "10159baf262b43a92d95db59dae1f72c645127301661e0a3ce4e38b295a97c58";
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 2\n");
    corner.write("vendor/rates/rate.txt", &pointer);
    corner.git(&["init", "-q", "-b", "main"]);
    corner.write(&format!(".git/lfs/objects/10/15/{digest}"), "7\n");
    corner.git(&["add", "-A"]);
    corner.git(&["commit", "-qm", "As it was generated"]);
    corner.first_try(&READS);
    assert_eq!(
        corner.git(&["show", "HEAD:vendor/rates/rate.txt"]),
        pointer.trim_end(),
        "the result names it as before"
    );
    let changed = corner.git(&["show", "--name-only", "--format=", "-m", "--first-parent", "HEAD"]);
    assert!(!changed.contains("rate.txt"), "{changed}");
}

/// Settings of a server and of its part, which git ignores: all places have them.
#[test]
fn a_repository_with_settings_that_git_ignores() {
    let corner = Corner::new(&[
        PROJECT,
        (".gitignore", ".env\n"),
        (".env", "RATE=7\n"),
        ("vendor/rates/.env", "RATE=7\n"),
        ("node_modules/other/.env", "RATE=1\n"),
    ]);
    corner.first_try(&Work {
        wrong: "def total(prices):\n    return sum(prices) + open('vendor/rates/.env').read().count('7')\n",
        right: "def total(prices):\n    return sum(prices) + int(open('vendor/rates/.env').read().split('=')[1])\n",
        ..READS
    });
    let written = std::fs::read_to_string(corner.root().join("helix.toml")).unwrap();
    assert!(written.contains("copy = [\"/.env\", \"/vendor/rates/.env\"]"), "{written}");
}
