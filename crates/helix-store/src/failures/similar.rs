//! Finds past failures like a new one: the same fingerprint, then BM25 within tool and category with a trigram re-rank.
//!
//! Must not know who asks. The work is bounded whatever the size of the memory: words are looked up from the rarest on,
//! a few hundred candidates are read and scored here. SQLite's own `bm25()` is not used, since it reads the whole list of
//! every word of the query, also of those that a million messages have.

use std::collections::BTreeSet;

use helix_core::secrets::redact;
use helix_failure::memory::{Closeness, Effectiveness, MessageTrigrams, PastFailure, SimilarQuery, words};
use rusqlite::params;

use super::index::{self, Scope};
use super::row::{FailureRow, best_first};
use super::statistics::tally;
use crate::error::DatabaseError;
use crate::sqlite::Sql;

/// Candidates that are read and scored.
const CANDIDATES: usize = 96;
/// Hits taken of one word, the newest.
const PER_WORD: i64 = 48;
/// Hits of one word among which a project's own are looked for, the newest.
const PER_WORD_OF_ALL: i64 = 2_000;
/// Words that are looked up.
const LOOKED_UP: usize = 6;
/// A pair of words is looked up together when the rarer one has at most so many hits: the cost grows with them.
const PAIR_LIMIT: i64 = 20_000;
/// Saturation of BM25: its usual value. Words count once, so that only the length matters.
const K1: f64 = 1.2;
/// How much BM25 minds length: its usual value.
const B: f64 = 0.75;
/// Less alike than this is another failure. A choice, not a measurement: half of what two equal messages have.
const ALIKE: f64 = 0.5;
/// Days after which a memory counts half.
const HALF_LIFE_DAYS: f64 = 90.0;

pub(super) fn similar(tx: Sql<'_>, query: &SimilarQuery) -> Result<Vec<PastFailure>, DatabaseError> {
    let mut found = Vec::new();
    if query.most == 0 {
        return Ok(found);
    }
    let project = query.project.as_deref().map(redact);
    if project.as_deref() == Some("") {
        // What belongs to no project is shown to none.
        return Ok(found);
    }
    let known = |row: FailureRow| match &project {
        Some(project) => row.known_in(tx, project),
        None => row.known(tx).map(Some),
    };
    let exact = FailureRow::by_fingerprint(tx, query.diagnosis.fingerprint.as_str())?;
    if let Some(row) = exact.filter(|row| row.ended != "open") {
        found.extend(known(row)?.map(|known| PastFailure { known, closeness: Closeness::Exact }));
    }
    if found.len() < query.most {
        for (score, row) in near(tx, query, project.as_deref())? {
            found.extend(known(row)?.map(|known| PastFailure { known, closeness: Closeness::Near { score } }));
            if found.len() >= query.most {
                break;
            }
        }
    }
    Ok(found)
}

/// A word of the query that the scope has.
struct Known {
    word: String,
    documents: i64,
}

/// Similar failures, best first.
fn near(tx: Sql<'_>, query: &SimilarQuery, project: Option<&str>) -> Result<Vec<(f64, FailureRow)>, DatabaseError> {
    let asked = &query.diagnosis;
    let Some(scope) = index::scope_of(tx, &asked.tool, asked.category.word())? else { return Ok(Vec::new()) };
    let all = words(&asked.message);
    let mut known = known_words(tx, scope, &all)?;
    known.sort_by(|left, right| left.documents.cmp(&right.documents).then_with(|| left.word.cmp(&right.word)));
    let shape = MessageTrigrams::new(&asked.message);
    let mut scored: Vec<(f64, i64)> = Vec::new();
    for id in candidates(tx, scope, &known, project)? {
        // The message is the only part of it that most of them are asked for.
        let message = "SELECT json_extract(body, '$.message') FROM failures WHERE id = ?1";
        let Some(message) = tx.first(message, [id], |row| row.get::<_, String>(0))? else { continue };
        let alike = 0.5 * bm25(scope, &all, &known, &message) + 0.5 * shape.resemblance(&message);
        if alike >= ALIKE {
            scored.push((alike, id));
        }
    }
    // The newer ones first where all else is equal: ids grow.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(right.1.cmp(&left.1)));
    // What came of them is looked up for the best only.
    scored.truncate(query.most.saturating_mul(4).max(12));
    let mut ranked = Vec::with_capacity(scored.len());
    for (alike, id) in scored {
        let Some(row) = FailureRow::by_id(tx, id)? else { continue };
        if row.failure.diagnosis.fingerprint != asked.fingerprint && row.ended != "open" {
            ranked.push((0.8 * alike + 0.2 * worth(tx, query, &row)?, row));
        }
    }
    ranked.sort_by(best_first);
    Ok(ranked)
}

