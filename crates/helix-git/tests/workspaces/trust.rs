//! What an agent with a shell tries on the git around it, so that something else is judged than what is merged.
//!
//! Must not rely on a sandbox: each attempt is made with all rights of the user.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Every file below with its bytes.
fn bytes_of(directory: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut files = std::collections::BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { drop(files.insert(path.clone(), fs::read(&path).unwrap())) }
        }
    }
    files
}

impl Bench {
    /// A program that leaves a trace when it is run.
    fn trap(&self) -> (PathBuf, PathBuf) {
        let (program, trace) = (self.home.path().join("trap"), self.home.path().join("sprung"));
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}\necho replaced\n", trace.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (program, trace)
    }

    fn content(&self, commit: &CommitId, path: &str) -> Option<String> {
        let repository = self.spaces.repository();
        let listing = repository.listing(&repository.commit(commit.as_str()).unwrap().tree).unwrap();
        Some(String::from_utf8(repository.blob(&listing.get(path)?.object).unwrap()).unwrap())
    }

    fn rules(&self, result: &helix_git::AttemptCommit) -> Vec<String> {
        result.findings.iter().map(|finding| finding.rule.clone()).collect()
    }
}

#[test]
fn the_users_repository_is_not_written_to_before_something_lands() {
    let bench = Bench::new();
    let base = bench.head();
    let before = bytes_of(&bench.user());
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    bench.spaces.gate_checkout(&job(), &result.commit).unwrap();
    bench.spaces.checkout_to_read(&job(), "build.1.verify", &result.commit).unwrap();
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    assert!(bytes_of(&bench.user()) == before, "something was written");
    bench.spaces.repository().land(&request, &merge).unwrap();
    assert_eq!(fs::read_to_string(bench.user().join("new.txt")).unwrap(), "n");
    bench.git(&bench.user(), &["fsck", "--strict"]);
    assert_eq!(bench.git(&bench.user(), &["branch", "--list", "helix/*"]), "");
}

/// Nothing that an agent configures is run by the host, and what it commits is what is on the disk.
#[test]
fn neither_filters_nor_hooks_nor_marks_of_the_agents_git_count() {
    let bench = Bench::new();
    let base = bench.head();
    let (trap, trace) = bench.trap();
    let trap = trap.to_str().unwrap();
    let result = bench.attempt("build", &base, |tree| {
        for (key, value) in [
            ("filter.evil.clean", trap),
            ("filter.evil.smudge", trap),
            ("filter.evil.required", "true"),
            ("core.fsmonitor", trap),
            ("core.hooksPath", ".hooks"),
            ("diff.external", trap),
            ("core.pager", trap),
            ("alias.add", trap),
            ("core.autocrlf", "true"),
        ] {
            bench.git(tree, &["config", key, value]);
        }
        fs::create_dir_all(tree.join(".git/info")).unwrap();
        fs::write(tree.join(".git/info/attributes"), "*.py filter=evil\n").unwrap();
        fs::write(tree.join(".gitattributes"), "*.py filter=evil ident -diff\n*.md working-tree-encoding=UTF-16\n")
            .unwrap();
        fs::write(tree.join("a.py"), "on = 'disk'  # $Id: nothing $\n").unwrap();
        fs::write(tree.join("b.md"), "plain\n").unwrap();
        // Marks by which git takes a changed file for an unchanged one.
        fs::write(tree.join("src/a.txt"), "changed\n").unwrap();
        for mark in ["--assume-unchanged", "--skip-worktree"] {
            let index = Command::new("git").args(["update-index", mark, "src/a.txt"]).current_dir(tree).status();
            assert!(index.unwrap().success());
        }
        for hook in ["pre-commit", "post-index-change", "reference-transaction"] {
            fs::create_dir_all(tree.join(".hooks")).unwrap();
            fs::copy(trap, tree.join(".hooks").join(hook)).unwrap();
            fs::create_dir_all(tree.join(".git/hooks")).unwrap();
            fs::copy(trap, tree.join(".git/hooks").join(hook)).unwrap();
        }
        drop(fs::remove_file(&trace));
    });
    let commit = &result.committed.commit;
    assert_eq!(bench.content(commit, "a.py").as_deref(), Some("on = 'disk'  # $Id: nothing $\n"));
    assert_eq!(bench.content(commit, "b.md").as_deref(), Some("plain\n"));
    assert_eq!(bench.content(commit, "src/a.txt").as_deref(), Some("changed\n"));
    let gate = bench.spaces.gate_checkout(&job(), commit).unwrap();
    assert_eq!(fs::read_to_string(gate.join("a.py")).unwrap(), "on = 'disk'  # $Id: nothing $\n");
    // What is shown to people and reviewers is not for the agent to hide.
    let patch = bench.spaces.repository().patch(&base, commit, &[], 1 << 20).unwrap().text;
    assert!(patch.contains("+on = 'disk'"), "{patch}");
    assert!(!trace.exists(), "the host ran {}", fs::read_to_string(&trace).unwrap());
}

