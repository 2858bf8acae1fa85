//! What became of failures and suggestions: fixes are credited and outcomes set, as far as an attempt proves them.
//!
//! Must not know the rules of proof: `helix_failure::memory` has them.

use std::collections::BTreeSet;

use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_failure::memory::{
    AttemptAnswer, Credit, FixLink, Resolution, Suggestion, SuggestionOutcome, SuggestionSource, Work, judge_suggestion,
};
use helix_failure::{Blame, Fingerprint, RetryAdvice, redact};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::index;
use super::lane::Working;
use super::row::{FailureRow, from_json, from_word, json, phase_of};
use crate::failures::answer::{Ceasing, Linked, OpenFailure};
use crate::failures::error::MemoryError;

/// Characters of a diff that are kept.
const DIFF: usize = 8_000;
/// Files of a fix that are named.
const FILES: usize = 50;
/// Characters of a suggestion that are kept.
const TEXT: usize = 1_000;

struct Open {
    failure: i64,
    key: String,
    attempt: u32,
    check: String,
    fingerprint: Fingerprint,
    retry: RetryAdvice,
}

/// Sets the end of a failure from what is recorded of it, and puts it into or takes it out of the index of ended ones.
pub(super) fn settle(working: &Working<'_>, failure: i64) -> Result<(), MemoryError> {
    let ended: String = working
        .connection
        .prepare_cached(
            "SELECT CASE
                 WHEN EXISTS (SELECT 1 FROM fixes WHERE failure = ?1) THEN 'fixed'
                 WHEN EXISTS (SELECT 1 FROM occurrences WHERE failure = ?1 AND state = 'gone') THEN 'went_away'
                 WHEN EXISTS (SELECT 1 FROM occurrences WHERE failure = ?1 AND state = 'gave_up') THEN 'gave_up'
                 ELSE 'open' END",
        )
        .and_then(|mut find| find.query_row([failure], |row| row.get(0)))
        .map_err(|error| working.failed(error))?;
    let Some(row) = FailureRow::by_id(working, failure)? else { return Ok(()) };
    if row.ended == ended {
        return Ok(());
    }
    index::execute(working, "UPDATE failures SET ended = ?2 WHERE id = ?1", params![failure, ended])?;
    if ended == "open" { index::remove_from_scope(working, &row) } else { index::add_to_scope(working, &row) }
}

/// Failures in the course of some work whose end is not known.
pub(super) fn open_failures(working: &Working<'_>, work: &Work) -> Result<Vec<OpenFailure>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT fingerprint, checker, attempt, message, json_extract(place, '$.commit')
             FROM occurrences JOIN failures ON failures.id = failure
             WHERE work = ?1 AND phase = ?2 AND state = 'open' ORDER BY attempt, checker",
        )
        .map_err(failed)?;
    let rows = find
        .query_map([work.name().as_str(), phase_of(work)], |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, Option<String>>(4)?))
        })
        .map_err(failed)?;
    let mut open = Vec::new();
    for row in rows {
        let (fingerprint, check, attempt, message, commit) = row.map_err(failed)?;
        let fingerprint =
            Fingerprint::new(fingerprint).map_err(|error| working.unreadable("an open failure", error))?;
        let commit = commit.and_then(|commit| CommitId::new(commit).ok());
        open.push(OpenFailure { fingerprint, check, attempt, message, commit });
    }
    Ok(open)
}

/// The last attempt at some work in which a failure was seen.
pub(super) fn last_attempt(working: &Working<'_>, work: &Work) -> Result<u32, MemoryError> {
    working
        .connection
        .prepare_cached("SELECT coalesce(max(attempt), 0) FROM occurrences WHERE work = ?1 AND phase = ?2")
        .and_then(|mut find| find.query_row([work.name().as_str(), phase_of(work)], |row| row.get(0)))
        .map_err(|error| working.failed(error))
}

