//! The contract, run against SQLite, and what is SQLite's own: files, damage, full disks, other processes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod contract;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::samples::{event, job_id, job_view, new_job, new_session};
use helix_store::{
    Access, Append, AppendError, DatabaseError, DatabaseOptions, JobFilter, Journal, OpenError, Projection,
    SqliteJournal, Stream,
};
use tempfile::TempDir;

async fn fresh() -> (Arc<dyn Journal>, TempDir) {
    let (journal, scratch) = database().await;
    (Arc::new(journal), scratch)
}

contract::contract_tests!(fresh);

async fn database() -> (SqliteJournal, TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    (journal, scratch)
}

fn path(scratch: &TempDir) -> PathBuf {
    scratch.path().join("helix.db")
}

/// A database with something in it, closed.
async fn written() -> TempDir {
    let (journal, scratch) = database().await;
    for number in 0..200 {
        journal.submit(new_job(&format!("j{number}"), None)).await.unwrap();
    }
    journal.close().await;
    scratch
}

/// Checks that an error says which file, and what to do.
#[track_caller]
fn assert_error(error: &OpenError, code: &str, path: &Path) {
    assert_eq!(error.code(), code, "{error:?}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert!(!error.hint().is_empty());
}

#[tokio::test]
async fn what_was_written_is_there_after_opening_again() {
    let scratch = written().await;
    let journal = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    assert_eq!(journal.list_jobs(JobFilter::default(), None, 500).await.unwrap().jobs.len(), 200);
    assert_eq!(journal.check().await.unwrap(), Vec::<String>::new());
    let mode = |name: &str| std::fs::metadata(scratch.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("helix.db"), mode("helix.db-wal")), (0o600, 0o600));
}

#[tokio::test]
async fn a_closed_journal_refuses_to_write_and_still_reads() {
    let (journal, _scratch) = database().await;
    journal.submit(new_job("a", None)).await.unwrap();
    journal.close().await;
    let error = journal.append(Append::to(job_id("a"), vec![event("2")])).await.unwrap_err();
    assert_eq!(error.code(), "HX0310");
    assert!(journal.job("a".into()).await.unwrap().is_some());
}

/// `helix jobs list` while a host writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_sees_what_a_writer_has_answered_and_cannot_write() {
    let (writer, scratch) = database().await;
    let reader = SqliteJournal::open(path(&scratch), Access::ReadOnly).await.unwrap();
    for number in 1..=50 {
        writer.append(Append::to(job_id("a"), vec![event("x")])).await.unwrap();
        assert_eq!(reader.read(Stream::Job(job_id("a")), 0, 1).await.unwrap().last, number);
    }
    let error = reader.append(Append::to(job_id("a"), vec![event("x")])).await.unwrap_err();
    assert_eq!(error.code(), "HX0301");
    writer.close().await;
    drop(writer);
    assert_eq!(reader.read(Stream::Job(job_id("a")), 0, 1).await.unwrap().last, 50);
}

#[tokio::test]
async fn a_reader_of_nothing_is_told_so_and_creates_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let error = SqliteJournal::open(path(&scratch), Access::ReadOnly).await.unwrap_err();
    assert_error(&error, "HX0307", &path(&scratch));
    assert!(!path(&scratch).exists());

    std::fs::write(path(&scratch), "").unwrap();
    let error = SqliteJournal::open(path(&scratch), Access::ReadOnly).await.unwrap_err();
    assert_error(&error, "HX0307", &path(&scratch));
}

#[tokio::test]
async fn a_database_of_a_newer_helix_is_refused_and_left_alone() {
    let scratch = written().await;
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.pragma_update(None, "user_version", 4711).unwrap();
    drop(raw);
    let before = std::fs::read(path(&scratch)).unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = SqliteJournal::open(path(&scratch), access).await.unwrap_err();
        assert_error(&error, "HX0306", &path(&scratch));
        assert!(matches!(error, OpenError::TooNew { found: 4711, .. }), "{error:?}");
    }
    assert!(std::fs::read(path(&scratch)).unwrap() == before, "the file was changed");
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(raw);
    let before = std::fs::read(path(&scratch)).unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = SqliteJournal::open(path(&scratch), access).await.unwrap_err();
        assert_error(&error, "HX0305", &path(&scratch));
    }
    assert!(std::fs::read(path(&scratch)).unwrap() == before, "the file was changed");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_called_damaged() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(path(&scratch), "status: done\n".repeat(1_000)).unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = SqliteJournal::open(path(&scratch), access).await.unwrap_err();
        assert_error(&error, "HX0304", &path(&scratch));
    }
}

