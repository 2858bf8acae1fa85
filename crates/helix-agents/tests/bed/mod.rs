//! A test bed for real processes: a directory of runs, a supervisor with a real keeper, and shell scripts as agents.
//!
//! Must not know what a single test is about.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use helix_agents::supervisor::Watching;
use helix_agents::{
    Grace, Invocation, LineReader, RunEnd, RunHandle, RunKind, RunRequest, Sandbox, Supervisor, SupervisorConfig, Walls,
};
use helix_core::ids::RunId;
use tempfile::TempDir;

pub struct Bed {
    pub scratch: TempDir,
    pub supervisor: Supervisor,
}

impl Bed {
    pub fn new() -> Self {
        Self::watching(Watching::Inotify)
    }

    pub fn watching(watching: Watching) -> Self {
        Self::with(tempfile::tempdir().unwrap(), watching)
    }

    /// Below this directory, which may be outside of `/tmp`.
    pub fn in_directory(directory: &Path) -> Self {
        Self::with(tempfile::tempdir_in(directory).unwrap(), Watching::Inotify)
    }

    fn with(scratch: TempDir, watching: Watching) -> Self {
        fs::create_dir(scratch.path().join("work")).unwrap();
        let supervisor = supervisor(&scratch.path().join("runs"), watching);
        Self { scratch, supervisor }
    }

    /// The same with a sandbox that its owner has configured.
    pub fn within(self, sandbox: Sandbox) -> Self {
        Self { supervisor: supervisor_within(&self.runs(), Watching::Inotify, sandbox), ..self }
    }

    /// Another supervisor over the same runs, as a restarted host would have.
    pub fn another(&self) -> Supervisor {
        supervisor(&self.runs(), Watching::Inotify)
    }

    pub fn runs(&self) -> PathBuf {
        self.scratch.path().join("runs")
    }

    pub fn work(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    /// A request for a shell script with a run id that no other test has.
    pub fn script(&self, script: &str) -> RunRequest {
        self.program("/bin/sh", &["-c", script])
    }

    pub fn program(&self, program: &str, args: &[&str]) -> RunRequest {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let id = format!("test-{}-{number}-{}", std::process::id(), env!("CARGO_CRATE_NAME"));
        RunRequest {
            run: RunId::new(id).unwrap(),
            invocation: Invocation {
                program: program.into(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
                cwd: self.work(),
                stdin: Vec::new(),
            },
            deadline: None,
            grace: Grace::each(Duration::from_secs(20)),
            kind: RunKind::default(),
            labels: BTreeMap::new(),
            walls: Some(Walls { writable: vec![self.work()], readable: vec![self.work()], ..Walls::default() }),
        }
    }

    pub async fn start(&self, request: &RunRequest) -> RunHandle {
        self.supervisor.start(request.clone()).await.unwrap()
    }

    /// Starts and waits for the first line.
    pub async fn begun(&self, request: &RunRequest, first: &str) -> (RunHandle, LineReader) {
        let handle = self.start(request).await;
        let mut lines = handle.lines();
        assert_eq!(next_line(&mut lines).await, first);
        (handle, lines)
    }

    /// Runs to the end and asserts that nothing is left.
    pub async fn run(&self, request: &RunRequest) -> RunEnd {
        let end = self.start(request).await.ended().await;
        assert_nothing_left(&request.run);
        end
    }
}

pub fn supervisor(runs: &Path, watching: Watching) -> Supervisor {
    supervisor_within(runs, watching, Sandbox::default())
}

fn supervisor_within(runs: &Path, watching: Watching, sandbox: Sandbox) -> Supervisor {
    let runs_dir = runs.to_owned();
    let config = SupervisorConfig {
        runs_dir,
        keeper: keeper(),
        keeper_args: Vec::new(),
        watching,
        sandbox,
        seal: helix_agents::RunSeal::new([1; 32]),
    };
    Supervisor::new(config).unwrap()
}

/// `cargo test` builds examples beside the tests.
pub fn keeper() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples/keeper");
    assert!(path.exists(), "run `cargo build -p helix-agents --example keeper` first: {} is missing", path.display());
    path
}

pub async fn next_line(lines: &mut LineReader) -> String {
    let line = lines.next().await.expect("the stream ended early").unwrap();
    String::from_utf8(line.to_vec()).unwrap()
}

/// Every line up to the end of the run.
pub async fn all_lines(lines: &mut LineReader) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(line) = lines.next().await {
        all.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
    }
    all
}

/// Processes that carry the mark of this run and are no zombies.
pub fn marked_processes(run: &RunId) -> Vec<i32> {
    let mark = format!("HELIX_RUN_ID={run}");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
        })
        .collect()
}

/// Whether this pid is a process of which any thread runs: as long as one does, its locks are held.
pub fn is_running(pid: i32) -> bool {
    let runs = |thread: &Path| {
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
    };
    fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().any(|thread| runs(&thread.path()))
}

pub fn assert_nothing_left(run: &RunId) {
    assert_eq!(marked_processes(run), Vec::<i32>::new(), "processes of {run} outlived it");
}

pub fn signal(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}
