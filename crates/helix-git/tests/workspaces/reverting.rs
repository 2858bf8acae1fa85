//! Taking merged results out of a branch again, whatever its user has done and configured meanwhile.
//!
//! Must not know how results are made: that is the bench's business.

use helix_git::{Revert, RevertRequest};

use super::*;

impl Bench {
    /// A result that is merged into `main`: the merge commit.
    fn merged(&self, phase: &str, work: impl Fn(&Path)) -> CommitId {
        let base = self.head();
        let result = self.attempt(phase, &base, work).committed;
        let request = self.request(&base, &result.commit);
        let merge = self.ready(&request);
        let landed = Landing::Landed(IntegrationTarget::Branch { branch: "main".into() });
        assert_eq!(self.spaces.repository().land(&request, &merge).unwrap(), landed);
        merge.commit
    }

    fn prepared(&self, request: &RevertRequest) -> Revert {
        self.spaces.repository().prepare_revert(request).unwrap()
    }

    fn land(&self, request: &RevertRequest) -> (CommitId, Landing) {
        let Revert::Ready(prepared) = self.prepared(request) else { panic!("{:?}", self.prepared(request)) };
        self.spaces.repository().land_revert(request, &prepared, &[]).unwrap()
    }

    fn tree(&self) -> String {
        self.git(&self.user(), &["rev-parse", "HEAD^{tree}"])
    }
}

fn request(merges: &[&CommitId]) -> RevertRequest {
    let merges = merges.iter().map(|merge| (*merge).clone()).collect();
    let (name, branch) = ("Add: a thing".into(), "main".into());
    RevertRequest { job: job(), name, by: "ada".into(), merges, branch, keep: Vec::new() }
}

fn write(name: &'static str, text: &'static str) -> impl Fn(&Path) {
    move |tree: &Path| fs::write(tree.join(name), text).unwrap()
}

