//! Export and import of the memory, record by record.
//!
//! Must not know files or lines.

use helix_failure::memory::MemoryRecord;

use super::answer::{ExportPage, Imported};
use super::capture::{ensure, insert};
use super::error::MemoryError;
use super::reads::{fixes, occurrences, suggestions};
use super::resolve::{update_end, write_fix, write_suggestion};
use super::row::FailureRow;
use crate::error::DatabaseError;
use crate::sqlite::{Sql, signed};

/// Most failures of one part.
const MOST: usize = 500;

/// Part of an export.
pub(super) fn export(tx: Sql<'_>, from: i64, limit: usize) -> Result<ExportPage, DatabaseError> {
    let limit = limit.clamp(1, MOST);
    let sql = "SELECT * FROM failures WHERE id > ?1 ORDER BY id LIMIT ?2";
    let rows = tx.all(sql, [from, signed(limit as u64)], FailureRow::read)?;
    let next = rows.last().filter(|_| rows.len() == limit).map(|row| row.id);
    let mut records = Vec::new();
    for row in rows {
        let (id, print) = (row.id, row.failure.diagnosis.fingerprint.clone());
        records.push(MemoryRecord::Failure(row.failure));
        let seen = occurrences(tx, id, i64::MAX)?;
        records.extend(seen.into_iter().map(|entry| MemoryRecord::Occurrence { fingerprint: print.clone(), entry }));
        let fixed = fixes(tx, id)?;
        records.extend(fixed.into_iter().map(|link| MemoryRecord::Fix { fingerprint: print.clone(), link }));
        records.extend(suggestions(tx, id, i64::MAX)?.into_iter().map(MemoryRecord::Suggestion));
    }
    Ok(ExportPage { records, next })
}

pub(super) fn import(tx: Sql<'_>, records: &[MemoryRecord]) -> Result<Imported, MemoryError> {
    for (index, record) in records.iter().enumerate() {
        record.check().map_err(|source| MemoryError::Record { index, source })?;
    }
    let mut imported = Imported::default();
    for (index, record) in records.iter().enumerate() {
        let known = FailureRow::by_fingerprint(tx, record.fingerprint().as_str())?.map(|row| row.id);
        let orphan = || MemoryError::Orphan { index, fingerprint: record.fingerprint().clone() };
        imported.count(match record {
            MemoryRecord::Failure(failure) => {
                ensure(tx, failure)?;
                usize::from(known.is_none())
            }
            MemoryRecord::Occurrence { entry, .. } => insert(tx, known.ok_or_else(orphan)?, entry)?,
            MemoryRecord::Fix { link, .. } => write_fix(tx, known.ok_or_else(orphan)?, link)?,
            MemoryRecord::Suggestion(suggestion) => write_suggestion(tx, known.ok_or_else(orphan)?, suggestion)?,
        });
        if let Some(failure) = known {
            update_end(tx, failure)?;
        }
    }
    Ok(imported)
}