/// The same by the git directory that all work trees of the user's share, as far as an agent may write there.
#[test]
fn neither_filters_nor_attributes_of_the_users_repository_run_before_something_lands() {
    let bench = Bench::new();
    let base = bench.head();
    let (trap, trace) = bench.trap();
    let git = bench.user().join(".git");
    let result = bench.attempt("build", &base, |tree| {
        bench.git(&bench.user(), &["config", "filter.evil.clean", trap.to_str().unwrap()]);
        bench.git(&bench.user(), &["config", "filter.evil.smudge", trap.to_str().unwrap()]);
        fs::create_dir_all(git.join("info")).unwrap();
        fs::write(git.join("info/attributes"), "*.py filter=evil -diff\n").unwrap();
        fs::write(git.join("hooks/post-checkout"), "#!/bin/sh\n").unwrap();
        fs::write(tree.join("a.py"), "on = 'disk'\n").unwrap();
    });
    let commit = &result.committed.commit;
    assert_eq!(bench.content(commit, "a.py").as_deref(), Some("on = 'disk'\n"));
    let gate = bench.spaces.gate_checkout(&job(), commit).unwrap();
    assert_eq!(fs::read_to_string(gate.join("a.py")).unwrap(), "on = 'disk'\n");
    assert!(bench.spaces.repository().patch(&base, commit, &[], 1 << 20).unwrap().text.contains("+on = 'disk'"));
    assert!(!trace.exists(), "the host ran it");
    // And it does not go by without a word.
    let told: Vec<String> = result.repairs.iter().map(|one| RECORD.words(one)).collect();
    let named = ["config of the repository", "hooks/post-checkout of the", "info/attributes of the"];
    assert!(told.len() == 1 && named.iter().all(|what| told[0].contains(what)), "{told:?}");
}

#[test]
fn replaced_and_grafted_commits_of_the_agents_are_not_seen() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| {
        fs::write(tree.join("a.py"), "bad = True\n").unwrap();
        bench.git(tree, &["add", "."]);
        bench.git(tree, &["commit", "--quiet", "-m", "mine"]);
    });
    let commit = result.committed.commit;
    let good = bench.git(&bench.user(), &["commit-tree", "-m", "good", &format!("{base}^{{tree}}")]);
    // In the host's own repository too, as if it could be written to.
    let own = bench.spaces.repository().top().to_owned();
    for (directory, of) in [(bench.user(), base.as_str()), (own.clone(), commit.as_str())] {
        bench.git(&directory, &["update-ref", &format!("refs/replace/{of}"), &good]);
    }
    fs::write(own.join("info/grafts"), format!("{commit}\n")).unwrap();
    assert_eq!(bench.content(&commit, "a.py").as_deref(), Some("bad = True\n"));
    assert_eq!(bench.spaces.repository().commit(commit.as_str()).unwrap().parents, std::slice::from_ref(&base));
    assert!(bench.spaces.repository().is_ancestor(&base, &commit).unwrap());
    let gate = bench.spaces.gate_checkout(&job(), &commit).unwrap();
    assert!(gate.join("a.py").exists());
}

