//! Export and import of the memory, record by record.
//!
//! Must not know files or lines.

use helix_failure::memory::{MemoryRecord, RememberedFailure, Suggestion, SuggestionSource};

use super::capture::{ensure, insert};
use super::lane::Working;
use super::reads::{fixes, occurrences, suggestions};
use super::renew::note_former;
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
        let fingerprint = failure.diagnosis.fingerprint.clone();
        page.records.push(MemoryRecord::Failure(failure));
        let of = |fingerprint: &helix_failure::Fingerprint| fingerprint.clone();
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

pub(super) fn import(working: &Working<'_>, records: &[MemoryRecord]) -> Result<Imported, MemoryError> {
    for (index, record) in records.iter().enumerate() {
        record.check().map_err(|source| MemoryError::Record { index, source })?;
    }
    let mut imported = Imported::default();
    for (index, record) in records.iter().enumerate() {
        let failure = match record {
            MemoryRecord::Failure(failure) => {
                imported.count(usize::from(take_in(working, failure)?));
                continue;
            }
            MemoryRecord::Occurrence { .. } | MemoryRecord::Fix { .. } | MemoryRecord::Suggestion(_) => {
                let row = FailureRow::by_fingerprint(working, record.fingerprint().as_str())?;
                row.ok_or_else(|| MemoryError::Orphan { index, fingerprint: record.fingerprint().clone() })?
            }
        };
        imported.count(match record {
            MemoryRecord::Failure(_) => 0,
            MemoryRecord::Occurrence { entry, .. } => insert(working, failure.id, entry)?,
            MemoryRecord::Fix { link, .. } => write_fix(working, failure.id, link)?,
            MemoryRecord::Suggestion(suggestion) => {
                write_suggestion(working, failure.id, &renamed(working, &failure, suggestion)?)?
            }
        });
        settle(working, failure.id)?;
    }
    Ok(imported)
}

/// Takes a failure in, by the fingerprint that the rules of now give it; says whether it is new.
fn take_in(working: &Working<'_>, failure: &RememberedFailure) -> Result<bool, MemoryError> {
    let former = failure.diagnosis.fingerprint.clone();
    let renewed = RememberedFailure { diagnosis: failure.diagnosis.clone().renewed(), ..failure.clone() };
    let known = FailureRow::by_fingerprint(working, renewed.diagnosis.fingerprint.as_str())?;
    let id = ensure(working, &renewed)?;
    if former != renewed.diagnosis.fingerprint {
        note_former(working, &former, id)?;
    }
    Ok(known.is_none())
}

/// A suggestion that names its failure, and the one whose fix it offers, as they are called now.
fn renamed(working: &Working<'_>, failure: &FailureRow, suggestion: &Suggestion) -> Result<Suggestion, MemoryError> {
    let source = match &suggestion.source {
        SuggestionSource::PastFix { fingerprint } => {
            let origin = FailureRow::by_fingerprint(working, fingerprint.as_str())?;
            let origin = origin.map(|row| row.diagnosis(working)).transpose()?;
            let fingerprint = origin.map_or_else(|| fingerprint.clone(), |origin| origin.fingerprint);
            SuggestionSource::PastFix { fingerprint }
        }
        SuggestionSource::Cause => SuggestionSource::Cause,
        SuggestionSource::Phase => SuggestionSource::Phase,
    };
    let fingerprint = failure.diagnosis(working)?.fingerprint;
    Ok(Suggestion { fingerprint, source, ..suggestion.clone() })
}
