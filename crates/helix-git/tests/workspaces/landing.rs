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
    let work = |tree: &Path| {
        fs::write(tree.join("new.txt"), "n").unwrap();
        fs::write(tree.join("src/a.txt"), "one\n2\nthree\n").unwrap();
    };
    let result = bench.attempt("build", &base, work).committed;
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    let user = bench.user();
    let beside = |reason: &str| match bench.spaces.repository().land(&request, &merge).unwrap() {
        Landing::Landed(IntegrationTarget::Beside { branch, why, command, .. }) => {
            assert_eq!(branch, "helix/add-a-thing-j0001");
            assert!(why.contains(reason), "{why}");
            assert_eq!(bench.git(&user, &["rev-parse", &branch]), merge.commit.as_str());
            assert_eq!(bench.head(), base);
            command
        }
        other => panic!("{other:?}"),
    };
    fs::write(user.join("src/a.txt"), "mine").unwrap();
    beside("src/a.txt in ");
    beside("uncommitted changes");
    // Staged work is work.
    bench.git(&user, &["add", "src/a.txt"]);
    beside("uncommitted changes");
    bench.git(&user, &["reset", "--quiet"]);
    assert_eq!(fs::read_to_string(user.join("src/a.txt")).unwrap(), "mine");
    bench.git(&user, &["checkout", "--quiet", "src/a.txt"]);
    fs::write(user.join("new.txt"), "my own, untracked").unwrap();
    let command = beside("did not update");
    assert_eq!(fs::read_to_string(user.join("new.txt")).unwrap(), "my own, untracked");
    fs::write(user.join(".git/MERGE_HEAD"), format!("{base}\n")).unwrap();
    beside("a merge is in progress");
    fs::remove_file(user.join(".git/MERGE_HEAD")).unwrap();
    // The command that is shown works.
    let shell = Command::new("sh").args(["-c", &command]).env("HOME", bench.home.path()).output().unwrap();
    assert!(shell.status.success(), "{command}: {}", String::from_utf8_lossy(&shell.stderr));
    assert_eq!(bench.head(), merge.commit);
    assert_eq!(fs::read_to_string(user.join("new.txt.mine")).unwrap(), "my own, untracked");
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
    let first = |tree: &Path| fs::write(tree.join("src/a.txt"), format!("zero\n{old}")).unwrap();
    let result = bench.attempt("build", &base, first).committed;
    fs::write(user.join("src/a.txt"), format!("{old}mine\n")).unwrap();
    let request = bench.request(&base, &result.commit);
    taken(&request, &bench.ready(&request));
    assert_eq!(fs::read_to_string(user.join("src/a.txt")).unwrap(), format!("zero\n{old}mine\n"));
    bench.git(&user, &["checkout", "--quiet", "src/a.txt"]);
    // The user has a file in the place of a new one.
    let result = bench.attempt("new", &bench.head(), |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    fs::write(user.join("new.txt"), "mine").unwrap();
    let request = bench.request(&bench.head(), &result.commit);
    taken(&request, &bench.ready(&request));
    let texts = ["new.txt", "new.txt.mine"].map(|name| fs::read_to_string(user.join(name)).unwrap());
    assert_eq!(texts, ["n", "mine"]);
    fs::remove_file(user.join("new.txt.mine")).unwrap();
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
    let script =
        "#!/bin/sh\nif [ \"$3\" = merge ]; then git -C \"$2\" switch --quiet -c feature; fi\nexec git \"$@\"\n";
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let repository = Repository::open(&bench.user(), environment(bench.home.path()).with_program(&wrapper)).unwrap();
    let spaces = Workspaces::new(repository, &bench.home.path().join("state")).unwrap();
    let landed = spaces.repository().land(&request, &merge).unwrap();
    let Landing::Landed(IntegrationTarget::Beside { branch, why, .. }) = landed else { panic!("{landed:?}") };
    assert!(why.contains("the result is on feature now"), "{why}");
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

/// As with git: only changes to what the result changes are in its way.
#[test]
fn changes_that_the_result_does_not_touch_stay_and_are_no_obstacle() {
    let bench = Bench::new();
    let user = bench.user();
    for (name, text) in [("edited.txt", "e"), ("staged.txt", "s"), ("removed.txt", "r"), ("moved.txt", "m")] {
        fs::write(user.join(name), text).unwrap();
    }
    bench.git(&user, &["add", "."]);
    bench.git(&user, &["commit", "--quiet", "-m", "more"]);
    let base = bench.head();
    let work = |tree: &Path| {
        fs::write(tree.join("src/a.txt"), "changed\n").unwrap();
        fs::write(tree.join("new.txt"), "n").unwrap();
    };
    let result = bench.attempt("build", &base, work).committed;
    fs::write(user.join("edited.txt"), "mine").unwrap();
    fs::write(user.join("staged.txt"), "staged").unwrap();
    bench.git(&user, &["add", "staged.txt"]);
    bench.git(&user, &["mv", "moved.txt", "elsewhere.txt"]);
    fs::remove_file(user.join("removed.txt")).unwrap();
    let status = bench.git(&user, &["status", "--porcelain"]);
    let request = bench.request(&base, &result.commit);
    let merge = bench.ready(&request);
    let landed = bench.spaces.repository().land(&request, &merge).unwrap();
    assert_eq!(landed, Landing::Landed(IntegrationTarget::Branch { branch: "main".into() }));
    assert_eq!(bench.head(), merge.commit);
    assert_eq!(bench.git(&user, &["status", "--porcelain"]), status);
    assert_eq!(fs::read_to_string(user.join("src/a.txt")).unwrap(), "changed\n");
}

/// One commit on the branch, with nothing of the phases behind it; found again after a crash, and taken out by one revert.
#[test]
fn a_squashed_result_is_one_commit_that_is_found_again() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = IntegrationRequest { land: Land::Squash, ..bench.request(&base, &result.commit) };
    let repository = bench.spaces.repository();
    let merge = bench.ready(&request);
    assert_eq!(bench.ready(&request), merge, "made again it is another commit");
    assert!(matches!(repository.land(&request, &merge).unwrap(), Landing::Landed(IntegrationTarget::Branch { .. })));
    let commits = format!("{base}..HEAD");
    assert_eq!(bench.git(&bench.user(), &["rev-list", "--count", &commits]), "1");
    let message = bench.git(&bench.user(), &["log", "-1", "--format=%B"]);
    assert!(message.contains(&format!("Helix-Job: j0001\nHelix-Result: {}", result.commit)), "{message}");
    // Whatever the branch has got since.
    fs::write(bench.user().join("theirs.txt"), "t").unwrap();
    bench.git(&bench.user(), &["add", "."]);
    bench.git(&bench.user(), &["commit", "--quiet", "-m", "theirs"]);
    match repository.prepare_integration(&request).unwrap() {
        Integration::Already { commit, .. } => assert_eq!(commit.id, merge.commit),
        other => panic!("{other:?}"),
    }
    // Another result of the same job is another commit.
    let more = bench.attempt("more", &base, |tree| fs::write(tree.join("more.txt"), "m").unwrap()).committed;
    let more = bench.ready(&IntegrationRequest { result: more.commit, ..request.clone() });
    assert_ne!(more.commit, merge.commit);
    let revert = helix_git::RevertRequest {
        job: job(),
        name: "Add: a thing".into(),
        by: "ada".into(),
        merges: vec![merge.commit],
        branch: "main".into(),
        keep: Vec::new(),
    };
    let helix_git::Revert::Ready(prepared) = repository.prepare_revert(&revert).unwrap() else { panic!() };
    repository.land_revert(&revert, &prepared, &[]).unwrap();
    assert!(!bench.user().join("new.txt").exists() && bench.user().join("theirs.txt").exists());
}

