//! Export and import of the memory, record by record.
//!
//! Must not know files or lines.

use helix_core::failure::memory::MemoryRecord;

use super::capture::{ensure, insert};
use super::lane::Working;
use super::reads::{fixes, occurrences, suggestions};
use super::resolve::{settle, write_fix, write_suggestion};
use super::row::{COLUMNS, FailureRow};
use crate::failures::answer::{ExportPage, Imported};
use crate::failures::error::MemoryError;

/// Most failures of one part.
const MOST: usize = 500;

/// Part of an export.
pub(super) fn export(working: &Working<'_>, from: i64, limit: usize) -> Result<ExportPage, MemoryError> {
    let failed = |error| working.failed(error);
    let limit = limit.clamp(1, MOST);
    let mut find = working
        .connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM failures WHERE id > ?1 ORDER BY id LIMIT ?2"))
        .map_err(failed)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = find.query_map([from, most], FailureRow::read).map_err(failed)?;
    let rows: Vec<FailureRow> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let mut page = ExportPage { records: Vec::new(), next: None };
    if rows.len() == limit {
        page.next = rows.last().map(|row| row.id);
    }
    for row in &rows {
        let failure = row.remembered(working)?;
        let fingerprint = failure.fingerprint.clone();
        page.records.push(MemoryRecord::Failure(failure));
        let of = |fingerprint: &helix_core::failure::Fingerprint| fingerprint.clone();
        for entry in occurrences(working, row.id, i64::MAX)? {
            page.records.push(MemoryRecord::Occurrence { fingerprint: of(&fingerprint), entry });
        }
        for link in fixes(working, row.id)? {
            page.records.push(MemoryRecord::Fix { fingerprint: of(&fingerprint), link });
        }
        page.records.extend(suggestions(working, row.id, i64::MAX)?.into_iter().map(MemoryRecord::Suggestion));
    }
    Ok(page)
}

/// Takes records in.
pub(super) fn import(working: &Working<'_>, records: &[MemoryRecord]) -> Result<Imported, MemoryError> {
    for (index, record) in records.iter().enumerate() {
        record.check().map_err(|source| MemoryError::Record { index, source })?;
    }
    let mut imported = Imported::default();
    for (index, record) in records.iter().enumerate() {
        let known = FailureRow::by_fingerprint(working, record.fingerprint().as_str())?;
        let failure = match (record, &known) {
            (MemoryRecord::Failure(failure), _) => {
                imported.count(usize::from(known.is_none()));
                ensure(working, failure)?;
                continue;
            }
            (_, Some(row)) => row.id,
            (_, None) => return Err(MemoryError::Orphan { index, fingerprint: record.fingerprint().clone() }),
        };
        imported.count(match record {
            MemoryRecord::Failure(_) => 0,
            MemoryRecord::Occurrence { entry, .. } => insert(working, failure, entry)?,
            MemoryRecord::Fix { link, .. } => write_fix(working, failure, link)?,
            MemoryRecord::Suggestion(suggestion) => write_suggestion(working, failure, suggestion)?,
        });
        settle(working, failure)?;
    }
    Ok(imported)
}
