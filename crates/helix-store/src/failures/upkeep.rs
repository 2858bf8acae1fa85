//! Forgetting: what somebody wants forgotten, and what is old.
//!
//! Must not know why.

use helix_failure::Fingerprint;
use jiff::{SignedDuration, Timestamp};

use super::answer::Forget;
use super::capture::delete;
use super::resolve::update_end;
use super::row::FailureRow;
use crate::error::DatabaseError;
use crate::sqlite::Sql;

/// Failures that were seen once are forgotten after half a year without another.
const ONCE: SignedDuration = SignedDuration::from_hours(24 * 180);
/// Others after two years.
const ANY: SignedDuration = SignedDuration::from_hours(24 * 730);
/// Most failures that are forgotten at a time.
const AT_A_TIME: i64 = 200;

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

/// Forgets what was not seen for long, a part at a time, so that nobody waits for it.
pub(super) fn decay(tx: Sql<'_>, now: Timestamp) -> Result<u64, DatabaseError> {
    let before = |age: SignedDuration| now.checked_sub(age).unwrap_or(Timestamp::MIN).as_microsecond();
    let (once, any) = (before(ONCE), before(ANY));
    let old = tx.all(
        "SELECT * FROM failures WHERE last_seen < ?1 AND (last_seen < ?2 OR kept + dropped <= 1)
         ORDER BY last_seen LIMIT ?3",
        [once, any, AT_A_TIME],
        FailureRow::read,
    )?;
    for row in &old {
        delete(tx, row)?;
    }
    tx.execute(
        "DELETE FROM attempts WHERE (work, phase, attempt) IN (
             SELECT work, phase, attempt FROM attempts WHERE at < ?1 ORDER BY at LIMIT ?2)",
        [any, AT_A_TIME],
    )?;
    Ok(old.len() as u64)
}
