//! Bringing results into the target branch, whatever its user does meanwhile.
//!
//! Must not know how results are made: that is the bench's business.

use super::*;

#[test]
fn integration_updates_a_clean_tree_and_one_revert_undoes_it() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    fs::write(bench.user().join("untracked.txt"), "mine").unwrap();
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    assert!(!merge.unvalidated);
    assert_eq!(merge.tree, result.tree);
    let landed = Landing::Landed(IntegrationTarget::Branch { branch: "main".into() });
    let repository = bench.spaces.repository();
    assert_eq!(repository.land(&request, &merge).unwrap(), landed);
    assert_eq!(repository.land(&request, &merge).unwrap(), landed, "not idempotent");
    assert_eq!(bench.head(), merge.commit);
    assert!(bench.user().join("new.txt").exists() && bench.user().join("untracked.txt").exists());
    match repository.prepare_integration(&request).unwrap() {
        Integration::Already { commit, .. } => assert_eq!(commit.id, merge.commit),
        other => panic!("{other:?}"),
    }
    bench.git(&bench.user(), &["revert", "--no-edit", "-m", "1", "HEAD"]);
    assert_eq!(bench.git(&bench.user(), &["diff", base.as_str(), "HEAD"]), "");
}

#[test]
fn uncommitted_work_sends_the_result_beside_and_is_not_touched() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    let user = bench.user();
    let beside = |reason: &str| match bench.spaces.repository().land(&request, &merge).unwrap() {
        Landing::Landed(IntegrationTarget::Beside { branch, why, command }) => {
            assert_eq!(branch, "helix/add-a-thing-j0001");
            assert!(why.contains(reason), "{why}");
            assert_eq!(bench.git(&user, &["rev-parse", &branch]), merge.commit.as_str());
            assert_eq!(bench.head(), base);
            command
        }
        other => panic!("{other:?}"),
    };
    fs::write(user.join("src/a.txt"), "mine").unwrap();
    beside("uncommitted changes");
    assert_eq!(fs::read_to_string(user.join("src/a.txt")).unwrap(), "mine");
    bench.git(&user, &["checkout", "--quiet", "src/a.txt"]);
    fs::write(user.join("new.txt"), "my own, untracked").unwrap();
    let command = beside("did not update");
    assert_eq!(fs::read_to_string(user.join("new.txt")).unwrap(), "my own, untracked");
    fs::remove_file(user.join("new.txt")).unwrap();
    fs::write(user.join(".git/MERGE_HEAD"), format!("{base}\n")).unwrap();
    beside("a merge is in progress");
    fs::remove_file(user.join(".git/MERGE_HEAD")).unwrap();
    // The command that is shown works.
    let shell = Command::new("sh").args(["-c", &command]).env("HOME", bench.home.path()).output().unwrap();
    assert!(shell.status.success(), "{command}: {}", String::from_utf8_lossy(&shell.stderr));
    assert_eq!(bench.head(), merge.commit);
}

/// The command that takes what lies beside the branch works as it is printed, whatever kept it from the branch.
#[test]
fn the_command_that_is_shown_works_while_the_obstacle_is_there() {
    let bench = Bench::new();
    let (user, base) = (bench.user(), bench.head());
    let repository = bench.spaces.repository();
    let taken = |request: &IntegrationRequest, merge: &PreparedMerge| {
        let landed = repository.land(request, merge).unwrap();
        let Landing::Landed(IntegrationTarget::Beside { command, .. }) = landed else { panic!("{landed:?}") };
        let shell = Command::new("sh").args(["-c", &command]).env("HOME", bench.home.path()).output().unwrap();
        assert!(shell.status.success(), "{command}: {}", String::from_utf8_lossy(&shell.stderr));
        assert_eq!(bench.git(&user, &["rev-parse", "main"]), merge.commit.as_str(), "{command}");
    };
    // The user has changed a file.
    let old = fs::read_to_string(user.join("src/a.txt")).unwrap();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    fs::write(user.join("src/a.txt"), format!("{old}mine\n")).unwrap();
    let request = bench.request(&base, &result.commit);
    taken(&request, &bench.ready(&request));
    assert_eq!(fs::read_to_string(user.join("src/a.txt")).unwrap(), format!("{old}mine\n"));
    bench.git(&user, &["checkout", "--quiet", "src/a.txt"]);
    // The branch is checked out in another work tree, which is not clean.
    let (base, other) = (bench.head(), bench.home.path().join("other"));
    bench.git(&user, &["switch", "--quiet", "-c", "elsewhere"]);
    bench.git(&user, &["worktree", "add", "--quiet", other.to_str().unwrap(), "main"]);
    let result = bench.attempt("more", &base, |tree| fs::write(tree.join("src/a.txt"), "r").unwrap()).committed;
    fs::write(other.join("src/a.txt"), "theirs").unwrap();
    let request = bench.request(&base, &result.commit);
    taken(&request, &bench.ready(&request));
    // The branch is gone.
    bench.git(&user, &["worktree", "remove", "--force", other.to_str().unwrap()]);
    let base = CommitId::new(bench.git(&user, &["rev-parse", "main"])).unwrap();
    let result = bench.attempt("last", &base, |tree| fs::write(tree.join("last.txt"), "l").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    bench.git(&user, &["branch", "--quiet", "-D", "main"]);
    taken(&request, &merge);
}

#[test]
fn a_branch_that_is_switched_away_at_the_last_moment_is_not_called_merged() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    // The user switches between Helix's last look and its merge.
    let wrapper = bench.home.path().join("git-wrapper");
    let script = "#!/bin/sh\nif [ \"$1\" = merge ]; then git switch --quiet -c feature; fi\nexec git \"$@\"\n";
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let repository = Repository::open(&bench.user(), environment(bench.home.path()).with_program(&wrapper)).unwrap();
    let spaces = Workspaces::new(repository, &bench.home.path().join("state")).unwrap();
    let landed = spaces.repository().land(&request, &merge).unwrap();
    let Landing::Landed(IntegrationTarget::Beside { branch, why, .. }) = landed else { panic!("{landed:?}") };
    assert!(why.contains("feature has it now"), "{why}");
    assert_eq!(bench.git(&bench.user(), &["rev-parse", &branch]), merge.commit.as_str());
    assert_eq!(bench.git(&bench.user(), &["rev-parse", "main"]), base.as_str());
}

