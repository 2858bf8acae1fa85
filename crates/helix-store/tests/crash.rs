//! `kill -9` of a writing process at random moments: what was answered is there, and nothing is there by half.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "contract/samples.rs"]
#[expect(dead_code, reason = "shared with the contract tests, which use all of it")]
mod samples;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use helix_store::{Access, Append, Journal, Projection, SqliteJournal, Stream};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use samples::{event, job_id, job_view, new_job, text};

/// Tells the child where to write; without it the child does nothing.
const DATABASE: &str = "HELIX_CRASH_TEST_DATABASE";
const ROUND: &str = "HELIX_CRASH_TEST_ROUND";
const WRITERS: usize = 12;
const ROUNDS: usize = 24;

fn name(round: &str, writer: usize) -> String {
    format!("r{round}w{writer}")
}

/// The child: every writer appends one to three events at a time to its job and says which numbers it was promised.
#[test]
#[ignore = "started by the test below, as a process of its own"]
fn child_that_appends_until_it_is_killed() {
    let Some(database) = std::env::var_os(DATABASE).map(PathBuf::from) else { return };
    let round = std::env::var(ROUND).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = SqliteJournal::open(database, Access::ReadWrite).await.unwrap();
        let mut writers = Vec::new();
        for writer in 0..WRITERS {
            let (journal, id) = (journal.clone(), name(&round, writer));
            writers.push(tokio::spawn(async move {
                journal.submit(new_job(&id, None)).await.unwrap();
                let mut last = 1;
                for turn in 0_u64.. {
                    let count = 1 + turn % 3;
                    let padding = "x".repeat((turn as usize * 997) % 9_000);
                    let events = (0..count).map(|index| event(&format!("{turn}/{index}/{count} {padding}"))).collect();
                    let view = job_view(&job_id(&id), last + count);
                    let append = Append::to(job_id(&id), events).after(last).with(Projection::Job(view));
                    last = journal.append(append).await.unwrap().last;
                    // One write call, so that the parent never sees half a line of two writers.
                    std::io::stdout().lock().write_all(format!("acknowledged {id} {last}\n").as_bytes()).unwrap();
                }
            }));
        }
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

/// Runs the child and kills it after it has acknowledged so many appends. Returns the greatest number per job.
fn run_and_kill(database: &Path, round: usize, appends: usize) -> BTreeMap<String, u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_appends_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DATABASE, database)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut promised = BTreeMap::new();
    let mut seen = 0;
    let mut alive = true;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some(("", rest)) = line.split_once("acknowledged ") else { continue };
        // The last line may be cut off by the kill; a number that is cut off is a smaller one, a missing one is none.
        let Some((id, Ok(last))) = rest.split_once(' ').map(|(id, last)| (id, last.parse::<u64>())) else { continue };
        let greatest = promised.entry(id.to_owned()).or_insert(0);
        *greatest = last.max(*greatest);
        seen += 1;
        if seen >= appends && alive {
            // SIGKILL. What the child has said until now is still in the pipe, and is read to its end.
            child.kill().unwrap();
            alive = false;
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "the child ended by itself: {status}");
    promised
}

#[tokio::test]
async fn every_acknowledged_event_survives_a_kill_and_none_is_there_by_half() {
    let scratch = tempfile::tempdir().unwrap();
    let database = scratch.path().join("helix.db");
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    for round in 0..ROUNDS {
        let appends = (1..400_usize).new_tree(&mut runner).unwrap().current();
        let (path, child) = (database.clone(), move |path: &Path| run_and_kill(path, round, appends));
        let promised = tokio::task::spawn_blocking(move || child(&path)).await.unwrap();
        assert!(!promised.is_empty(), "round {round}: nothing was acknowledged");

        let journal = SqliteJournal::open(&database, Access::ReadWrite).await.unwrap();
        for writer in 0..WRITERS {
            let id = name(&round.to_string(), writer);
            let stream = Stream::Job(job_id(&id));
            let mut events = Vec::new();
            let mut page = journal.read(stream.clone(), 0, 1_000).await.unwrap();
            loop {
                let more = page.has_more();
                events.append(&mut page.events);
                if !more {
                    break;
                }
                page = journal.read(stream.clone(), events.len() as u64, 1_000).await.unwrap();
            }
            let promised = promised.get(&id).copied().unwrap_or(0);
            assert!(
                events.len() as u64 >= promised,
                "round {round}: {id} was promised {promised}, has {}",
                events.len()
            );
            assert!(
                events.iter().map(|event| event.number).eq(1..=events.len() as u64),
                "round {round}: {id} has gaps"
            );

            // Each append is there with all its events: `turn/index/count` run through without a break.
            let mut next = (0_u64, 0_u64);
            for event in events.iter().skip(1) {
                let text = text(&event.body);
                let head = text.split(' ').next().unwrap();
                assert_eq!(head, format!("{}/{}/{}", next.0, next.1, 1 + next.0 % 3), "round {round}: {id}");
                next = if next.1 == next.0 % 3 { (next.0 + 1, 0) } else { (next.0, next.1 + 1) };
            }
            assert_eq!(next.1, 0, "round {round}: {id} ends within an append");

            let projected = journal.job(id.clone()).await.unwrap().map_or(0, |view| view.last_event);
            assert_eq!(projected, events.len() as u64, "round {round}: the projection of {id}");
        }
        assert_eq!(journal.check().await.unwrap(), Vec::<String>::new(), "round {round}");
        journal.close().await;
    }
}
