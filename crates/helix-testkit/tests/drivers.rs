//! Sandbox, projects, crash driver and process scan, each against the real thing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::process::Command;
use std::time::Duration;

use helix_testkit::crash::{CrashPlan, kill_at_random};
use helix_testkit::processes::{no_process_with_env, processes_with_env};
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;
use helix_testkit::scratch::Scratch;

fn tests_pass(project: Project) -> bool {
    let sandbox = Sandbox::new().unwrap();
    let directory = sandbox.project("shop", project).unwrap();
    assert_eq!(git(&directory, sandbox.environment(), &["status", "--porcelain"]).unwrap(), "");
    let output = sandbox.command("sh").current_dir(&directory).args(["-c", project.test_command()]).output().unwrap();
    output.status.success()
}

#[test]
fn projects_pass_their_own_tests_unless_one_fails_on_purpose() {
    for language in [Language::Python, Language::Rust, Language::JavaScript] {
        assert!(tests_pass(Project::healthy(language)), "{language:?}");
        assert!(!tests_pass(Project::with_failure(language)), "{language:?}");
    }
}

#[test]
fn sandbox_shows_nothing_of_the_machine() {
    let sandbox = Sandbox::new().unwrap();
    let output = sandbox.command("env").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("HOME={}", sandbox.home().display())), "{text}");
    assert!(!text.contains("ANTHROPIC_API_KEY"), "{text}");
}

#[test]
fn process_scan_finds_by_environment_and_then_no_more() {
    let mark = format!("scan-{}", std::process::id());
    let mut child = Command::new("sleep").arg("30").env("HELIX_RUN_ID", format!("{mark}-1")).spawn().unwrap();
    // For an instant during exec the kernel shows no environment at all.
    let start = std::time::Instant::now();
    let found = loop {
        let found = processes_with_env("HELIX_RUN_ID", &mark).unwrap();
        if !found.is_empty() || start.elapsed() > Duration::from_secs(10) {
            break found;
        }
    };
    assert_eq!(found.iter().map(|found| found.pid).collect::<Vec<_>>(), [child.id()]);
    child.kill().unwrap();
    // Not reaped yet: a zombie is nobody's leftover.
    no_process_with_env("HELIX_RUN_ID", &mark, Duration::from_secs(5));
    child.wait().unwrap();
}

/// A test that fails leaves no agent behind.
#[test]
fn what_runs_below_a_scratch_directory_goes_with_it() {
    let [gone, other] = [(); 2].map(|()| Scratch::new().unwrap());
    let start = |scratch: &Scratch| {
        Command::new("sleep").arg("60").env("HELIX_RUN_DIR", scratch.path().join("state/runs/r")).spawn().unwrap()
    };
    let (mut ended, mut untouched) = (start(&gone), start(&other));
    let marked =
        |scratch: &Scratch| processes_with_env("HELIX_RUN_DIR", &scratch.path().display().to_string()).unwrap();
    while marked(&gone).is_empty() || marked(&other).is_empty() {
        std::thread::yield_now();
    }
    drop(gone);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.wait().unwrap()), Some(9));
    assert!(untouched.try_wait().unwrap().is_none());
    drop(other);
    untouched.wait().unwrap();
}

#[test]
fn crash_driver_kills_and_starts_again_until_the_work_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lives");
    let plan = CrashPlan {
        seed: 42,
        shortest: Duration::from_millis(20),
        longest: Duration::from_millis(60),
        kills: 3,
        deadline: Duration::from_secs(30),
    };
    let command = || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo >> lives; sleep 30"]).current_dir(directory.path());
        command
    };
    let lives = || std::fs::read_to_string(&file).unwrap_or_default().lines().count();
    let report = kill_at_random(&plan, command, || lives() >= 4).unwrap();
    assert_eq!(report.kills, 3);
    assert_eq!(report.lives.len(), 4);
}
