//! The two indices of words: one of failures with a known end, by scope, and one of everything, for people.
//!
//! Must not know how hits are ranked. A failure's texts never change once it is indexed, so that its words can be taken
//! out again.

use helix_failure::memory::words;
use rusqlite::{OptionalExtension, params};

use super::lane::Working;
use super::row::FailureRow;
use crate::failures::error::MemoryError;

/// Words of a failure as people search for them.
const MOST_WORDS: usize = 96;

/// A word in the index of one scope.
pub(super) fn scoped(scope: i64, word: &str) -> String {
    format!("s{scope}_{word}")
}

/// Puts a new failure into the index for people.
pub(super) fn add_for_people(working: &Working<'_>, failure: &FailureRow) -> Result<(), MemoryError> {
    let FailureRow { cause_line, message, tool, code, frame, cause, category, .. } = failure;
    let mut all: Vec<String> = Vec::new();
    for text in [cause_line, message, tool, code, frame, cause, category] {
        all.extend(words(text));
        // `not_found` is found by `found`, too.
        all.extend(words(&text.replace('_', " ")));
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST_WORDS);
    working
        .connection
        .prepare_cached("INSERT INTO all_words (rowid, words) VALUES (?1, ?2)")
        .and_then(|mut insert| insert.execute(params![failure.id, all.join(" ")]))
        .map(|_| ())
        .map_err(|error| working.failed(error))
}

/// Takes a failure out of both indices, before its row is deleted.
pub(super) fn remove(working: &Working<'_>, failure: &FailureRow) -> Result<(), MemoryError> {
    remove_from_scope(working, failure)?;
    working
        .connection
        .prepare_cached("DELETE FROM all_words WHERE rowid = ?1")
        .and_then(|mut delete| delete.execute([failure.id]))
        .map(|_| ())
        .map_err(|error| working.failed(error))
}

/// Puts a failure, whose end is known now, where similar ones are looked for.
pub(super) fn add_to_scope(working: &Working<'_>, failure: &FailureRow) -> Result<(), MemoryError> {
    if failure.scope.is_some() {
        return Ok(());
    }
    let all = words(&failure.message);
    let scope = match scope_of(working, &failure.tool, &failure.category)? {
        Some(scope) => scope.id,
        None => {
            execute(
                working,
                "INSERT INTO scopes (tool, category, documents, words) VALUES (?1, ?2, 0, 0)",
                params![failure.tool, failure.category],
            )?;
            working.connection.last_insert_rowid()
        }
    };
    let indexed: Vec<String> = all.iter().map(|word| scoped(scope, word)).collect();
    execute(
        working,
        "INSERT INTO scoped_words (rowid, words) VALUES (?1, ?2)",
        params![failure.id, indexed.join(" ")],
    )?;
    for word in &all {
        execute(
            working,
            "INSERT INTO words (scope, word, documents) VALUES (?1, ?2, 1)
             ON CONFLICT (scope, word) DO UPDATE SET documents = documents + 1",
            params![scope, word],
        )?;
    }
    count(working, scope, 1, all.len())?;
    execute(working, "UPDATE failures SET scope = ?2 WHERE id = ?1", params![failure.id, scope])
}

/// Takes a failure, whose end is no longer known, out of there.
pub(super) fn remove_from_scope(working: &Working<'_>, failure: &FailureRow) -> Result<(), MemoryError> {
    let Some(scope) = failure.scope else { return Ok(()) };
    let all = words(&failure.message);
    execute(working, "DELETE FROM scoped_words WHERE rowid = ?1", params![failure.id])?;
    for word in &all {
        execute(
            working,
            "UPDATE words SET documents = documents - 1 WHERE scope = ?1 AND word = ?2",
            params![scope, word],
        )?;
        execute(working, "DELETE FROM words WHERE scope = ?1 AND word = ?2 AND documents <= 0", params![scope, word])?;
    }
    count(working, scope, -1, all.len())?;
    execute(working, "UPDATE failures SET scope = NULL WHERE id = ?1", params![failure.id])
}

fn count(working: &Working<'_>, scope: i64, documents: i64, words: usize) -> Result<(), MemoryError> {
    let words = documents * i64::try_from(words).unwrap_or(0);
    execute(
        working,
        "UPDATE scopes SET documents = documents + ?2, words = words + ?3 WHERE id = ?1",
        params![scope, documents, words],
    )
}

/// The failures of one tool and category that have a known end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) id: i64,
    pub(super) documents: i64,
    /// Words of all of them.
    pub(super) words: i64,
}

pub(super) fn scope_of(working: &Working<'_>, tool: &str, category: &str) -> Result<Option<Scope>, MemoryError> {
    working
        .connection
        .prepare_cached("SELECT id, documents, words FROM scopes WHERE tool = ?1 AND category = ?2")
        .and_then(|mut find| {
            find.query_row([tool, category], |row| {
                Ok(Scope { id: row.get(0)?, documents: row.get(1)?, words: row.get(2)? })
            })
            .optional()
        })
        .map_err(|error| working.failed(error))
}

pub(super) fn execute(
    working: &Working<'_>,
    sql: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<(), MemoryError> {
    working
        .connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(parameters))
        .map(|_| ())
        .map_err(|error| working.failed(error))
}
