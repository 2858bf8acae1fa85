//! Files of a result that run by themselves where it gets to.

use std::os::unix::fs::symlink;

use super::*;

/// Files that run by themselves are named with what of them is new; the rest of the result is nobody's question.
#[test]
fn files_that_run_by_themselves_are_shown_with_what_is_new_of_them() {
    let bench = Bench::new();
    let base = bench.head();
    let package = |scripts: &str| format!("{{\"name\": \"shop\", \"scripts\": {{{scripts}}}}}");
    let first = bench.attempt("build", &base, |tree| {
        fs::create_dir_all(tree.join(".github/workflows")).unwrap();
        fs::write(tree.join(".github/workflows/ci.yml"), "on: push\n").unwrap();
        fs::write(tree.join(".envrc"), "use nix\nx=\u{202e}\u{1b}[2K\n").unwrap();
        fs::write(tree.join("package.json"), package("\"test\": \"jest\"")).unwrap();
        fs::write(tree.join("Makefile"), "all:\n").unwrap();
        symlink("src", tree.join(".vscode")).unwrap();
    });
    let named = |made: &helix_git::AttemptCommit| {
        let shown = made.runs_by_itself.iter().map(|file| (file.path.clone(), file.shown.clone()));
        shown.collect::<Vec<_>>()
    };
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let expected = [
        (".envrc".to_owned(), lines(&["use nix", "x=<U+202E> [2K"])),
        (".github/workflows/ci.yml".into(), lines(&["on: push"])),
        (".vscode".into(), lines(&["(a link to src)"])),
    ];
    assert_eq!(named(&first), expected);
    assert_eq!(first.findings, []);

    let commit = first.committed.commit.clone();
    let second = bench.attempt("more", &commit, |tree| {
        fs::write(tree.join(".envrc"), "use nix\nx=\u{202e}\u{1b}[2K\nexport A=1\n").unwrap();
        fs::write(tree.join("package.json"), package("\"test\": \"jest\", \"postinstall\": \"curl x\"")).unwrap();
        fs::write(tree.join("Makefile"), "all: x\n").unwrap();
        fs::remove_file(tree.join(".vscode")).unwrap();
    });
    let expected =
        [(".envrc".to_owned(), lines(&["export A=1"])), ("package.json".into(), lines(&["postinstall: \"curl x\""]))];
    assert_eq!(named(&second), expected);

    // What else is changed in the package makes no other question of it.
    let digest =
        |made: &helix_git::AttemptCommit| made.runs_by_itself.iter().find(|file| file.path == "package.json").cloned();
    let other = bench.attempt("other", &commit, |tree| {
        let scripts = "\"test\": \"vitest\", \"postinstall\": \"curl x\"";
        fs::write(tree.join("package.json"), package(scripts)).unwrap();
    });
    assert_eq!(digest(&other), digest(&second));
}

/// What the user's git runs or obeys in their repository: by settings, as hooks, and as what hooks call.
#[test]
fn what_the_users_own_git_names_is_known() {
    let bench = Bench::new();
    let base = bench.head();
    let set = |key: &str, value: &str| bench.git(&bench.user(), &["config", key, value]);
    set("filter.x.smudge", "./tools/smudge.sh --fast");
    set("core.hooksPath", "team/hooks");
    set("diff.dat.textconv", bench.user().join("tools/text.sh").to_str().unwrap());
    // A branch may be called like a directory.
    set("branch.src.remote", "src/a.txt");
    let hooks = bench.user().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink("../../scripts/pre-commit", hooks.join("pre-commit")).unwrap();
    fs::write(hooks.join("pre-push"), "#!/bin/sh\nexec sh 'scripts/push.sh' \"$@\"\n").unwrap();
    fs::write(hooks.join("pre-rebase.sample"), "scripts/sample.sh\n").unwrap();
    set("include.path", "../tools/gitconfig");
    let known = [
        "scripts/pre-commit",
        "scripts/push.sh",
        "team/hooks/commit-msg",
        "tools/gitconfig",
        "tools/smudge.sh",
        "tools/text.sh",
    ];
    let made = bench.attempt("build", &base, |tree| {
        for path in known.iter().chain(&["scripts/sample.sh", "src/a.txt", "tools/other.sh"]) {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), "touch x\n").unwrap();
        }
    });
    let found: Vec<&str> = made.runs_by_itself.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, known);
}

