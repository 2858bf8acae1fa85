//! Remembers that a failure was seen.
//!
//! Must not know what follows from it for suggestions and fixes, except that a fix which did not hold is none.

use helix_failure::memory::{Occurrence, OccurrenceEntry, OccurrenceState, RememberedFailure, Work};
use helix_failure::redact;
use rusqlite::{OptionalExtension, params};

use super::index;
use super::lane::Working;
use super::resolve::settle;
use super::row::{FailureRow, json, phase_of, word};
use crate::failures::answer::Captured;
use crate::failures::error::MemoryError;
use crate::sqlite::signed;

/// Occurrences of one failure that are kept one by one; of more, the oldest that are not open are only counted.
const KEPT: i64 = 400;
/// How many stay when there were more.
const KEPT_AFTER: i64 = 200;

pub(super) fn capture(working: &Working<'_>, occurrence: &Occurrence) -> Result<Captured, MemoryError> {
    let held: Option<(i64, String)> = working
        .connection
        .prepare_cached(
            "SELECT failures.id, fingerprint FROM occurrences JOIN failures ON failures.id = failure WHERE key = ?1",
        )
        .and_then(|mut find| find.query_row([&occurrence.key], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(|error| working.failed(error))?;
    match held {
        Some((id, fingerprint)) if fingerprint == occurrence.diagnosis.fingerprint.as_str() => {
            let count = FailureRow::by_id(working, id)?.map_or(0, |row| row.count());
            return Ok(Captured { count, repeated: true });
        }
        // The check ran again, after a crash before its answer was in the journal, and saw something else.
        Some((id, _)) => take_back(working, id, &occurrence.key)?,
        None => {}
    }
    let failure = ensure(working, &remembered(occurrence))?;
    let entry = OccurrenceEntry {
        key: occurrence.key.clone(),
        place: occurrence.place.clone(),
        at: occurrence.at,
        state: OccurrenceState::Open,
    };
    insert(working, failure, &entry)?;
    let (work, phase) = (occurrence.place.work.name(), phase_of(&occurrence.place.work));
    let attempt = occurrence.place.attempt;
    // What comes back in the same phase was never mended. A provider that is overloaded again, and a plan that is spoilt again,
    // had recovered in between.
    let (taken_back, states) = match &occurrence.place.work {
        Work::Job { .. } => (true, "('open', 'gone')"),
        Work::Conversation { .. } | Work::Document { .. } => (false, "('open')"),
    };
    let earlier = params![failure, work, phase, attempt, entry.key];
    index::execute(
        working,
        &format!(
            "UPDATE occurrences SET state = 'seen_again'
             WHERE failure = ?1 AND work = ?2 AND phase = ?3 AND attempt < ?4 AND key <> ?5 AND state IN {states}"
        ),
        earlier,
    )?;
    if taken_back {
        index::execute(
            working,
            "DELETE FROM fixes WHERE failure = ?1 AND work = ?2 AND phase = ?3 AND attempt <= ?4",
            params![failure, work, phase, attempt],
        )?;
    }
    prune(working, failure)?;
    settle(working, failure)?;
    let count = FailureRow::by_id(working, failure)?.map_or(1, |row| row.count());
    Ok(Captured { count, repeated: false })
}

fn remembered(occurrence: &Occurrence) -> RememberedFailure {
    RememberedFailure {
        diagnosis: occurrence.diagnosis.clone(),
        first_seen: occurrence.at,
        last_seen: occurrence.at,
        dropped: 0,
    }
}

/// The row of a failure, made if it is new; its latest texts and times are the newest ones.
pub(super) fn ensure(working: &Working<'_>, failure: &RememberedFailure) -> Result<i64, MemoryError> {
    let what = "a failure";
    let diagnosis = &failure.diagnosis;
    let (cause_line, summary) = (redact(&diagnosis.cause_line), redact(&diagnosis.summary));
    let (first, last) = (failure.first_seen.as_microsecond(), failure.last_seen.as_microsecond());
    if let Some(row) = FailureRow::by_fingerprint(working, diagnosis.fingerprint.as_str())? {
        let newer = last > row.last_seen;
        index::execute(
            working,
            "UPDATE failures SET first_seen = min(first_seen, ?2), last_seen = max(last_seen, ?3),
                 dropped = max(dropped, ?4),
                 cause_line = CASE WHEN ?5 THEN ?6 ELSE cause_line END, summary = CASE WHEN ?5 THEN ?7 ELSE summary END
             WHERE id = ?1",
            params![row.id, first, last, signed(failure.dropped), newer, cause_line, summary],
        )?;
        return Ok(row.id);
    }
    index::execute(
        working,
        "INSERT INTO failures (fingerprint, tool, code, message, frame, category, cause, retry, blame, cause_line,
             summary, first_seen, last_seen, kept, dropped, ended, version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, ?14, 'open', ?15)",
        params![
            diagnosis.fingerprint.as_str(),
            redact(&diagnosis.tool),
            redact(&diagnosis.code),
            redact(&diagnosis.message),
            redact(&diagnosis.frame),
            word(working, what, &diagnosis.category)?,
            redact(&diagnosis.cause),
            word(working, what, &diagnosis.retry)?,
            word(working, what, &diagnosis.blame)?,
            cause_line,
            summary,
            first,
            last,
            signed(failure.dropped),
            diagnosis.fingerprint_version,
        ],
    )?;
    let id = working.connection.last_insert_rowid();
    if let Some(row) = FailureRow::by_id(working, id)? {
        index::add_for_people(working, &row)?;
    }
    Ok(id)
}

/// Writes one occurrence; says how many rows that made.
pub(super) fn insert(working: &Working<'_>, failure: i64, entry: &OccurrenceEntry) -> Result<usize, MemoryError> {
    let failed = |error| working.failed(error);
    let mut place = entry.place.clone();
    place.project = redact(&place.project).into_owned();
    let written = json(working, "an occurrence", &place)?;
    let rows = working
        .connection
        .prepare_cached(
            "INSERT INTO occurrences (key, failure, project, work, phase, attempt, checker, place, at, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (key) DO NOTHING",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                entry.key,
                failure,
                place.project,
                place.work.name(),
                phase_of(&place.work),
                place.attempt,
                place.check,
                written,
                entry.at.as_microsecond(),
                entry.state.word(),
            ])
        })
        .map_err(failed)?;
    if rows > 0 {
        index::execute(working, "UPDATE failures SET kept = kept + 1 WHERE id = ?1", params![failure])?;
    }
    Ok(rows)
}