#[test]
fn a_branch_that_somebody_else_has_moved_is_named() {
    let bench = Bench::new();
    let base = bench.head();
    let evil = bench.git(&bench.user(), &["commit-tree", "-p", "HEAD", "-m", "evil", "HEAD^{tree}"]);
    let result = bench.attempt("build", &base, |tree| {
        fs::write(tree.join("new.txt"), "n").unwrap();
        bench.git(&bench.user(), &["update-ref", "refs/heads/main", &evil]);
    });
    let told: Vec<String> = result.repairs.iter().map(|one| RECORD.words(one)).collect();
    let moved = format!("branch main (from {} to {})", &base.as_str()[..12], &evil[..12]);
    assert_eq!(told, [format!("changed while the agent worked, not by this host: {moved}")]);
    // What Helix has merged itself meanwhile is no such thing.
    let (key, start) = (key("late"), bench.head());
    let tree = bench.spaces.prepare_attempt(&key, &start).unwrap();
    let request = bench.request(&start, &result.committed.commit);
    let merge = bench.ready(&request);
    bench.spaces.repository().land(&request, &merge).unwrap();
    fs::write(tree.path.join("late.txt"), "l").unwrap();
    assert_eq!(bench.spaces.commit_attempt(&key, &start, &start, &text()).unwrap().repairs, []);
}

/// Another phase's agent writes where a gate is about to look: by the gate's own `.git`, or by what it has left in its place.
#[test]
fn what_was_left_in_a_checkout_does_not_reach_the_next_gate() {
    let bench = Bench::new();
    let base = bench.head();
    let (trap, trace) = bench.trap();
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    bench.git(&gate, &["config", "core.fsmonitor", trap.to_str().unwrap()]);
    bench.git(&gate, &["config", "alias.status", "!echo clean"]);
    fs::create_dir_all(gate.join(".git/hooks")).unwrap();
    fs::copy(&trap, gate.join(".git/hooks/post-checkout")).unwrap();
    drop(fs::remove_file(&trace));
    // A change of the same size under the same time, marked as unchanged in an index of its own.
    let file = gate.join("src/a.txt");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "one\ntwo\nTHREE\n").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    fs::create_dir_all(gate.join("nested/.git")).unwrap();
    bench.git(&gate.join("nested"), &["init", "--quiet"]);
    assert_eq!(bench.spaces.touched(&gate).unwrap(), ["nested/", "src/a.txt"]);
    let again = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(fs::read_to_string(again.join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!again.join("nested").exists() && !again.join(".git/hooks/post-checkout").exists());
    assert!(!fs::read_to_string(again.join(".git/config")).unwrap().contains("fsmonitor"));
    assert!(!trace.exists(), "the host ran it");
    // Commands of gates find their commit, and the user's tags.
    assert_eq!(bench.git(&again, &["rev-parse", "HEAD"]), base.as_str());
    assert_eq!(bench.git(&again, &["status", "--porcelain"]), "");
}