#[test]
fn a_result_that_is_to_stay_on_its_branch_moves_no_other() {
    let bench = Bench::new();
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = IntegrationRequest { land: Land::Branch, ..bench.request(&base, &result.commit) };
    let repository = bench.spaces.repository();
    assert_eq!(repository.prepare_integration(&request).unwrap(), Integration::OwnBranch);
    let target = repository.land_beside(&request, &request.result, "as asked".into()).unwrap();
    let IntegrationTarget::Beside { branch, .. } = target else { panic!("{target:?}") };
    assert_eq!(bench.git(&bench.user(), &["rev-parse", &branch]), result.commit.as_str());
    assert_eq!(bench.head(), base);
}

/// What failed is in nobody's history, and neither are the markers of a conflict that was resolved.
#[test]
fn attempts_that_failed_and_conflict_markers_do_not_land() {
    let bench = Bench::new();
    let (base, spaces) = (bench.head(), &bench.spaces);
    let attempt = |phase: &str, number: u32, base: &CommitId, start: &CommitId, text: &str| {
        let key = AttemptKey { attempt: number, ..key(phase) };
        let tree = spaces.prepare_attempt(&key, start).unwrap();
        fs::write(tree.path.join("src/a.txt"), text).unwrap();
        spaces.commit_attempt(&key, base, start, &text_of(number)).unwrap().committed.commit
    };
    let broken = attempt("ours", 1, &base, &base, "broken\n");
    let ours = attempt("ours", 2, &base, &broken, "ours\n");
    let theirs = attempt("theirs", 1, &base, &base, "theirs\n");
    let tips = [("ours", &ours), ("theirs", &theirs)];
    let tips = tips.map(|(phase, commit)| Tip { phase: PhaseId::new(phase).unwrap(), commit: commit.clone() });
    let marked = spaces.repository().merge_marked(&tips, "Merge conflicting results").unwrap();
    let unresolved = attempt("resolve", 1, &marked.id, &marked.id, "<<<<<<< still\n");
    let resolved = attempt("resolve", 2, &marked.id, &unresolved, "both\n");
    let request = bench.request(&base, &resolved);
    let merge = bench.ready(&request);
    spaces.repository().land(&request, &merge).unwrap();
    let history = bench.git(&bench.user(), &["rev-list", "HEAD"]);
    for absent in [&broken, &marked.id, &unresolved] {
        assert!(!history.contains(absent.as_str()), "{absent} is in {history}");
    }
    for there in [&ours, &theirs, &resolved] {
        assert!(history.contains(there.as_str()), "{there} is not in {history}");
    }
}