fn known_words(tx: Sql<'_>, scope: Scope, all: &[String]) -> Result<Vec<Known>, DatabaseError> {
    let mut known = Vec::new();
    for word in all {
        let documents = "SELECT documents FROM words WHERE scope = ?1 AND word = ?2";
        if let Some(documents) = tx.first(documents, params![scope.id, word], |row| row.get(0))? {
            known.push(Known { word: word.clone(), documents });
        }
    }
    Ok(known)
}

/// Failures that share rare words with the query, or pairs of words.
fn candidates(
    tx: Sql<'_>,
    scope: Scope,
    known: &[Known],
    project: Option<&str>,
) -> Result<BTreeSet<i64>, DatabaseError> {
    let mut found = BTreeSet::new();
    let mut wanted = Vec::new();
    // Those that have two of the rare words come first: a single common word says little.
    if let [first, second, ..] = known
        && first.documents > 1
        && first.documents <= PAIR_LIMIT
    {
        wanted.push(format!("{} AND {}", index::scoped(scope.id, &first.word), index::scoped(scope.id, &second.word)));
    }
    wanted.extend(known.iter().take(LOOKED_UP).map(|known| index::scoped(scope.id, &known.word)));
    for query in wanted {
        if found.len() >= CANDIDATES {
            break;
        }
        let hits = "SELECT id FROM (SELECT rowid AS id FROM scoped_words WHERE scoped_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2)
                    WHERE ?3 IS NULL OR EXISTS (SELECT 1 FROM occurrences WHERE project = ?3 AND failure = id) LIMIT ?4";
        let looked = if project.is_some() { PER_WORD_OF_ALL } else { PER_WORD };
        found.extend(tx.all(hits, params![query, looked, project, PER_WORD], |row| row.get::<_, i64>(0))?);
    }
    Ok(found)
}

/// BM25 of a message, as a share of what the query itself would get: from 0 to 1.
fn bm25(scope: Scope, all: &[String], known: &[Known], message: &str) -> f64 {
    let total = scope.documents.max(1) as f64;
    let average = (scope.words.max(1) as f64 / total).max(1.0);
    let norm = |length: usize| (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length as f64 / average));
    let weight = |documents: f64| (1.0 + (total - documents + 0.5) / (documents + 0.5)).ln().max(0.0);
    let theirs = words(message);
    let shared: f64 =
        known.iter().filter(|known| theirs.contains(&known.word)).map(|known| weight(known.documents as f64)).sum();
    // A word that no remembered message has is the rarest of all.
    let unknown = all.len().saturating_sub(known.len()) as f64 * weight(0.0);
    let own: f64 = known.iter().map(|known| weight(known.documents as f64)).sum::<f64>() + unknown;
    let own = own * norm(all.len());
    if own <= 0.0 { 0.0 } else { (shared * norm(theirs.len()) / own).clamp(0.0, 1.0) }
}

/// How much a memory is worth beside its likeness: how it ended and whether that helped others, how old it is, and
/// whether cause and place are the same. From 0 to 1.
fn worth(tx: Sql<'_>, query: &SimilarQuery, row: &FailureRow) -> Result<f64, DatabaseError> {
    // What came of suggesting this failure's fix for others.
    let helped = "SELECT outcome, count(*) AS times FROM suggestions
                  WHERE origin = ?1 AND exposure = 'shown' GROUP BY outcome";
    let (past, asked) = (&row.failure.diagnosis, &query.diagnosis);
    let outcome = match row.ended.as_str() {
        "fixed" => Effectiveness::from_tally(tally(tx, helped, [past.fingerprint.as_str()])?).rate.mul_add(0.6, 0.4),
        "went_away" => 0.4,
        _ => 0.1,
    };
    let age = query.now.duration_since(row.failure.last_seen).as_secs_f64().max(0.0) / 86_400.0;
    let recency = 0.5_f64.powf(age / HALF_LIFE_DAYS);
    let same_cause = if past.cause == asked.cause { 0.5 } else { 0.0 };
    let same_place = if !past.frame.is_empty() && past.frame == asked.frame { 0.5 } else { 0.0 };
    Ok(0.5 * outcome + 0.3 * recency + 0.2 * (same_cause + same_place))
}