/// A submodule's repository is the agent's, too: nothing of it is run by git in the host's name.
#[test]
fn a_repository_in_the_place_of_a_submodule_runs_nothing() {
    let bench = Bench::new();
    let (user, library) = (bench.user(), bench.home.path().join("library"));
    fs::create_dir_all(&library).unwrap();
    bench.git(&library, &["init", "--quiet"]);
    fs::write(library.join("a.c"), "a").unwrap();
    bench.git(&library, &["add", "."]);
    bench.git(&library, &["commit", "--quiet", "-m", "library"]);
    bench.git(
        &user,
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.to_str().unwrap(), "library"],
    );
    bench.git(&user, &["commit", "--quiet", "-m", "library"]);
    let base = bench.head();
    let (trap, trace) = bench.trap();
    let result = bench.attempt("build", &base, |tree| {
        let inner = tree.join("library");
        fs::remove_dir_all(&inner).unwrap();
        bench
            .git(tree, &["-c", "protocol.file.allow=always", "clone", "--quiet", library.to_str().unwrap(), "library"]);
        for (key, value) in [("filter.evil.clean", trap.to_str().unwrap()), ("core.fsmonitor", trap.to_str().unwrap())]
        {
            bench.git(&inner, &["config", key, value]);
        }
        fs::write(inner.join(".gitattributes"), "* filter=evil\n").unwrap();
        fs::write(inner.join("a.c"), "b").unwrap();
        fs::write(tree.join("new.txt"), "n").unwrap();
        drop(fs::remove_file(&trace));
    });
    let changed: Vec<_> = result.committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["new.txt"]);
    assert!(!trace.exists(), "the host ran it");
}

#[test]
fn what_may_not_be_in_a_result_is_found_before_any_gate() {
    let bench = Bench::new();
    fs::write(bench.user().join("README.md"), "r").unwrap();
    symlink("/etc", bench.user().join("old-link")).unwrap();
    bench.git(&bench.user(), &["add", "."]);
    bench.git(&bench.user(), &["commit", "--quiet", "-m", "more"]);
    let base = bench.head();
    let found = |phase: &str, work: &dyn Fn(&Path)| bench.rules(&bench.attempt(phase, &base, work));
    let none: [&str; 0] = [];
    assert_eq!(found("fine", &|tree| symlink("a.txt", tree.join("src/link")).unwrap()), none);
    assert_eq!(found("outside", &|tree| symlink("../../x", tree.join("src/link")).unwrap()), ["result.link"]);
    assert_eq!(found("absolute", &|tree| symlink("/etc/passwd", tree.join("passwd")).unwrap()), ["result.link"]);
    let write = |name: &'static str| {
        move |tree: &Path| {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    };
    assert_eq!(found("hooks", &write(".GIT/hooks/post-checkout")), ["result.git_name"]);
    assert_eq!(found("short", &write("git~1/config")), ["result.git_name"]);
    assert_eq!(found("ignorable", &write("sub/.g\u{200c}it/config")), ["result.git_name"]);
    assert_eq!(found("break", &write("line\nbreak")), ["result.control_characters"]);
    assert_eq!(found("case", &write("readme.md")), ["result.same_name"]);
    assert_eq!(found("directory", &write("SRC/b.txt")), ["result.same_name"]);
    let huge = |tree: &Path| fs::File::create(tree.join("huge.bin")).unwrap().set_len((100 << 20) + 1).unwrap();
    assert_eq!(found("huge", &huge), ["result.huge"]);
    let compiled = |flags: u8| {
        move |tree: &Path| {
            fs::write(tree.join("src/a.pyc"), [0xa7, 0x0d, 0x0d, 0x0a, flags, 0, 0, 0]).unwrap();
        }
    };
    assert_eq!(found("by-time", &compiled(0)), none);
    assert_eq!(found("by-hash-unasked", &compiled(1)), ["result.compiled"]);
    assert_eq!(found("by-hash", &compiled(3)), ["result.compiled"]);
    // A later attempt goes on from there: it is found until it is gone.
    let second = AttemptKey { attempt: 2, ..key("outside") };
    let start = bench.attempt("outside", &base, |tree| symlink("/x", tree.join("link")).unwrap()).committed.commit;
    bench.spaces.prepare_attempt(&second, &start).unwrap();
    let still = bench.spaces.commit_attempt(&second, &base, &start, &text()).unwrap();
    assert_eq!(bench.rules(&still), ["result.link"]);
}

