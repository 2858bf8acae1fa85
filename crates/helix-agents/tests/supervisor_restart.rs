//! Helix dies and comes back while agents work: nothing is lost, nothing runs twice..
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bed;

use std::fs;
use std::time::Duration;

use bed::Bed;
use helix_agents::supervisor::Watching;
use helix_agents::{Grace, RunRequest};
use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause};

fn fifo(bed: &Bed) {
    let path = bed.work().join("go");
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
}

/// An agent that writes, waits until it is told to go on, and writes again; each start leaves a line in `starts`.
fn two_parts(bed: &Bed) -> RunRequest {
    fifo(bed);
    bed.script("echo $$ >> starts; echo one; read go < ./go; echo two")
}

fn starts(bed: &Bed) -> usize {
    fs::read_to_string(bed.work().join("starts")).unwrap_or_default().lines().count()
}

/// Each host is a runtime of its own, so that the first one's tasks are really gone.
#[test]
fn a_restarted_host_goes_on_where_the_first_one_stopped() {
    let host = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = host();
    let (bed, request) = first.block_on(async {
        let bed = Bed::new();
        let request = two_parts(&bed);
        bed.begun(&request, "one").await;
        (bed, request)
    });
    drop(first);
    host().block_on(async {
        let supervisor = bed.another();
        let handle = supervisor.start(request.clone()).await.unwrap();
        let mut lines = handle.lines();
        assert_eq!(bed::next_line(&mut lines).await, "one");
        fs::write(bed.work().join("go"), "go\n").unwrap();
        assert_eq!(bed::all_lines(&mut lines).await, ["two"]);
        assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
        assert_eq!(starts(&bed), 1);
        bed::assert_nothing_left(&request.run);
        // And once more, long after its end.
        let late = bed.another().attach(&request.run).await.unwrap().unwrap();
        assert_eq!(bed::all_lines(&mut late.lines()).await, ["one", "two"]);
        assert_eq!(late.ended().await, handle.ended().await);
    });
}

/// A cancellation asked for by one host is carried out although that host is gone, and the next one sees why.
#[test]
fn a_stop_outlives_the_host_that_asked_for_it() {
    let host = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = host();
    let (bed, request) = first.block_on(async {
        let bed = Bed::new();
        let mut request = bed.script("trap '' INT; echo ready; sleep 600 & wait");
        request.grace = Grace::each(Duration::from_millis(300));
        let (handle, _) = bed.begun(&request, "ready").await;
        handle.stop(StopCause::Cancelled).await.unwrap();
        (bed, request)
    });
    drop(first);
    host().block_on(async {
        let handle = bed.another().attach(&request.run).await.unwrap().unwrap();
        assert_eq!(handle.ended().await.stopped, Some(StopCause::Cancelled));
        bed::assert_nothing_left(&request.run);
    });
}

/// A host that died between recording a stop and telling the keeper: the next one that follows the run tells it.
#[tokio::test]
async fn a_stop_that_was_only_recorded_is_carried_out_for_the_next_host() {
    let bed = Bed::new();
    let request = bed.script("echo ready; exec sleep 600");
    let first = bed.another();
    let handle = first.start(request.clone()).await.unwrap();
    assert_eq!(bed::next_line(&mut handle.lines()).await, "ready");
    let record = r#"{"cause":"stalled","requested_at":"2026-11-21T23:39:00Z"}"#;
    fs::write(handle.directory().join("stop.json"), record).unwrap();
    drop((handle, first));
    let end = bed.start(&request).await.ended().await;
    assert_eq!((end.ending, end.stopped), (Ending::Signaled { signal: 2 }, Some(StopCause::Stalled)));
}

/// Many supervisors, the same run, the same moment: one agent.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_started_by_many_at_once_runs_once() {
    let bed = Bed::new();
    let request = two_parts(&bed);
    let starting: Vec<_> = (0..8)
        .map(|_| {
            let (supervisor, request) = (bed.another(), request.clone());
            tokio::spawn(async move { supervisor.start(request).await.unwrap() })
        })
        .collect();
    let mut handles = Vec::new();
    for start in starting {
        handles.push(start.await.unwrap());
    }
    assert_eq!(bed::next_line(&mut handles[0].lines()).await, "one");
    fs::write(bed.work().join("go"), "go\n").unwrap();
    let end = handles[0].ended().await;
    for handle in &handles {
        assert_eq!(handle.ended().await, end);
    }
    assert_eq!(starts(&bed), 1);
    let left: Vec<_> = fs::read_dir(bed.runs()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [std::ffi::OsString::from(request.run.as_str())], "staging directories are left");
    bed::assert_nothing_left(&request.run);
}

