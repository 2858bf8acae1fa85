//! Remembers that a failure was seen.
//!
//! Must not know what follows from it for suggestions and fixes, except that a fix which did not hold is none.

use helix_core::secrets::redact;
use helix_failure::memory::{Diagnosis, Occurrence, OccurrenceEntry, OccurrenceState, RememberedFailure, Work};
use rusqlite::params;

use super::index;
use super::resolve::update_end;
use super::row::{FailureRow, Json, phase_of};
use crate::error::DatabaseError;
use crate::sqlite::{Sql, signed};

/// Occurrences of one failure that are kept one by one; of more, the oldest that are not open are only counted.
const KEPT: i64 = 400;
/// How many stay when there were more.
const KEPT_AFTER: i64 = 200;

pub(super) fn capture(tx: Sql<'_>, occurrence: &Occurrence) -> Result<(), DatabaseError> {
    let Occurrence { key, diagnosis, place, at } = occurrence;
    let held = "SELECT failures.* FROM occurrences JOIN failures ON failures.id = failure WHERE key = ?1";
    match tx.first(held, [key], FailureRow::read)? {
        Some(row) if row.failure.diagnosis.fingerprint == diagnosis.fingerprint => return Ok(()),
        // The check ran again, after a crash before its answer was in the journal, and saw something else.
        Some(row) => take_back(tx, row.id, key)?,
        None => {}
    }
    let seen = RememberedFailure { diagnosis: diagnosis.clone(), first_seen: *at, last_seen: *at, dropped: 0 };
    let failure = ensure(tx, &seen)?;
    let entry = OccurrenceEntry { key: key.clone(), place: place.clone(), at: *at, state: OccurrenceState::Open };
    insert(tx, failure, &entry)?;
    // What comes back in the same phase was never fixed. A provider that is overloaded again, and a plan that is spoilt again,
    // had recovered in between.
    let (fixes_held, states) = match &place.work {
        Work::Job { .. } => (false, "('open', 'gone')"),
        Work::Session { .. } | Work::Document { .. } => (true, "('open')"),
    };
    let (work, phase) = (place.work.name(), phase_of(&place.work));
    tx.execute(
        &format!(
            "UPDATE occurrences SET state = 'seen_again'
             WHERE failure = ?1 AND work = ?2 AND phase = ?3 AND attempt < ?4 AND key <> ?5 AND state IN {states}"
        ),
        params![failure, work, phase, place.attempt, key],
    )?;
    if !fixes_held {
        tx.execute(
            "DELETE FROM fixes WHERE failure = ?1 AND work = ?2 AND phase = ?3 AND attempt <= ?4",
            params![failure, work, phase, place.attempt],
        )?;
    }
    prune(tx, failure)?;
    update_end(tx, failure)
}

/// The row of a failure, made if it is new; its latest texts and times are the newest ones.
pub(super) fn ensure(tx: Sql<'_>, failure: &RememberedFailure) -> Result<i64, DatabaseError> {
    let clean = |text: &str| redact(text).into_owned();
    let given = &failure.diagnosis;
    let diagnosis = Diagnosis {
        tool: clean(&given.tool),
        code: clean(&given.code),
        message: clean(&given.message),
        frame: clean(&given.frame),
        cause: clean(&given.cause),
        cause_line: clean(&given.cause_line),
        summary: clean(&given.summary),
        ..given.clone()
    };
    let (first, last) = (failure.first_seen.as_microsecond(), failure.last_seen.as_microsecond());
    let fingerprint = diagnosis.fingerprint.as_str();
    if let Some(row) = FailureRow::by_fingerprint(tx, fingerprint)? {
        let newer = failure.last_seen > row.failure.last_seen;
        tx.execute(
            "UPDATE failures SET first_seen = min(first_seen, ?2), last_seen = max(last_seen, ?3), dropped = max(dropped, ?4),
                 body = CASE WHEN ?5 THEN json_set(body, '$.cause_line', ?6, '$.summary', ?7) ELSE body END
             WHERE id = ?1",
            params![row.id, first, last, signed(failure.dropped), newer, diagnosis.cause_line, diagnosis.summary],
        )?;
        return Ok(row.id);
    }
    tx.execute(
        "INSERT INTO failures (fingerprint, tool, category, body, first_seen, last_seen, kept, dropped, ended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, 'open')",
        params![
            fingerprint,
            diagnosis.tool,
            diagnosis.category.word(),
            Json(&diagnosis),
            first,
            last,
            signed(failure.dropped)
        ],
    )?;
    let id = tx.inserted();
    index::add_for_people(tx, id, &diagnosis)?;
    Ok(id)
}

/// Writes one occurrence; returns how many rows that made.
pub(super) fn insert(tx: Sql<'_>, failure: i64, entry: &OccurrenceEntry) -> Result<usize, DatabaseError> {
    let mut place = entry.place.clone();
    place.project = redact(&place.project).into_owned();
    let rows = tx.execute(
        "INSERT INTO occurrences (key, failure, project, work, phase, attempt, checker, place, at, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (key) DO NOTHING",
        params![
            entry.key,
            failure,
            place.project,
            place.work.name(),
            phase_of(&place.work),
            place.attempt,
            place.check,
            Json(&place),
            entry.at.as_microsecond(),
            entry.state.word(),
        ],
    )?;
    if rows > 0 {
        tx.execute("UPDATE failures SET kept = kept + 1 WHERE id = ?1", [failure])?;
    }
    Ok(rows)
}

/// Undoes a capture; a failure that was seen nowhere else goes with it.
fn take_back(tx: Sql<'_>, failure: i64, key: &str) -> Result<(), DatabaseError> {
    tx.execute("DELETE FROM occurrences WHERE key = ?1", [key])?;
    tx.execute("UPDATE failures SET kept = kept - 1 WHERE id = ?1", [failure])?;
    match FailureRow::by_id(tx, failure)? {
        Some(row) if row.count() == 0 => delete(tx, &row),
        Some(_) | None => update_end(tx, failure),
    }
}

/// Removes a failure. Its occurrences, fixes and suggestions go with it (ON DELETE CASCADE).
pub(super) fn delete(tx: Sql<'_>, row: &FailureRow) -> Result<(), DatabaseError> {
    index::remove(tx, row)?;
    tx.execute("DELETE FROM failures WHERE id = ?1", [row.id])?;
    Ok(())
}

fn prune(tx: Sql<'_>, failure: i64) -> Result<(), DatabaseError> {
    let Some(row) = FailureRow::by_id(tx, failure)?.filter(|row| row.kept > KEPT) else { return Ok(()) };
    let dropped = signed(tx.execute(
        "DELETE FROM occurrences WHERE key IN (
             SELECT key FROM occurrences WHERE failure = ?1 AND state <> 'open' ORDER BY at LIMIT ?2)",
        [failure, row.kept - KEPT_AFTER],
    )? as u64);
    tx.execute("UPDATE failures SET kept = kept - ?2, dropped = dropped + ?2 WHERE id = ?1", [failure, dropped])?;
    Ok(())
}
