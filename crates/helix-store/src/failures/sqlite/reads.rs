//! What people look at: lists, one failure, search.
//!
//! Must not know who shows it.

use helix_failure::memory::{
    FailureDetail, FixLink, KnownFailure, OccurrenceEntry, OccurrencePlace, Suggestion, resemblance, words,
};
use rusqlite::params;

use super::lane::Working;
use super::row::{COLUMNS, FailureRow, from_json, from_word, instant};
use crate::failures::answer::{FailureFilter, FailurePage};
use crate::failures::error::MemoryError;
use crate::query::MAX_ROWS_PER_PAGE;

/// Occurrences and suggestions of one failure that are shown.
const SHOWN: i64 = 50;
/// Hits of a search that are ranked, the newest.
const HITS: i64 = 400;
/// Fingerprints that are named when the beginning of one fits several.
const CANDIDATES: i64 = 5;
/// Shortest word that is taken for a beginning: shorter ones would fit nearly everything.
const BEGINNING: usize = 3;

/// A page of the list.
pub(super) fn list(
    working: &Working<'_>,
    filter: &FailureFilter,
    cursor: Option<&str>,
    limit: usize,
) -> Result<FailurePage, MemoryError> {
    let failed = |error| working.failed(error);
    let limit = limit.clamp(1, MAX_ROWS_PER_PAGE);
    // A cursor that is none begins from the beginning.
    let after = cursor.and_then(|cursor| cursor.split_once('-'));
    let after = after.and_then(|(at, id)| Some((at.parse::<i64>().ok()?, id.parse::<i64>().ok()?)));
    let (at, id) = after.unwrap_or((i64::MAX, i64::MAX));
    let mut find = working
        .connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM failures
             WHERE (last_seen, id) < (?1, ?2) AND (?3 IS NULL OR category = ?3) AND (?4 IS NULL OR tool = ?4)
                 AND (?5 IS NULL OR ended = ?5)
                 AND (?6 IS NULL OR EXISTS (SELECT 1 FROM occurrences WHERE failure = failures.id AND project = ?6))
             ORDER BY last_seen DESC, id DESC LIMIT ?7"
        ))
        .map_err(failed)?;
    let more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = find
        .query_map(params![at, id, filter.category, filter.tool, filter.ended, filter.project, more], FailureRow::read)
        .map_err(failed)?;
    let mut rows: Vec<FailureRow> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let next = if rows.len() > limit {
        rows.truncate(limit);
        rows.last().map(|row| format!("{}-{}", row.last_seen, row.id))
    } else {
        None
    };
    let failures = rows.iter().map(|row| row.known(working)).collect::<Result<_, _>>()?;
    Ok(FailurePage { failures, next })
}

pub(super) fn show(working: &Working<'_>, prefix: &str) -> Result<Option<FailureDetail>, MemoryError> {
    let Some(row) = by_prefix(working, prefix)? else { return Ok(None) };
    Ok(Some(FailureDetail {
        known: row.known(working)?,
        occurrences: occurrences(working, row.id, SHOWN)?,
        fixes: fixes(working, row.id)?,
        suggestions: suggestions(working, row.id, SHOWN)?,
    }))
}

fn by_prefix(working: &Working<'_>, prefix: &str) -> Result<Option<FailureRow>, MemoryError> {
    let failed = |error| working.failed(error);
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let low = prefix.to_ascii_lowercase();
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT fingerprint FROM failures WHERE fingerprint >= ?1 AND fingerprint < ?2 ORDER BY fingerprint LIMIT ?3",
        )
        .map_err(failed)?;
    let rows =
        find.query_map(params![low, format!("{low}g"), CANDIDATES], |row| row.get::<_, String>(0)).map_err(failed)?;
    let fitting: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    match fitting.as_slice() {
        // Perhaps a name that it had by other rules.
        [] => FailureRow::by_fingerprint(working, &low),
        [one] => FailureRow::by_fingerprint(working, one),
        _ => Err(MemoryError::Ambiguous { prefix: prefix.to_owned(), candidates: fitting }),
    }
}

/// Times that a failure was seen, latest first.
pub(super) fn occurrences(working: &Working<'_>, failure: i64, most: i64) -> Result<Vec<OccurrenceEntry>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT key, place, at, state FROM occurrences WHERE failure = ?1 ORDER BY at DESC, key LIMIT ?2",
        )
        .map_err(failed)?;
    let rows = find
        .query_map(params![failure, most], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get::<_, String>(3)?))
        })
        .map_err(failed)?;
    let mut entries = Vec::new();
    for row in rows {
        let (key, place, at, state) = row.map_err(failed)?;
        let what = format!("occurrence {key}");
        let place: OccurrencePlace = from_json(working, &what, &place)?;
        let (at, state) = (instant(working, &what, at)?, from_word(working, &what, &state)?);
        entries.push(OccurrenceEntry { key, place, at, state });
    }
    Ok(entries)
}

/// Fixes of a failure, latest first.
pub(super) fn fixes(working: &Working<'_>, failure: i64) -> Result<Vec<FixLink>, MemoryError> {
    let sql = "SELECT link FROM fixes WHERE failure = ?1 ORDER BY at DESC LIMIT ?2";
    bodies(working, sql, failure, i64::MAX)?.iter().map(|link| from_json(working, "a fix", link)).collect()
}

/// Suggestions for a failure, latest first.
pub(super) fn suggestions(working: &Working<'_>, failure: i64, most: i64) -> Result<Vec<Suggestion>, MemoryError> {
    let sql = "SELECT body FROM suggestions WHERE failure = ?1 ORDER BY json_extract(body, '$.at') DESC, id LIMIT ?2";
    bodies(working, sql, failure, most)?.iter().map(|body| from_json(working, "a suggestion", body)).collect()
}

fn bodies(working: &Working<'_>, sql: &str, failure: i64, most: i64) -> Result<Vec<String>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working.connection.prepare_cached(sql).map_err(failed)?;
    let rows = find.query_map(params![failure, most], |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Failures that have all words of a text.
pub(super) fn search(working: &Working<'_>, text: &str, limit: usize) -> Result<Vec<KnownFailure>, MemoryError> {
    let failed = |error| working.failed(error);
    let asked = words(&text.replace('_', " "));
    let Some((last, others)) = asked.split_last() else { return Ok(Vec::new()) };
    let mut query: Vec<String> = others.iter().map(|word| format!("\"{word}\"")).collect();
    let star = if last.len() >= BEGINNING { "*" } else { "" };
    query.push(format!("\"{last}\"{star}"));
    let mut find = working
        .connection
        .prepare_cached("SELECT rowid FROM all_words WHERE all_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2")
        .map_err(failed)?;
    let rows = find.query_map(params![query.join(" AND "), HITS], |row| row.get::<_, i64>(0)).map_err(failed)?;
    let ids: Vec<i64> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let mut hits = Vec::new();
    for id in ids {
        if let Some(row) = FailureRow::by_id(working, id)? {
            hits.push((resemblance(text, &row.cause_line).max(resemblance(text, &row.message)), row));
        }
    }
    hits.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| right.1.last_seen.cmp(&left.1.last_seen)));
    hits.truncate(limit.min(MAX_ROWS_PER_PAGE));
    hits.iter().map(|(_, row)| row.known(working)).collect()
}
