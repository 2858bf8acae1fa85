//! What agents leave behind, and that it is gone when the run is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bed;

use std::time::Duration;

use bed::Bed;
use helix_agents::Grace;
use helix_core::run::{Ending, StopCause};
use rustix::process::Signal;

/// Bash children of the real CLI are in sessions of their own, so that signals to a group do not reach them.
const ORPHAN_IN_ITS_OWN_SESSION: &str = "setsid sh -c 'trap \"\" INT TERM HUP; echo $$; exec sleep 600' & ";

#[tokio::test]
async fn an_orphan_in_its_own_session_is_ended_with_a_stopped_run() {
    let bed = Bed::new();
    let mut request = bed.script(&format!(
        "trap 'exit 143' TERM; trap '' INT; {ORPHAN_IN_ITS_OWN_SESSION} while :; do sleep 0.05; done"
    ));
    request.grace = Grace { interrupt: Duration::from_millis(100), terminate: Duration::from_secs(20) };
    let handle = bed.start(&request).await;
    let orphan = bed::next_line(&mut handle.lines()).await.parse().unwrap();
    handle.stop(StopCause::Cancelled).await.unwrap();
    let end = handle.ended().await;
    assert_eq!((end.ending, end.stopped), (Ending::Exited { code: 143 }, Some(StopCause::Cancelled)));
    assert!(end.leftovers_killed >= 1);
    assert!(!bed::is_running(orphan));
    bed::assert_nothing_left(&request.run);
}

#[tokio::test]
async fn what_outlives_a_normal_end_is_ended_and_counted() {
    let bed = Bed::new();
    let request = bed.script("sleep 600 & sleep 601 & echo done");
    let end = bed.run(&request).await;
    assert_eq!((end.ending, end.stopped, end.leftovers_killed), (Ending::Exited { code: 0 }, None, 2));
}

/// A process that hides from every list but descent: no mark in its environment, a session of its own, parent gone.
#[tokio::test]
async fn a_daemon_without_the_mark_is_found_by_descent() {
    let bed = Bed::new();
    let request = bed.script(
        "setsid env -i /bin/sh -c 'trap \"\" TERM; echo $$ > up; exec sleep 600' & while [ ! -s up ]; do :; done; cat up",
    );
    let handle = bed.start(&request).await;
    let daemon = bed::next_line(&mut handle.lines()).await.parse().unwrap();
    assert_eq!(handle.ended().await.leftovers_killed, 1);
    assert!(!bed::is_running(daemon));
}

/// A tree that forks faster than it is killed one by one.
#[tokio::test]
async fn a_whole_tree_is_ended_however_deep() {
    let bed = Bed::new();
    let tree = "spawn() { if [ $1 -gt 0 ]; then (spawn $(($1-1))) & (spawn $(($1-1))) & fi; exec sleep 600; }; \
                trap '' INT TERM; (spawn 4) & sleep 0.3; echo ready; sleep 600";
    let mut request = bed.script(tree);
    request.grace = Grace::each(Duration::from_millis(50));
    let (handle, _) = bed.begun(&request, "ready").await;
    handle.stop(StopCause::Cancelled).await.unwrap();
    assert_eq!(handle.ended().await.ending, Ending::Signaled { signal: 9 });
    bed::assert_nothing_left(&request.run);
}

#[tokio::test]
async fn the_agent_gets_no_terminal_no_foreign_descriptor_and_no_ignored_signal() {
    let bed = Bed::new();
    // Held open without close-on-exec by this very process, as a careless library would.
    let leaked = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    // Ignored by this process, as under `nohup` or a shell's `&`; the runtime ignores SIGPIPE in any case.
    ignore_a_signal();
    let script = "ls /proc/self/fd | tr '\\n' ' '; echo; cut -d' ' -f5,6,7 /proc/$$/stat; echo $$; \
                  grep -E 'SigIgn|SigBlk' /proc/$$/status | cut -f2";
    let request = bed.script(script);
    let handle = bed.start(&request).await;
    let lines = bed::all_lines(&mut handle.lines()).await;
    // 3 is the directory that `ls` itself reads.
    assert_eq!(lines[0], "0 1 2 3 ");
    let own = &lines[2];
    assert_eq!(lines[1], format!("{own} {own} 0"), "group, session, terminal");
    for mask in &lines[3..] {
        // Above bit 30 are real-time signals, of which the C library keeps some for itself.
        assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff, 0, "{lines:?}");
    }
    assert_eq!(lines.len(), 5);
    drop(leaked);
}

#[expect(unsafe_code, reason = "changing a signal's action is unsafe to call")]
fn ignore_a_signal() {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: no handler runs, and nothing in this process uses the signal.
    unsafe { signal(Signal::SIGUSR2, SigHandler::SigIgn) }.unwrap();
}

/// kill -9 of the keeper: the agent goes with it, its grandchildren are swept, and the run is lost for every reader.
#[tokio::test]
async fn a_run_without_its_keeper_is_lost_and_leaves_nothing() {
    let bed = Bed::new();
    let request = bed.script(&format!("{ORPHAN_IN_ITS_OWN_SESSION} sleep 600 & echo $PPID; wait"));
    let handle = bed.start(&request).await;
    let mut lines = handle.lines();
    let (mut first, second) = (bed::next_line(&mut lines).await, bed::next_line(&mut lines).await);
    // The orphan and the agent write at the same time; the keeper is the one whose command line names the run.
    let is_keeper = |pid: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("examples/keeper")
    };
    if !is_keeper(&first) {
        first = second;
    }
    assert!(is_keeper(&first));
    bed::signal(first.parse().unwrap(), Signal::KILL);
    let end = handle.ended().await;
    assert_eq!((&end.ending, end.stopped), (&Ending::Unknown, None));
    bed::assert_nothing_left(&request.run);
    assert!(lines.next().await.is_none());
    assert!(lines.end().read_to_end);
    // Sealed: whoever comes later sees the same, and nobody runs it again.
    let later = bed.another().start(request.clone()).await.unwrap();
    assert_eq!(later.ended().await, end);
}

/// A cancellation that was recorded is what the run ended of, even if its keeper died on the way.
#[tokio::test]
async fn the_cause_of_a_stop_survives_the_keeper() {
    let bed = Bed::new();
    let request = bed.script("trap '' INT TERM; echo $PPID; while :; do sleep 60; done");
    let handle = bed.start(&request).await;
    let keeper = bed::next_line(&mut handle.lines()).await.parse().unwrap();
    handle.stop(StopCause::Cancelled).await.unwrap();
    bed::signal(keeper, Signal::KILL);
    let end = handle.ended().await;
    assert_eq!((end.ending, end.stopped), (Ending::Unknown, Some(StopCause::Cancelled)));
    bed::assert_nothing_left(&request.run);
}

/// Whoever signals the keeper itself wants the run to end.
#[tokio::test]
async fn sigterm_to_the_keeper_cancels_the_run() {
    let bed = Bed::new();
    let request = bed.script("echo $PPID; sleep 600 & wait");
    let handle = bed.start(&request).await;
    bed::signal(bed::next_line(&mut handle.lines()).await.parse().unwrap(), Signal::TERM);
    let end = handle.ended().await;
    assert_eq!(end.stopped, Some(StopCause::Cancelled));
    bed::assert_nothing_left(&request.run);
}
