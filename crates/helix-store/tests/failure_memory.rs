//! The memory of failures: what it does, then what its file can suffer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "failure_memory/alike.rs"]
mod alike;
#[path = "failure_memory/cases.rs"]
mod cases;
#[path = "failure_memory/samples.rs"]
mod samples;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use helix_core::ids::SessionId;
use helix_failure::memory::{FailureEnd, OccurrencePlace, Work, check};
use helix_store::failures::{FailureFilter, FailureMemory};
use helix_store::{Access, DatabaseOptions};
use samples::{TESTS, answer, asks, at, place, seen};
use tempfile::TempDir;

/// Patience of tests that are not about deadlines: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

fn path(scratch: &TempDir) -> PathBuf {
    scratch.path().join("failures.db")
}

async fn open(path: &Path) -> FailureMemory {
    FailureMemory::open(DatabaseOptions::new(path, Access::ReadWrite).within(PATIENCE)).await.unwrap()
}

async fn sqlite() -> (FailureMemory, TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    (open(&path(&scratch)).await, scratch)
}

/// Runs every case against the memories that an async factory makes.
macro_rules! contract_tests {
    ($factory:path: $($case:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (memory, guard) = $factory().await;
                cases::$case(memory).await;
                drop(guard);
            }
        )*
    };
}

contract_tests!(sqlite:
    capturing_twice_remembers_once,
    another_failure_under_the_same_key_replaces_the_first,
    of_racing_captures_each_counts_once,
    what_fixed_it_is_recalled_for_the_same_failure_elsewhere,
    a_failure_without_a_known_end_is_no_help,
    similar_messages_of_the_same_tool_and_category_are_found_and_others_are_not,
    the_exact_one_comes_first_and_no_more_than_asked_for_come,
    a_project_hears_of_its_own_failures_alone,
    outcome_and_recency_rank,
    credit_only_when_the_check_looked_again_and_the_failure_was_gone,
    a_change_is_not_credited_where_waiting_or_a_person_mends,
    a_fix_that_did_not_hold_is_taken_back,
    suggestions_are_resolved_by_what_the_next_attempt_proves,
    statistics_count_and_show_what_the_memory_is_worth,
    lists_are_filtered_and_paged_and_prefixes_show_one,
    search_finds_words_and_beginnings_in_any_script,
    what_is_similar_is_found_quickly_among_many_whatever_its_text,
    what_is_forgotten_is_gone_and_a_wrong_fix_alone_can_be,
    what_is_old_and_was_never_seen_again_fades,
    an_export_builds_the_memory_anew_and_a_second_import_changes_nothing,
    records_that_cannot_be_true_are_refused_by_their_place_and_nothing_is_kept,
    secrets_are_masked_before_they_are_kept,
);

/// A failure that comes all the time does not grow the memory; what is not kept one by one is still counted.
#[tokio::test]
async fn occurrences_of_one_failure_are_bounded_and_counted() {
    let (memory, _scratch) = sqlite().await;
    for attempt in 1..=450 {
        memory.capture(seen("always the same", place("a", attempt, TESTS))).await.unwrap();
    }
    let page = memory.list(FailureFilter::default(), None, 10).await.unwrap();
    assert_eq!(page.failures[0].count, 450);
    let records = memory.export(0, 10).await.unwrap().records;
    assert!((200..=401).contains(&(records.len() - 1)), "{}", records.len());
}

/// Tells the child where to write and as whom; without it the child does nothing.
const DATABASE: &str = "HELIX_MEMORY_TEST_DATABASE";
const WRITER: &str = "HELIX_MEMORY_TEST_WRITER";
const CAPTURES: u32 = 60;

