//! Several `helix run` on one state directory: one of them is the host, and if it dies another one takes over.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};
use helix_testkit::agent::overlaps;
use helix_testkit::processes::lives;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Agents that work until the file `go` is there.
fn waiting(stage_root: &str) -> String {
    let part = |name: &str| {
        format!(
            "  - name: {name}\n    prompt: {{ matches: '(?i)phase `{name}`' }}\n    act:\n      steps:\n        - run: while [ ! -e {stage_root}/go ]; do sleep 0.05; done\n        - write: {{ path: {name}.md, content: {name} }}\n"
        )
    };
    format!("parts:\n{}{}", part("one"), part("two"))
}

fn new_stage() -> Stage {
    let stage = Stage::new("parts: []\n", "max_agents = 4\n");
    let root = stage.shared().display().to_string();
    stage.agent_does(&waiting(&root));
    stage
}

/// `helix run` of a plan with one phase of this name.
fn run(stage: &Stage, phase: &str) -> Process {
    run_in(stage, phase, &stage.sandbox.state())
}

/// The same with another state directory.
fn run_in(stage: &Stage, phase: &str, state: &Path) -> Process {
    let text = format!(
        "name: {phase}\nphases: [{{ id: {phase}, type: documentation, description: Write it., outputs: [{phase}.md] }}]\n"
    );
    let plan = stage.plan(phase, &text);
    let log = std::fs::File::create(stage.sandbox.path().join(format!("{phase}.log"))).unwrap();
    let mut command = stage.helix(&["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    command.env("HELIX_STATE_DIR", state);
    Process(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
}

fn until(what: &str, stage: &Stage, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        let logs = ["one", "two"].map(|name| std::fs::read_to_string(stage.sandbox.path().join(format!("{name}.log"))));
        assert!(start.elapsed() < LIMIT, "{what}: {logs:#?}");
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn host_pid(stage: &Stage) -> Option<u64> {
    let text = std::fs::read(stage.sandbox.state().join("host.json")).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["pid"].as_u64()
}

fn assert_all_is_well(stage: &Stage) {
    for name in ["one", "two"] {
        assert_eq!(std::fs::read_to_string(stage.repo.join(format!("{name}.md"))).unwrap(), name);
        assert_eq!(stage.plays_of(name), 1);
    }
    assert_eq!(stage.git(&stage.repo, &["status", "--porcelain"]), "");
    assert_eq!(overlaps(&stage.plays()).unwrap(), Vec::<PathBuf>::new());
    let listed = stage.helix(&["--json", "jobs"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let jobs = listed.as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        assert_eq!(job["status"], "succeeded", "{job:#}");
        Stage::no_agent_is_left(job["id"].as_str().unwrap());
    }
    stage.no_gate_is_left();
}

#[test]
fn two_runs_at_once_share_one_host_and_both_end_well() {
    let stage = new_stage();
    let (mut one, mut two) = (run(&stage, "one"), run(&stage, "two"));
    until("both agents work at the same time", &stage, || stage.plays_of("one") == 1 && stage.plays_of("two") == 1);
    std::fs::write(stage.shared().join("go"), "").unwrap();
    assert_eq!((one.0.wait().unwrap().code(), two.0.wait().unwrap().code()), (Some(0), Some(0)));
    assert_all_is_well(&stage);
}

#[test]
fn a_run_whose_host_is_killed_takes_over_and_brings_both_jobs_to_their_end() {
    let stage = new_stage();
    let mut one = run(&stage, "one");
    until("the first is the host", &stage, || {
        host_pid(&stage) == Some(u64::from(one.0.id())) && stage.plays_of("one") == 1
    });
    let mut two = run(&stage, "two");
    until("the second one's agent works", &stage, || stage.plays_of("two") == 1);
    one.0.kill().unwrap();
    one.0.wait().unwrap();
    until("the second is the host", &stage, || host_pid(&stage) == Some(u64::from(two.0.id())));
    std::fs::write(stage.shared().join("go"), "").unwrap();
    assert_eq!(two.0.wait().unwrap().code(), Some(0));
    assert_all_is_well(&stage);
}

/// Two hosts that know nothing of each other, each with a state directory of its own, land in one branch at the same time.
#[test]
fn two_hosts_bring_their_results_into_one_branch() {
    let stage = new_stage();
    let other = stage.sandbox.path().join("other-state");
    let (mut one, mut two) = (run(&stage, "one"), run_in(&stage, "two", &other));
    until("both agents work at the same time", &stage, || stage.plays_of("one") == 1 && stage.plays_of("two") == 1);
    std::fs::write(stage.shared().join("go"), "").unwrap();
    let log = |name: &str| std::fs::read_to_string(stage.sandbox.path().join(format!("{name}.log"))).unwrap();
    let codes = (one.0.wait().unwrap().code(), two.0.wait().unwrap().code());
    assert_eq!(codes, (Some(0), Some(0)), "{}\n{}", log("one"), log("two"));
    for name in ["one", "two"] {
        assert_eq!(std::fs::read_to_string(stage.repo.join(format!("{name}.md"))).unwrap(), name);
        assert_eq!(stage.plays_of(name), 1);
    }
    assert_eq!(stage.git(&stage.repo, &["status", "--porcelain"]), "");
    let worktrees = stage.git(&stage.repo, &["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.lines().filter(|line| line.starts_with("worktree ")).count(), 1, "{worktrees}");
}

/// How `helix run` in a terminal comes to its end before its job does.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    /// The terminal is closed.
    Closed,
    Killed,
    /// It is asked to go.
    Terminated,
}

#[test]
fn a_job_outlives_the_terminal_in_which_it_was_started() {
    for leaving in [Leaving::Closed, Leaving::Killed, Leaving::Terminated] {
        let stage = new_stage();
        let plan = stage.plan(
            "one",
            "name: one\nphases: [{ id: one, type: documentation, description: Write it., outputs: [one.md] }]\n",
        );
        // Under `nohup`, and so in some CI, the tests themselves were told to ignore what a closed terminal says.
        let command = format!(
            "exec env --default-signal=HUP '{}' run '{}' --project '{}'",
            env!("CARGO_BIN_EXE_helix"),
            plan.display(),
            stage.repo.display()
        );
        let mut script = stage.sandbox.command("script");
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]).env("SHELL", "/bin/sh");
        // Its own standard input stays open: `script` ends with it.
        let mut terminal = Process(script.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
        until("the agent works", &stage, || stage.plays_of("one") == 1 && host_pid(&stage).is_some());
        let host = u32::try_from(host_pid(&stage).unwrap()).unwrap();
        let send = |signal| kill_process(Pid::from_raw(i32::try_from(host).unwrap()).unwrap(), signal).unwrap();
        match leaving {
            Leaving::Closed => {
                terminal.0.kill().unwrap();
                terminal.0.wait().unwrap();
                assert!(lives(host), "the host is nobody's terminal's");
            }
            // The command at the terminal brings the next host.
            Leaving::Killed => send(Signal::KILL),
            Leaving::Terminated => send(Signal::TERM),
        }
        if !matches!(leaving, Leaving::Closed) {
            until("the host is gone", &stage, || !lives(host));
        }
        let listed = stage.helix(&["--json", "jobs"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let id = listed[0]["id"].as_str().unwrap();
        assert_eq!(listed[0]["status"], "running", "{leaving:?}: {listed:#}");
        std::fs::write(stage.shared().join("go"), "").unwrap();
        let watched = stage.helix(&["jobs", "watch", id]).output().unwrap();
        let said = String::from_utf8_lossy(&watched.stderr).into_owned();
        assert_eq!(watched.status.code(), Some(0), "{leaving:?}: {said}");
        assert_eq!(stage.plays_of("one"), 1, "{leaving:?}: the agent was started twice");
        assert_eq!(std::fs::read_to_string(stage.repo.join("one.md")).unwrap(), "one");
        Stage::no_agent_is_left(id);
    }
}

/// A host that is killed while a gate runs leaves its command to a keeper, and the next host says how that very process ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_outlives_the_host_that_began_it() {
    let part = "parts:\n  - name: one\n    prompt: { matches: '(?i)phase `one`' }\n    act: { steps: [{ write: { path: one.md, content: one } }] }\n";
    let stage = Stage::new(part, "");
    let (began, go) = (stage.shared().join("began"), stage.shared().join("go"));
    let script = format!(
        "echo $$ >> {0}; setsid sleep 300 & until test -e {1}; do sleep 0.02; done; rm {1}; echo it was $$",
        began.display(),
        go.display()
    );
    let file = stage.shared().join("gate.sh");
    std::fs::write(&file, script).unwrap();
    let plan = format!(
        "name: p\nphases: [{{ id: one, type: documentation, description: Write it., outputs: [one.md], gates: [{{ type: command, command: \"sh {}\" }}] }}]\n",
        file.display()
    );
    let mut first = stage.start();
    let id = stage.submit_without_preflight(&stage.plan("p", &plan), &stage.repo, "p").await;
    until("the gate does not begin", &stage, || began.exists());
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    let process = std::fs::read_to_string(&began).unwrap();
    assert!(lives(process.trim().parse().unwrap()), "the gate died with its host");

    let _second = stage.start();
    stage.reachable().await;
    std::fs::write(&go, "").unwrap();
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}\n{}", stage.log());
    assert_eq!(std::fs::read_to_string(&began).unwrap(), process, "the gate ran more than once");
    let logs = std::fs::read_dir(stage.sandbox.state().join("gates").join(&id)).unwrap().flatten();
    let logs: Vec<String> = logs.map(|log| std::fs::read_to_string(log.path()).unwrap()).collect();
    assert_eq!(logs, [format!("it was {process}")]);
    Stage::no_agent_is_left(&id);
    stage.no_gate_is_left();
}

/// Passes everything on to the host behind a socket, in whose place it listens, but ends each connection that begins a request so after a job's events were asked for,
/// until they are asked for again. Gives how often they were.
fn breaking(socket: &Path, head: String) -> Arc<AtomicUsize> {
    let host = socket.with_extension("host");
    std::fs::rename(socket, &host).unwrap();
    let listener = UnixListener::bind(socket).unwrap();
    let followed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&followed);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), UnixStream::connect(&host).unwrap());
            let (mut answers, mut asker) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _passed_on = std::io::copy(&mut answers, &mut asker);
                let _closed = asker.shutdown(Shutdown::Both);
            });
            let (followed, head) = (Arc::clone(&followed), head.clone());
            std::thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                while let Ok(length @ 1..) = client.read(&mut buffer) {
                    let asked = String::from_utf8_lossy(&buffer[..length]);
                    let before = followed.fetch_add(usize::from(asked.contains("/events")), Ordering::SeqCst);
                    let breaks = before == 1 && asked.starts_with(&head);
                    if breaks || server.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                }
                let _closed = server.shutdown(Shutdown::Both);
                let _closed = client.shutdown(Shutdown::Both);
            });
        }
    });
    counted
}

/// The next host has no more events for it, and nothing else would tell it that the job is over.
#[tokio::test]
async fn a_watcher_that_loses_its_host_after_the_last_event_ends_with_the_job() {
    let stage = new_stage();
    let _host = stage.start();
    let plan = "name: one\nphases: [{ id: one, type: documentation, description: Write it., outputs: [one.md] }]\n";
    let id = stage.submit(&stage.plan("one", plan), &stage.repo, "one").await;
    stage.reachable().await;
    let socket = stage.sandbox.state().join("terminal/host.sock");
    let followed = breaking(&socket, format!("GET /api/v1/jobs/{id} HTTP"));

    let mut watcher = Process(stage.helix(&["jobs", "watch", &id]).spawn().unwrap());
    let start = Instant::now();
    let ended = loop {
        if followed.load(Ordering::SeqCst) == 1 {
            std::fs::write(stage.shared().join("go"), "").unwrap();
        }
        if let Some(status) = watcher.0.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < LIMIT, "the watcher does not end; it asked for events {followed:?} times");
        tokio::time::sleep(LOOK_AGAIN).await;
    };
    assert_eq!((ended.code(), followed.load(Ordering::SeqCst)), (Some(0), 2));
}
