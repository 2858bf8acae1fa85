//! The memory of failures in trouble: jobs go on as if there were none, the host says so once, and what can heal heals.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::reports::{PLAN, SCRIPT};
use crate::stage::{LIMIT, LOOK_AGAIN, Stage, apart};

/// Holds a database for itself until it is dropped.
struct Locked(Child);

impl Locked {
    fn hold(database: &std::path::Path) -> Self {
        let program = "import sqlite3, sys\n\
                       db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                       db.execute('BEGIN EXCLUSIVE')\nprint('held', flush=True)\nsys.stdin.read()\n";
        let mut child = Command::new("python3")
            .args(["-c", program])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut said).unwrap();
        assert_eq!(said, "held\n");
        Self(child)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Looks again and again until this is there: what is learned from a job comes after it.
async fn until<T>(stage: &Stage, mut there: impl AsyncFnMut() -> Option<T>) -> T {
    let start = std::time::Instant::now();
    loop {
        if let Some(found) = there().await {
            return found;
        }
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// How often the only failure was seen.
fn seen(stage: &Stage) -> Option<u64> {
    listed(stage, &[])
}

fn listed(stage: &Stage, query: &[&str]) -> Option<u64> {
    let listed = stage.helix(&[&["failures", "list", "--json"], query].concat()).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).ok()?;
    listed["failures"][0]["count"].as_u64()
}

/// Waits for the last that is learned from a failed job.
async fn seen_twice(stage: &Stage) {
    until(stage, async || (listed(stage, &["--ended", "gave_up"]) == Some(2)).then_some(())).await;
}

/// What the host has logged about the memory, once there is something.
async fn logged(stage: &Stage) -> Vec<String> {
    until(stage, async || {
        let log = stage.log();
        let lines = log.lines().filter(|line| line.contains("the memory of failures is of no help"));
        Some(lines.map(str::to_owned).collect::<Vec<_>>()).filter(|lines| !lines.is_empty())
    })
    .await
}

async fn reports(stage: &Stage, job: &str) -> Vec<Value> {
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let asked = http.get(format!("{url}/api/v1/jobs/{job}/reports")).bearer_auth(token);
    let list: Value = asked.send().await.unwrap().json().await.unwrap();
    list["reports"].as_array().unwrap().clone()
}

/// Runs a job that fails, and gives its reports: complete at once, whatever the memory's state.
async fn failed_job(stage: &Stage, key: &str) -> Vec<Value> {
    reports_of(stage, &ended_job(stage, key).await).await
}

async fn ended_job(stage: &Stage, key: &str) -> String {
    let job = stage.submit(&stage.plan("pages", PLAN), &stage.repo, key).await;
    stage.events(&job).await;
    assert_eq!(stage.job(&job).await["status"], "failed");
    job
}

async fn reports_of(stage: &Stage, job: &str) -> Vec<Value> {
    let reports = reports(stage, job).await;
    assert_eq!(reports.len(), 2, "{reports:#?}");
    for report in &reports {
        assert_eq!(report["report"]["why"]["content"]["category"], "FUNCTION_ERROR", "{report:#}");
        assert!((2..=4).contains(&report["report"]["actions"].as_array().unwrap().len()), "{report:#}");
    }
    reports
}

/// Damaged, no file at all, locked by another program: each is said once, with its code and remedy.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_in_trouble_costs_a_job_nothing_and_is_named_once() {
    for (trouble, code) in [("damaged", "HX0304"), ("a directory", "HX030"), ("locked", "HX0303")] {
        let stage = Stage::new(SCRIPT, "\n[failures]\ndeadline = \"200ms\"\n");
        let database = stage.sandbox.state().join("failures.db");
        std::fs::create_dir_all(stage.sandbox.state()).unwrap();
        let mut held = None;
        match trouble {
            "damaged" => std::fs::write(&database, "no database\n".repeat(1_000)).unwrap(),
            "a directory" => std::fs::create_dir(&database).unwrap(),
            _ => {
                // A memory that is there and works, of which another program takes hold.
                let first = stage.start();
                failed_job(&stage, "before").await;
                seen_twice(&stage).await;
                drop(first);
                std::fs::write(stage.sandbox.path().join("host.log"), "").unwrap();
                held = Some(Locked::hold(&database));
            }
        }
        let host = stage.start();
        failed_job(&stage, trouble).await;
        let lines = logged(&stage).await;
        drop(host);
        assert_eq!(lines.len(), 1, "{trouble}: {lines:#?}");
        assert!(lines[0].contains(code) && lines[0].contains("failures.db"), "{trouble}: {}", lines[0]);
        drop(held);
    }
}

/// With the memory locked a job takes the same steps as without one, and none of them waits for a deadline of the memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_memory_delays_no_job() {
    const DEADLINE: f64 = 5.0;
    let run = async |memory: &str| {
        let stage = Stage::new(SCRIPT, &format!("\n[failures]\nmemory = \"{memory}\"\ndeadline = \"{DEADLINE}s\"\n"));
        let host = stage.start();
        let mut held = None;
        if memory == "on" {
            ended_job(&stage, "before").await;
            seen_twice(&stage).await;
            held = Some(Locked::hold(&stage.sandbox.state().join("failures.db")));
        }
        let job = ended_job(&stage, "measured").await;
        let events = stage.events(&job).await;
        let steps: Vec<String> = events.iter().filter_map(|event| event["type"].as_str().map(str::to_owned)).collect();
        let steps: Vec<String> = steps.into_iter().filter(|step| !step.contains('.')).collect();
        let seconds = stage.job(&job).await["duration_seconds"].as_f64().unwrap();
        drop((held, host));
        (steps, seconds)
    };
    let (without, locked) = (run("off").await, run("on").await);
    println!("without a memory {:.2} s, locked {:.2} s", without.1, locked.1);
    assert_eq!(without.0, locked.0);
    assert!(locked.1 < without.1 + DEADLINE, "locked: {} s, without: {} s", locked.1, without.1);
}