/// A link in the place of a directory: what lies behind it is not in the work place, whether or not it is of the same name.
#[test]
fn what_lies_beyond_a_link_is_not_taken() {
    let bench = Bench::new();
    let base = bench.head();
    let moved = bench.attempt("moved", &base, |tree| {
        fs::rename(tree.join("src"), tree.join("lib")).unwrap();
        symlink("lib", tree.join("src")).unwrap();
    });
    let changed: Vec<_> = moved.committed.changed.iter().map(|file| (file.path.as_str(), file.how)).collect();
    assert_eq!(
        changed,
        [("lib/a.txt", ChangeKind::Added), ("src", ChangeKind::Added), ("src/a.txt", ChangeKind::Deleted)]
    );
    assert_eq!((moved.repairs, moved.findings), (vec![], vec![]));
    let outside = bench.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "a key").unwrap();
    let stolen = bench.attempt("stolen", &base, |tree| {
        fs::remove_dir_all(tree.join("src")).unwrap();
        symlink(&outside, tree.join("src")).unwrap();
    });
    assert_eq!(bench.content(&stolen.committed.commit, "src/a.txt"), None);
    assert_eq!(bench.rules(&stolen), ["result.link"]);
    // Nor is a whole work place that somebody has put in the place of this one.
    let replaced = bench.attempt("replaced", &base, |tree| {
        fs::remove_dir_all(tree).unwrap();
        symlink(&outside, tree).unwrap();
    });
    assert_eq!((replaced.committed.commit, replaced.repairs), (base, vec![recorded!("repair-worktree-gone")]));
}