#[tokio::test]
async fn stopping_twice_keeps_the_first_cause_and_stopping_the_dead_does_nothing() {
    let bed = Bed::new();
    let mut request = bed.script("trap '' INT TERM; echo ready; while :; do sleep 60; done");
    request.grace = Grace::each(Duration::from_millis(50));
    let (handle, _) = bed.begun(&request, "ready").await;
    handle.stop(StopCause::Lingered).await.unwrap();
    handle.stop(StopCause::Cancelled).await.unwrap();
    let end = handle.ended().await;
    assert_eq!(end.stopped, Some(StopCause::Lingered));
    handle.stop(StopCause::Cancelled).await.unwrap();
    assert_eq!(bed.another().attach(&request.run).await.unwrap().unwrap().ended().await, end);

    let natural = bed.program("/bin/true", &[]);
    let handle = bed.start(&natural).await;
    let end = handle.ended().await;
    handle.stop(StopCause::Cancelled).await.unwrap();
    assert_eq!((handle.ended().await, end.stopped), (end, None));
}

/// The CLI that has answered and does not end.
#[tokio::test]
async fn a_lingering_agent_is_ended_at_once_when_asked() {
    let bed = Bed::new();
    let request = bed.script("echo '{\"type\":\"result\"}'; exec sleep 600");
    let (handle, mut lines) = bed.begun(&request, "{\"type\":\"result\"}").await;
    handle.stop(StopCause::Lingered).await.unwrap();
    let end = handle.ended().await;
    assert_eq!((end.ending, end.stopped), (Ending::Signaled { signal: 2 }, Some(StopCause::Lingered)));
    assert!(lines.next().await.is_none() && lines.end().read_to_end);
}

#[tokio::test]
async fn what_was_never_started_cannot_be_attached_to() {
    let bed = Bed::new();
    assert!(bed.supervisor.attach(&RunId::new("never").unwrap()).await.unwrap().is_none());
}

/// What a host finds when it starts: kept runs that nobody wants, runs whose keeper died, half-made directories.
#[tokio::test]
async fn a_starting_host_settles_what_earlier_ones_left() {
    let bed = Bed::new();
    let (wanted, unwanted, lost) =
        (two_parts(&bed), bed.script("sleep 600"), bed.script("setsid sleep 600 & echo $PPID; wait"));
    let first = bed.another();
    let wanted_handle = first.start(wanted.clone()).await.unwrap();
    let unwanted_handle = first.start(unwanted.clone()).await.unwrap();
    let lost_handle = first.start(lost.clone()).await.unwrap();
    let keeper: i32 = bed::next_line(&mut lost_handle.lines()).await.parse().unwrap();
    // The first host is gone before the keeper dies, so that nobody sees it.
    drop((lost_handle, first));
    bed::signal(keeper, rustix::process::Signal::KILL);
    while bed::is_running(keeper) {
        tokio::task::yield_now().await;
    }
    fs::create_dir(bed.runs().join(".new-1-0-0")).unwrap();

    let report = bed.supervisor.sweep(std::slice::from_ref(&wanted.run)).await.unwrap();
    assert_eq!(report.lost, std::slice::from_ref(&lost.run));
    assert_eq!(report.stopped, std::slice::from_ref(&unwanted.run));
    assert_eq!((report.directories_removed, report.problems), (1, Vec::new()));
    bed::assert_nothing_left(&lost.run);
    assert_eq!(unwanted_handle.ended().await.stopped, Some(StopCause::Cancelled));
    let again = bed.supervisor.attach(&lost.run).await.unwrap().unwrap();
    assert_eq!(again.ended().await.ending, Ending::Unknown);

    fs::write(bed.work().join("go"), "go\n").unwrap();
    assert_eq!(wanted_handle.ended().await.ending, Ending::Exited { code: 0 });
    bed::assert_nothing_left(&wanted.run);
}

/// A host on a copy of the state directory, made while agents work, settles the copy's runs and leaves the living ones alone.
#[tokio::test]
async fn a_host_on_a_copy_ends_nothing_of_the_original() {
    let bed = Bed::new();
    let request = two_parts(&bed);
    let (handle, _) = bed.begun(&request, "one").await;
    let copy = bed.scratch.path().join("copy");
    let copied = std::process::Command::new("cp").arg("-r").arg(bed.runs()).arg(&copy).status().unwrap();
    assert!(copied.success());

    let report = bed::supervisor(&copy, Watching::Inotify).sweep(&[]).await.unwrap();
    assert_eq!((report.lost, report.processes_killed), (vec![request.run.clone()], 0));
    // By now the copy's run is over: whatever carries its mark has no business any more.
    assert_eq!(bed::supervisor(&copy, Watching::Inotify).sweep(&[]).await.unwrap().processes_killed, 0);

    fs::write(bed.work().join("go"), "go\n").unwrap();
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
    bed::assert_nothing_left(&request.run);
}