#[test]
fn a_rebase_or_bisection_of_the_target_in_any_work_tree_sends_the_result_beside() {
    let bench = Bench::new();
    let user = bench.user();
    let start = bench.head();
    let change = |directory: &Path, text: &str| {
        fs::write(directory.join("src/a.txt"), text).unwrap();
        bench.git(directory, &["commit", "--quiet", "--all", "-m", text]);
    };
    change(&user, "ours");
    bench.git(&user, &["switch", "--quiet", "-c", "upstream", start.as_str()]);
    change(&user, "theirs");
    bench.git(&user, &["switch", "--quiet", "main"]);
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    let beside = |word: &str, place: &Path| {
        let landed = bench.spaces.repository().land(&request, &merge).unwrap();
        let Landing::Landed(IntegrationTarget::Beside { why, .. }) = landed else { panic!("{landed:?}") };
        assert!(why.contains(word) && why.contains(place.to_str().unwrap()), "{why}");
        assert_eq!(bench.git(&user, &["rev-parse", "main"]), base.as_str());
    };
    let stopped_rebase = |directory: &Path, args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["rebase", "--quiet"]).args(args).current_dir(directory).env("HOME", bench.home.path());
        assert!(!command.output().unwrap().status.success(), "there is no conflict");
    };
    stopped_rebase(&user, &["upstream"]);
    beside("a rebase of main", &user);
    bench.git(&user, &["rebase", "--abort"]);
    // A rebase of another branch that carries the target along.
    bench.git(&user, &["switch", "--quiet", "-c", "onwards"]);
    fs::write(user.join("more.txt"), "m").unwrap();
    bench.git(&user, &["add", "."]);
    bench.git(&user, &["commit", "--quiet", "-m", "more"]);
    stopped_rebase(&user, &["--update-refs", "upstream"]);
    beside("a rebase of main", &user);
    bench.git(&user, &["rebase", "--abort"]);
    // In another work tree than the one that Helix was given.
    let other = bench.home.path().join("other");
    bench.git(&user, &["worktree", "add", "--quiet", other.to_str().unwrap(), "main"]);
    stopped_rebase(&other, &["upstream"]);
    beside("a rebase of main", &other);
    bench.git(&other, &["rebase", "--abort"]);
    for step in [vec!["start"], vec!["bad"], vec!["good", start.as_str()]] {
        bench.git(&other, &[vec!["bisect"], step].concat());
    }
    bench.git(&other, &["checkout", "--quiet", "--detach"]);
    beside("a bisect of main", &other);
    bench.git(&other, &["bisect", "reset"]);
    let landed = bench.spaces.repository().land(&request, &merge).unwrap();
    assert_eq!(landed, Landing::Landed(IntegrationTarget::Branch { branch: "main".into() }));
}

#[test]
fn a_moved_target_is_merged_and_needs_its_gates_again() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = bench.request(&base, &result.commit);
    let early = bench.ready(&request);
    fs::write(bench.user().join("theirs.txt"), "t").unwrap();
    bench.git(&bench.user(), &["add", "."]);
    bench.git(&bench.user(), &["commit", "--quiet", "-m", "theirs"]);
    let repository = bench.spaces.repository();
    assert_eq!(repository.land(&request, &early).unwrap(), Landing::Moved);
    let late = bench.ready(&request);
    assert!(late.unvalidated);
    // Not checked out anywhere: the branch is moved, no work tree is.
    bench.git(&bench.user(), &["switch", "--quiet", "--detach"]);
    assert!(matches!(repository.land(&request, &late).unwrap(), Landing::Landed(IntegrationTarget::Branch { .. })));
    assert_eq!(bench.git(&bench.user(), &["rev-parse", "main"]), late.commit.as_str());
    assert!(!bench.user().join("new.txt").exists());
    // A contradiction names its files.
    let clash = bench.attempt("clash", &base, |tree| fs::write(tree.join("theirs.txt"), "x").unwrap()).committed;
    match repository.prepare_integration(&bench.request(&base, &clash.commit)).unwrap() {
        Integration::Conflict { paths, .. } => assert_eq!(paths, ["theirs.txt"]),
        other => panic!("{other:?}"),
    }
}