/// Objects, indexes and settings of a clone may be anything.
#[test]
fn whatever_is_left_of_a_clones_git_its_files_are_the_result() {
    let bench = Bench::new();
    let base = bench.head();
    let in_git = |name: &'static str, text: &'static str| {
        move |tree: &Path| fs::write(tree.join(".git").join(name), text).unwrap()
    };
    let instead = |make: fn(&Path)| {
        move |tree: &Path| {
            fs::remove_dir_all(tree.join(".git")).unwrap();
            make(&tree.join(".git"));
        }
    };
    let endless = "[include]\n\tpath = /dev/zero\n[extensions]\n\tworktreeConfig = true\n[core]\n\tworktree = /\n";
    type Work<'a> = Box<dyn Fn(&Path) + 'a>;
    let cases: [(&str, Work<'_>); 9] = [
        ("borrows", Box::new(in_git("objects/info/alternates", "/nonexistent\n"))),
        ("settings", Box::new(in_git("config", endless))),
        ("grafts", Box::new(in_git("info/grafts", "0\n"))),
        ("common", Box::new(in_git("commondir", "/\n"))),
        ("index", Box::new(|tree| fs::File::create(tree.join(".git/index")).unwrap().set_len(1 << 40).unwrap())),
        (
            "objects",
            Box::new(|tree| {
                bench.git(tree, &["commit", "--quiet", "--allow-empty", "-m", "mine"]);
                for file in bytes_of(&tree.join(".git/objects")).into_keys() {
                    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
                    fs::write(file, "x").unwrap();
                }
            }),
        ),
        ("pipe", Box::new(instead(|git| assert!(Command::new("mkfifo").arg(git).status().unwrap().success())))),
        ("link", Box::new(instead(|git| symlink("/", git).unwrap()))),
        ("file", Box::new(instead(|git| fs::write(git, "gitdir: /dev/zero\n").unwrap()))),
    ];
    for (phase, work) in &cases {
        let result = bench.attempt(phase, &base, |tree| {
            fs::write(tree.join("new.txt"), "n").unwrap();
            work(tree);
        });
        let changed: Vec<_> = result.committed.changed.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((changed, result.repairs, result.findings), (vec!["new.txt"], vec![], vec![]), "{phase}");
    }
}

/// A repository that borrows objects itself, by a path relative to its own; and what of all that is open to who works here.
#[test]
fn objects_are_read_from_wherever_the_user_has_them_and_nothing_else_of_git() {
    let bench = Bench::new();
    let (user, pool, base) = (bench.user(), bench.home.path().join("pool"), bench.head());
    bench.git(bench.home.path(), &["clone", "--quiet", "--bare", user.to_str().unwrap(), pool.to_str().unwrap()]);
    for entry in fs::read_dir(user.join(".git/objects")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("info") && !path.ends_with("pack") {
            fs::remove_dir_all(path).unwrap();
        }
    }
    fs::write(user.join(".git/objects/info/alternates"), "../../../pool/objects\n").unwrap();
    let repository = Repository::open(&user, environment(bench.home.path())).unwrap();
    let spaces = Workspaces::new(repository, &bench.home.path().join("state")).unwrap();
    let tree = spaces.prepare_attempt(&key("build"), &base).unwrap().path;
    assert_eq!(bench.git(&tree, &["log", "--format=%H"]), base.as_str());
    let readable = spaces.readable().unwrap();
    let readable: Vec<_> = readable.iter().map(|path| path.canonicalize().unwrap()).collect();
    let home = bench.home.path().canonicalize().unwrap();
    let own = spaces.repository().top().join("objects");
    let named = ["user/.git/objects", "pool/objects", "user/.gitignore", "user/src"].map(|path| home.join(path));
    assert_eq!(readable, [vec![own], named.to_vec()].concat());
}

/// A user's path may name directories relative to where a program is.
#[test]
fn a_program_of_the_work_place_is_not_taken_for_git() {
    let bench = Bench::new();
    let (trap, trace) = bench.trap();
    let path = format!(".:bin:{}", std::env::var("PATH").unwrap());
    let environment = GitEnvironment::from_variables([
        (OsString::from("PATH"), path.into()),
        (OsString::from("HOME"), bench.home.path().into()),
    ]);
    let repository = Repository::open(&bench.user(), environment).unwrap();
    let spaces = Workspaces::new(repository, &bench.home.path().join("state")).unwrap();
    let (base, key) = (bench.head(), key("build"));
    let tree = spaces.prepare_attempt(&key, &base).unwrap().path;
    fs::create_dir(tree.join("bin")).unwrap();
    for place in ["git", "bin/git"] {
        fs::copy(&trap, tree.join(place)).unwrap();
    }
    let result = spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed;
    assert_eq!(result.changed.len(), 2);
    assert!(!trace.exists(), "the host ran it");
}

/// The host's memory is not for an agent to use up.
#[test]
fn a_list_of_ignored_files_without_end_fails_its_own_attempt_alone() {
    let bench = Bench::new();
    let (base, key) = (bench.head(), key("build"));
    let tree = bench.spaces.prepare_attempt(&key, &base).unwrap().path;
    fs::write(tree.join("new.txt"), "n").unwrap();
    fs::File::create(tree.join(".gitignore")).unwrap().set_len(5 << 30).unwrap();
    let error = bench.spaces.commit_attempt(&key, &base, &base, &text()).unwrap_err();
    assert!(error.to_string().contains("Out of memory"), "{error}");
    fs::write(tree.join(".gitignore"), "ignored/\n").unwrap();
    let result = bench.spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed;
    assert_eq!(result.changed.len(), 1);
}

/// What is no file, and what cannot be read, is left out by name and keeps nothing else from being committed.
#[test]
fn pipes_and_directories_in_the_place_of_files_are_what_they_are() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| {
        // Git waits for what a pipe of this name says.
        for pipe in [".gitignore", "src/.gitattributes", "pipe"] {
            drop(fs::remove_file(tree.join(pipe)));
            assert!(Command::new("mkfifo").arg(tree.join(pipe)).status().unwrap().success());
        }
        fs::remove_file(tree.join("src/a.txt")).unwrap();
        fs::create_dir(tree.join("src/a.txt")).unwrap();
        fs::write(tree.join("src/a.txt/inner"), "i").unwrap();
    });
    let changed: Vec<_> = result.committed.changed.iter().map(|file| (file.path.as_str(), file.how)).collect();
    let expected = [
        (".gitignore", ChangeKind::Deleted),
        ("src/a.txt", ChangeKind::Deleted),
        ("src/a.txt/inner", ChangeKind::Added),
    ];
    assert_eq!(changed, expected);
}