/// A host is killed after its job has failed and before anything of it is remembered: the next one goes on from the journal.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_host_had_not_remembered_is_remembered_by_the_next_one() {
    let stage = Stage::new(SCRIPT, "\n[failures]\ndeadline = \"5s\"\n");
    let host = stage.start();
    ended_job(&stage, "first").await;
    seen_twice(&stage).await;
    let held = Locked::hold(&stage.sandbox.state().join("failures.db"));
    let job = ended_job(&stage, "second").await;
    drop(host);
    assert_eq!(seen(&stage), Some(2), "nothing of the second job");
    drop(held);
    let _next = stage.start();
    until(&stage, async || (seen(&stage) >= Some(4)).then_some(())).await;
    let written = until(&stage, async || {
        let reports = reports(&stage, &job).await;
        reports.iter().all(|report| report["artefact"].is_string()).then_some(reports)
    });
    assert_eq!(written.await.len(), 2);
    assert_eq!(seen(&stage), Some(4), "each attempt once");
}

/// Somebody removes the file under a running host: a new memory is begun, and what happens from then on is remembered.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_is_deleted_while_the_host_runs_is_begun_anew() {
    let stage = Stage::new(SCRIPT, "");
    let _host = stage.start();
    failed_job(&stage, "first").await;
    seen_twice(&stage).await;
    for end in ["", "-wal", "-shm"] {
        let file = stage.sandbox.state().join(format!("failures.db{end}"));
        if file.exists() {
            std::fs::remove_file(file).unwrap();
        }
    }
    let job = ended_job(&stage, "second").await;
    // Both attempts of the second job, and nothing else.
    seen_twice(&stage).await;
    let reports = until(&stage, async || {
        let reports = reports_of(&stage, &job).await;
        reports.iter().all(|report| report["artefact"].is_string()).then_some(reports)
    });
    let similar = &reports.await[0]["report"]["similar"];
    assert_eq!(*similar, json!({ "state": "known", "content": [] }), "what was known is gone");
}