/// Credits a fix if the record proves it.
pub(super) fn link_fix(
    working: &Working<'_>,
    fingerprint: &Fingerprint,
    link: &FixLink,
) -> Result<Linked, MemoryError> {
    let Some(row) = FailureRow::by_fingerprint(working, fingerprint.as_str())? else { return Ok(Linked::NotProved) };
    let last: Option<u32> = working
        .connection
        .prepare_cached("SELECT max(attempt) FROM occurrences WHERE failure = ?1 AND work = ?2 AND phase = ?3")
        .and_then(|mut find| find.query_row(params![row.id, link.work.name(), phase_of(&link.work)], |row| row.get(0)))
        .map_err(|error| working.failed(error))?;
    if last != Some(link.failed_attempt) || link.attempt <= link.failed_attempt {
        return Ok(Linked::NotProved);
    }
    write_fix(working, row.id, link)?;
    index::execute(
        working,
        "UPDATE occurrences SET state = 'gone' WHERE failure = ?1 AND work = ?2 AND phase = ?3 AND state = 'open'",
        params![row.id, link.work.name(), phase_of(&link.work)],
    )?;
    settle(working, row.id)?;
    Ok(Linked::Credited)
}

/// Writes a fix; says how many rows that made.
pub(super) fn write_fix(working: &Working<'_>, failure: i64, link: &FixLink) -> Result<usize, MemoryError> {
    let clean = FixLink {
        project: redact(&link.project).into_owned(),
        files: link.files.iter().take(FILES).map(|file| redact(file).into_owned()).collect(),
        diff: cut(&redact(&link.diff), DIFF),
        ..link.clone()
    };
    let text = json(working, "a fix", &clean)?;
    working
        .connection
        .prepare_cached(
            "INSERT INTO fixes (failure, work, phase, attempt, at, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (failure, work, phase, attempt) DO NOTHING",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                failure,
                link.work.name(),
                phase_of(&link.work),
                link.attempt,
                link.at.as_microsecond(),
                text
            ])
        })
        .map_err(|error| working.failed(error))
}

/// So many characters, and a mark where something is missing.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n[…]", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Records suggestions that are not there yet.
pub(super) fn record_suggestions(working: &Working<'_>, suggestions: &[Suggestion]) -> Result<(), MemoryError> {
    for suggestion in suggestions {
        if let Some(row) = FailureRow::by_fingerprint(working, suggestion.fingerprint.as_str())? {
            write_suggestion(working, row.id, suggestion)?;
        }
    }
    Ok(())
}

/// Writes a suggestion; says how many rows that made.
pub(super) fn write_suggestion(
    working: &Working<'_>,
    failure: i64,
    suggestion: &Suggestion,
) -> Result<usize, MemoryError> {
    let clean = Suggestion { text: cut(&redact(&suggestion.text), TEXT), ..suggestion.clone() };
    let origin = match &clean.source {
        SuggestionSource::PastFix { fingerprint } => Some(fingerprint.as_str()),
        SuggestionSource::Cause | SuggestionSource::Phase => None,
    };
    let body = json(working, "a suggestion", &clean)?;
    working
        .connection
        .prepare_cached(
            "INSERT INTO suggestions (id, failure, cause, text, source, origin, exposure, work, phase, attempt, outcome, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                clean.id,
                failure,
                clean.cause,
                clean.text,
                clean.source.word(),
                origin,
                clean.exposure.word(),
                clean.work.name(),
                phase_of(&clean.work),
                clean.attempt,
                clean.outcome.map(SuggestionOutcome::word),
                body,
            ])
        })
        .map_err(|error| working.failed(error))
}

/// Sets the outcome of one suggestion.
pub(super) fn resolve_one(
    working: &Working<'_>,
    id: &str,
    outcome: SuggestionOutcome,
    at: Timestamp,
) -> Result<Option<Suggestion>, MemoryError> {
    resolve(working, id, outcome, at, None)
}