/// What people expect of a work place: their name, what they ignore, line ends as the project has them, history, tags.
#[test]
fn a_work_place_is_as_the_user_would_have_it() {
    let bench = Bench::new();
    let user = bench.user();
    fs::write(user.join(".git/info/exclude"), "private.txt\n").unwrap();
    fs::create_dir_all(bench.home.path().join(".config/git")).unwrap();
    fs::write(bench.home.path().join(".config/git/ignore"), ".idea/\n").unwrap();
    fs::write(user.join(".gitattributes"), "*.bat text eol=crlf\n").unwrap();
    fs::write(user.join("run.bat"), "echo\r\n").unwrap();
    bench.git(&user, &["config", "user.name", "Of The Project"]);
    bench.git(&user, &["add", "."]);
    bench.git(&user, &["commit", "--quiet", "-m", "bat"]);
    bench.git(&user, &["tag", "-a", "-m", "one", "v1"]);
    let spaces = Workspaces::new(
        Repository::open(&user, environment(bench.home.path())).unwrap(),
        &bench.home.path().join("state"),
    );
    let (spaces, base, key) = (spaces.unwrap(), bench.head(), key("build"));
    let tree = spaces.prepare_attempt(&key, &base).unwrap().path;
    assert_eq!(bench.git(&tree, &["describe"]), "v1");
    assert_eq!(bench.git(&tree, &["branch", "--show-current"]), "helix/j0001/build/1");
    assert_eq!(bench.git(&tree, &["rev-parse", "main"]), base.as_str());
    assert_eq!(bench.git(&tree, &["status", "--porcelain"]), "");
    assert_eq!(fs::read(tree.join("run.bat")).unwrap(), b"echo\r\n");
    for ignored in ["private.txt", ".idea/workspace.xml"] {
        fs::create_dir_all(tree.join(ignored).parent().unwrap()).unwrap();
        fs::write(tree.join(ignored), "mine").unwrap();
    }
    assert_eq!(bench.git(&tree, &["status", "--porcelain"]), "");
    fs::write(tree.join("run.bat"), "echo two\r\n").unwrap();
    bench.git(&tree, &["commit", "--quiet", "-am", "mine"]);
    assert_eq!(bench.git(&tree, &["log", "-1", "--format=%an %ae"]), "Of The Project user@example.org");
    let result = spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed;
    assert_eq!((result.changed.len(), result.changed[0].path.as_str()), (1, "run.bat"));
    let repository = spaces.repository();
    let listing = repository.listing(&result.tree).unwrap();
    assert_eq!(repository.blob(&listing["run.bat"].object).unwrap(), b"echo two\n");
    let author = bench.git(repository.top(), &["log", "-1", "--format=%an %cn", result.commit.as_str()]);
    assert_eq!(author, "Of The Project Of The Project");
    // A worktree of the user's has the same repository beside it; a shallow clone stays one.
    let shallow = bench.home.path().join("shallow");
    let from = format!("file://{}", user.display());
    bench.git(bench.home.path(), &["clone", "--quiet", "--depth=1", &from, shallow.to_str().unwrap()]);
    let repository = Repository::open(&shallow, environment(bench.home.path())).unwrap();
    let spaces = Workspaces::new(repository, &bench.home.path().join("state")).unwrap();
    let tree = spaces.prepare_attempt(&key, &base).unwrap().path;
    assert_eq!(bench.git(&tree, &["rev-list", "--count", "HEAD"]), "1");
    fs::write(tree.join("new.txt"), "n").unwrap();
    let result = spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed;
    let request = bench.request(&base, &result.commit);
    let Integration::Ready(merge) = spaces.repository().prepare_integration(&request).unwrap() else { panic!() };
    let landed = spaces.repository().land(&request, &merge).unwrap();
    assert_eq!(landed, Landing::Landed(IntegrationTarget::Branch { branch: "main".into() }));
    assert!(shallow.join("new.txt").exists());
    bench.git(&shallow, &["fsck", "--strict", "--connectivity-only"]);
}