#[tokio::test]
async fn damage_inside_is_reported_by_the_read_that_meets_it_and_found_by_check() {
    let scratch = written().await;
    let mut bytes = std::fs::read(path(&scratch)).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 20, "{pages}");
    bytes[4096 * 4..].fill(0x5a);
    std::fs::write(path(&scratch), bytes).unwrap();

    let journal = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    let error = journal.list_jobs(JobFilter::default(), None, 500).await.unwrap_err();
    assert_eq!(error.code(), "HX0304", "{error:?}");
    match journal.check().await {
        Ok(found) => assert!(!found.is_empty()),
        Err(error) => assert_eq!(error.code(), "HX0304", "{error:?}"),
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let missing = scratch.path().join("missing/helix.db");
    let error = SqliteJournal::open(&missing, Access::ReadWrite).await.unwrap_err();
    assert_error(&error, "HX0301", &missing);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_fails_what_does_not_fit_and_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    let limit = 400 * 1024;
    let options =
        DatabaseOptions { size_limit: Some(limit), ..DatabaseOptions::new(path(&scratch), Access::ReadWrite) };
    let journal = SqliteJournal::open_with(options).await.unwrap();
    journal.submit(new_job("a", None)).await.unwrap();

    // One that does not fit among many that do.
    let huge = event(&"x".repeat(1024 * 1024));
    let mut pending = Vec::new();
    for number in 0..64 {
        let event = if number == 32 { huge.clone() } else { event("small") };
        let journal = journal.clone();
        pending.push(tokio::spawn(async move {
            let session = contract::samples::session_id("s");
            (number, journal.append(Append::to(session, vec![event])).await)
        }));
    }
    for task in pending {
        let (number, result) = task.await.unwrap();
        match result {
            Ok(_) => assert_ne!(number, 32),
            Err(error) => {
                assert_eq!((number, error.code()), (32, "HX0302"), "{error:?}");
                assert!(error.to_string().contains("helix.db") && error.hint().contains("disk space"), "{error}");
            }
        }
    }
    let session = Stream::Session(contract::samples::session_id("s"));
    assert_eq!(journal.read(session.clone(), 0, 1).await.unwrap().last, 63);

    // Filled to the brim, it still reads, and what is there is whole.
    let filler = event(&"x".repeat(10_000));
    let mut last = 63;
    let error = loop {
        match journal.append(Append::to(contract::samples::session_id("s"), vec![filler.clone()])).await {
            Ok(appended) => last = appended.last,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), "HX0302", "{error:?}");
    assert_eq!(journal.read(session, 0, 1).await.unwrap().last, last);
    assert_eq!(journal.check().await.unwrap(), Vec::<String>::new());
    assert!(std::fs::metadata(path(&scratch)).unwrap().len() <= limit);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_locked_by_another_program_is_waited_for_and_then_named() {
    let scratch = written().await;
    let options = DatabaseOptions {
        patience: Duration::from_millis(50),
        ..DatabaseOptions::new(path(&scratch), Access::ReadWrite)
    };
    let journal = SqliteJournal::open_with(options).await.unwrap();
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();

    let error = journal.append(Append::to(job_id("new"), vec![event("x")])).await.unwrap_err();
    assert_eq!(error.code(), "HX0303", "{error:?}");
    assert!(error.hint().contains("fuser"), "{}", error.hint());
    assert!(journal.job("j7".into()).await.unwrap().is_some(), "reading goes on");

    raw.execute_batch("ROLLBACK").unwrap();
    journal.append(Append::to(job_id("new"), vec![event("x")])).await.unwrap();
}

/// SQLite by itself would wait thirty times as long; eight is for slow machines.
#[tokio::test]
async fn opening_a_database_that_another_program_has_for_itself_waits_once() {
    let scratch = written().await;
    let raw = rusqlite::Connection::open(path(&scratch)).unwrap();
    raw.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let started = std::time::Instant::now();
        let patience = Duration::from_millis(500);
        let options = DatabaseOptions { patience, ..DatabaseOptions::new(path(&scratch), access) };
        let error = SqliteJournal::open_with(options).await.unwrap_err();
        assert_eq!(error.code(), "HX0303", "{error:?}");
        assert!(started.elapsed() < patience * 8, "{access:?}: {:?}", started.elapsed());
    }
}

