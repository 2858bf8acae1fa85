//! Gives remembered failures the fingerprints that the rules of now make of them.
//!
//! Must not know the rules. Two failures that are the same by now become one; former fingerprints still lead to it, so that
//! exports, links and records of the journal that name them stay good.

use helix_failure::memory::Diagnosis;
use helix_failure::{FINGERPRINT_VERSION, Fingerprint};
use rusqlite::params;

use super::index;
use super::lane::Working;
use super::resolve::settle;
use super::row::{COLUMNS, FailureRow};
use crate::failures::error::MemoryError;

/// Renews failures whose fingerprints were made by other rules; tells how many.
pub(super) fn renew(working: &Working<'_>, most: usize) -> Result<u64, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        // Two ranges, which the index answers; an inequality would look at every failure for each piece.
        .prepare_cached(&format!("SELECT {COLUMNS} FROM failures WHERE version < ?1 OR version > ?1 LIMIT ?2"))
        .map_err(failed)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = find.query_map(params![FINGERPRINT_VERSION, most], FailureRow::read).map_err(failed)?;
    let rows: Vec<FailureRow> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    for row in &rows {
        let diagnosis = row.diagnosis(working)?.renewed();
        match FailureRow::by_fingerprint(working, diagnosis.fingerprint.as_str())?.filter(|other| other.id != row.id) {
            Some(other) => merge(working, row, &other)?,
            None => rename(working, row, &diagnosis)?,
        }
    }
    Ok(rows.len() as u64)
}

/// Notes that this failure had another fingerprint by other rules.
pub(super) fn note_former(working: &Working<'_>, former: &Fingerprint, failure: i64) -> Result<(), MemoryError> {
    index::execute(
        working,
        "INSERT INTO former_fingerprints (fingerprint, failure) SELECT ?1, ?2
         WHERE NOT EXISTS (SELECT 1 FROM failures WHERE fingerprint = ?1)
         ON CONFLICT (fingerprint) DO UPDATE SET failure = excluded.failure",
        params![former.as_str(), failure],
    )
}

fn rename(working: &Working<'_>, row: &FailureRow, diagnosis: &Diagnosis) -> Result<(), MemoryError> {
    let before = row.diagnosis(working)?;
    if before == (Diagnosis { fingerprint_version: before.fingerprint_version, ..diagnosis.clone() }) {
        let only_version = "UPDATE failures SET version = ?2 WHERE id = ?1";
        return index::execute(working, only_version, params![row.id, diagnosis.fingerprint_version]);
    }
    let former = before.fingerprint;
    // The indices have the words of the old message: out with them first.
    index::remove(working, row)?;
    index::execute(
        working,
        "UPDATE failures SET fingerprint = ?2, version = ?3, code = ?4, message = ?5, cause_line = ?6 WHERE id = ?1",
        params![
            row.id,
            diagnosis.fingerprint.as_str(),
            diagnosis.fingerprint_version,
            diagnosis.code,
            diagnosis.message,
            diagnosis.cause_line
        ],
    )?;
    if let Some(renamed) = FailureRow::by_id(working, row.id)? {
        index::add_for_people(working, &renamed)?;
        if renamed.ended != "open" {
            index::add_to_scope(working, &renamed)?;
        }
    }
    if former == diagnosis.fingerprint {
        return Ok(());
    }
    note_former(working, &former, row.id)?;
    follow(working, row.id, &former, &diagnosis.fingerprint)
}

fn merge(working: &Working<'_>, from: &FailureRow, into: &FailureRow) -> Result<(), MemoryError> {
    let (former, now) = (from.diagnosis(working)?.fingerprint, into.diagnosis(working)?.fingerprint);
    for sql in [
        "UPDATE occurrences SET failure = ?2 WHERE failure = ?1",
        "UPDATE OR IGNORE fixes SET failure = ?2 WHERE failure = ?1",
        "UPDATE suggestions SET failure = ?2 WHERE failure = ?1",
        "UPDATE former_fingerprints SET failure = ?2 WHERE failure = ?1",
    ] {
        index::execute(working, sql, params![from.id, into.id])?;
    }
    index::execute(
        working,
        "UPDATE failures SET kept = kept + ?2, dropped = dropped + ?3, first_seen = min(first_seen, ?4),
             last_seen = max(last_seen, ?5) WHERE id = ?1",
        params![into.id, from.kept, from.dropped, from.first_seen, from.last_seen],
    )?;
    index::remove(working, from)?;
    index::execute(working, "DELETE FROM failures WHERE id = ?1", params![from.id])?;
    note_former(working, &former, into.id)?;
    follow(working, into.id, &former, &now)?;
    settle(working, into.id)
}

/// Suggestions name the failure that they are for, and the one whose fix they offer.
fn follow(working: &Working<'_>, failure: i64, former: &Fingerprint, now: &Fingerprint) -> Result<(), MemoryError> {
    index::execute(
        working,
        "UPDATE suggestions SET body = json_set(body, '$.fingerprint', ?2) WHERE failure = ?1",
        params![failure, now.as_str()],
    )?;
    index::execute(
        working,
        "UPDATE suggestions SET origin = ?2, body = json_set(body, '$.source.fingerprint', ?2) WHERE origin = ?1",
        params![former.as_str(), now.as_str()],
    )
}
