//! The tables of the memory of failures.

use rusqlite_migration::M;

use crate::sqlite::schema::Schema;

/// "HELF" marks the file (SQLite's `application_id`); one entry per version, never changed once released.
pub(super) const MEMORY: Schema = Schema { application_id: 0x4845_4C46, steps: STEPS };

const STEPS: &[M<'static>] = &[M::up(
    "PRAGMA application_id = 1212501062;

    -- A tool and a category: similar failures are looked for in one of these.
    CREATE TABLE scopes (
        id         INTEGER PRIMARY KEY,
        tool       TEXT NOT NULL,
        category   TEXT NOT NULL,
        documents  INTEGER NOT NULL,
        words      INTEGER NOT NULL,
        UNIQUE (tool, category)
    ) STRICT;

    CREATE TABLE failures (
        id           INTEGER PRIMARY KEY AUTOINCREMENT,
        fingerprint  TEXT NOT NULL UNIQUE,
        tool         TEXT NOT NULL,
        category     TEXT NOT NULL,
        -- The diagnosis.
        body         TEXT NOT NULL,
        first_seen   INTEGER NOT NULL,
        last_seen    INTEGER NOT NULL,
        -- Occurrences that have rows, and those that had.
        kept         INTEGER NOT NULL CHECK (kept >= 0),
        dropped      INTEGER NOT NULL CHECK (dropped >= 0),
        ended        TEXT NOT NULL CHECK (ended IN ('open', 'fixed', 'went_away', 'gave_up')),
        -- The scope whose index it is in: only failures with a known end are.
        scope        INTEGER REFERENCES scopes (id)
    ) STRICT;
    CREATE INDEX failures_by_last_seen ON failures (last_seen, id);

    -- \"work\" names a job, a session or a document.
    CREATE TABLE occurrences (
        key      TEXT PRIMARY KEY,
        failure  INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE,
        project  TEXT NOT NULL,
        work     TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        checker  TEXT NOT NULL,
        place    TEXT NOT NULL,
        at       INTEGER NOT NULL,
        state    TEXT NOT NULL CHECK (state IN ('open', 'gone', 'seen_again', 'gave_up'))
    ) STRICT;
    CREATE INDEX occurrences_by_failure ON occurrences (failure, at);
    CREATE INDEX occurrences_by_attempt ON occurrences (work, phase, attempt);
    CREATE INDEX occurrences_by_project ON occurrences (project, failure);

    -- Which checks had found nothing in an attempt: what fails later was broken later.
    CREATE TABLE attempts (
        work     TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        passed   TEXT NOT NULL,
        at       INTEGER NOT NULL,
        PRIMARY KEY (work, phase, attempt)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX attempts_by_time ON attempts (at);

    CREATE TABLE fixes (
        failure  INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE,
        work     TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        link     TEXT NOT NULL,
        PRIMARY KEY (failure, work, phase, attempt)
    ) STRICT;

    CREATE TABLE suggestions (
        id          TEXT PRIMARY KEY,
        failure     INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE,
        cause       TEXT NOT NULL,
        text        TEXT NOT NULL,
        source      TEXT NOT NULL,
        -- The failure whose fix is suggested.
        origin      TEXT,
        exposure    TEXT NOT NULL,
        work        TEXT NOT NULL,
        phase       TEXT NOT NULL,
        attempt     INTEGER NOT NULL,
        outcome     TEXT,
        -- The attempt that proved the outcome.
        proved_in   INTEGER,
        body        TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX suggestions_by_failure ON suggestions (failure);
    CREATE INDEX suggestions_by_origin ON suggestions (origin, outcome) WHERE origin IS NOT NULL;
    CREATE INDEX suggestions_by_text ON suggestions (cause, text, outcome);
    CREATE INDEX suggestions_by_phase ON suggestions (work, phase, outcome);

    -- Of how many messages of a scope a word is part.
    CREATE TABLE words (
        scope      INTEGER NOT NULL,
        word       TEXT NOT NULL,
        documents  INTEGER NOT NULL,
        PRIMARY KEY (scope, word)
    ) STRICT, WITHOUT ROWID;

    -- Words of the messages of failures with a known end, each with its scope: s7_mismatched.
    CREATE VIRTUAL TABLE scoped_words USING fts5 (
        words, content = '', contentless_delete = 1, detail = none, tokenize = \"ascii tokenchars '_'\"
    );
    -- Words of all texts of all failures, for people who search.
    CREATE VIRTUAL TABLE all_words USING fts5 (
        words, content = '', contentless_delete = 1, detail = none, tokenize = \"ascii tokenchars '_'\"
    );",
)];

#[cfg(test)]
#[path = "schema_test.rs"]
mod tests;