/// A memory on a file system that cannot be written, or is full: jobs and commands go on, what is known stays of use, and the
/// host says once what is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_cannot_be_written_costs_a_job_nothing_and_is_named_once() {
    if !apart("failures::trouble::a_memory_that_cannot_be_written_costs_a_job_nothing_and_is_named_once") {
        return;
    }
    for trouble in ["read-only", "full"] {
        let stage = Stage::new(SCRIPT, "\n[failures]\ndeadline = \"2s\"\n");
        let database = stage.sandbox.state().join("failures.db");
        let first = stage.start();
        failed_job(&stage, "before").await;
        seen_twice(&stage).await;
        drop(first);
        std::fs::write(stage.sandbox.path().join("host.log"), "").unwrap();
        let disk = Disk::under(&stage, &database, trouble);

        let host = stage.start();
        let reports = failed_job(&stage, trouble).await;
        assert_eq!(reports[0]["report"]["why"]["state"], "known", "{trouble}: {:#}", reports[0]);
        let told = logged(&stage).await;
        drop(host);
        assert_eq!(told.len(), 1, "{trouble}: {told:#?}");
        assert!(told[0].contains("HX03") && told[0].contains("failures.db"), "{trouble}: {}", told[0]);

        // Commands: what is there can be read, and what cannot be done says so with the remedy.
        let listed = stage.helix(&["failures", "list", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        assert_eq!(listed["failures"][0]["count"], 2, "{trouble}: what was known before: {listed:#}");
        let id = listed["failures"][0]["fingerprint"].as_str().unwrap();
        let forgotten = stage.helix(&["failures", "forget", id]).output().unwrap();
        let said = String::from_utf8_lossy(&forgotten.stderr).into_owned();
        assert!(!forgotten.status.success() && said.contains("HX03"), "{trouble}: {said}");
        disk.heal();
        assert!(stage.helix(&["failures", "forget", id]).status().unwrap().success(), "{trouble}: it has healed");
    }
}

/// A small file system of its own, to which the memory has been moved, and on which nothing can be written any more.
struct Disk {
    root: std::path::PathBuf,
    trouble: &'static str,
}

impl Disk {
    fn under(stage: &Stage, database: &std::path::Path, trouble: &'static str) -> Self {
        let root = stage.sandbox.path().join("small");
        std::fs::create_dir(&root).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], &root);
        for end in ["", "-wal", "-shm"] {
            let file = database.with_file_name(format!("failures.db{end}"));
            if file.exists() {
                std::fs::copy(&file, root.join(format!("failures.db{end}"))).unwrap();
                std::fs::remove_file(&file).unwrap();
            }
        }
        std::os::unix::fs::symlink(root.join("failures.db"), database).unwrap();
        if trouble == "full" {
            let mut ballast = std::fs::File::create(root.join("ballast")).unwrap();
            for size in [1 << 16, 4096, 1] {
                while std::io::Write::write_all(&mut ballast, &vec![0; size]).is_ok() {}
            }
        } else {
            mount(&["-o", "remount,ro"], &root);
        }
        Self { root, trouble }
    }

    fn heal(&self) {
        if self.trouble == "full" {
            std::fs::remove_file(self.root.join("ballast")).unwrap();
        } else {
            mount(&["-o", "remount,rw"], &self.root);
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // With the namespace it goes anyway; this lets the sandbox be removed.
        let _unmounted = Command::new("umount").arg("--lazy").arg(&self.root).status();
    }
}

fn mount(arguments: &[&str], root: &std::path::Path) {
    assert!(Command::new("mount").args(arguments).arg(root).status().unwrap().success(), "{arguments:?}");
}