/// Two writers on one file: the host lock forbids it, and yet nothing breaks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_on_one_file_do_not_interleave_wrongly() {
    let scratch = tempfile::tempdir().unwrap();
    let open = || SqliteJournal::open(path(&scratch), Access::ReadWrite);
    let (left, right) = tokio::join!(open(), open());
    let journals = [left.unwrap(), right.unwrap()];
    let mut tasks = Vec::new();
    for writer in 0..8_usize {
        let journal = journals[writer % 2].clone();
        tasks.push(tokio::spawn(async move {
            let (mut conflicts, mut opened) = (0_u32, 0_u32);
            for number in 0..40 {
                let answer =
                    journal.open_session(new_session(&format!("w{writer}n{number}"), &number.to_string())).await;
                opened += u32::from(matches!(answer.unwrap(), helix_store::Opened::Created(_)));
                loop {
                    let last = journal.read(Stream::Job(job_id("a")), 0, 1).await.unwrap().last;
                    let append = Append { expected: Some(last), ..Append::to(job_id("a"), vec![event("x")]) };
                    match journal.append(append).await {
                        Ok(appended) => break assert_eq!(appended.first, last + 1),
                        Err(AppendError::Conflict { .. }) => conflicts += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
            (conflicts, opened)
        }));
    }
    let mut opened = 0;
    for task in tasks {
        opened += task.await.unwrap().1;
    }
    assert_eq!(opened, 40, "each key was opened once");
    let page = journals[0].read(Stream::Job(job_id("a")), 0, 1_000).await.unwrap();
    assert!(page.events.iter().map(|event| event.number).eq(1..=320));
    assert_eq!(journals[1].check().await.unwrap(), Vec::<String>::new());
}

/// Hosts that start at the same moment on a new directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_may_be_opened_by_several_at_once() {
    for _ in 0..10 {
        let scratch = tempfile::tempdir().unwrap();
        let open = || SqliteJournal::open(path(&scratch), Access::ReadWrite);
        let (one, two, three, four) = tokio::join!(open(), open(), open(), open());
        for (number, journal) in [one, two, three, four].into_iter().enumerate() {
            let answer = journal.unwrap().submit(new_job(&format!("j{number}"), Some("key"))).await.unwrap();
            assert_eq!(matches!(answer, helix_store::Submitted::Created(_)), number == 0, "{answer:?}");
        }
    }
}

/// Not writable, for a user whom permissions bind; as root they bind nobody and the case cannot be made.
#[tokio::test]
async fn a_file_that_may_only_be_read_is_named() {
    let scratch = written().await;
    std::fs::set_permissions(path(&scratch), std::fs::Permissions::from_mode(0o400)).unwrap();
    let bound = std::fs::OpenOptions::new().append(true).open(path(&scratch)).is_err();
    match SqliteJournal::open(path(&scratch), Access::ReadWrite).await {
        Err(error) => assert_error(&error, "HX0301", &path(&scratch)),
        Ok(_) => assert!(!bound, "permissions bind, and yet it was opened"),
    }
}

/// An emptied file is a new database to SQLite, and all jobs were silently gone; a crash while the first one was made leaves one, too.
#[tokio::test]
async fn a_database_that_lost_its_content_is_damaged_and_a_new_one_is_not() {
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(scratch.path().join("runs/j1.a.1")).unwrap();
        std::fs::write(path(&scratch), "").unwrap();
        let error = SqliteJournal::open(path(&scratch), access).await.unwrap_err();
        assert_error(&error, "HX0304", &path(&scratch));
        assert_eq!(std::fs::metadata(path(&scratch)).unwrap().len(), 0, "nothing was changed");
    }
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("runs")).unwrap();
    std::fs::write(path(&scratch), "").unwrap();
    SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
}

#[tokio::test]
async fn a_directory_in_place_of_the_database_is_named() {
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(path(&scratch)).unwrap();
        assert_error(&SqliteJournal::open(path(&scratch), access).await.unwrap_err(), "HX0301", &path(&scratch));
    }
}

/// Damage need not hit SQLite's own structures: a text that is none any more is no defect of Helix.
#[tokio::test]
async fn a_text_that_is_not_utf8_any_more_is_an_altered_record() {
    let scratch = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    journal.submit(new_job("j1", None)).await.unwrap();
    journal.close().await;
    let connection = rusqlite::Connection::open(path(&scratch)).unwrap();
    let changed = connection.execute("UPDATE jobs SET view = CAST(x'7bff7d' AS TEXT)", []).unwrap();
    assert_eq!(changed, 1);
    drop(connection);
    let journal = SqliteJournal::open(path(&scratch), Access::ReadOnly).await.unwrap();
    let listed = journal.list_jobs(JobFilter::default(), None, 10).await.unwrap();
    assert_eq!((listed.jobs.len(), listed.unreadable.len()), (0, 1));
    let error = journal.job("j1".into()).await.unwrap_err();
    assert_eq!(error.code(), "HX0317", "{error:?}");
    assert_eq!(DatabaseError::among(&error).map(DatabaseError::code), Some("HX0317"));
}