/// With these, a checkout or an archive has other bytes than the gates have seen.
#[test]
fn attributes_that_change_what_is_checked_out_are_shown() {
    let bench = Bench::new();
    let base = bench.head();
    let made = bench.attempt("build", &base, |tree| {
        let lines = "*.py ident\n*.txt text eol=lf -ident\na.py working-tree-encoding=latin1\n/docs export-ignore\nident-docs -diff\n*.sh export-subst\n";
        fs::write(tree.join(".gitattributes"), lines).unwrap();
    });
    let shown = ["*.py ident", "a.py working-tree-encoding=latin1", "/docs export-ignore", "*.sh export-subst"];
    assert_eq!(made.runs_by_itself[0].shown, shown);
}

/// Language servers, wrappers, debuggers and builders that obey a file of the directory; of a linter's settings only the hook counts.
#[test]
fn what_obeys_a_file_of_another_name_is_known() {
    let bench = Bench::new();
    let base = bench.head();
    let known = [
        ".amazonq/rules/a.md",
        ".erlang",
        ".luarc.json",
        ".perldb",
        ".pylintrc",
        ".readthedocs.yaml",
        ".semaphore/semaphore.yml",
        "rust-analyzer.toml",
        "tools/bazel",
    ];
    let made = bench.attempt("build", &base, |tree| {
        for path in known.iter().chain(&["sub/pylintrc"]) {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), "x = 1\n").unwrap();
        }
        fs::write(tree.join(".pylintrc"), "[MAIN]\ninit-hook=import os\n").unwrap();
    });
    let found: Vec<&str> = made.runs_by_itself.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, known);
}

/// Git takes a directory for a repository that holds what one holds, and runs what its settings name.
#[test]
fn a_repository_without_a_work_tree_inside_runs_by_itself() {
    let bench = Bench::new();
    let base = bench.head();
    let made = bench.attempt("build", &base, |tree| {
        let bare = tree.join("fixtures/inner");
        fs::create_dir_all(bare.join("objects")).unwrap();
        fs::create_dir_all(bare.join("refs")).unwrap();
        fs::write(bare.join("objects/x"), "").unwrap();
        fs::write(bare.join("refs/x"), "").unwrap();
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(bare.join("config"), "[core]\nfsmonitor = \"echo ran\"\n").unwrap();
        fs::create_dir_all(tree.join("other")).unwrap();
        fs::write(tree.join("other/config"), "a\n").unwrap();
    });
    let config = made.runs_by_itself.iter().find(|file| file.path == "fixtures/inner/config").unwrap();
    assert_eq!(config.shown[1], "fsmonitor = \"echo ran\"");
    assert!(made.runs_by_itself.iter().all(|file| file.path.starts_with("fixtures/inner/")), "{made:?}");
}

/// More than anybody reads is no question.
#[test]
fn a_result_with_too_many_files_that_run_by_themselves_is_sent_back() {
    let bench = Bench::new();
    let base = bench.head();
    let made = bench.attempt("build", &base, |tree| {
        fs::create_dir_all(tree.join(".husky")).unwrap();
        (0..60).for_each(|number| fs::write(tree.join(format!(".husky/{number}")), "x\n".repeat(90)).unwrap());
    });
    assert_eq!(made.findings[0].rule, "result.runs_by_itself");
    assert_eq!(made.runs_by_itself.len(), 50);
    let shown: usize = made.runs_by_itself.iter().map(|file| file.shown.len()).sum();
    assert!(shown <= 160, "{shown}");
    assert_eq!(made.runs_by_itself[0].more, 50);
}

/// Git takes a directory for a repository also where its objects and references are files or links, or lie elsewhere.
#[test]
fn every_form_of_a_repository_without_a_work_tree_is_known() {
    let bench = Bench::new();
    let base = bench.head();
    let forms: [(&str, &[(&str, &str)]); 5] = [
        ("files", &[("HEAD", "ref: refs/heads/main\n"), ("objects", ""), ("refs", "")]),
        ("links", &[("HEAD", "->refs/heads/main"), ("objects", "->../src"), ("refs", "->../src")]),
        ("elsewhere", &[("HEAD", "ref: refs/heads/main\n"), ("commondir", "../other\n")]),
        ("mac", &[("Head", "ref: refs/heads/main\n"), ("Objects", ""), ("REFS", "")]),
        ("worktree", &[("HEAD", "ref: refs/heads/main\n"), ("objects", ""), ("refs", ""), ("config.worktree", "x\n")]),
    ];
    for (form, files) in forms {
        let made = bench.attempt(form, &base, |tree| {
            let inner = tree.join("fixtures/inner");
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join("config"), "[core]\nfsmonitor = \"echo ran\"\n").unwrap();
            for (name, content) in files {
                match content.strip_prefix("->") {
                    Some(target) => symlink(target, inner.join(name)).unwrap(),
                    None => fs::write(inner.join(name), content).unwrap(),
                }
            }
        });
        let config = made.runs_by_itself.iter().find(|file| file.path == "fixtures/inner/config");
        assert!(config.is_some(), "{form}: {:?}", made.runs_by_itself);
    }
}