/// The child: captures half of its failures alone and half together with all other children, then goes on for ever.
#[test]
#[ignore = "started by the tests below, as a process of its own"]
fn child_that_captures() {
    let Some(database) = std::env::var_os(DATABASE).map(PathBuf::from) else { return };
    let writer = std::env::var(WRITER).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let memory = open(&database).await;
        for number in 0..CAPTURES {
            memory.capture(seen("in all processes", place(&format!("{writer}-{number}"), 1, TESTS))).await.unwrap();
            memory.capture(seen("in all processes", place(&format!("shared-{number}"), 1, TESTS))).await.unwrap();
            std::io::stdout().lock().write_all(format!("\ncaptured {number}\n").as_bytes()).unwrap();
        }
        std::io::stdout().lock().write_all(b"\ndone\n").unwrap();
        // Until it is killed: between capture and link.
        std::future::pending::<()>().await;
    });
}

fn child(database: &Path, writer: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_captures", "--ignored", "--nocapture"])
        .env(DATABASE, database)
        .env(WRITER, writer)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads what the child says until this line.
fn wait_for(child: &mut Child, wanted: &str) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == wanted), "the child ended without saying {wanted:?}");
}

#[tokio::test]
async fn several_processes_capture_at_once_and_a_kill_loses_nothing_that_was_answered() {
    let scratch = tempfile::tempdir().unwrap();
    let file = path(&scratch);
    let mut children = ["one", "two", "three"].map(|writer| child(&file, writer));
    let ended = tokio::task::spawn_blocking(move || {
        for child in &mut children {
            wait_for(child, "done");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    });
    ended.await.unwrap();
    let memory = open(&file).await;
    let page = memory.list(FailureFilter::default(), None, 10).await.unwrap();
    assert_eq!((page.failures.len(), page.failures[0].count), (1, u64::from(4 * CAPTURES)));

    // The next host goes on where the dead one stood: what it captured is linked now.
    let resolution = memory.resolve_outstanding(answer("one-7", 2, &[TESTS], &[])).await.unwrap();
    assert_eq!(resolution.gone.len(), 1);
    assert!(matches!(memory.similar(asks("in all processes")).await.unwrap()[0].known.end, FailureEnd::Fixed { .. }));
}

#[tokio::test]
async fn a_process_killed_while_it_captures_leaves_a_whole_memory() {
    let scratch = tempfile::tempdir().unwrap();
    for round in 0..6_u32 {
        let (file, writer) = (path(&scratch), format!("round{round}"));
        let killed = tokio::task::spawn_blocking(move || {
            let mut child = child(&file, &writer);
            wait_for(&mut child, &format!("captured {}", 3 + round * 5));
            child.kill().unwrap();
            child.wait().unwrap();
        });
        killed.await.unwrap();
        let memory = open(&path(&scratch)).await;
        let failure = memory.list(FailureFilter::default(), None, 10).await.unwrap().failures.remove(0);
        let entries = memory.export(0, 10).await.unwrap().records.len() - 1;
        assert_eq!(failure.count, entries as u64, "the counter goes with the rows");
        let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
        let sound: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }
}

/// Damage in the tables: nothing is recalled, it is said why, and nothing panics.
#[tokio::test]
async fn a_damaged_memory_recalls_nothing_and_says_why() {
    let scratch = tempfile::tempdir().unwrap();
    let memory = open(&path(&scratch)).await;
    for number in 0..200 {
        let name = format!("d{number}");
        memory.capture(seen(&format!("error of {name}"), place(&name, 1, TESTS))).await.unwrap();
        memory.resolve_outstanding(answer(&name, 2, &[TESTS], &[])).await.unwrap();
    }
    drop(memory);
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let roots = "SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('failures', 'scopes', 'words') AND rootpage > 0";
    let pages: Vec<u32> =
        raw.prepare(roots).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    drop(raw);
    let mut bytes = std::fs::read(path(&scratch)).unwrap();
    for page in pages {
        bytes[4096 * (page as usize - 1)..4096 * page as usize].fill(0x5a);
    }
    std::fs::write(path(&scratch), bytes).unwrap();

    let memory = open(&path(&scratch)).await;
    let trouble = memory.similar(asks("error of d7")).await.unwrap_err();
    assert_eq!(trouble.code(), "HX0304", "{trouble:?}");
    assert!(trouble.to_string().contains("failures.db") && trouble.hint().contains("away"), "{trouble:?}");
    assert!(memory.capture(seen("new", place("new", 1, TESTS))).await.is_err());
    assert!(memory.statistics().await.is_err());
}

#[tokio::test]
async fn files_that_cannot_be_a_memory_are_named_and_left_alone() {
    let refused = async |write: &dyn Fn(&Path), code: &str| {
        let scratch = tempfile::tempdir().unwrap();
        write(&path(&scratch));
        let before = std::fs::read(path(&scratch)).unwrap();
        for access in [Access::ReadWrite, Access::ReadOnly] {
            let error = FailureMemory::open(DatabaseOptions::new(path(&scratch), access).within(PATIENCE)).await;
            assert_eq!(error.unwrap_err().code(), code);
        }
        assert!(std::fs::read(path(&scratch)).unwrap() == before, "{code}: the file was changed");
    };
    refused(&|path| std::fs::write(path, "no database\n".repeat(1_000)).unwrap(), "HX0304").await;
    refused(
        &|path| {
            let raw = rusqlite::Connection::open(path).unwrap();
            raw.execute_batch("PRAGMA application_id = 1212501062; PRAGMA user_version = 4711; CREATE TABLE x (y)")
                .unwrap();
        },
        "HX0306",
    )
    .await;
    refused(
        &|path| {
            let raw = rusqlite::Connection::open(path).unwrap();
            // The journal itself: another kind of file of ours.
            raw.execute_batch("PRAGMA application_id = 1212501080; CREATE TABLE x (y)").unwrap();
        },
        "HX0305",
    )
    .await;
    let scratch = tempfile::tempdir().unwrap();
    let missing = FailureMemory::open(DatabaseOptions::new(path(&scratch), Access::ReadOnly)).await.unwrap_err();
    assert_eq!(missing.code(), "HX0307");
    assert!(!path(&scratch).exists());
}

/// Another program has the file locked: nobody waits longer than the deadline, and reading goes on.
/// Its guard.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_memory_is_waited_for_until_the_deadline_and_no_longer() {
    let scratch = tempfile::tempdir().unwrap();
    let patient = open(&path(&scratch)).await;
    patient.capture(seen("known", place("a", 1, TESTS))).await.unwrap();
    patient.resolve_outstanding(answer("a", 2, &[TESTS], &[])).await.unwrap();
    let deadline = Duration::from_millis(150);
    let options = DatabaseOptions::new(path(&scratch), Access::ReadWrite).within(deadline);
    let memory = FailureMemory::open(options.clone().within(PATIENCE)).await.unwrap();
    drop(memory);
    let memory = FailureMemory::open(options).await.unwrap();
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    let error = memory.capture(seen("new", place("b", 1, TESTS))).await.unwrap_err();
    assert_eq!(error.code(), "HX0303", "{error:?}");
    // Far from exact: the machine may be busy. Without a deadline it would be for ever.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(patient.similar(asks("known")).await.unwrap().len(), 1);
    raw.execute_batch("ROLLBACK").unwrap();
    patient.capture(seen("new", place("b", 1, TESTS))).await.unwrap();
}

