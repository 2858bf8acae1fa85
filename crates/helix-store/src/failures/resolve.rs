//! What became of failures and suggestions: fixes are credited and outcomes set, as far as an attempt proves them.
//!
//! Must not know the rules of proof: `helix_failure::memory` has them.

use std::collections::BTreeSet;

use helix_core::ids::{JobId, PhaseId};
use helix_core::secrets::redact;
use helix_failure::memory::{
    AttemptAnswer, AttemptChange, Credit, FixLink, OccurrencePlace, Resolution, Suggestion, SuggestionOutcome,
    SuggestionSource, Work, judge_suggestion,
};
use jiff::Timestamp;
use rusqlite::params;

use super::answer::{Ceasing, OpenFailure};
use super::index;
use super::row::{FailureRow, Json, phase_of};
use crate::error::DatabaseError;
use crate::sqlite::{Sql, json};

/// Characters of a diff that are kept.
const DIFF: usize = 8_000;
/// Files of a fix that are named.
const FILES: usize = 50;
/// Characters of a suggestion that are kept.
const TEXT: usize = 1_000;

/// Sets the end of a failure from what is recorded of it, and puts it into or takes it out of the index of ended ones.
pub(super) fn update_end(tx: Sql<'_>, failure: i64) -> Result<(), DatabaseError> {
    let ended: String = tx.one(
        "SELECT CASE
             WHEN EXISTS (SELECT 1 FROM fixes WHERE failure = ?1) THEN 'fixed'
             WHEN EXISTS (SELECT 1 FROM occurrences WHERE failure = ?1 AND state = 'gone') THEN 'went_away'
             WHEN EXISTS (SELECT 1 FROM occurrences WHERE failure = ?1 AND state = 'gave_up') THEN 'gave_up'
             ELSE 'open' END",
        [failure],
        |row| row.get(0),
    )?;
    let Some(row) = FailureRow::by_id(tx, failure)? else { return Ok(()) };
    if row.ended == ended {
        return Ok(());
    }
    tx.execute("UPDATE failures SET ended = ?2 WHERE id = ?1", params![failure, ended])?;
    if ended == "open" { index::remove_from_scope(tx, &row) } else { index::add_to_scope(tx, &row) }
}

/// Failures in the course of some work whose end is not known.
pub(super) fn open_failures(tx: Sql<'_>, work: &Work) -> Result<Vec<OpenFailure>, DatabaseError> {
    tx.all(
        "SELECT failures.*, key, place FROM occurrences JOIN failures ON failures.id = failure
         WHERE work = ?1 AND phase = ?2 AND state = 'open' ORDER BY attempt, checker",
        [work.name().as_str(), phase_of(work)],
        |row| {
            let key: String = row.get("key")?;
            let place: OccurrencePlace = json(row, "place", &format!("occurrence {key}"))?;
            let FailureRow { id, failure, .. } = FailureRow::read(row)?;
            let diagnosis = failure.diagnosis;
            Ok(OpenFailure { diagnosis, check: place.check, attempt: place.attempt, commit: place.commit, id, key })
        },
    )
}

/// The last attempt at some work in which a failure was seen.
pub(super) fn last_attempt(tx: Sql<'_>, work: &Work) -> Result<u32, DatabaseError> {
    let last = "SELECT coalesce(max(attempt), 0) FROM occurrences WHERE work = ?1 AND phase = ?2";
    tx.one(last, [work.name().as_str(), phase_of(work)], |row| row.get(0))
}

/// Writes a fix; returns how many rows that made.
pub(super) fn write_fix(tx: Sql<'_>, failure: i64, link: &FixLink) -> Result<usize, DatabaseError> {
    let mut clean = link.clone();
    let change = &mut clean.change;
    change.project = redact(&change.project).into_owned();
    change.files = change.files.iter().take(FILES).map(|file| redact(file).into_owned()).collect();
    change.diff = cut(&redact(&change.diff), DIFF);
    let change = &clean.change;
    let (work, phase, at) = (change.work.name(), phase_of(&change.work), change.at.as_microsecond());
    tx.execute(
        "INSERT INTO fixes (failure, work, phase, attempt, at, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (failure, work, phase, attempt) DO NOTHING",
        params![failure, work, phase, change.attempt, at, Json(&clean)],
    )
}

/// So many characters, and a mark where something is missing.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n[…]", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Records suggestions that are not there yet.
pub(super) fn record_suggestions(tx: Sql<'_>, suggestions: &[Suggestion]) -> Result<(), DatabaseError> {
    for suggestion in suggestions {
        if let Some(row) = FailureRow::by_fingerprint(tx, suggestion.fingerprint.as_str())? {
            write_suggestion(tx, row.id, suggestion)?;
        }
    }
    Ok(())
}

/// Writes a suggestion; returns how many rows that made.
pub(super) fn write_suggestion(tx: Sql<'_>, failure: i64, suggestion: &Suggestion) -> Result<usize, DatabaseError> {
    let clean = Suggestion { text: cut(&redact(&suggestion.text), TEXT), ..suggestion.clone() };
    let origin = match &clean.source {
        SuggestionSource::PastFix { fingerprint } => Some(fingerprint.as_str()),
        SuggestionSource::Cause | SuggestionSource::Phase => None,
    };
    tx.execute(
        "INSERT INTO suggestions (id, failure, cause, text, source, origin, exposure, work, phase, attempt, outcome, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING",
        params![
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
            Json(&clean),
        ],
    )
}

