//! Forgetting: what somebody wants forgotten, and what is old.
//!
//! Must not know why.

use helix_failure::Fingerprint;
use rusqlite::params;

use super::index;
use super::lane::Working;
use super::resolve::settle;
use super::row::FailureRow;
use crate::failures::answer::{Forget, Stale};
use crate::failures::error::MemoryError;

/// Forgets a failure or its fixes.
pub(super) fn forget(working: &Working<'_>, fingerprint: &Fingerprint, what: Forget) -> Result<bool, MemoryError> {
    let Some(row) = FailureRow::by_fingerprint(working, fingerprint.as_str())? else { return Ok(false) };
    match what {
        Forget::Everything => delete(working, &row)?,
        Forget::Fixes => {
            index::execute(working, "DELETE FROM fixes WHERE failure = ?1", params![row.id])?;
            // That it was gone was put down to the fix.
            index::execute(
                working,
                "UPDATE occurrences SET state = 'open' WHERE failure = ?1 AND state = 'gone'",
                params![row.id],
            )?;
            settle(working, row.id)?;
        }
    }
    Ok(true)
}

fn delete(working: &Working<'_>, row: &FailureRow) -> Result<(), MemoryError> {
    index::remove(working, row)?;
    // Its occurrences, fixes and suggestions go with it (ON DELETE CASCADE).
    index::execute(working, "DELETE FROM failures WHERE id = ?1", params![row.id])
}

/// Forgets what is old.
pub(super) fn decay(working: &Working<'_>, stale: &Stale) -> Result<u64, MemoryError> {
    let failed = |error| working.failed(error);
    let (once, any) = (stale.once_before.as_microsecond(), stale.any_before.as_microsecond());
    let most = i64::try_from(stale.most).unwrap_or(i64::MAX);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT fingerprint FROM failures
             WHERE last_seen < max(?1, ?2) AND (last_seen < ?2 OR (last_seen < ?1 AND kept + dropped <= 1))
             ORDER BY last_seen LIMIT ?3",
        )
        .map_err(failed)?;
    let rows = find.query_map(params![once, any, most], |row| row.get::<_, String>(0)).map_err(failed)?;
    let old: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let mut forgotten = 0;
    for fingerprint in old {
        if let Some(row) = FailureRow::by_fingerprint(working, &fingerprint)? {
            delete(working, &row)?;
            forgotten += 1;
        }
    }
    index::execute(
        working,
        "DELETE FROM attempts WHERE (work, phase, attempt) IN (
             SELECT work, phase, attempt FROM attempts WHERE at < ?1 ORDER BY at LIMIT ?2)",
        params![any, most],
    )?;
    Ok(forgotten)
}