/// A host that died between the objects and the branch, or half-way through the objects.
#[test]
fn what_was_half_handed_over_is_handed_over_again() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    // The commits are there, and nothing that they consist of.
    let own = bench.spaces.repository().top();
    for commit in [&result.commit, &merge.commit] {
        let (directory, file) = commit.as_str().split_at(2);
        fs::create_dir_all(bench.user().join(".git/objects").join(directory)).unwrap();
        let object = Path::new("objects").join(directory).join(file);
        fs::copy(own.join(&object), bench.user().join(".git").join(&object)).unwrap();
    }
    bench.spaces.repository().land(&request, &merge).unwrap();
    assert_eq!(bench.head(), merge.commit);
    bench.git(&bench.user(), &["fsck", "--strict"]);
    // The user's repository needs nothing of the host's any more.
    fs::remove_dir_all(bench.home.path().join("state")).unwrap();
    assert_eq!(bench.git(&bench.user(), &["show", "main:new.txt"]), "n");
}

/// A repository can say that what it lacks is to be fetched, and by which program. Its head names a commit that it lacks.
#[test]
fn nothing_is_fetched_to_look_at_a_repository() {
    let bench = Bench::new();
    let (user, ran) = (bench.user(), bench.home.path().join("ran"));
    let program = bench.home.path().join("evil.sh");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\nexec git-upload-pack \"$@\"\n", ran.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings = [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", user.to_str().unwrap()),
        ("remote.evil.uploadpack", program.to_str().unwrap()),
        ("protocol.allow", "always"),
    ];
    for (key, value) in settings {
        bench.git(&user, &["config", key, value]);
    }
    fs::write(user.join(".git/refs/heads/main"), format!("{}\n", "1".repeat(40))).unwrap();
    let repository = Repository::open(&user, environment(bench.home.path()));
    let found = repository.is_ok_and(|repository| {
        let (head, commit) = (repository.head(), repository.commit(&"1".repeat(40)));
        head.is_ok() && commit.is_ok()
    });
    assert!(!found, "nobody has that commit");
    assert!(!ran.exists(), "a program of the repository ran");
    // It does run where nothing forbids it.
    let status =
        std::process::Command::new("git").args(["cat-file", "-p", "HEAD"]).current_dir(&user).output().unwrap();
    assert!(ran.exists(), "{status:?}");
}

/// Forgotten build output would be everybody's: none of such a result is taken, and it says so each time it is asked.
#[test]
fn a_result_of_too_much_is_found_and_not_taken() {
    let bench = Bench::new();
    let base = bench.head();
    let much = bench.attempt("much", &base, |tree| {
        fs::write(tree.join("kept.txt"), "x").unwrap();
        for number in 0..21 {
            fs::File::create(tree.join(format!("{number}.bin"))).unwrap().set_len(100 << 20).unwrap();
        }
    });
    assert_eq!((bench.rules(&much), much.committed.moved), (vec!["result.too_much".to_owned()], false));
    let again = bench.spaces.commit_attempt(&key("much"), &base, &base, &text()).unwrap();
    assert_eq!(
        (bench.rules(&again), again.committed.commit),
        (vec!["result.too_much".to_owned()], much.committed.commit)
    );
}
