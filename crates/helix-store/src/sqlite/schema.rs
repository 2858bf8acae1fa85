//! The tables, their versions, and whether a file may be used at all.

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use super::classify;
use crate::error::OpenError;

/// "HELX": marks the file as ours (SQLite's `application_id`).
const APPLICATION_ID: i32 = 0x4845_4C58;

/// One entry per schema version; an entry that was released is never changed again.
const STEPS: &[M<'_>] = &[
    M::up(
        "PRAGMA application_id = 1212501080;

    CREATE TABLE streams (
        id         INTEGER PRIMARY KEY,
        name       TEXT NOT NULL UNIQUE,
        last       INTEGER NOT NULL CHECK (last >= 0),
        projected  INTEGER NOT NULL CHECK (projected IN (0, 1))
    ) STRICT;

    -- AUTOINCREMENT: a position is never used again, even if old streams are removed one day.
    CREATE TABLE events (
        position  INTEGER PRIMARY KEY AUTOINCREMENT,
        stream    INTEGER NOT NULL REFERENCES streams (id),
        number    INTEGER NOT NULL CHECK (number >= 1),
        at        TEXT NOT NULL,
        kind      TEXT NOT NULL,
        body      TEXT NOT NULL,
        UNIQUE (stream, number)
    ) STRICT;

    CREATE TABLE jobs (
        id               TEXT PRIMARY KEY,
        name             TEXT NOT NULL,
        status           TEXT NOT NULL,
        project_path     TEXT NOT NULL,
        created_at       INTEGER NOT NULL,
        updated_at       INTEGER NOT NULL,
        last_event       INTEGER NOT NULL,
        idempotency_key  TEXT UNIQUE,
        view             TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX jobs_by_status ON jobs (status, id);

    CREATE TABLE sessions (
        id          TEXT PRIMARY KEY,
        key         TEXT NOT NULL UNIQUE,
        updated_at  INTEGER NOT NULL,
        last_event  INTEGER NOT NULL,
        view        TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE leases (
        name        TEXT PRIMARY KEY,
        fence       INTEGER NOT NULL CHECK (fence >= 1),
        owner       TEXT,
        expires_at  INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;",
    ),
    M::up(TURNS),
    // Removing a session looks for the names of its turns.
    M::up("CREATE INDEX turn_messages_by_turn ON turn_messages (turn);"),
];

/// Turns get rows of their own; those of the first version stood, as a line, inside their session's view.
const TURNS: &str = "
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
        UNIQUE (session, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX turns_by_agent_session ON turns (agent_session, number) WHERE agent_session IS NOT NULL;

    -- What clients call the answers; one that is continued keeps its name, which then means the newer turn.
    CREATE TABLE turn_messages (
        owner    TEXT NOT NULL,
        message  TEXT NOT NULL,
        turn     TEXT NOT NULL REFERENCES turns (id),
        PRIMARY KEY (owner, message)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO turns (id, session, number, parent, under, asked, answered, agent_session, view)
    SELECT turn.value ->> '$.id', sessions.id, turn.key + 1, before.id, before.id, '', NULL,
           turn.value ->> '$.end.session',
           json_set(turn.value, '$.session', sessions.id, '$.number', turn.key + 1,
                    '$.parent', before.id, '$.under', before.id,
                    '$.agent_session', turn.value ->> '$.end.session')
    FROM sessions
         JOIN json_each(sessions.view, '$.turns') AS turn
         LEFT JOIN (SELECT s.id AS session, t.key AS key, t.value ->> '$.id' AS id
                    FROM sessions AS s JOIN json_each(s.view, '$.turns') AS t) AS before
         ON before.session = sessions.id AND before.key = turn.key - 1;

    UPDATE sessions SET view = json_remove(json_set(view,
        '$.turn_count', json_array_length(view, '$.turns'),
        '$.latest', view ->> '$.turns[#-1].id',
        '$.running', NULL), '$.turns');
    UPDATE sessions SET view = json_set(view, '$.running', json(
        (SELECT turns.view FROM turns WHERE turns.id = sessions.view ->> '$.latest')))
    WHERE EXISTS (SELECT 1 FROM turns
                  WHERE turns.id = sessions.view ->> '$.latest' AND turns.view ->> '$.end' IS NULL);";

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
mod tests {
    use super::*;

    #[test]
    fn the_migrations_are_well_formed_and_mark_the_file() {
        Migrations::from_slice(STEPS).validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        JOURNAL.migrate(&mut connection, "test").unwrap();
        let header = header(&connection).unwrap();
        assert_eq!((header.application_id, header.version), (APPLICATION_ID, JOURNAL.known_version()));
    }

    /// A file of the first version: its turns stand inside their session's view.
    #[test]
    fn turns_of_the_first_version_become_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first = Schema { application_id: APPLICATION_ID, steps: &STEPS[..1] };
        first.migrate(&mut connection, "test").unwrap();
        let turn = |number: u32, end: &str| {
            format!(
                r#"{{"id":"s.t{number}","run":"s.t{number}.1","message":"m{number}","started_at":"2026-01-01T00:00:00Z","end":{end}}}"#
            )
        };
        let facts = helix_core::run::RunFacts::without_record(helix_core::run::Ending::Unknown, None);
        let end = serde_json::json!({
            "at": "2026-01-01T00:00:00Z", "facts": facts, "answer": "a", "session": "agent",
            "usage": helix_core::usage::Usage::default(),
        });
        let view = format!(
            r#"{{"id":"s","key":"k","directory":"/d","agent":"a","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","turns":[{},{}],"jobs":[],"last_event":4}}"#,
            turn(1, &end.to_string()),
            turn(2, "null"),
        );
        let empty = view.replace(r#""id":"s","key":"k""#, r#""id":"e","key":"e""#);
        let empty = format!("{}[]{}", &empty[..empty.find("[{").unwrap()], r#","jobs":[],"last_event":1}"#);
        for (id, key, view) in [("s", "k", &view), ("e", "e", &empty)] {
            let row = rusqlite::params![id, key, view];
            connection
                .execute("INSERT INTO sessions (id, key, updated_at, last_event, view) VALUES (?1, ?2, 0, 1, ?3)", row)
                .unwrap();
        }
        JOURNAL.migrate(&mut connection, "test").unwrap();
        let read = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        let session: helix_job::session::SessionView =
            serde_json::from_str(&read("SELECT view FROM sessions WHERE id = 's'")).unwrap();
        assert_eq!((session.turn_count, session.running().map(|turn| turn.number)), (2, Some(2)));
        let one: helix_job::session::TurnView =
            serde_json::from_str(&read("SELECT view FROM turns WHERE number = 1")).unwrap();
        assert_eq!(one.agent_session.as_ref().map(|id| id.as_str()), Some("agent"));
        assert_eq!((one.parent, one.end.unwrap().answer), (None, "a".to_owned()));
        assert_eq!(read("SELECT parent FROM turns WHERE number = 2"), "s.t1");
        let none: helix_job::session::SessionView =
            serde_json::from_str(&read("SELECT view FROM sessions WHERE id = 'e'")).unwrap();
        assert_eq!((none.turn_count, none.running, none.latest), (0, None, None));
    }
}
