//! A full or read-only disk under the repository, the state directory being on another: an error of the environment with its remedy,
//! the user's branch and files as they were, and the job goes on where it stopped.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Disk, apart, says_so, text, wait_for};
use crate::stage::Stage;

/// A repository on a small disk of its own.
struct Ground {
    disk: Disk,
    repo: PathBuf,
    base: String,
}

impl Ground {
    fn of(stage: &Stage) -> Self {
        let root = stage.sandbox.path().join("disk");
        std::fs::create_dir_all(&root).unwrap();
        let disk = Disk::over(root.clone());
        let repo = root.join("repo");
        stage.git(&stage.repo, &["clone", "-q", "--no-hardlinks", ".", repo.to_str().unwrap()]);
        let base = stage.git(&repo, &["rev-parse", "HEAD"]);
        Self { disk, repo, base }
    }

    /// The user's branch, files and objects are as they were.
    fn is_untouched(&self, stage: &Stage) {
        assert_eq!(stage.git(&self.repo, &["rev-parse", "HEAD"]), self.base);
        let status = stage.git(&self.repo, &["--no-optional-locks", "status", "--porcelain"]);
        assert_eq!(status.trim(), "");
        stage.git(&self.repo, &["fsck", "--strict", "--connectivity-only"]);
    }
}

/// `helix run` beside the test, until it is waited for.
fn run(stage: &Stage, plan: &Path, repo: &Path) -> std::process::Child {
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", repo.to_str().unwrap()]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// The surroundings are at fault, and it says which and what to do.
fn is_environment(output: &Output) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("hint") || said.contains("resume"), "{said}");
    assert!(!said.contains("succeeded"), "{said}");
}

fn job_of(stage: &Stage) -> String {
    let listed = stage.helix(&["--json", "jobs", "list"]).output().unwrap();
    let jobs: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    jobs[0]["id"].as_str().unwrap().to_owned()
}

fn resume(stage: &Stage, id: &str) -> Output {
    stage.helix(&["jobs", "resume", id]).output().unwrap()
}

/// A stage whose agent makes a file of this size, and what the names of its waits begin with.
fn staged(size: usize) -> (Stage, PathBuf) {
    let stage = Stage::new("parts: []\n", "");
    let gate = stage.shared().join("at");
    stage.agent_does(&script(&gate, size));
    (stage, gate)
}

/// Two waits: in the agent's turn, and in the gate of its result.
fn script(gate: &Path, size: usize) -> String {
    let gate = gate.display();
    format!(
        "parts:\n  - name: big\n    prompt: {{ matches: '(?i)phase `big`' }}\n    act:\n      steps:\n        - run: 'head -c {size} /dev/urandom > big.bin; mkdir -p deep/er; echo new > deep/er/new.txt; echo changed >> README.md; touch {gate}.agent; until [ -e {gate}.go ]; do sleep 0.05; done'\n"
    )
}

fn plan(gate: &Path) -> String {
    let gate = gate.display();
    format!(
        "name: Big\nphases:\n  - id: big\n    type: development\n    description: Big\n    outputs: [big.bin, README.md]\n    gates:\n      - {{ type: command, timeout: 5m, command: \"sh -c 'touch {gate}.gate; until [ -e {gate}.gone ]; do sleep 0.05; done'\" }}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_finds_no_room_is_kept_and_lands_when_there_is_space() {
    if !apart("disk_full::repository::a_result_that_finds_no_room_is_kept_and_lands_when_there_is_space") {
        return;
    }
    let (stage, gate) = staged(300_000);
    let ground = Ground::of(&stage);
    for file in ["at.gone", "at.go"] {
        std::fs::write(stage.shared().join(file), "").unwrap();
    }
    // All but the landing happens on another disk.
    ground.disk.fill();
    let output = run(&stage, &stage.plan("big", &plan(&gate)), &ground.repo).wait_with_output().unwrap();
    is_environment(&output);
    assert!(says_so(&said(&output)), "{}", said(&output));
    ground.is_untouched(&stage);
    // Another host starts meanwhile and tidies up.
    drop(stage.start());
    ground.disk.make_space();
    let output = resume(&stage, &job_of(&stage));
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::metadata(ground.repo.join("big.bin")).unwrap().len(), 300_000);
    assert_eq!(stage.plays_of("big"), 1, "the work was done once: {}", said(&output));
    let left = std::fs::read_dir(stage.sandbox.state().join("worktrees")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).filter(|name| name != ".trash").collect();
    assert!(left.is_empty(), "worktrees are left: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_of_the_users_files_that_finds_no_room_is_taken_back() {
    if !apart("disk_full::repository::an_update_of_the_users_files_that_finds_no_room_is_taken_back") {
        return;
    }
    let (stage, gate) = staged(3_000_000);
    let ground = Ground::of(&stage);
    std::fs::write(stage.shared().join("at.go"), "").unwrap();
    let running = run(&stage, &stage.plan("big", &plan(&gate)), &ground.repo);
    wait_for(&stage.shared().join("at.gate"), &stage).await;
    // Room for the objects of the merge, not for the files that it brings.
    ground.disk.fill();
    let ballast = std::fs::OpenOptions::new().write(true).open(ground.disk.ballast()).unwrap();
    ballast.set_len(ballast.metadata().unwrap().len() - 4_500_000).unwrap();
    drop(ballast);
    std::fs::write(stage.shared().join("at.gone"), "").unwrap();
    let output = running.wait_with_output().unwrap();
    is_environment(&output);
    assert!(said(&output).contains("git merge"), "{}", said(&output));
    ground.is_untouched(&stage);
    ground.disk.make_space();
    let output = resume(&stage, &job_of(&stage));
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::metadata(ground.repo.join("big.bin")).unwrap().len(), 3_000_000);
    assert_eq!(stage.git(&ground.repo, &["status", "--porcelain"]).trim(), "");
    assert_eq!(stage.plays_of("big"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_becomes_read_only_is_left_as_it_is() {
    if !apart("disk_full::repository::a_repository_that_becomes_read_only_is_left_as_it_is") {
        return;
    }
    let (stage, gate) = staged(1_000);
    let ground = Ground::of(&stage);
    std::fs::write(stage.shared().join("at.gone"), "").unwrap();
    let running = run(&stage, &stage.plan("big", &plan(&gate)), &ground.repo);
    wait_for(&stage.shared().join("at.agent"), &stage).await;
    let remount = |how: &str| {
        let root = ground.repo.parent().unwrap();
        let status = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(root).status().unwrap();
        assert!(status.success());
    };
    remount("ro");
    std::fs::write(stage.shared().join("at.go"), "").unwrap();
    let output = running.wait_with_output().unwrap();
    is_environment(&output);
    assert!(said(&output).contains("Read-only file system"), "{}", said(&output));
    ground.is_untouched(&stage);
    remount("rw");
    let output = resume(&stage, &job_of(&stage));
    assert!(output.status.success(), "{}", said(&output));
    assert!(ground.repo.join("big.bin").exists());
    assert_eq!(stage.plays_of("big"), 1);
}