#[test]
fn every_merge_of_a_job_that_still_stands_is_taken_out_by_one_commit() {
    let bench = Bench::new();
    let before = bench.tree();
    let first = bench.merged("first", write("src/a.txt", "one\n2\nthree\n"));
    fs::write(bench.user().join("theirs.txt"), "theirs").unwrap();
    bench.git(&bench.user(), &["add", "."]);
    bench.git(&bench.user(), &["commit", "--quiet", "-m", "theirs"]);
    let second = bench.merged("second", write("src/a.txt", "one\nII\nthree\n"));
    let both = request(&[&first, &second]);
    let (commit, landed) = bench.land(&both);
    assert_eq!(
        (&landed, bench.head()),
        (&Landing::Landed(IntegrationTarget::Branch { branch: "main".into() }), commit.clone())
    );
    assert_eq!(fs::read_to_string(bench.user().join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    bench.git(&bench.user(), &["rm", "--quiet", "theirs.txt"]);
    bench.git(&bench.user(), &["commit", "--quiet", "-m", "no longer theirs"]);
    assert_eq!(bench.tree(), before);
    assert_eq!(bench.prepared(&both), Revert::Already { commit: commit.clone(), by: Some("ada".into()) });
    // One that came after that stands, and only that is taken out.
    let third = bench.merged("third", write("third.txt", "3"));
    let Revert::Ready(prepared) = bench.prepared(&request(&[&first, &second, &third])) else { panic!() };
    assert_eq!(prepared.merges, [third]);
    // A revert that somebody has taken back does not count, and can be made again.
    bench.git(&bench.user(), &["revert", "--no-edit", commit.as_str()]);
    assert_eq!(fs::read_to_string(bench.user().join("src/a.txt")).unwrap(), "one\nII\nthree\n");
    let (again, _) = bench.land(&both);
    assert_eq!(fs::read_to_string(bench.user().join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(bench.prepared(&both), Revert::Already { commit: again, by: Some("ada".into()) });
    // A merge that is on no branch is nobody's.
    let elsewhere = request(&[&CommitId::new("0123456789012345678901234567890123456789").unwrap()]);
    assert_eq!(bench.prepared(&elsewhere), Revert::Absent);
}

#[test]
fn a_revert_that_waits_beside_is_made_once_and_found_on_whichever_line_it_was_taken() {
    let bench = Bench::new();
    let merge = bench.merged("first", |tree| {
        write("new.txt", "n")(tree);
        write("src/a.txt", "one\n2\nthree\n")(tree);
    });
    let request = request(&[&merge]);
    fs::write(bench.user().join("src/a.txt"), "one\n2\nthree\nmine\n").unwrap();
    let (commit, landed) = bench.land(&request);
    let Landing::Landed(IntegrationTarget::Beside { branch, why, .. }) = landed else { panic!("{landed:?}") };
    assert!(why.contains("uncommitted changes"), "{why}");
    assert_eq!((bench.head(), bench.land(&request).0), (merge, commit.clone()));
    bench.git(&bench.user(), &["commit", "--quiet", "--all", "-m", "mine"]);
    bench.git(&bench.user(), &["merge", "--quiet", "--no-edit", &branch]);
    assert!(!bench.user().join("new.txt").exists());
    assert_eq!(bench.prepared(&request), Revert::Already { commit, by: Some("ada".into()) });
}

/// What somebody has committed on the branch beside is not lost when the revert is made anew.
#[test]
fn a_revert_that_waits_beside_moves_no_branch_with_which_somebody_has_gone_on() {
    let bench = Bench::new();
    let merge = bench.merged("first", write("src/a.txt", "one\n2\nthree\n"));
    let (request, user) = (request(&[&merge]), bench.user());
    let mine = |text: &str| fs::write(user.join("src/a.txt"), format!("one\n2\nthree\n{text}")).unwrap();
    let beside = || match bench.land(&request) {
        (commit, Landing::Landed(IntegrationTarget::Beside { branch, .. })) => (branch, commit),
        other => panic!("{other:?}"),
    };
    mine("mine\n");
    let (branch, _) = beside();
    // The target has moved, and nobody has touched the branch: it is Helix's own, and is set anew.
    bench.git(&user, &["commit", "--quiet", "--all", "-m", "mine"]);
    mine("mine\nagain\n");
    let (same, commit) = beside();
    assert_eq!((&same, bench.git(&user, &["rev-parse", &branch])), (&branch, commit.to_string()));
    // Somebody goes on with it, and the target moves again.
    bench.git(&user, &["stash", "--quiet"]);
    bench.git(&user, &["switch", "--quiet", &branch]);
    bench.git(&user, &["commit", "--quiet", "--allow-empty", "-m", "theirs"]);
    let theirs = bench.git(&user, &["rev-parse", "HEAD"]);
    bench.git(&user, &["switch", "--quiet", "main"]);
    bench.git(&user, &["commit", "--quiet", "--allow-empty", "-m", "more"]);
    bench.git(&user, &["stash", "pop", "--quiet"]);
    let (other, commit) = beside();
    assert_eq!((other, bench.git(&user, &["rev-parse", &branch])), (format!("{branch}-2"), theirs));
    assert_eq!(bench.git(&user, &["rev-parse", &format!("{branch}-2")]), commit.as_str());
}

/// What a user's patterns and logs are, and what `git replace` shows in a commit's place, hides no revert.
#[test]
fn no_configuration_hides_an_earlier_revert() {
    let bench = Bench::new();
    let merge = bench.merged("first", write("new.txt", "n"));
    let request = request(&[&merge]);
    let (commit, _) = bench.land(&request);
    let user = bench.user();
    let settings = [
        ("grep.patternType", "perl"),
        ("grep.extendedRegexp", "true"),
        ("log.showSignature", "true"),
        ("log.follow", "true"),
        ("log.date", "relative"),
        ("log.decorate", "full"),
        ("format.pretty", "oneline"),
        ("i18n.logOutputEncoding", "UTF-16"),
    ];
    for (key, value) in settings {
        bench.git(&user, &["config", key, value]);
        assert_eq!(
            bench.prepared(&request),
            Revert::Already { commit: commit.clone(), by: Some("ada".into()) },
            "{key}"
        );
    }
    let tree = format!("{commit}^{{tree}}");
    let other = bench.git(&user, &["commit-tree", &tree, "-p", merge.as_str(), "-m", "nothing of the kind"]);
    bench.git(&user, &["replace", commit.as_str(), &other]);
    let fresh = Repository::open(&user, environment(bench.home.path())).unwrap();
    assert_eq!(fresh.prepare_revert(&request).unwrap(), Revert::Already { commit, by: Some("ada".into()) });
}
