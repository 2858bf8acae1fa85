//! Measures a phase's git work against the same done by hand. Run with `cargo test -p helix-git --test overhead -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test says where it fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use helix_core::evidence::Land;
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_git::{
    AttemptKey, CommitText, GitEnvironment, Integration, IntegrationRequest, Landing, Repository, Workspaces,
};

const ROUNDS: u32 = 25;

fn by_hand(top: &Path, home: &Path, round: u32) -> Duration {
    let git = |directory: &Path, args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(directory).env("HOME", home).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let tree = home.join(format!("hand{round}"));
    let branch = format!("hand{round}");
    let started = Instant::now();
    git(top, &["worktree", "add", "-q", "-b", &branch, tree.to_str().unwrap(), "HEAD"]);
    let made = started.elapsed();
    fs::write(tree.join(format!("hand{round}.txt")), "x").unwrap();
    let started = Instant::now();
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "work"]);
    git(top, &["merge", "-q", "--no-ff", "-m", "merge", &branch]);
    made + started.elapsed()
}

/// Time in the worktree, the result, and the integration.
fn text() -> CommitText {
    CommitText { subject: "work".into(), body: String::new(), trailers: Vec::new() }
}

fn request(job: JobId, base: CommitId, result: CommitId) -> IntegrationRequest {
    let (name, branch) = ("bench".into(), Some("main".into()));
    IntegrationRequest { job, name, base, result, branch, land: Land::Merge, text: text() }
}

fn by_helix(spaces: &Workspaces, round: u32) -> [Duration; 3] {
    let repository = spaces.repository();
    let base: CommitId = repository.branch_tip("main").unwrap().unwrap();
    let job = JobId::new(format!("j{round}")).unwrap();
    let key = AttemptKey { job: job.clone(), phase: PhaseId::new("p").unwrap(), attempt: 1 };
    let started = Instant::now();
    let tree = spaces.prepare_attempt(&key, &base).unwrap();
    let made = started.elapsed();
    fs::write(tree.path.join(format!("helix{round}.txt")), "x").unwrap();
    let started = Instant::now();
    let text = text();
    let result = spaces.commit_attempt(&key, &base, &base, &text).unwrap().committed;
    let committed = started.elapsed();
    let started = Instant::now();
    let request = request(job, base, result.commit);
    match repository.prepare_integration(&request).unwrap() {
        Integration::Ready(merge) => assert!(matches!(repository.land(&request, &merge).unwrap(), Landing::Landed(_))),
        other => panic!("{other:?}"),
    }
    [made, committed, started.elapsed()]
}

#[test]
#[ignore = "a measurement; its figure is only worth something on a quiet machine"]
fn a_phase_costs_at_most_12_ms_more_than_the_same_git_by_hand() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".gitconfig"), "[user]\nname = A\nemail = a@example.org\n").unwrap();
    let user = home.path().join("user");
    for index in 0..300 {
        let directory = user.join(format!("d{}", index % 20));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("f{index}.txt")), "some text\n".repeat(40)).unwrap();
    }
    let environment = GitEnvironment::from_variables([
        (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
        (OsString::from("HOME"), home.path().into()),
    ]);
    let repository = Repository::init(&user, environment).unwrap();
    let spaces = Workspaces::new(repository, &home.path().join("state")).unwrap();
    let (mut hand, mut helix) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        hand.push(by_hand(&user, home.path(), round));
        helix.push(by_helix(&spaces, round));
    }
    let middle = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let phases: Vec<Duration> = helix.iter().map(|[made, committed, _]| *made + *committed).collect();
    let whole: Vec<Duration> = helix.iter().map(|parts| parts.iter().sum()).collect();
    let parts = [0, 1, 2].map(|index| middle(helix.iter().map(|parts| parts[index]).collect()));
    let (hand, phase, whole) = (middle(hand), middle(phases), middle(whole));
    println!("by hand {hand:?}; helix phase {phase:?}, with integration {whole:?}; parts {parts:?}");
    println!(
        "ratio of a phase {:.2}, with integration {:.2}",
        phase.as_secs_f64() / hand.as_secs_f64(),
        whole.as_secs_f64() / hand.as_secs_f64()
    );
    assert!(phase <= hand + Duration::from_millis(12), "{phase:?} against {hand:?}");
}

/// Files of the repository in which the steps of a phase are measured one by one.
const MANY: usize = 20_000;

#[test]
#[ignore = "a measurement; its figures are only worth something on a quiet machine"]
fn what_each_step_costs_among_many_files() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".gitconfig"), "[user]\nname = A\nemail = a@example.org\n").unwrap();
    let user = home.path().join("user");
    for index in 0..MANY {
        let directory = user.join(format!("d{}/e{}", index % 40, index % 400));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("f{index}.txt")), format!("{index}\n").repeat(100)).unwrap();
    }
    let environment = GitEnvironment::from_variables([
        (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
        (OsString::from("HOME"), home.path().into()),
    ]);
    let repository = Repository::init(&user, environment).unwrap();
    let packed = Command::new("git").args(["-C", user.to_str().unwrap(), "gc", "-q"]).env("HOME", home.path()).status();
    assert!(packed.unwrap().success());
    let spaces = Workspaces::new(repository, &home.path().join("state")).unwrap();
    let mut rows: Vec<[Duration; 5]> = Vec::new();
    for round in 0..9 {
        let repository = spaces.repository();
        let base: CommitId = repository.branch_tip("main").unwrap().unwrap();
        let job = JobId::new(format!("j{round}")).unwrap();
        let key = AttemptKey { job: job.clone(), phase: PhaseId::new("p").unwrap(), attempt: 1 };
        let mut marks = vec![Instant::now()];
        let tree = spaces.prepare_attempt(&key, &base).unwrap();
        marks.push(Instant::now());
        for number in 0..20 {
            fs::write(tree.path.join(format!("d1/new{round}-{number}.txt")), "x").unwrap();
        }
        // An agent takes longer than the second in which git would have to read every file again.
        std::thread::sleep(Duration::from_millis(1_100));
        marks.push(Instant::now());
        let text = text();
        let result = spaces.commit_attempt(&key, &base, &base, &text).unwrap().committed;
        marks.push(Instant::now());
        spaces.gate_checkout(&job, &result.commit).unwrap();
        marks.push(Instant::now());
        spaces.gate_checkout(&job, &result.commit).unwrap();
        marks.push(Instant::now());
        let request = request(job.clone(), base, result.commit);
        match repository.prepare_integration(&request).unwrap() {
            Integration::Ready(merge) => {
                assert!(matches!(repository.land(&request, &merge).unwrap(), Landing::Landed(_)));
            }
            other => panic!("{other:?}"),
        }
        marks.push(Instant::now());
        spaces.remove_job(&job, &[]).unwrap();
        let steps = [(0, 1), (2, 3), (3, 4), (4, 5), (5, 6)];
        rows.push(steps.map(|(from, to)| marks[to] - marks[from]));
    }
    for (step, name) in ["prepare", "commit", "gate checkout", "gate again", "land"].iter().enumerate() {
        let mut times: Vec<Duration> = rows.iter().map(|row| row[step]).collect();
        times.sort_unstable();
        println!("{name}: {:?} (from {:?} to {:?})", times[times.len() / 2], times[0], times[times.len() - 1]);
    }
}