fn text_of(attempt: u32) -> CommitText {
    CommitText { subject: format!("Try {attempt}"), ..text() }
}

/// A branch that Helix left goes only where all of it is elsewhere and nobody has gone on with it.
#[test]
fn a_spent_branch_goes_and_work_stays() {
    let bench = Bench::new();
    let (base, user) = (bench.head(), bench.user());
    let result = bench.attempt("build", &base, |tree| fs::write(tree.join("new.txt"), "n").unwrap()).committed;
    let request = IntegrationRequest { land: Land::Branch, ..bench.request(&base, &result.commit) };
    let repository = bench.spaces.repository();
    repository.land_beside(&request, &request.result, "as asked".into()).unwrap();
    let name = "helix/add-a-thing-j0001";
    let spent = || repository.spent_branches(&job()).unwrap();
    assert_eq!(spent(), [], "it has the only copy");
    bench.git(&user, &["switch", "--quiet", name]);
    bench.git(&user, &["branch", "--quiet", "kept"]);
    assert_eq!(spent(), [], "it is checked out");
    bench.git(&user, &["switch", "--quiet", "main"]);
    bench.git(&user, &["merge", "--quiet", "--no-edit", name]);
    let found = spent();
    assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), [name]);
    assert_eq!(repository.spent_branches(&JobId::new("j000").unwrap()).unwrap(), [], "it is another job's");
    // Somebody goes on with it meanwhile.
    bench.git(&user, &["switch", "--quiet", name]);
    bench.git(&user, &["commit", "--quiet", "--allow-empty", "-m", "more"]);
    bench.git(&user, &["switch", "--quiet", "main"]);
    assert!(!repository.remove_spent(&found[0]).unwrap());
    assert_eq!(spent(), []);
    bench.git(&user, &["update-ref", &format!("refs/heads/{name}"), result.commit.as_str()]);
    assert!(repository.remove_spent(&spent()[0]).unwrap());
    assert_eq!(bench.git(&user, &["for-each-ref", "refs/heads/helix", "refs/helix"]), "");
    assert!(user.join("new.txt").exists());
}
