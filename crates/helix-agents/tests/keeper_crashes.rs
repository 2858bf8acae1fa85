//! The keeper killed at any moment, and started runs that must never run twice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bed;

use std::fs;
use std::time::{Duration, Instant};

use bed::Bed;
use helix_agents::{RunRequest, Supervisor};
use helix_core::run::Ending;
use rustix::process::Signal;

/// How many moments are tried. Each is a little later than the one before, from the keeper's first instruction to well
/// after the end of its agent.
const MOMENTS: u32 = 60;
const STEP: Duration = Duration::from_micros(400);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_killed_at_any_moment_never_leaves_a_process_a_second_run_or_a_riddle() {
    let bed = Bed::new();
    let (mut lost, mut ended) = (0, 0);
    for moment in 0..MOMENTS {
        let request = bed.script(&format!("echo x >> starts-{moment}; sleep 600 & exit 0"));
        let killer = kill_keeper_after(&bed, &request, STEP * moment);
        let first = bed.supervisor.start(request.clone()).await;
        killer.await.unwrap();
        drop(first);
        // Whatever happened, a later host starts the same run again and learns how it ended.
        let end = start_until_it_is_claimed(&bed.another(), &request).await;
        bed::assert_nothing_left(&request.run);
        let starts = fs::read_to_string(bed.work().join(format!("starts-{moment}"))).unwrap_or_default().len() / 2;
        match end {
            // Killed before it claimed, and then run by a second keeper, or finished before it was killed.
            Ending::Exited { code: 0 } => {
                assert_eq!(starts, 1, "at {moment}");
                ended += 1;
            }
            Ending::Unknown => {
                assert!(starts <= 1, "at {moment}: {starts}");
                lost += 1;
            }
            Ending::Exited { .. } | Ending::Signaled { .. } | Ending::NotStarted { .. } => {
                panic!("at {moment}: {end:?}")
            }
        }
    }
    println!("lost {lost}, ended {ended}");
    assert!(lost > 0, "no keeper was killed in time: this test shows nothing");
}

async fn start_until_it_is_claimed(supervisor: &Supervisor, request: &RunRequest) -> Ending {
    supervisor.start(request.clone()).await.unwrap().ended().await.ending
}

/// Waits for the keeper of this run to appear and kills it some time later; gives up if it has come and gone.
fn kill_keeper_after(bed: &Bed, request: &RunRequest, delay: Duration) -> tokio::task::JoinHandle<()> {
    let directory = bed.runs().canonicalize().unwrap().join(request.run.as_str());
    tokio::task::spawn_blocking(move || {
        let began = Instant::now();
        let keeper = loop {
            if let Some(keeper) = keeper_of(directory.to_str().unwrap()) {
                break keeper;
            }
            if directory.join("exit.json").exists() || began.elapsed() > Duration::from_secs(10) {
                return;
            }
        };
        let seen = Instant::now();
        while seen.elapsed() < delay {
            std::hint::spin_loop();
        }
        // Gone meanwhile is fine. Its number cannot be somebody else's: it is this process's child, reaped at the end.
        if let Some(pid) = rustix::process::Pid::from_raw(keeper)
            && keeper_of(directory.to_str().unwrap()) == Some(keeper)
        {
            let _gone = rustix::process::kill_process(pid, Signal::KILL);
        }
    })
}

/// The newest process that was started as the keeper of this directory.
fn keeper_of(directory: &str) -> Option<i32> {
    let own = std::process::id();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        let program = std::str::from_utf8(words.next()?).ok()?;
        let is_keeper = program.ends_with("examples/keeper") && words.next()? == directory.as_bytes();
        (is_keeper && u32::try_from(pid) != Ok(own)).then_some(pid)
    })
}
