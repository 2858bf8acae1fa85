//! The tables, their versions, and whether a file may be used at all.

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use super::classify;
use crate::error::OpenError;

/// "HELX": marks the file as ours (SQLite's `application_id`).
const APPLICATION_ID: i32 = 0x4845_4C58;

/// One entry per schema version; an entry that was released is never changed again.
const STEPS: &[M<'_>] = &[M::up(
    "PRAGMA application_id = 1212501080;

    CREATE TABLE streams (
        id         INTEGER PRIMARY KEY,
        name       TEXT NOT NULL UNIQUE,
        last       INTEGER NOT NULL CHECK (last >= 0),
        projected  INTEGER NOT NULL CHECK (projected IN (0, 1)),
        seal       BLOB NOT NULL
    ) STRICT;

    -- AUTOINCREMENT: a position is never used again, even if old streams are removed one day.
    CREATE TABLE events (
        position  INTEGER PRIMARY KEY AUTOINCREMENT,
        stream    INTEGER NOT NULL REFERENCES streams (id),
        number    INTEGER NOT NULL CHECK (number >= 1),
        at        TEXT NOT NULL,
        kind      TEXT NOT NULL,
        body      TEXT NOT NULL,
        seal      BLOB NOT NULL,
        UNIQUE (stream, number)
    ) STRICT;

    -- Tables with long rows have row numbers: a table that is its own key's index reads the whole row to compare a key.
    CREATE TABLE jobs (
        id               TEXT PRIMARY KEY,
        name             TEXT NOT NULL,
        status           TEXT NOT NULL,
        project_path     TEXT NOT NULL,
        created_at       INTEGER NOT NULL,
        updated_at       INTEGER NOT NULL,
        last_event       INTEGER NOT NULL,
        idempotency_key  TEXT UNIQUE,
        view             TEXT NOT NULL,
        seal             BLOB NOT NULL
    ) STRICT;
    CREATE INDEX jobs_by_status ON jobs (status, id);

    CREATE TABLE sessions (
        id          TEXT PRIMARY KEY,
        key         TEXT NOT NULL UNIQUE,
        updated_at  INTEGER NOT NULL,
        last_event  INTEGER NOT NULL,
        view        TEXT NOT NULL,
        seal        BLOB NOT NULL
    ) STRICT;

    CREATE TABLE fences (
        name    TEXT PRIMARY KEY,
        number  INTEGER NOT NULL CHECK (number >= 1)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE turns (
        id             TEXT PRIMARY KEY,
        session        TEXT NOT NULL REFERENCES sessions (id),
        number         INTEGER NOT NULL CHECK (number >= 1),
        parent         TEXT,
        under          TEXT,
        asked          TEXT NOT NULL,
        answered       TEXT,
        agent_session  TEXT,
        view           TEXT NOT NULL,
        seal           BLOB NOT NULL,
        UNIQUE (session, number)
    ) STRICT;
    CREATE INDEX turns_by_agent_session ON turns (agent_session, number) WHERE agent_session IS NOT NULL;

    -- What clients call the answers; one that is continued keeps its name, which then means the newer turn.
    CREATE TABLE turn_messages (
        owner    TEXT NOT NULL,
        message  TEXT NOT NULL,
        turn     TEXT NOT NULL REFERENCES turns (id),
        PRIMARY KEY (owner, message)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX turn_messages_by_turn ON turn_messages (turn);",
)];

pub(super) const JOURNAL: Schema = Schema { application_id: APPLICATION_ID, steps: STEPS };

/// The tables of one kind of file.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Marks a file as one of this kind.
    pub(crate) application_id: i32,
    /// One entry per version.
    pub(crate) steps: &'static [M<'static>],
}

/// What a file's header says about who wrote it.
struct Header {
    application_id: i32,
    version: i64,
    /// Number of tables, indices and so on.
    objects: i64,
}

fn header(connection: &Connection) -> rusqlite::Result<Header> {
    // One view for all three, or a file that another process is just creating looks like that of another program.
    let view = connection.unchecked_transaction()?;
    let header = Header {
        application_id: view.query_row("PRAGMA application_id", [], |row| row.get(0))?,
        version: view.query_row("PRAGMA user_version", [], |row| row.get(0))?,
        objects: view.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?,
    };
    view.commit()?;
    Ok(header)
}

impl Schema {
    /// The version that this Helix writes.
    pub(crate) fn known_version(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }

    /// Refuses what another program or a newer Helix wrote, before anything is changed in it.
    pub(crate) fn check_header(&self, connection: &Connection, database: &str) -> Result<i64, OpenError> {
        let header = header(connection).map_err(|error| classify(database, error))?;
        let untouched = header.application_id == 0 && header.version == 0 && header.objects == 0;
        if !untouched && header.application_id != self.application_id {
            return Err(OpenError::Foreign { database: database.into(), application_id: header.application_id });
        }
        let known = self.known_version();
        if header.version > known {
            return Err(OpenError::TooNew { database: database.into(), found: header.version, known });
        }
        Ok(header.version)
    }

    /// Brings the tables up to date; each version in a transaction of its own.
    pub(crate) fn migrate(&self, connection: &mut Connection, database: &str) -> Result<(), OpenError> {
        if self.check_header(connection, database)? == self.known_version() {
            return Ok(());
        }
        match Migrations::from_slice(self.steps).to_latest(connection) {
            Ok(()) => Ok(()),
            // Two processes that open a new file at once both see version 0; the one that comes second is done already.
            Err(_) if self.check_header(connection, database)? == self.known_version() => Ok(()),
            Err(rusqlite_migration::Error::RusqliteError { err, .. }) => Err(classify(database, err).into()),
            Err(other) => Err(OpenError::Database(crate::error::DatabaseError::Unexpected {
                database: database.into(),
                source: std::sync::Arc::new(other),
            })),
        }
    }
}

#[cfg(test)]
#[path = "schema_test.rs"]
mod tests;
