//! Forgetting: what somebody wants forgotten, and what is old.
//!
//! Must not know why.

use helix_failure::Fingerprint;

use super::answer::{Forget, Stale};
use super::capture::delete;
use super::resolve::update_end;
use super::row::FailureRow;
use crate::error::DatabaseError;
use crate::sqlite::{Sql, signed};

/// Forgets a failure or its fixes.
pub(super) fn forget(tx: Sql<'_>, fingerprint: &Fingerprint, what: Forget) -> Result<bool, DatabaseError> {
    let Some(row) = FailureRow::by_fingerprint(tx, fingerprint.as_str())? else { return Ok(false) };
    match what {
        Forget::Everything => delete(tx, &row)?,
        Forget::Fixes => {
            tx.execute("DELETE FROM fixes WHERE failure = ?1", [row.id])?;
            // That it was gone was put down to the fix.
            tx.execute("UPDATE occurrences SET state = 'open' WHERE failure = ?1 AND state = 'gone'", [row.id])?;
            update_end(tx, row.id)?;
        }
    }
    Ok(true)
}

/// Forgets what is old.
pub(super) fn decay(tx: Sql<'_>, stale: &Stale) -> Result<u64, DatabaseError> {
    let (once, any) = (stale.once_before.as_microsecond(), stale.any_before.as_microsecond());
    let most = signed(stale.most as u64);
    let old = tx.all(
        "SELECT * FROM failures
         WHERE last_seen < max(?1, ?2) AND (last_seen < ?2 OR (last_seen < ?1 AND kept + dropped <= 1))
         ORDER BY last_seen LIMIT ?3",
        [once, any, most],
        FailureRow::read,
    )?;
    for row in &old {
        delete(tx, row)?;
    }
    tx.execute(
        "DELETE FROM attempts WHERE (work, phase, attempt) IN (
             SELECT work, phase, attempt FROM attempts WHERE at < ?1 ORDER BY at LIMIT ?2)",
        [any, most],
    )?;
    Ok(old.len() as u64)
}
