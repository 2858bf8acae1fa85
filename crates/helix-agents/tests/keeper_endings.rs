//! How a run can end, each with a real process: what the record says and that nothing is left behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bed;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use bed::Bed;
use helix_agents::supervisor::StartError;
use helix_agents::{Grace, RunRequest, Supervisor, SupervisorConfig};
use helix_core::run::{Ending, StopCause};
use helix_language::RECORD;
use rustix::process::Signal;

#[tokio::test]
async fn a_normal_end_has_everything_in_its_record() {
    let bed = Bed::new();
    let mut request = bed.script("cat; echo complaint >&2; pwd; echo \"$HELIX_RUN_ID:$ONLY:$HOME\"");
    request.invocation.stdin = b"the prompt\n".to_vec();
    request.invocation.env.push(("ONLY".into(), "this".into()));
    request.labels.insert("dialect".into(), "claude".into());
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    let cwd = bed.work().canonicalize().unwrap().display().to_string();
    // Nothing of this process's own environment arrives.
    let expected = vec!["the prompt".to_owned(), cwd, format!("{}:this:", request.run)];
    assert_eq!(bed::all_lines(&mut lines).await, expected);
    assert!(lines.end().read_to_end);
    assert!(lines.end().tail.is_empty());
    let end = handle.ended().await;
    assert_eq!(end.ending, Ending::Exited { code: 0 });
    assert_eq!((end.stopped, end.leftovers_killed), (None, 0));
    assert_eq!(end.stderr_tail, "complaint\n");
    assert_eq!(end.stdout_bytes, lines.end().bytes);
    assert!(end.peak_rss_kib > 0);
    assert!(end.started_at <= end.ended_at);
    assert_eq!(handle.labels(), &request.labels);
    bed::assert_nothing_left(&request.run);
    // Values of the environment may be secrets: none stays on disk.
    for file in std::fs::read_dir(handle.directory()).unwrap() {
        let path = file.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains("/usr/local/bin:"), "{}", path.display());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

#[tokio::test]
async fn an_exit_code_is_recorded_as_it_is() {
    let bed = Bed::new();
    assert_eq!(bed.run(&bed.script("exit 7")).await.ending, Ending::Exited { code: 7 });
}

#[tokio::test]
async fn death_by_a_signal_is_no_exit() {
    let bed = Bed::new();
    let end = bed.run(&bed.script("kill -9 $$")).await;
    assert_eq!((end.ending, end.stopped), (Ending::Signaled { signal: 9 }, None));
}

/// A run that says nothing is over when its process is, and its stream ends whole and empty.
#[tokio::test]
async fn silence_is_an_end_as_any_other() {
    let bed = Bed::new();
    let request = bed.program("/bin/true", &[]);
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    assert!(lines.next().await.is_none());
    assert!(lines.end().read_to_end);
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
}

/// A time limit is a cause of its own, and never looks like an exit.
#[tokio::test]
async fn the_deadline_stops_the_run_and_says_so() {
    let bed = Bed::new();
    let mut request = bed.script("exec sleep 600");
    request.deadline = Some(Duration::from_millis(300));
    let end = bed.run(&request).await;
    assert_eq!((end.ending, end.stopped), (Ending::Signaled { signal: 2 }, Some(StopCause::Deadline)));
}

#[tokio::test]
async fn an_agent_that_ignores_everything_is_killed() {
    let bed = Bed::new();
    let mut request = bed.script("trap '' INT TERM; echo ready; while :; do sleep 60; done");
    request.grace = Grace::each(Duration::from_millis(100));
    let (handle, _) = bed.begun(&request, "ready").await;
    handle.stop(StopCause::Stalled).await.unwrap();
    let end = handle.ended().await;
    assert_eq!((end.ending, end.stopped), (Ending::Signaled { signal: 9 }, Some(StopCause::Stalled)));
    bed::assert_nothing_left(&request.run);
}

#[tokio::test]
async fn kill_9_of_the_agent_is_recorded_by_its_keeper() {
    let bed = Bed::new();
    let request = bed.script("sleep 600 & echo $$; wait");
    let handle = bed.start(&request).await;
    let agent = bed::next_line(&mut handle.lines()).await.parse().unwrap();
    bed::signal(agent, Signal::KILL);
    let end = handle.ended().await;
    assert_eq!((end.ending, end.leftovers_killed), (Ending::Signaled { signal: 9 }, 1));
    bed::assert_nothing_left(&request.run);
}

async fn reason_for_not_starting(bed: &Bed, request: &RunRequest) -> String {
    match bed.run(request).await.ending {
        Ending::NotStarted { reason, .. } => RECORD.words(&reason),
        other => panic!("started: {other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_executed_is_named_with_its_reason() {
    let bed = Bed::new();
    let missing = reason_for_not_starting(&bed, &bed.program("no-such-agent", &[])).await;
    assert_eq!(missing, "cannot start no-such-agent: not found in PATH (/usr/local/bin:/usr/bin:/bin)");
    let missing = reason_for_not_starting(&bed, &bed.program("/nowhere/agent", &[])).await;
    assert!(missing.starts_with("cannot start /nowhere/agent: /nowhere/agent does not exist"), "{missing}");

    let plain = bed.scratch.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    let closed = reason_for_not_starting(&bed, &bed.program(plain.to_str().unwrap(), &[])).await;
    assert!(closed.contains("plain is not an executable file"), "{closed}");

    std::fs::write(&plain, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o755)).unwrap();
    let headless = reason_for_not_starting(&bed, &bed.program(plain.to_str().unwrap(), &[])).await;
    assert!(headless.contains("the interpreter its first line names"), "{headless}");

    let mut homeless = bed.program("/bin/true", &[]);
    homeless.invocation.cwd = bed.scratch.path().join("gone");
    let homeless = reason_for_not_starting(&bed, &homeless).await;
    assert!(homeless.contains("working directory") && homeless.contains("gone"), "{homeless}");

    let big = "x".repeat(3_000_000);
    let too_long = reason_for_not_starting(&bed, &bed.program("/bin/true", &[&big])).await;
    assert!(too_long.contains("Argument list too long") && too_long.contains("prompts go to stdin"), "{too_long}");
}

#[tokio::test]
async fn a_program_that_is_no_keeper_is_the_callers_error() {
    let bed = Bed::new();
    let with = |keeper: &str| {
        let config = SupervisorConfig {
            runs_dir: bed.runs(),
            keeper: keeper.into(),
            keeper_args: Vec::new(),
            watching: helix_agents::supervisor::Watching::Inotify,
            sandbox: Default::default(),
            seal: helix_agents::RunSeal::new([1; 32]),
        };
        Supervisor::new(config).unwrap()
    };
    let request = bed.program("/bin/true", &[]);
    let silent = with("/bin/true").start(request.clone()).await.unwrap_err();
    assert!(
        matches!(&silent, StartError::KeeperFailed { said, .. } if said.contains("/bin/true is not a keeper")),
        "{silent}"
    );
    let missing = with("/no/keeper").start(request.clone()).await.unwrap_err();
    assert!(matches!(missing, StartError::Keeper { .. }), "{missing}");
    // Nothing was executed, so that a keeper that works may still start it.
    assert_eq!(bed.run(&request).await.ending, Ending::Exited { code: 0 });
}

/// A Ctrl-C at the terminal may reach a keeper that is just starting: the run starts all the same, and is stopped as any other.
#[tokio::test]
async fn a_keeper_that_the_terminal_interrupts_is_started_again() {
    let bed = Bed::new();
    let (once, keeper) = (bed.scratch.path().join("once"), bed.scratch.path().join("keeper"));
    let real = bed::keeper();
    let script = format!(
        "#!/bin/sh\n[ -e {once} ] || {{ : > {once}; kill -INT $$; }}\nexec {real} \"$@\"\n",
        once = once.display(),
        real = real.display()
    );
    std::fs::write(&keeper, script).unwrap();
    std::fs::set_permissions(&keeper, PermissionsExt::from_mode(0o755)).unwrap();
    let config = SupervisorConfig {
        runs_dir: bed.runs(),
        keeper,
        keeper_args: Vec::new(),
        watching: helix_agents::supervisor::Watching::Inotify,
        sandbox: Default::default(),
        seal: helix_agents::RunSeal::new([1; 32]),
    };
    let handle = Supervisor::new(config).unwrap().start(bed.script("echo done")).await.unwrap();
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
    assert!(once.exists(), "the first keeper was interrupted");
}

/// A full disk takes the agent's output, never the record of its end: that space was set aside before.
#[tokio::test]
async fn the_record_of_the_end_uses_the_space_that_was_set_aside() {
    let bed = Bed::new();
    let request = bed.script("echo ready; read go < ./go");
    rustix::fs::mknodat(rustix::fs::CWD, bed.work().join("go"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let (handle, _) = bed.begun(&request, "ready").await;
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(handle.directory().join(name)).unwrap();
        (metadata.ino(), metadata.blocks())
    };
    let reserved = inode("exit.reserve");
    assert!(reserved.1 * 512 >= 32 * 1024, "only {} blocks are allocated", reserved.1);
    std::fs::write(bed.work().join("go"), "go\n").unwrap();
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
    assert_eq!(inode("exit.json").0, reserved.0);
}

/// Claude Code 2.1.197 reads nothing from a regular file and exits 0 without a word, so that stdin must be a pipe; one that
/// holds less than a long conversation.
#[tokio::test]
async fn stdin_is_a_pipe_and_comes_whole_or_not_at_all_as_the_agent_likes() {
    let bed = Bed::new();
    let mut request = bed.script("stat -Lc %F /proc/self/fd/0; wc -c");
    request.invocation.stdin = vec![b'x'; 3 << 20];
    let handle = bed.start(&request).await;
    assert_eq!(bed::all_lines(&mut handle.lines()).await, ["fifo", "3145728"]);
    let mut request = bed.script("echo done");
    request.invocation.stdin = vec![b'x'; 3 << 20];
    let end = bed.run(&request).await;
    assert_eq!((end.ending, end.stopped), (Ending::Exited { code: 0 }, None));
}