/// A stop that was recorded before any keeper came: nothing is executed.
#[tokio::test]
async fn a_run_stopped_before_its_start_never_runs() {
    let bed = Bed::new();
    let request = two_parts(&bed);
    let config = helix_agents::SupervisorConfig {
        runs_dir: bed.runs(),
        keeper: "/bin/false".into(),
        keeper_args: Vec::new(),
        watching: Watching::Inotify,
        sandbox: Default::default(),
        seal: helix_agents::RunSeal::new([1; 32]),
    };
    helix_agents::Supervisor::new(config).unwrap().start(request.clone()).await.unwrap_err();
    let report = bed.supervisor.sweep(&[]).await.unwrap();
    assert_eq!(report.forbidden, std::slice::from_ref(&request.run));
    let end = bed.start(&request).await.ended().await;
    assert!(matches!(end.ending, Ending::NotStarted { .. }), "{end:?}");
    assert_eq!((end.stopped, starts(&bed)), (Some(StopCause::Cancelled), 0));
}

/// An end that cannot be read at the moment, for want of file descriptors say, is no end.
#[tokio::test]
async fn an_end_that_cannot_be_looked_for_is_waited_for() {
    let bed = Bed::new();
    let request = two_parts(&bed);
    let (handle, _) = bed.begun(&request, "one").await;
    let unreadable = handle.directory().join("exit.json");
    fs::create_dir(&unreadable).unwrap();
    let early = tokio::time::timeout(Duration::from_millis(300), handle.ended()).await;
    assert!(early.is_err(), "{early:?}");
    fs::remove_dir(unreadable).unwrap();
    fs::write(bed.work().join("go"), "go\n").unwrap();
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
}

/// No task outlives the last handle.
#[tokio::test]
async fn dropping_everything_ends_every_task() {
    let bed = Bed::new();
    let request = two_parts(&bed);
    let supervisor = bed.another();
    let handle = supervisor.start(request.clone()).await.unwrap();
    let lines = handle.lines();
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    drop((handle, lines, supervisor));
    while metrics.num_alive_tasks() > before - 2 {
        tokio::task::yield_now().await;
    }
    fs::write(bed.work().join("go"), "go\n").unwrap();
    assert_eq!(bed.start(&request).await.ended().await.ending, Ending::Exited { code: 0 });
}

/// Puts what looks like a run that has ended into the directory of runs.
fn forge(bed: &Bed, request: &RunRequest) {
    let forged = bed.runs().join(request.run.as_str());
    fs::create_dir(&forged).unwrap();
    let end = r#"{"ending":{"how":"exited","code":0},"stopped":null,"stderr_tail":"","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z","peak_rss_kib":1,"stdout_bytes":7,"leftovers_killed":0}"#;
    let asked = serde_json::to_string(request).unwrap();
    let files = [("request.json", asked.as_str()), ("stdout.jsonl", "forged\n"), ("exit.json", end)];
    for (name, text) in files.into_iter().chain(["stderr.txt", "stdin", "lock", "claim"].map(|name| (name, ""))) {
        fs::write(forged.join(name), text).unwrap();
    }
}

#[tokio::test]
async fn a_directory_that_was_made_in_advance_is_taken_for_no_run() {
    let bed = Bed::new();
    let request = bed.script("echo real");
    forge(&bed, &request);
    assert!(!bed.supervisor.knows(&request.run).unwrap());
    assert!(bed.supervisor.attach(&request.run).await.unwrap().is_none());
    assert_eq!(bed.supervisor.sweep(&[]).await.unwrap(), helix_agents::supervisor::SweepReport::default());
    let handle = bed.supervisor.start(request.clone()).await.unwrap();
    assert_eq!(bed::all_lines(&mut handle.lines()).await, ["real"]);
    assert_eq!(handle.ended().await.ending, Ending::Exited { code: 0 });
    // The next host knows the run that the first one has made, and the forged one is kept for whoever looks.
    let late = bed.another().attach(&request.run).await.unwrap().unwrap();
    assert_eq!(bed::all_lines(&mut late.lines()).await, ["real"]);
    let aside = fs::read_dir(bed.runs()).unwrap().flatten();
    let aside: Vec<_> = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with(".foreign-")).collect();
    assert_eq!(fs::read_to_string(aside[0].path().join("stdout.jsonl")).unwrap(), "forged\n");
    // A mark of one run says nothing of another.
    let other = RunRequest { run: RunId::new("other").unwrap(), ..request.clone() };
    forge(&bed, &other);
    let (own, forged) = (bed.runs().join(request.run.as_str()), bed.runs().join("other"));
    let marks = fs::read_dir(own).unwrap().flatten().map(|entry| entry.file_name());
    for mark in marks.filter(|name| name.to_string_lossy().starts_with("seal-")) {
        fs::write(forged.join(mark), "").unwrap();
    }
    assert!(bed.supervisor.attach_or_withdraw(&other.run).await.unwrap().is_none());
    assert!(!forged.exists(), "it is out of the way");
}
