//! What people look at: lists, one failure, search.
//!
//! Must not know who shows it.

use helix_failure::memory::{
    FailureDetail, FixLink, KnownFailure, MessageTrigrams, OccurrenceEntry, Suggestion, words,
};
use rusqlite::params;

use super::answer::{FailureFilter, FailurePage};
use super::error::MemoryError;
use super::row::{FailureRow, best_first, moment, word};
use crate::error::DatabaseError;
use crate::query::MAX_ROWS_PER_PAGE;
use crate::sqlite::{Sql, json, signed};

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
    tx: Sql<'_>,
    filter: &FailureFilter,
    cursor: Option<&str>,
    limit: usize,
) -> Result<FailurePage, DatabaseError> {
    let limit = limit.clamp(1, MAX_ROWS_PER_PAGE);
    // A cursor that is none begins from the beginning.
    let after = cursor.and_then(|cursor| cursor.split_once('-'));
    let after = after.and_then(|(at, id)| Some((at.parse::<i64>().ok()?, id.parse::<i64>().ok()?)));
    let (at, id) = after.unwrap_or((i64::MAX, i64::MAX));
    let mut rows = tx.all(
        "SELECT * FROM failures
         WHERE (last_seen, id) < (?1, ?2) AND (?3 IS NULL OR category = ?3) AND (?4 IS NULL OR tool = ?4)
             AND (?5 IS NULL OR ended = ?5)
             AND (?6 IS NULL OR EXISTS (SELECT 1 FROM occurrences WHERE failure = failures.id AND project = ?6))
         ORDER BY last_seen DESC, id DESC LIMIT ?7",
        params![at, id, filter.category, filter.tool, filter.ended, filter.project, signed(limit as u64 + 1)],
        FailureRow::read,
    )?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| format!("{}-{}", row.failure.last_seen.as_microsecond(), row.id));
    let failures = rows.into_iter().map(|row| row.known(tx)).collect::<Result<_, _>>()?;
    Ok(FailurePage { failures, next })
}

pub(super) fn show(tx: Sql<'_>, prefix: &str) -> Result<Option<FailureDetail>, MemoryError> {
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let low = prefix.to_ascii_lowercase();
    let mut fitting = tx.all(
        "SELECT * FROM failures WHERE fingerprint >= ?1 AND fingerprint < ?2 ORDER BY fingerprint LIMIT ?3",
        params![low, format!("{low}g"), CANDIDATES],
        FailureRow::read,
    )?;
    if fitting.len() > 1 {
        let candidates = fitting.into_iter().map(|row| row.failure.diagnosis.fingerprint.into()).collect();
        return Err(MemoryError::Ambiguous { prefix: prefix.to_owned(), candidates });
    }
    let Some(row) = fitting.pop() else { return Ok(None) };
    Ok(Some(FailureDetail {
        occurrences: occurrences(tx, row.id, SHOWN)?,
        fixes: fixes(tx, row.id)?,
        suggestions: suggestions(tx, row.id, SHOWN)?,
        known: row.known(tx)?,
    }))
}

/// Times that a failure was seen, latest first.
pub(super) fn occurrences(tx: Sql<'_>, failure: i64, most: i64) -> Result<Vec<OccurrenceEntry>, DatabaseError> {
    let sql = "SELECT key, place, at, state FROM occurrences WHERE failure = ?1 ORDER BY at DESC, key LIMIT ?2";
    tx.all(sql, [failure, most], |row| {
        let key: String = row.get("key")?;
        let what = format!("occurrence {key}");
        Ok(OccurrenceEntry {
            place: json(row, "place", &what)?,
            at: moment(row, "at", &what)?,
            state: word(row, "state", &what)?,
            key,
        })
    })
}

/// Fixes of a failure, latest first.
pub(super) fn fixes(tx: Sql<'_>, failure: i64) -> Result<Vec<FixLink>, DatabaseError> {
    let sql = "SELECT link FROM fixes WHERE failure = ?1 ORDER BY at DESC";
    tx.all(sql, [failure], |row| json(row, "link", "a fix"))
}

/// Suggestions for a failure, latest first.
pub(super) fn suggestions(tx: Sql<'_>, failure: i64, most: i64) -> Result<Vec<Suggestion>, DatabaseError> {
    let sql = "SELECT body FROM suggestions WHERE failure = ?1 ORDER BY json_extract(body, '$.at') DESC, id LIMIT ?2";
    tx.all(sql, [failure, most], |row| json(row, "body", "a suggestion"))
}

/// Failures that have all words of a text.
pub(super) fn search(tx: Sql<'_>, text: &str, limit: usize) -> Result<Vec<KnownFailure>, DatabaseError> {
    let asked = words(&text.replace('_', " "));
    let Some((last, others)) = asked.split_last() else { return Ok(Vec::new()) };
    let mut query: Vec<String> = others.iter().map(|word| format!("\"{word}\"")).collect();
    let star = if last.len() >= BEGINNING { "*" } else { "" };
    query.push(format!("\"{last}\"{star}"));
    let ids: Vec<i64> = tx.all(
        "SELECT rowid FROM all_words WHERE all_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2",
        params![query.join(" AND "), HITS],
        |row| row.get(0),
    )?;
    let (mut hits, shape) = (Vec::new(), MessageTrigrams::new(text));
    for id in ids {
        if let Some(row) = FailureRow::by_id(tx, id)? {
            let alike =
                [&row.failure.diagnosis.cause_line, &row.failure.diagnosis.message].map(|line| shape.resemblance(line));
            hits.push((alike[0].max(alike[1]), row));
        }
    }
    hits.sort_by(best_first);
    hits.truncate(limit.min(MAX_ROWS_PER_PAGE));
    hits.into_iter().map(|(_, row)| row.known(tx)).collect()
}