fn resolve(
    working: &Working<'_>,
    id: &str,
    outcome: SuggestionOutcome,
    at: Timestamp,
    proved_in: Option<u32>,
) -> Result<Option<Suggestion>, MemoryError> {
    let body: Option<String> = working
        .connection
        .prepare_cached("SELECT body FROM suggestions WHERE id = ?1")
        .and_then(|mut find| find.query_row([id], |row| row.get(0)).optional())
        .map_err(|error| working.failed(error))?;
    let Some(body) = body else { return Ok(None) };
    let mut suggestion: Suggestion = from_json(working, &format!("suggestion {id}"), &body)?;
    (suggestion.outcome, suggestion.resolved_at) = (Some(outcome), Some(at));
    let body = json(working, "a suggestion", &suggestion)?;
    index::execute(
        working,
        "UPDATE suggestions SET outcome = ?2, body = ?3, proved_in = ?4 WHERE id = ?1",
        params![id, outcome.word(), body, proved_in],
    )?;
    Ok(Some(suggestion))
}

/// Suggestions of a phase, or with `None` of a whole job, whose outcome is not known.
fn outstanding(working: &Working<'_>, work: &str, phase: Option<&str>) -> Result<Vec<Suggestion>, MemoryError> {
    let open =
        "SELECT body FROM suggestions WHERE work = ?1 AND (?2 IS NULL OR phase = ?2) AND outcome IS NULL ORDER BY id";
    suggestions(working, open, params![work, phase])
}

fn suggestions(
    working: &Working<'_>,
    sql: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Vec<Suggestion>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working.connection.prepare_cached(sql).map_err(failed)?;
    let rows = find.query_map(parameters, |row| row.get::<_, String>(0)).map_err(failed)?;
    let bodies: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    bodies.iter().map(|body| from_json(working, "a suggestion", body)).collect()
}

/// Draws what follows from an attempt.
pub(super) fn resolve_outstanding(working: &Working<'_>, answer: &AttemptAnswer) -> Result<Resolution, MemoryError> {
    let (name, phase) = (answer.work.name(), phase_of(&answer.work));
    index::execute(
        working,
        "INSERT INTO attempts (work, phase, attempt, passed, at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (work, phase, attempt) DO UPDATE SET passed = excluded.passed, at = excluded.at",
        params![name, phase, answer.attempt, json(working, "an attempt", &answer.passed)?, answer.at.as_microsecond()],
    )?;
    let seen = seen_in(working, answer, &name, phase)?;
    let mut resolution = Resolution::default();
    for suggestion in outstanding(working, &name, Some(phase))? {
        if suggestion.attempt >= answer.attempt {
            continue;
        }
        let before = passed_in(working, &name, phase, suggestion.attempt)?;
        if let Some(outcome) = judge_suggestion(&suggestion, answer, &seen, &before) {
            resolve(working, &suggestion.id, outcome, answer.at, Some(answer.attempt))?;
        }
    }
    // Also those that were resolved before a crash, so that nobody misses what became of them.
    let proved = "SELECT body FROM suggestions WHERE work = ?1 AND phase = ?2 AND outcome IS NOT NULL AND proved_in = ?3 ORDER BY id";
    resolution.resolved = suggestions(working, proved, params![name, phase, answer.attempt])?;
    for open in open_before(working, answer, &name, phase)? {
        let looked = answer.passed.contains(&open.check) || answer.failed.contains(&open.check);
        let still = answer.still.contains(&open.fingerprint)
            || seen.iter().any(|(fingerprint, _)| *fingerprint == open.fingerprint);
        if !looked || still {
            continue;
        }
        let credit = Credit::of(open.retry, &answer.files);
        index::execute(working, "UPDATE occurrences SET state = 'gone' WHERE key = ?1", params![open.key])?;
        if credit == Credit::Change {
            let link = FixLink {
                project: answer.project.clone(),
                work: answer.work.clone(),
                failed_attempt: open.attempt,
                attempt: answer.attempt,
                commit: answer.commit.clone(),
                files: answer.files.clone(),
                diff: answer.diff.clone(),
                at: answer.at,
            };
            write_fix(working, open.failure, &link)?;
        }
        settle(working, open.failure)?;
        resolution.gone.push((open.fingerprint, credit));
    }
    Ok(resolution)
}