/// Opening is waited for no longer than anything else: each command opens the memory anew.
#[tokio::test]
async fn opening_a_locked_memory_takes_no_longer_than_the_deadline() {
    let scratch = tempfile::tempdir().unwrap();
    drop(open(&path(&scratch)).await);
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (x)").unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let started = Instant::now();
        let options = DatabaseOptions::new(path(&scratch), access).within(Duration::from_millis(500));
        let error = FailureMemory::open(options).await.unwrap_err();
        assert_eq!(error.code(), "HX0303", "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(4), "{access:?}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_full_disk_fails_the_capture_and_leaves_what_is_there() {
    let scratch = tempfile::tempdir().unwrap();
    let options = DatabaseOptions {
        size_limit: Some(300 * 1024),
        ..DatabaseOptions::new(path(&scratch), Access::ReadWrite).within(PATIENCE)
    };
    let memory = FailureMemory::open(options).await.unwrap();
    memory.capture(seen("the first", place("first", 1, TESTS))).await.unwrap();
    memory.resolve_outstanding(answer("first", 2, &[TESTS, check::RUN], &[])).await.unwrap();
    let mut captured = 0_u32;
    let error = loop {
        let mut filler =
            seen(&format!("filler {}", "x".repeat(captured as usize % 90)), place("f", captured + 1, TESTS));
        filler.diagnosis.cause_line = "y".repeat(5_000);
        filler.at = at(i64::from(captured));
        match memory.capture(filler).await {
            Ok(_) => captured += 1,
            Err(error) => break error,
        }
        assert!(captured < 10_000);
    };
    assert_eq!(error.code(), "HX0302", "{error:?}");
    assert_eq!(memory.similar(asks("the first")).await.unwrap().len(), 1);
}

/// `helix failures list` beside a host, and without one.
#[tokio::test]
async fn a_reader_sees_what_a_writer_has_answered_and_cannot_write() {
    let scratch = tempfile::tempdir().unwrap();
    let writer = open(&path(&scratch)).await;
    let reader = FailureMemory::open(DatabaseOptions::new(path(&scratch), Access::ReadOnly).within(PATIENCE));
    let reader = reader.await.unwrap();
    for number in 1..=20_u64 {
        writer.capture(seen("shared", place(&format!("r{number}"), 1, TESTS))).await.unwrap();
        assert_eq!(reader.statistics().await.unwrap().occurrences, number);
    }
    assert_eq!(reader.capture(seen("x", place("x", 1, TESTS))).await.unwrap_err().code(), "HX0301");
    drop(writer);
    assert_eq!(reader.statistics().await.unwrap().occurrences, 20);
}

/// A session is no phase: what comes back in it had gone in between.
#[tokio::test]
async fn what_went_away_in_a_session_stays_gone_when_it_comes_back() {
    let (memory, _scratch) = sqlite().await;
    let session = Work::Session { session: SessionId::new("s1").unwrap() };
    let turn = |attempt| OccurrencePlace { work: session.clone(), ..place("none", attempt, check::RUN) };
    memory.capture(seen("529 Overloaded", turn(1))).await.unwrap();
    let mut next = answer("none", 2, &[check::RUN], &[]);
    (next.change.work, next.change.files) = (session.clone(), Vec::new());
    assert_eq!(memory.resolve_outstanding(next).await.unwrap().gone.len(), 1);
    memory.capture(seen("529 Overloaded", turn(3))).await.unwrap();
    assert_eq!(memory.last_attempt(session.clone()).await.unwrap(), 3);
    assert_eq!(memory.open_failures(session).await.unwrap().len(), 1);
    let known = &memory.similar(asks("529 Overloaded")).await.unwrap()[0].known;
    assert_eq!((&known.end, known.count), (&FailureEnd::WentAway, 2));
}

/// The file is removed while it is open: what is captured afterwards is in a new one, not in the one that nobody finds any more.
#[tokio::test]
async fn a_file_that_is_removed_is_begun_anew() {
    let scratch = tempfile::tempdir().unwrap();
    let memory = open(&path(&scratch)).await;
    memory.capture(seen("lost", place("a", 1, TESTS))).await.unwrap();
    for end in ["", "-wal", "-shm"] {
        let _absent = std::fs::remove_file(scratch.path().join(format!("failures.db{end}")));
    }
    assert!(memory.similar(asks("lost")).await.is_err(), "reading does not make a new one");
    memory.capture(seen("kept", place("b", 1, TESTS))).await.unwrap();
    assert_eq!(memory.statistics().await.unwrap().failures, 1);
    drop(memory);
    let page = open(&path(&scratch)).await.list(FailureFilter::default(), None, 10).await.unwrap();
    assert_eq!(page.failures[0].diagnosis.cause_line, "kept");
}
