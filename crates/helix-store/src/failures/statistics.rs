//! Counts: how well suggestions did, and the memory in figures.
//!
//! Must not know what the figures mean.

use helix_failure::memory::{Benefit, Effectiveness, MemoryStatistics, SourceEffect, Tally};
use rusqlite::{Params, params};

use super::row::{moment, word};
use crate::error::DatabaseError;
use crate::sqlite::{Sql, unsigned};

/// How well each text did as a suggestion for a cause, where it was shown.
pub(super) fn effectiveness(tx: Sql<'_>, cause: &str, texts: &[String]) -> Result<Vec<Effectiveness>, DatabaseError> {
    let sql = "SELECT outcome, count(*) AS times FROM suggestions
               WHERE cause = ?1 AND text = ?2 AND exposure = 'shown' GROUP BY outcome";
    texts.iter().map(|text| Ok(Effectiveness::from_tally(tally(tx, sql, params![cause, text])?))).collect()
}

/// Outcomes (`outcome`) and how often each came (`times`).
pub(super) fn tally(tx: Sql<'_>, sql: &str, parameters: impl Params) -> Result<Tally, DatabaseError> {
    let mut tally = Tally::default();
    tx.all(sql, parameters, |row| {
        let unknown = row.get_ref("outcome")?.as_str_or_null()?.is_none();
        let outcome = if unknown { None } else { Some(word(row, "outcome", "a suggestion")?) };
        tally.add(outcome, unsigned(row.get("times")?));
        Ok(())
    })?;
    Ok(tally)
}

/// The memory in figures.
pub(super) fn statistics(tx: Sql<'_>) -> Result<MemoryStatistics, DatabaseError> {
    let what = "a failure";
    let categories = tx.all(
        "SELECT category, count(*) AS times FROM failures GROUP BY category ORDER BY count(*) DESC, category",
        [],
        |row| Ok((word(row, "category", what)?, unsigned(row.get("times")?))),
    )?;
    let by =
        "SELECT outcome, count(*) AS times FROM suggestions WHERE source = ?1 AND exposure = 'shown' GROUP BY outcome";
    let mut suggestions = Vec::new();
    for source in SourceEffect::SOURCES {
        let effectiveness = Effectiveness::from_tally(tally(tx, by, [source])?);
        suggestions.push(SourceEffect { source: source.to_owned(), effectiveness });
    }
    // Several suggestions for one failure are one trial.
    let trials = "SELECT outcome, count(*) AS times FROM (
                      SELECT DISTINCT failure, work, phase, attempt, outcome FROM suggestions
                      WHERE source = 'past_fix' AND exposure = ?1) GROUP BY outcome";
    let benefit = Benefit::from_tallies(tally(tx, trials, ["shown"])?, tally(tx, trials, ["held_back"])?);
    tx.one(
        "SELECT count(*) AS failures, coalesce(sum(kept + dropped), 0) AS occurrences,
             count(*) FILTER (WHERE ended = 'fixed') AS fixed, count(*) FILTER (WHERE ended = 'went_away') AS went_away,
             count(*) FILTER (WHERE ended = 'gave_up') AS gave_up, count(*) FILTER (WHERE ended = 'open') AS open,
             min(first_seen) AS first_seen, max(last_seen) AS last_seen FROM failures",
        [],
        |row| {
            let count = |column| row.get(column).map(unsigned);
            let failures = count("failures")?;
            let moment = |column| if failures == 0 { Ok(None) } else { moment(row, column, what).map(Some) };
            Ok(MemoryStatistics {
                failures,
                occurrences: count("occurrences")?,
                fixed: count("fixed")?,
                went_away: count("went_away")?,
                gave_up: count("gave_up")?,
                open: count("open")?,
                categories,
                suggestions,
                benefit,
                first_seen: moment("first_seen")?,
                last_seen: moment("last_seen")?,
            })
        },
    )
}