/// Undoes a capture; a failure that was seen nowhere else goes with it.
fn take_back(working: &Working<'_>, failure: i64, key: &str) -> Result<(), MemoryError> {
    index::execute(working, "DELETE FROM occurrences WHERE key = ?1", params![key])?;
    index::execute(working, "UPDATE failures SET kept = kept - 1 WHERE id = ?1", params![failure])?;
    match FailureRow::by_id(working, failure)? {
        Some(row) if row.count() == 0 => {
            index::remove(working, &row)?;
            index::execute(working, "DELETE FROM failures WHERE id = ?1", params![failure])
        }
        Some(_) | None => settle(working, failure),
    }
}

fn prune(working: &Working<'_>, failure: i64) -> Result<(), MemoryError> {
    let Some(row) = FailureRow::by_id(working, failure)?.filter(|row| row.kept > KEPT) else { return Ok(()) };
    let dropped = working
        .connection
        .prepare_cached(
            "DELETE FROM occurrences WHERE key IN (
                 SELECT key FROM occurrences WHERE failure = ?1 AND state <> 'open' ORDER BY at LIMIT ?2)",
        )
        .and_then(|mut delete| delete.execute(params![failure, row.kept - KEPT_AFTER]))
        .map_err(|error| working.failed(error))?;
    let dropped = i64::try_from(dropped).unwrap_or(0);
    index::execute(
        working,
        "UPDATE failures SET kept = kept - ?2, dropped = dropped + ?2 WHERE id = ?1",
        params![failure, dropped],
    )
}
