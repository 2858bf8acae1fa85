//! Worktrees, results, merges and integration with the real git, in repositories made for each test.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says where it fails by panicking")]

#[path = "workspaces/apart.rs"]
mod apart;
#[path = "workspaces/landing.rs"]
mod landing;
#[path = "workspaces/lfs.rs"]
mod lfs;
#[path = "workspaces/reverting.rs"]
mod reverting;
#[path = "workspaces/runs_itself.rs"]
mod runs_itself;
#[path = "workspaces/trust.rs"]
mod trust;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use helix_core::evidence::{ChangeKind, IntegrationTarget, Land, Tip};
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_git::{
    AttemptKey, CommitText, GitEnvironment, GitError, Head, Integration, IntegrationRequest, Landing, Merged,
    OpenError, PreparedMerge, Repository, WorkCopy, Workspaces,
};
use helix_language::{RECORD, recorded};

struct Bench {
    home: tempfile::TempDir,
    spaces: Workspaces,
}

fn environment(home: &Path) -> GitEnvironment {
    fs::create_dir_all(home).unwrap();
    let config = home.join(".gitconfig");
    if !config.exists() {
        fs::write(&config, "[user]\nname = A User\nemail = user@example.org\n[init]\ndefaultBranch = main\n").unwrap();
    }
    let path = std::env::var_os("PATH").unwrap();
    GitEnvironment::from_variables([
        (OsString::from("PATH"), path),
        (OsString::from("HOME"), home.into()),
        (OsString::from("GIT_CONFIG_NOSYSTEM"), "1".into()),
        // Left behind by the list: a hook's GIT_DIR must never reach Helix's git.
        (OsString::from("GIT_DIR"), "/nonexistent".into()),
    ])
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let user = home.path().join("user");
        fs::create_dir_all(user.join("src")).unwrap();
        fs::write(user.join("src/a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(user.join(".gitignore"), "ignored/\n").unwrap();
        let repository = Repository::init(&user, environment(home.path())).unwrap();
        let spaces = Workspaces::new(repository, &home.path().join("state")).unwrap();
        Self { home, spaces }
    }

    fn user(&self) -> PathBuf {
        self.home.path().join("user")
    }

    fn git(&self, directory: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(directory)
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_AUTHOR_NAME")
            .env_remove("GIT_AUTHOR_EMAIL")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What the host knows of a work place.
    fn record(&self, name: &str) -> PathBuf {
        self.home.path().join("state/git/places").join(job().as_str()).join(name)
    }

    fn head(&self) -> CommitId {
        CommitId::new(self.git(&self.user(), &["rev-parse", "HEAD"])).unwrap()
    }

    /// One attempt that does `work` in its worktree, from `start`.
    fn attempt(&self, phase: &str, start: &CommitId, work: impl Fn(&Path)) -> helix_git::AttemptCommit {
        let key = key(phase);
        let tree = self.spaces.prepare_attempt(&key, start).unwrap();
        work(&tree.path);
        self.spaces.commit_attempt(&key, start, start, &text()).unwrap()
    }

    fn request(&self, base: &CommitId, result: &CommitId) -> IntegrationRequest {
        IntegrationRequest {
            job: job(),
            name: "Add: a thing".into(),
            base: base.clone(),
            result: result.clone(),
            branch: Some("main".into()),
            land: Land::Merge,
            text: text(),
        }
    }

    fn ready(&self, request: &IntegrationRequest) -> PreparedMerge {
        match self.spaces.repository().prepare_integration(request).unwrap() {
            Integration::Ready(merge) => merge,
            other => panic!("{other:?}"),
        }
    }
}

fn job() -> JobId {
    JobId::new("j0001").unwrap()
}

fn key(phase: &str) -> AttemptKey {
    AttemptKey { job: job(), phase: PhaseId::new(phase).unwrap(), attempt: 1 }
}

fn text() -> CommitText {
    CommitText { subject: "Do it".into(), body: String::new(), trailers: Vec::new() }
}

#[test]
fn a_result_holds_everything_and_the_users_tree_is_untouched() {
    let bench = Bench::new();
    fs::write(bench.user().join("src/a.txt"), "uncommitted work\n").unwrap();
    let base = bench.head();
    let hook = bench.user().join(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    bench.git(&bench.user(), &["config", "commit.gpgSign", "true"]);
    let result = bench.attempt("build", &base, |tree| {
        fs::write(tree.join("new file.txt"), "new\n").unwrap();
        fs::write(tree.join("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(tree.join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        fs::create_dir(tree.join("ignored")).unwrap();
        fs::write(tree.join("ignored/x"), "x").unwrap();
        bench.git(tree, &["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "add", "run.sh"]);
        fs::remove_file(tree.join("src/a.txt")).unwrap();
    });
    let changed: Vec<_> = result.committed.changed.iter().map(|file| (file.path.as_str(), file.how)).collect();
    assert_eq!(
        changed,
        [("new file.txt", ChangeKind::Added), ("run.sh", ChangeKind::Added), ("src/a.txt", ChangeKind::Deleted)]
    );
    assert!(result.committed.moved);
    assert_eq!(result.repairs, []);
    let listing = bench.spaces.repository().listing(&result.committed.tree).unwrap();
    assert_eq!(listing["run.sh"].kind, helix_git::EntryKind::Executable);
    let commit = bench.spaces.repository().commit(result.committed.commit.as_str()).unwrap();
    assert_eq!(commit.parents, std::slice::from_ref(&base));
    assert!(commit.message.ends_with("Helix-Job: j0001\nHelix-Phase: build\nHelix-Attempt: 1\n"), "{}", commit.message);
    assert_eq!(fs::read_to_string(bench.user().join("src/a.txt")).unwrap(), "uncommitted work\n");
    assert_eq!(bench.head(), base);
}

#[test]
fn preparing_and_committing_twice_is_the_same_as_once_after_any_crash() {
    let bench = Bench::new();
    let base = bench.head();
    let key = key("build");
    let spaces = &bench.spaces;
    let tree = spaces.prepare_attempt(&key, &base).unwrap();
    // Crash before the work place was ready: half a directory, no index, the lock of the git that wrote it.
    let index = bench.record("build.1.index");
    fs::rename(&index, index.with_added_extension("lock")).unwrap();
    fs::remove_file(tree.path.join("src/a.txt")).unwrap();
    assert_eq!(spaces.prepare_attempt(&key, &base).unwrap(), tree);
    assert!(tree.path.join("src/a.txt").exists());
    // Crash after the agent worked: its files stay. A dead git left its lock.
    fs::write(tree.path.join("b.txt"), "b").unwrap();
    fs::write(index.with_added_extension("lock"), "").unwrap();
    let once = spaces.commit_attempt(&key, &base, &base, &text()).unwrap();
    assert_eq!((once.committed.changed.len(), once.repairs.as_slice()), (1, &[][..]));
    let twice = spaces.commit_attempt(&key, &base, &base, &text()).unwrap();
    assert_eq!(once.committed, twice.committed);
    // Without what the host knows of the place, every file is read again; between index and commit nothing is lost either.
    fs::write(&index, "half an ind").unwrap();
    assert_eq!(spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed, once.committed);
    fs::remove_dir_all(index.parent().unwrap()).unwrap();
    assert_eq!(spaces.commit_attempt(&key, &base, &base, &text()).unwrap().committed, once.committed);
    let reference = format!("refs/heads/{}", tree.branch);
    bench.git(spaces.repository().top(), &["update-ref", "-d", &reference]);
    let lock = spaces.repository().top().join(&reference).with_added_extension("lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(lock, "").unwrap();
    let again = spaces.commit_attempt(&key, &base, &base, &text()).unwrap();
    assert_eq!(again.committed.tree, once.committed.tree);
    let once = again;
    // Gone altogether: the branch still has the work.
    fs::remove_dir_all(&tree.path).unwrap();
    let gone = spaces.commit_attempt(&key, &base, &base, &text()).unwrap();
    assert_eq!((gone.committed, gone.repairs), (once.committed, vec![]));
}

#[test]
fn a_worktree_that_is_gone_before_its_work_was_committed_is_named() {
    let bench = Bench::new();
    let base = bench.head();
    let gone = bench.attempt("gone", &base, |tree| fs::remove_dir_all(tree).unwrap());
    assert_eq!((gone.committed.commit, gone.repairs), (base.clone(), vec![recorded!("repair-worktree-gone")]));
    let link = bench.attempt("link", &base, |tree| {
        fs::remove_dir_all(tree).unwrap();
        std::os::unix::fs::symlink(bench.user(), tree).unwrap();
    });
    assert_eq!((link.committed.commit, link.repairs), (base, vec![recorded!("repair-worktree-gone")]));
}

#[test]
fn an_attempt_that_never_began_is_prepared_from_where_it_starts_now() {
    let bench = Bench::new();
    let first = bench.head();
    let next = bench.attempt("upstream", &first, |tree| fs::write(tree.join("src/a.txt"), "redone\n").unwrap());
    let next = next.committed.commit;
    // Prepared, and cancelled before it was recorded: the directory goes, the branch stays.
    let (key, spaces) = (key("build"), &bench.spaces);
    spaces.prepare_attempt(&key, &first).unwrap();
    spaces.remove_job(&key.job, &[]).unwrap();
    // What it builds on was done again meanwhile.
    let tree = spaces.prepare_attempt(&key, &next).unwrap();
    assert_eq!(fs::read_to_string(tree.path.join("src/a.txt")).unwrap(), "redone\n");
    let result = spaces.commit_attempt(&key, &next, &next, &text()).unwrap();
    assert_eq!((result.committed.commit, result.repairs), (next.clone(), Vec::new()));
    // The same where the directory is there, too.
    spaces.prepare_attempt(&key, &first).unwrap();
    spaces.prepare_attempt(&key, &next).unwrap();
    assert_eq!(bench.git(&tree.path, &["rev-parse", "HEAD"]), next.as_str());
}

#[test]
fn nothing_changed_is_the_start_commit() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("idle", &base, |_| {});
    assert_eq!(result.committed.commit, base);
    assert!(!result.committed.moved && result.committed.changed.is_empty());
}

#[test]
fn what_the_agent_does_to_the_git_of_its_place_is_of_no_consequence() {
    let bench = Bench::new();
    let base = bench.head();
    let one_commit = |phase: &str, files: usize, work: &dyn Fn(&Path)| {
        let result = bench.attempt(phase, &base, work);
        assert_eq!((result.committed.changed.len(), result.repairs), (files, vec![]), "{phase}");
        let commit = bench.spaces.repository().commit(result.committed.commit.as_str()).unwrap();
        assert_eq!(commit.parents, std::slice::from_ref(&base), "{phase}");
    };
    let commit = |tree: &Path, file: &str, how: &[&str]| {
        fs::write(tree.join(file), file).unwrap();
        bench.git(tree, &["add", "."]);
        bench.git(tree, &[&["commit", "--quiet", "-m", "mine"], how].concat());
    };
    one_commit("other", 2, &|tree| {
        bench.git(tree, &["switch", "--quiet", "-c", "feature"]);
        commit(tree, "c.txt", &[]);
        fs::write(tree.join("d.txt"), "d").unwrap();
    });
    one_commit("detached", 1, &|tree| {
        bench.git(tree, &["checkout", "--quiet", "--detach"]);
        fs::write(tree.join("e.txt"), "e").unwrap();
    });
    one_commit("rewritten", 1, &|tree| commit(tree, "f.txt", &["--amend"]));
    one_commit("moved", 1, &|tree| {
        commit(tree, "f.txt", &[]);
        bench.git(tree, &["update-ref", "refs/heads/main", "HEAD"]);
    });
    one_commit("hijacked", 1, &|tree| {
        fs::remove_dir_all(tree.join(".git")).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", bench.user().join(".git").display())).unwrap();
        fs::write(tree.join("g.txt"), "g").unwrap();
    });
    one_commit("gone", 1, &|tree| {
        fs::remove_dir_all(tree.join(".git")).unwrap();
        fs::write(tree.join("g.txt"), "g").unwrap();
    });
    assert_eq!(bench.head(), base, "the user's branch was moved");
    for commits in [false, true] {
        let nested = bench.attempt(if commits { "nested" } else { "nested-empty" }, &base, |tree| {
            fs::create_dir_all(tree.join("sub/deep")).unwrap();
            bench.git(&tree.join("sub/deep"), &["init", "--quiet"]);
            fs::write(tree.join("sub/deep/i.txt"), "i").unwrap();
            bench.git(&tree.join("sub"), &["init", "--quiet"]);
            fs::write(tree.join("sub/h.txt"), "h").unwrap();
            if commits {
                bench.git(&tree.join("sub"), &["add", "h.txt"]);
                bench.git(&tree.join("sub"), &["commit", "--quiet", "-m", "inner"]);
            }
        });
        let repaired = ["sub", "sub/deep"].map(|path| recorded!("repair-nested", path = path));
        assert_eq!(nested.repairs, repaired);
        let changed: Vec<_> = nested.committed.changed.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(changed, ["sub/deep/i.txt", "sub/h.txt"]);
    }
}

#[test]
fn declared_submodules_stay_what_they_are_whatever_keeps_files_from_being_added() {
    let bench = Bench::new();
    let result = bench.attempt("build", &bench.head(), |tree| {
        let library = tree.join("library");
        fs::create_dir(&library).unwrap();
        bench.git(&library, &["init", "--quiet"]);
        fs::write(library.join("a.c"), "a").unwrap();
        bench.git(&library, &["add", "."]);
        bench.git(&library, &["commit", "--quiet", "-m", "library"]);
        fs::write(tree.join(".gitmodules"), "[submodule \"library\"]\n\tpath = library\n\turl = ./library\n").unwrap();
        // A repository without a commit makes `git add` fail.
        fs::create_dir(tree.join("scratch")).unwrap();
        bench.git(&tree.join("scratch"), &["init", "--quiet"]);
        fs::write(tree.join("scratch/b.txt"), "b").unwrap();
    });
    assert_eq!(result.repairs, [recorded!("repair-nested", path = "scratch")]);
    // Nobody else has got that commit.
    assert_eq!(result.findings[0].rule, "result.submodule");
    let listing = bench.spaces.repository().listing(&result.committed.tree).unwrap();
    assert_eq!(listing["library"].kind, helix_git::EntryKind::Submodule);
    assert!(listing.contains_key("scratch/b.txt"));
}

#[test]
fn names_that_are_no_text_are_named_not_lost() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let result = bench.attempt("odd", &bench.head(), |tree| {
        fs::write(tree.join(std::ffi::OsStr::from_bytes(b"bad\xff.txt")), "x").unwrap();
        fs::write(tree.join("line\nbreak.txt"), "x").unwrap();
    });
    assert_eq!(result.repairs, [recorded!("repair-name", path = "bad\\xff.txt")]);
    assert_eq!(result.committed.changed[1].path, "line\nbreak.txt");
}

#[test]
fn bases_of_several_phases_merge_the_same_way_every_time() {
    let bench = Bench::new();
    let base = bench.head();
    let write = |name: &'static str, text: &'static str| move |tree: &Path| fs::write(tree.join(name), text).unwrap();
    let left = bench.attempt("left", &base, write("left.txt", "l")).committed.commit;
    let right = bench.attempt("right", &base, write("right.txt", "r")).committed.commit;
    let clash = bench.attempt("clash", &base, write("left.txt", "other")).committed.commit;
    let tip = |phase: &str, commit: &CommitId| Tip { phase: PhaseId::new(phase).unwrap(), commit: commit.clone() };
    let repository = bench.spaces.repository();
    let merge = |tips: &[Tip]| repository.merge_tips(tips, "Merge\n").unwrap();
    let Merged::Combined(first) = merge(&[tip("left", &left), tip("right", &right), tip("start", &base)]) else {
        panic!("not combined")
    };
    assert_eq!(Merged::Combined(first.clone()), merge(&[tip("left", &left), tip("right", &right)]));
    assert_eq!(first.parents, [left.clone(), right]);
    assert!(
        matches!(merge(&[tip("start", &base), tip("left", &left)]), Merged::Contained(commit) if commit.id == left)
    );
    let Merged::Conflict(conflict) = merge(&[tip("left", &left), tip("clash", &clash)]) else { panic!("no conflict") };
    assert_eq!(conflict.paths, ["left.txt"]);
    assert_eq!((conflict.ours[0].as_str(), conflict.theirs.as_str()), ("left", "clash"));
}

#[test]
fn dead_jobs_leave_nothing_on_the_disk() {
    let bench = Bench::new();
    let base = bench.head();
    let tree = bench.spaces.prepare_attempt(&key("build"), &base).unwrap();
    bench.spaces.gate_checkout(&job(), &base).unwrap();
    let state = bench.home.path().join("state");
    let root = state.join("worktrees");
    let living = Workspaces::set_aside(&state, &BTreeSet::from([job()]), &[]).unwrap();
    assert!(living.removed.is_empty() && tree.path.exists());
    // What is in no commit yet stays with its directory.
    let kept = Workspaces::set_aside(&state, &BTreeSet::new(), &[key("build")]).unwrap();
    assert_eq!((kept.removed, kept.stuck), (vec![root.join("j0001/gate")], vec![]));
    assert!(tree.path.join("src/a.txt").exists());
    assert_eq!(Workspaces::jobs(&state).unwrap(), [job()]);
    let done = Workspaces::set_aside(&state, &BTreeSet::new(), &[]).unwrap();
    assert_eq!((done.removed.len(), done.stuck.len()), (1, 0));
    // Out of the way at once, before anything is deleted.
    assert!(!tree.path.exists() && Workspaces::jobs(&state).unwrap().is_empty());
    assert_eq!(fs::read_dir(state.join("git/places")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(root.join(".trash")).unwrap().count(), 3);
    Workspaces::empty_trash(&state).unwrap();
    assert_eq!(fs::read_dir(root.join(".trash")).unwrap().count(), 0);
}

#[test]
fn a_gate_checkout_is_clean_every_time() {
    let bench = Bench::new();
    let base = bench.head();
    let path = bench.spaces.gate_checkout(&job(), &base).unwrap();
    fs::write(path.join("src/a.txt"), "dirty").unwrap();
    fs::write(path.join("leftover"), "x").unwrap();
    fs::create_dir(path.join("ignored")).unwrap();
    fs::write(path.join("ignored/cache"), "x").unwrap();
    fs::write(bench.record("gate.index.lock"), "").unwrap();
    let again = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(fs::read_to_string(again.join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!again.join("leftover").exists() && !again.join("ignored").exists());
}

#[test]
fn a_repository_that_was_made_anew_at_its_path_is_another_one() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("user");
    let first = Repository::init(&path, environment(home.path())).unwrap();
    assert!(first.is_still_there());
    fs::remove_dir_all(&path).unwrap();
    assert!(!first.is_still_there());
    let second = Repository::init(&path, environment(home.path())).unwrap();
    assert!(second.is_still_there() && !first.is_still_there());
}

#[test]
fn bad_places_are_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let environment = environment(home.path());
    let open = |path: &Path| Repository::open(path, environment.clone());
    assert!(matches!(open(&home.path().join("none")), Err(OpenError::NoDirectory { .. })));
    let plain = home.path().join("plain");
    fs::create_dir(&plain).unwrap();
    assert!(matches!(open(&plain), Err(OpenError::NoRepository { .. })));
    let bare = home.path().join("bare");
    assert!(Command::new("git").args(["init", "--quiet", "--bare"]).arg(&bare).status().unwrap().success());
    assert!(matches!(open(&bare), Err(OpenError::Bare { .. })));
    let unborn = home.path().join("unborn");
    assert!(Command::new("git").args(["init", "--quiet", "-b", "main"]).arg(&unborn).status().unwrap().success());
    let repository = open(&unborn).unwrap();
    assert_eq!(repository.head().unwrap(), Head::Unborn { branch: "main".into() });
    fs::write(home.path().join(".gitconfig"), "").unwrap();
    let error = repository.identity().unwrap_err();
    assert!(matches!(error, GitError::NoIdentity { .. }), "{error}");
    assert!(error.hint().unwrap().contains("user.email"));
}

/// What the user has set for their own work tree does not make an agent's one smaller or blinder.
#[test]
fn attempts_and_gates_see_the_whole_repository_whatever_the_users_tree_shows() {
    let bench = Bench::new();
    let user = bench.user();
    fs::create_dir_all(user.join("docs")).unwrap();
    fs::write(user.join("docs/guide.md"), "guide\n").unwrap();
    bench.git(&user, &["add", "."]);
    bench.git(&user, &["commit", "-qm", "docs"]);
    bench.git(&user, &["sparse-checkout", "set", "src"]);
    bench.git(&user, &["config", "core.ignoreCase", "true"]);
    assert!(!user.join("docs").exists());
    let base = bench.head();
    let result = bench.attempt("whole", &base, |tree| {
        assert!(tree.join("docs/guide.md").exists(), "the worktree is sparse");
        fs::rename(tree.join("src/a.txt"), tree.join("src/A.txt")).unwrap();
        fs::write(tree.join("docs/guide.md"), "changed\n").unwrap();
        fs::create_dir(tree.join("new")).unwrap();
        fs::write(tree.join("new/file.txt"), "new\n").unwrap();
    });
    let changed: BTreeSet<_> =
        result.committed.changed.iter().map(|file| (file.path.as_str(), format!("{:?}", file.how))).collect();
    let expected =
        [("docs/guide.md", "Modified"), ("new/file.txt", "Added"), ("src/A.txt", "Added"), ("src/a.txt", "Deleted")];
    assert_eq!(changed, expected.map(|(path, how)| (path, how.to_owned())).into());
    let gate = bench.spaces.gate_checkout(&job(), &result.committed.commit).unwrap();
    assert!(gate.join("docs/guide.md").exists() && gate.join("new/file.txt").exists());
    // The user's tree stays as they have it, with the result in it as far as it shows it.
    bench.git(&user, &["config", "core.ignoreCase", "false"]);
    let request = bench.request(&base, &result.committed.commit);
    let merge = bench.ready(&request);
    let landed = bench.spaces.repository().land(&request, &merge).unwrap();
    assert!(matches!(landed, Landing::Landed(IntegrationTarget::Branch { .. })), "{landed:?}");
    assert!(user.join("src/A.txt").exists() && !user.join("docs").exists());
    assert_eq!(bench.git(&user, &["status", "--porcelain"]), "");
}

/// A branch in the middle of a rebase is checked out nowhere and is somebody's all the same.
#[test]
fn every_name_that_a_file_can_have_comes_through() {
    let bench = Bench::new();
    let base = bench.head();
    let names = [
        "-dash.txt",
        "a\nb.txt",
        "a\tb.txt",
        "\"quoted\" 'name'.txt",
        "übung.md",
        "日本.txt",
        "sp ace/x y.txt",
        "*.star",
        "back\\slash",
    ];
    let result = bench.attempt("names", &base, |tree| {
        for name in names {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
    });
    let changed: BTreeSet<_> = result.committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, names.into());
    let request = bench.request(&base, &result.committed.commit);
    let merge = bench.ready(&request);
    bench.spaces.repository().land(&request, &merge).unwrap();
    for name in names {
        assert_eq!(fs::read_to_string(bench.user().join(name)).unwrap(), name);
    }
    assert_eq!(bench.git(&bench.user(), &["status", "--porcelain"]), "");
}

/// Git does not look again at a file of the same size and second, unless its index was written in that second.
#[test]
fn a_copy_of_the_work_has_what_was_changed_in_the_second_of_the_commit() {
    let bench = Bench::new();
    let (user, file) = (bench.user(), bench.user().join("src/a.txt"));
    let second = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let changed = (0..30).any(|number| {
        let begun = second();
        fs::write(&file, format!("old {number:02}\n")).unwrap();
        bench.git(&user, &["commit", "-q", "-a", "-m", "old"]);
        fs::write(&file, format!("new {number:02}\n")).unwrap();
        second() == begun
    });
    assert!(changed, "a commit takes seconds here");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let place = bench.home.path().join("copy");
    fs::create_dir(&place).unwrap();
    let copy = WorkCopy::take(&user, &place, &environment(bench.home.path())).unwrap();
    let tree = |commit: &CommitId| copy.repository.commit(commit.as_str()).unwrap().tree;
    assert_ne!(tree(&copy.commit), tree(&copy.head), "the change is not in the copy");
}

/// The value of a secret gets into no commit, whatever holds it.
#[test]
fn a_secret_in_a_name_or_a_link_is_sent_back() {
    let bench = Bench::new();
    let (name, value) = ("SHOP_TOKEN".to_owned(), "s3cr3t-of-the-shop-4711".to_owned());
    helix_process::secrets::hold([helix_core::secrets::Secret { name, value: value.clone() }]);
    let base = bench.head();
    let made = bench.attempt("build", &base, |tree| {
        fs::write(tree.join(format!("{value}.txt")), "x\n").unwrap();
        fs::create_dir(tree.join(&value)).unwrap();
        fs::write(tree.join(&value).join("a"), "x\n").unwrap();
        std::os::unix::fs::symlink(format!("src/{value}"), tree.join("link")).unwrap();
        fs::write(tree.join("fine"), "x\n").unwrap();
    });
    let rules: Vec<&str> = made.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["result.secret"; 3]);
    let taken: Vec<&str> = made.committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(taken, ["fine"]);
    assert!(!format!("{made:?}").contains(&value), "{made:?}");
}