/// Sets what came of a suggestion, and the attempt that proved it.
fn set_outcome(
    tx: Sql<'_>,
    mut suggestion: Suggestion,
    outcome: SuggestionOutcome,
    at: Timestamp,
    proved_in: Option<u32>,
) -> Result<(), DatabaseError> {
    (suggestion.outcome, suggestion.resolved_at) = (Some(outcome), Some(at));
    tx.execute(
        "UPDATE suggestions SET outcome = ?2, body = ?3, proved_in = ?4 WHERE id = ?1",
        params![suggestion.id, outcome.word(), Json(&suggestion), proved_in],
    )?;
    Ok(())
}

/// Suggestions of a phase, or with `None` of a whole job, for which this holds.
fn suggestions_where(
    tx: Sql<'_>,
    condition: &str,
    work: &str,
    phase: Option<&str>,
) -> Result<Vec<Suggestion>, DatabaseError> {
    let sql = format!(
        "SELECT body FROM suggestions WHERE work = ?1 AND (?2 IS NULL OR phase = ?2) AND {condition} ORDER BY id"
    );
    tx.all(&sql, params![work, phase], |row| json(row, "body", "a suggestion"))
}

/// Draws what follows from an attempt.
pub(super) fn resolve_outstanding(tx: Sql<'_>, answer: &AttemptAnswer) -> Result<Resolution, DatabaseError> {
    let AttemptChange { work, attempt, files, at, .. } = &answer.change;
    let (name, phase, attempt) = (work.name(), phase_of(work), *attempt);
    tx.execute(
        "INSERT INTO attempts (work, phase, attempt, passed, at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (work, phase, attempt) DO UPDATE SET passed = excluded.passed, at = excluded.at",
        params![name, phase, attempt, Json(&answer.passed), at.as_microsecond()],
    )?;
    let seen: Vec<_> = tx.all(
        "SELECT failures.* FROM occurrences JOIN failures ON failures.id = failure
         WHERE work = ?1 AND phase = ?2 AND attempt = ?3",
        params![name, phase, attempt],
        |row| FailureRow::read(row).map(|row| (row.failure.diagnosis.fingerprint, row.failure.diagnosis.blame)),
    )?;
    for suggestion in suggestions_where(tx, "outcome IS NULL", &name, Some(phase))? {
        if suggestion.attempt >= attempt {
            continue;
        }
        let passed = "SELECT passed FROM attempts WHERE work = ?1 AND phase = ?2 AND attempt = ?3";
        let before: Option<BTreeSet<String>> =
            tx.first(passed, params![name, phase, suggestion.attempt], |row| json(row, "passed", "an attempt"))?;
        if let Some(outcome) = judge_suggestion(&suggestion, answer, &seen, &before.unwrap_or_default()) {
            set_outcome(tx, suggestion, outcome, *at, Some(attempt))?;
        }
    }
    // Also those that were resolved before a crash, so that nobody misses what became of them.
    let proved = format!("outcome IS NOT NULL AND proved_in = {attempt}");
    let resolved = suggestions_where(tx, &proved, &name, Some(phase))?;
    let mut resolution = Resolution { gone: Vec::new(), resolved };
    for open in open_failures(tx, work)?.into_iter().filter(|open| open.attempt < attempt) {
        let fingerprint = open.diagnosis.fingerprint;
        let looked = answer.passed.contains(&open.check) || answer.failed.contains(&open.check);
        let still = answer.still.contains(&fingerprint) || seen.iter().any(|(seen, _)| *seen == fingerprint);
        if !looked || still {
            continue;
        }
        let credit = Credit::for_change(open.diagnosis.retry, files);
        tx.execute("UPDATE occurrences SET state = 'gone' WHERE key = ?1", [&open.key])?;
        if credit == Credit::Change {
            let link = FixLink { failed_attempt: open.attempt, change: answer.change.clone() };
            write_fix(tx, open.id, &link)?;
        }
        update_end(tx, open.id)?;
        resolution.gone.push((fingerprint, credit));
    }
    Ok(resolution)
}

/// Notes that the work on a phase or job ceased.
pub(super) fn cease(
    tx: Sql<'_>,
    job: &JobId,
    phase: Option<&PhaseId>,
    how: Ceasing,
    at: Timestamp,
) -> Result<Vec<Suggestion>, DatabaseError> {
    let phase = phase.map(PhaseId::as_str);
    for suggestion in suggestions_where(tx, "outcome IS NULL", job.as_str(), phase)? {
        set_outcome(tx, suggestion, SuggestionOutcome::Unknown, at, None)?;
    }
    if how == Ceasing::GaveUp {
        let given_up: Vec<i64> = tx.all(
            "UPDATE occurrences SET state = 'gave_up' WHERE work = ?1 AND (?2 IS NULL OR phase = ?2) AND state = 'open'
             RETURNING failure",
            params![job.as_str(), phase],
            |row| row.get(0),
        )?;
        for failure in BTreeSet::from_iter(given_up) {
            update_end(tx, failure)?;
        }
    }
    suggestions_where(tx, "outcome = 'unknown'", job.as_str(), phase)
}