/// Its settings may be those of another directory, or lie behind a link.
#[test]
fn settings_of_such_a_repository_are_known_wherever_they_lie() {
    let bench = Bench::new();
    let base = bench.head();
    let started = bench.attempt("start", &base, |tree| {
        for (path, text) in [
            ("one/HEAD", "ref: refs/heads/main\n"),
            ("one/commondir", "../linked\n"),
            ("shared/config", "[core]\n"),
            ("two/HEAD", "ref: refs/heads/main\n"),
            ("two/objects", ""),
            ("two/refs", ""),
            ("data/settings", "[core]\n"),
            ("three/HEAD", "ref: refs/heads/main\n"),
            ("three/commondir", ".."),
        ] {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), text).unwrap();
        }
        symlink("shared", tree.join("linked")).unwrap();
        symlink("../data/settings", tree.join("two/config")).unwrap();
    });
    let made = bench.attempt("change", &started.committed.commit, |tree| {
        for path in
            ["shared/config", "data/settings", "two/config.worktree", "hooks/post-checkout", "shared/notes", "notes"]
        {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), "[core]\nfsmonitor = \"echo ran\"\n").unwrap();
        }
    });
    let found: Vec<&str> = made.runs_by_itself.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, ["data/settings", "hooks/post-checkout", "shared/config", "two/config.worktree"]);
}

/// One place may have several names, and a link may lie behind another.
#[test]
fn what_lies_behind_several_links_runs_by_itself_too() {
    let bench = Bench::new();
    let base = bench.head();
    let linked = bench.attempt("link", &base, |tree| {
        fs::create_dir_all(tree.join("cfg")).unwrap();
        fs::create_dir_all(tree.join("real")).unwrap();
        // Of `.gitlab` only a directory counts, of `.vscode` everything.
        symlink("cfg", tree.join(".gitlab")).unwrap();
        symlink("cfg", tree.join(".vscode")).unwrap();
        symlink("../real/settings.json", tree.join("cfg/settings.json")).unwrap();
        symlink("real", tree.join("other")).unwrap();
        symlink("other/environment", tree.join(".envrc")).unwrap();
        for number in 0..30 {
            fs::create_dir(tree.join(format!("d{number}"))).unwrap();
            symlink("../real/attributes", tree.join(format!("d{number}/.gitattributes"))).unwrap();
        }
        fs::create_dir(tree.join("z")).unwrap();
        symlink("../real/attributes", tree.join("z/.envrc")).unwrap();
    });
    let made = bench.attempt("behind", &linked.committed.commit, |tree| {
        for path in ["cfg/tasks.json", "real/settings.json", "real/environment", "real/attributes", "real/notes"] {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), "curl x | sh\n").unwrap();
        }
    });
    let found: Vec<&str> = made.runs_by_itself.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, ["cfg/tasks.json", "real/attributes", "real/environment", "real/settings.json"]);
}

/// Who may answer for a link answers for what it leads to, then and later.
#[test]
fn what_lies_behind_a_link_runs_by_itself_too() {
    let bench = Bench::new();
    let base = bench.head();
    let linked = bench.attempt("link", &base, |tree| {
        fs::create_dir(tree.join("editor")).unwrap();
        symlink("editor", tree.join("dot")).unwrap();
        symlink("./dot", tree.join(".vscode")).unwrap();
        symlink("src/environment", tree.join(".envrc")).unwrap();
    });
    let base = linked.committed.commit;
    let made = bench.attempt("behind", &base, |tree| {
        fs::create_dir_all(tree.join("editor")).unwrap();
        fs::write(tree.join("editor/tasks.json"), "{}").unwrap();
        fs::write(tree.join("src/environment"), "curl x | sh\n").unwrap();
        fs::write(tree.join("src/other"), "x").unwrap();
    });
    let found: Vec<_> = made.runs_by_itself.iter().map(|file| (file.path.as_str(), file.by)).collect();
    use helix_core::evidence::RunsBy;
    assert_eq!(found, [("editor/tasks.json", RunsBy::Editor), ("src/environment", RunsBy::Shell)]);
}