/// What `helix doctor` asks: a lock of writers does not keep readers from reading, so that only trying tells.
#[tokio::test]
async fn whether_a_host_could_write_is_found_out_without_writing() {
    let scratch = written().await;
    let before = std::fs::read(path(&scratch)).unwrap();
    SqliteJournal::try_to_lock(path(&scratch)).await.unwrap();
    let other = rusqlite::Connection::open(path(&scratch)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = SqliteJournal::try_to_lock(path(&scratch)).await.unwrap_err();
    assert_eq!(error.code(), "HX0303", "{error:?}");
    drop(other);
    assert_eq!(std::fs::read(path(&scratch)).unwrap(), before);
}

/// Whoever can write the file and has no key: each change is met by the read of what it concerns, and by the check of all.
#[tokio::test]
async fn what_something_else_has_changed_is_refused_for_its_own_job_alone() {
    let changes = [
        ("a word of an event", "UPDATE events SET body = replace(body, '2', '3') WHERE number = 2 AND stream = 1"),
        ("its time", "UPDATE events SET at = '2030-01-01T00:00:00Z' WHERE number = 2 AND stream = 1"),
        ("an event taken out", "DELETE FROM events WHERE number = 2 AND stream = 1"),
        ("the newest event taken out", "DELETE FROM events WHERE number = 4 AND stream = 1"),
        (
            "the newest event taken out, and the stream's end",
            "DELETE FROM events WHERE number = 4 AND stream = 1; UPDATE streams SET last = 3 WHERE id = 1",
        ),
        (
            "an event put in with the seal of another",
            "INSERT INTO events (stream, number, at, kind, body, seal)
             SELECT 1, 5, at, kind, body, seal FROM events WHERE number = 4 AND stream = 1;
             UPDATE streams SET last = 5 WHERE id = 1",
        ),
        (
            "an event of another job",
            "DELETE FROM events WHERE number = 1 AND stream = 1; UPDATE events SET stream = 1 WHERE number = 1 AND stream = 2;
             UPDATE streams SET last = 0 WHERE id = 2",
        ),
        ("a job's view", "UPDATE jobs SET view = view || ' ' WHERE id = 'a'"),
    ];
    for (what, change) in changes {
        let (journal, scratch) = database().await;
        for id in ["a", "b", "c"] {
            journal.submit(new_job(id, None)).await.unwrap();
        }
        for number in 2..=4 {
            let view = job_view(&job_id("a"), number);
            let next = Append::to(job_id("a"), vec![event(&number.to_string())]).with(Projection::Job(view));
            journal.append(next).await.unwrap();
        }
        assert_eq!(journal.check().await.unwrap(), Vec::<String>::new());
        journal.close().await;
        rusqlite::Connection::open(path(&scratch)).unwrap().execute_batch(change).unwrap();

        let journal = SqliteJournal::open(path(&scratch), Access::ReadOnly).await.unwrap();
        let mut error = journal.job("a".into()).await.err();
        let mut after = 0;
        while error.is_none() {
            match journal.read(Stream::Job(job_id("a")), after, 10).await {
                Ok(page) if after == page.last => break,
                Ok(page) => after = page.events.last().unwrap().number,
                Err(broken) => error = Some(broken),
            }
        }
        let error = error.unwrap_or_else(|| panic!("{what} is not seen"));
        assert_eq!(error.code(), "HX0317", "{what}: {error:?}");
        assert!(!journal.check().await.unwrap().is_empty(), "{what}");
        assert_eq!(journal.read(Stream::Job(job_id("c")), 0, 10).await.unwrap().events.len(), 1, "{what}");
        let all = journal.read_all(0, 100).await.unwrap();
        assert!(all.iter().any(|event| event.stream == Stream::Job(job_id("c"))), "{what}: {all:?}");
        let listed = journal.list_jobs(JobFilter::default(), None, 10).await.unwrap();
        let seen = [listed.jobs.len(), listed.unreadable.len()];
        assert!(
            seen == [3, 0] || seen == [2, 1] && listed.unreadable == [helix_core::ids::JobId::new("a").unwrap()],
            "{what}: {listed:?}"
        );
    }
}

#[tokio::test]
async fn without_its_key_a_journal_is_neither_read_nor_continued() {
    let scratch = written().await;
    let (key, away) = (scratch.path().join("journal.key"), scratch.path().join("away"));
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::rename(&key, &away).unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = SqliteJournal::open(path(&scratch), access).await.unwrap_err();
        assert_error(&error, "HX0316", &path(&scratch));
        assert!(!key.exists(), "no other key is made");
    }
    std::fs::write(&key, [7; 32]).unwrap();
    let other = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    assert_eq!(other.job("j1".into()).await.unwrap_err().code(), "HX0317");
    other.close().await;
    std::fs::rename(&away, &key).unwrap();
    let journal = SqliteJournal::open(path(&scratch), Access::ReadWrite).await.unwrap();
    assert!(journal.job("j1".into()).await.unwrap().is_some());
}
