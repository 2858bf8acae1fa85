//! Counts: how well suggestions did, and the memory in figures.
//!
//! Must not know what the figures mean.

use helix_failure::memory::{Benefit, Effectiveness, MemoryStatistics, SourceEffect, SuggestionOutcome, Tally};
use rusqlite::params;

use super::lane::Working;
use super::row::{from_word, instant};
use crate::failures::error::MemoryError;
use crate::sqlite::unsigned;

/// How well each text did as a suggestion for a cause, where it was shown.
pub(super) fn effectiveness(
    working: &Working<'_>,
    cause: &str,
    texts: &[String],
) -> Result<Vec<Effectiveness>, MemoryError> {
    let sql = "SELECT outcome, count(*) FROM suggestions
               WHERE cause = ?1 AND text = ?2 AND exposure = 'shown' GROUP BY outcome";
    texts.iter().map(|text| Ok(Effectiveness::of(tally_of(working, sql, params![cause, text])?))).collect()
}

/// Outcomes and how often each came.
pub(super) fn tally_of(
    working: &Working<'_>,
    sql: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Tally, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working.connection.prepare_cached(sql).map_err(failed)?;
    let rows = find
        .query_map(parameters, |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, i64>(1)?)))
        .map_err(failed)?;
    let mut tally = Tally::default();
    for row in rows {
        let (outcome, times) = row.map_err(failed)?;
        let outcome: Option<SuggestionOutcome> =
            outcome.map(|word| from_word(working, "a suggestion", &word)).transpose()?;
        tally.add(outcome, unsigned(times));
    }
    Ok(tally)
}

/// The memory in figures.
pub(super) fn statistics(working: &Working<'_>) -> Result<MemoryStatistics, MemoryError> {
    let failed = |error| working.failed(error);
    let connection = working.connection;
    let (failures, occurrences, first, last): (i64, i64, Option<i64>, Option<i64>) = connection
        .query_row(
            "SELECT count(*), coalesce(sum(kept + dropped), 0), min(first_seen), max(last_seen) FROM failures",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .map_err(failed)?;
    let ended = counted(working, "SELECT ended, count(*) FROM failures GROUP BY ended")?;
    let of = |word: &str| ended.iter().find(|(ended, _)| ended == word).map_or(0, |(_, count)| *count);
    let mut categories = Vec::new();
    let sql = "SELECT category, count(*) FROM failures GROUP BY category ORDER BY count(*) DESC, category";
    for (category, count) in counted(working, sql)? {
        categories.push((from_word(working, "a failure", &category)?, count));
    }
    let by = "SELECT outcome, count(*) FROM suggestions WHERE source = ?1 AND exposure = ?2 GROUP BY outcome";
    let mut suggestions = Vec::new();
    for source in SourceEffect::SOURCES {
        let effectiveness = Effectiveness::of(tally_of(working, by, params![source, "shown"])?);
        suggestions.push(SourceEffect { source: source.to_owned(), effectiveness });
    }
    // Several suggestions for one failure are one trial.
    let trials = "SELECT outcome, count(*) FROM (
                      SELECT DISTINCT failure, work, phase, attempt, outcome FROM suggestions
                      WHERE source = 'past_fix' AND exposure = ?1) GROUP BY outcome";
    let moment = |at: Option<i64>| at.map(|at| instant(working, "a failure", at)).transpose();
    Ok(MemoryStatistics {
        failures: unsigned(failures),
        occurrences: unsigned(occurrences),
        fixed: of("fixed"),
        went_away: of("went_away"),
        gave_up: of("gave_up"),
        open: of("open"),
        categories,
        suggestions,
        benefit: Benefit::of(
            tally_of(working, trials, params!["shown"])?,
            tally_of(working, trials, params!["held_back"])?,
        ),
        first_seen: moment(first)?,
        last_seen: moment(last)?,
    })
}

fn counted(working: &Working<'_>, sql: &str) -> Result<Vec<(String, u64)>, MemoryError> {
    let failed = |error| working.failed(error);
    let mut find = working.connection.prepare_cached(sql).map_err(failed)?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?)))).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}