fn seen_in(
    working: &Working<'_>,
    answer: &AttemptAnswer,
    name: &str,
    phase: &str,
) -> Result<Vec<(Fingerprint, Blame)>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT fingerprint, blame FROM occurrences JOIN failures ON failures.id = failure
             WHERE work = ?1 AND phase = ?2 AND attempt = ?3",
        )
        .map_err(failed)?;
    let rows = find
        .query_map(params![name, phase, answer.attempt], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .map_err(failed)?;
    let mut seen = Vec::new();
    for row in rows {
        let (fingerprint, blame) = row.map_err(failed)?;
        let fingerprint = Fingerprint::new(fingerprint).map_err(|error| working.unreadable("a failure", error))?;
        seen.push((fingerprint, from_word(working, "a failure", &blame)?));
    }
    Ok(seen)
}

fn open_before(
    working: &Working<'_>,
    answer: &AttemptAnswer,
    name: &str,
    phase: &str,
) -> Result<Vec<Open>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working
        .connection
        .prepare_cached(
            "SELECT failure, key, attempt, checker, fingerprint, retry
             FROM occurrences JOIN failures ON failures.id = failure
             WHERE work = ?1 AND phase = ?2 AND attempt < ?3 AND state = 'open' ORDER BY attempt, key",
        )
        .map_err(failed)?;
    let rows = find
        .query_map(params![name, phase, answer.attempt], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, String>(4)?, row.get::<_, String>(5)?))
        })
        .map_err(failed)?;
    let mut open = Vec::new();
    for row in rows {
        let (failure, key, attempt, check, fingerprint, retry) = row.map_err(failed)?;
        let fingerprint = Fingerprint::new(fingerprint).map_err(|error| working.unreadable("a failure", error))?;
        let retry = from_word(working, "a failure", &retry)?;
        open.push(Open { failure, key, attempt, check, fingerprint, retry });
    }
    Ok(open)
}

fn passed_in(working: &Working<'_>, work: &str, phase: &str, attempt: u32) -> Result<BTreeSet<String>, MemoryError> {
    let passed: Option<String> = working
        .connection
        .prepare_cached("SELECT passed FROM attempts WHERE work = ?1 AND phase = ?2 AND attempt = ?3")
        .and_then(|mut find| find.query_row(params![work, phase, attempt], |row| row.get(0)).optional())
        .map_err(|error| working.failed(error))?;
    passed.map_or(Ok(BTreeSet::new()), |passed| from_json(working, "an attempt", &passed))
}

/// Notes that the work on a phase or job ceased.
pub(super) fn cease(
    working: &Working<'_>,
    job: &JobId,
    phase: Option<&PhaseId>,
    how: Ceasing,
    at: Timestamp,
) -> Result<Vec<Suggestion>, MemoryError> {
    let failed = |error| working.failed(error);
    let phase = phase.map(PhaseId::as_str);
    for suggestion in outstanding(working, job.as_str(), phase)? {
        resolve(working, &suggestion.id, SuggestionOutcome::Unknown, at, None)?;
    }
    if how == Ceasing::GaveUp {
        let mut find = working
            .connection
            .prepare_cached(
                "UPDATE occurrences SET state = 'gave_up' WHERE work = ?1 AND (?2 IS NULL OR phase = ?2) AND state = 'open'
                 RETURNING failure",
            )
            .map_err(failed)?;
        let rows = find.query_map(params![job.as_str(), phase], |row| row.get::<_, i64>(0)).map_err(failed)?;
        let given_up: BTreeSet<i64> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        for failure in given_up {
            settle(working, failure)?;
        }
    }
    let unknown = "SELECT body FROM suggestions
                   WHERE work = ?1 AND (?2 IS NULL OR phase = ?2) AND outcome = 'unknown' ORDER BY id";
    suggestions(working, unknown, params![job.as_str(), phase])
}
