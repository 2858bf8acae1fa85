//! The tables of the memory of failures.

use rusqlite_migration::M;

use crate::sqlite::schema::Schema;

/// "HELF" marks the file (SQLite's `application_id`); one entry per version, never changed once released.
pub(super) const MEMORY: Schema = Schema { application_id: 0x4845_4C46, steps: STEPS };

const STEPS: &[M<'static>] = &[
    M::up(
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
        code         TEXT NOT NULL,
        message      TEXT NOT NULL,
        frame        TEXT NOT NULL,
        category     TEXT NOT NULL,
        cause        TEXT NOT NULL,
        retry        TEXT NOT NULL,
        blame        TEXT NOT NULL,
        cause_line   TEXT NOT NULL,
        summary      TEXT NOT NULL,
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

    CREATE TABLE occurrences (
        key      TEXT PRIMARY KEY,
        failure  INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE,
        project  TEXT NOT NULL,
        job      TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        checker  TEXT NOT NULL,
        place    TEXT NOT NULL,
        at       INTEGER NOT NULL,
        state    TEXT NOT NULL CHECK (state IN ('open', 'gone', 'seen_again', 'gave_up'))
    ) STRICT;
    CREATE INDEX occurrences_by_failure ON occurrences (failure, at);
    CREATE INDEX occurrences_by_attempt ON occurrences (job, phase, attempt);
    CREATE INDEX occurrences_by_project ON occurrences (project, failure);

    -- Which checks had found nothing in an attempt: what fails later was broken later.
    CREATE TABLE attempts (
        job      TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        passed   TEXT NOT NULL,
        at       INTEGER NOT NULL,
        PRIMARY KEY (job, phase, attempt)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX attempts_by_time ON attempts (at);

    CREATE TABLE fixes (
        failure  INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE,
        job      TEXT NOT NULL,
        phase    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        link     TEXT NOT NULL,
        PRIMARY KEY (failure, job, phase, attempt)
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
        job         TEXT NOT NULL,
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
    CREATE INDEX suggestions_by_phase ON suggestions (job, phase, outcome);

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
    ),
    M::up(
        "-- Failures happen in conversations and documents, too: \"work\" names a job, a session or a document.
    ALTER TABLE occurrences RENAME COLUMN job TO work;
    ALTER TABLE attempts RENAME COLUMN job TO work;
    ALTER TABLE fixes RENAME COLUMN job TO work;
    ALTER TABLE suggestions RENAME COLUMN job TO work;

    -- By which rules the fingerprint was made.
    ALTER TABLE failures ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
    CREATE INDEX failures_by_version ON failures (version);

    -- Fingerprints that failures had by other rules.
    CREATE TABLE former_fingerprints (
        fingerprint  TEXT PRIMARY KEY,
        failure      INTEGER NOT NULL REFERENCES failures (id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX former_by_failure ON former_fingerprints (failure);",
    ),
];

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite_migration::Migrations;

    use super::*;

    /// A memory of the first version keeps what it knows.
    #[test]
    fn a_memory_of_the_first_version_is_brought_up_to_date() {
        let mut connection = Connection::open_in_memory().unwrap();
        Migrations::from_slice(&STEPS[..1]).to_latest(&mut connection).unwrap();
        let old = r#"
            INSERT INTO failures VALUES (1, 'f', 't', '', 'm', '', 'TIMEOUT', 'deadline', 'now', 'agent', 'l', 's', 1, 2, 1, 0, 'fixed', NULL);
            INSERT INTO occurrences VALUES ('k', 1, 'p', 'j1', 'a', 1, 'run', '{"project":"p","job":"j1","phase":"a","attempt":1,"check":"run"}', 1, 'gone');
            INSERT INTO attempts VALUES ('j1', 'a', 2, '[]', 2);
            INSERT INTO fixes VALUES (1, 'j1', 'a', 2, 2, '{}');
            INSERT INTO suggestions VALUES ('s', 1, 'deadline', 'x', 'cause', NULL, 'shown', 'j1', 'a', 1, 'helped', 2, '{}');"#;
        connection.execute_batch(old).unwrap();
        MEMORY.migrate(&mut connection, "test").unwrap();
        let kept: (i64, i64) = connection
            .query_row(
                "SELECT (SELECT version FROM failures), count(*) FROM occurrences
                 JOIN fixes USING (failure, work, phase) JOIN suggestions USING (failure, work, phase)
                 JOIN attempts USING (work, phase) WHERE work = 'j1'",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!(kept, (1, 1));
        let place: String = connection.query_row("SELECT place FROM occurrences", [], |row| row.get(0)).unwrap();
        let place: helix_failure::memory::OccurrencePlace = serde_json::from_str(&place).unwrap();
        assert_eq!(place.work.told(place.attempt), "j1 a, attempt 1");
    }

    #[test]
    fn the_migrations_are_well_formed_and_mark_the_file() {
        Migrations::from_slice(STEPS).validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        MEMORY.migrate(&mut connection, "test").unwrap();
        let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap();
        assert_eq!(id, MEMORY.application_id);
        assert_eq!(MEMORY.check_header(&connection, "test").unwrap(), MEMORY.known_version());
    }
}
