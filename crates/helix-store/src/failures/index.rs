//! The two indices of words: one of failures with a known end, by scope, and one of everything, for people.
//!
//! Must not know how hits are ranked. A failure's texts never change once it is indexed, so that its words can be taken
//! out again.

use helix_failure::memory::{Diagnosis, words};
use rusqlite::params;

use super::row::FailureRow;
use crate::error::DatabaseError;
use crate::sqlite::Sql;

/// Words of a failure as people search for them.
const MOST_WORDS: usize = 96;

/// A word in the index of one scope.
pub(super) fn scoped(scope: i64, word: &str) -> String {
    format!("s{scope}_{word}")
}

/// Puts a new failure into the index for people.
pub(super) fn add_for_people(tx: Sql<'_>, id: i64, diagnosis: &Diagnosis) -> Result<(), DatabaseError> {
    let Diagnosis { cause_line, message, tool, code, frame, cause, category, .. } = diagnosis;
    let mut all: Vec<String> = Vec::new();
    for text in [cause_line, message, tool, code, frame, cause, category.word()] {
        all.extend(words(text));
        // `not_found` is found by `found`, too.
        all.extend(words(&text.replace('_', " ")));
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST_WORDS);
    tx.execute("INSERT INTO all_words (rowid, words) VALUES (?1, ?2)", params![id, all.join(" ")])?;
    Ok(())
}

/// Takes a failure out of both indices, before its row is deleted.
pub(super) fn remove(tx: Sql<'_>, row: &FailureRow) -> Result<(), DatabaseError> {
    remove_from_scope(tx, row)?;
    tx.execute("DELETE FROM all_words WHERE rowid = ?1", [row.id])?;
    Ok(())
}

/// Puts a failure, whose end is known now, where similar ones are looked for.
pub(super) fn add_to_scope(tx: Sql<'_>, row: &FailureRow) -> Result<(), DatabaseError> {
    if row.scope.is_some() {
        return Ok(());
    }
    let Diagnosis { tool, category, message, .. } = &row.failure.diagnosis;
    let scope = match scope_of(tx, tool, category.word())? {
        Some(scope) => scope.id,
        None => {
            tx.execute(
                "INSERT INTO scopes (tool, category, documents, words) VALUES (?1, ?2, 0, 0)",
                params![tool, category.word()],
            )?;
            tx.inserted()
        }
    };
    let all = words(message);
    let indexed: Vec<String> = all.iter().map(|word| scoped(scope, word)).collect();
    tx.execute("INSERT INTO scoped_words (rowid, words) VALUES (?1, ?2)", params![row.id, indexed.join(" ")])?;
    for word in &all {
        tx.execute(
            "INSERT INTO words (scope, word, documents) VALUES (?1, ?2, 1)
             ON CONFLICT (scope, word) DO UPDATE SET documents = documents + 1",
            params![scope, word],
        )?;
    }
    count(tx, scope, 1, all.len())?;
    tx.execute("UPDATE failures SET scope = ?2 WHERE id = ?1", [row.id, scope])?;
    Ok(())
}

/// Takes a failure, whose end is no longer known, out of there.
pub(super) fn remove_from_scope(tx: Sql<'_>, row: &FailureRow) -> Result<(), DatabaseError> {
    let Some(scope) = row.scope else { return Ok(()) };
    let all = words(&row.failure.diagnosis.message);
    tx.execute("DELETE FROM scoped_words WHERE rowid = ?1", [row.id])?;
    for word in &all {
        let fewer = "UPDATE words SET documents = documents - 1 WHERE scope = ?1 AND word = ?2";
        tx.execute(fewer, params![scope, word])?;
        let none = "DELETE FROM words WHERE scope = ?1 AND word = ?2 AND documents <= 0";
        tx.execute(none, params![scope, word])?;
    }
    count(tx, scope, -1, all.len())?;
    tx.execute("UPDATE failures SET scope = NULL WHERE id = ?1", [row.id])?;
    Ok(())
}

fn count(tx: Sql<'_>, scope: i64, documents: i64, words: usize) -> Result<(), DatabaseError> {
    let words = documents * i64::try_from(words).unwrap_or(0);
    tx.execute(
        "UPDATE scopes SET documents = documents + ?2, words = words + ?3 WHERE id = ?1",
        [scope, documents, words],
    )?;
    Ok(())
}

/// The failures of one tool and category that have a known end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) id: i64,
    pub(super) documents: i64,
    /// Words of all of them.
    pub(super) words: i64,
}

pub(super) fn scope_of(tx: Sql<'_>, tool: &str, category: &str) -> Result<Option<Scope>, DatabaseError> {
    let sql = "SELECT id, documents, words FROM scopes WHERE tool = ?1 AND category = ?2";
    tx.first(sql, [tool, category], |row| Ok(Scope { id: row.get(0)?, documents: row.get(1)?, words: row.get(2)? }))
}
