//! The statements of every write, each run by the writer inside its savepoint.
//!
//! Must not know about batches or threads. A crash at any point leaves all of a write or nothing of it.

use std::time::Duration;

use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::SessionView;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Done;
use super::{classify, signed, turns, unsigned};
use crate::append::{Append, Appended, Expected, Forget, NewJob, NewSession, Opened, Projection, Submitted};
use crate::error::{AppendError, DatabaseError, LeaseError};
use crate::follow::Moved;
use crate::lease::{Acquire, Fence, Lease};
use crate::stream::Stream;

/// Writes events and their projection.
pub(super) fn append(connection: &Connection, database: &str, append: &Append) -> Result<Done<Appended>, AppendError> {
    append_with_key(connection, database, append, None)
}

/// Writes events and their projection, which gets an idempotency key if it is new.
fn append_with_key(
    connection: &Connection,
    database: &str,
    append: &Append,
    idempotency_key: Option<&str>,
) -> Result<Done<Appended>, AppendError> {
    let failed = |error| AppendError::from(classify(database, error));
    if append.events.is_empty() {
        return Err(AppendError::Empty { stream: append.stream.clone() });
    }
    if let Some(fence) = &append.fence {
        check_fence(connection, database, fence)?;
    }
    let StreamRow { row, last: before, projected } = stream_row(connection, &append.stream).map_err(failed)?;
    match append.expected {
        Expected::Any => {}
        Expected::Number(expected) if expected == before => {}
        Expected::Number(expected) => {
            return Err(AppendError::Conflict { stream: append.stream.clone(), expected, actual: before });
        }
    }
    let mut last = before;
    let mut insert = connection
        .prepare_cached("INSERT INTO events (stream, number, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)")
        .map_err(failed)?;
    for event in &append.events {
        last += 1;
        insert.execute(params![row, signed(last), event.at.to_string(), event.kind, event.body]).map_err(failed)?;
    }
    let position = unsigned(connection.last_insert_rowid());
    match &append.projection {
        Some(projection) => {
            check_projection(&append.stream, last, projection)?;
            let at = append.events.last().map_or(Timestamp::UNIX_EPOCH, |event| event.at);
            write_projection(connection, database, projection, at, idempotency_key)?;
        }
        // Otherwise the row would go on telling what was true before these events.
        None if projected => return Err(AppendError::NoProjection { stream: append.stream.clone() }),
        None => {}
    }
    connection
        .prepare_cached("UPDATE streams SET last = ?2, projected = ?3 WHERE id = ?1")
        .and_then(|mut update| update.execute(params![row, signed(last), append.projection.is_some()]))
        .map_err(failed)?;
    let moved = Moved { stream: append.stream.clone(), last };
    Ok(Done { answer: Appended { first: before + 1, last, position }, moved: Some(moved) })
}

/// Creates a job unless its key is taken.
pub(super) fn submit(connection: &Connection, database: &str, job: &NewJob) -> Result<Done<Submitted>, AppendError> {
    let failed = |error| AppendError::from(classify(database, error));
    let stream = Stream::Job(job.view.id.clone());
    if let Some(key) = &job.idempotency_key {
        let existing: Option<String> = connection
            .prepare_cached("SELECT id FROM jobs WHERE idempotency_key = ?1")
            .and_then(|mut find| find.query_row([key], |row| row.get(0)).optional())
            .map_err(failed)?;
        if let Some(id) = existing {
            let id = JobId::new(id).map_err(|error| AppendError::Projection { stream, why: error.to_string() })?;
            return Ok(Done { answer: Submitted::Existing(id), moved: None });
        }
    }
    let first = Append::to(stream, job.events.clone()).after(0).with(Projection::Job(job.view.clone()));
    let done = append_with_key(connection, database, &first, job.idempotency_key.as_deref())?;
    Ok(Done { answer: Submitted::Created(done.answer), moved: done.moved })
}

/// Creates a session unless its key is taken.
pub(super) fn open_session(
    connection: &Connection,
    database: &str,
    session: &NewSession,
) -> Result<Done<Opened>, AppendError> {
    let failed = |error| AppendError::from(classify(database, error));
    let stream = Stream::Session(session.view.id.clone());
    let existing: Option<String> = connection
        .prepare_cached("SELECT id FROM sessions WHERE key = ?1")
        .and_then(|mut find| find.query_row([&session.view.key], |row| row.get(0)).optional())
        .map_err(failed)?;
    if let Some(id) = existing {
        let id = SessionId::new(id).map_err(|error| AppendError::Projection { stream, why: error.to_string() })?;
        return Ok(Done { answer: Opened::Existing(id), moved: None });
    }
    let first =
        Append::to(stream, session.events.clone()).after(0).with(Projection::Session(session.view.clone(), None));
    let done = append(connection, database, &first)?;
    Ok(Done { answer: Opened::Created(done.answer), moved: done.moved })
}

/// Removes a session with its events and turns, unless something has happened in it since.
pub(super) fn forget_session(
    connection: &Connection,
    database: &str,
    forget: &Forget,
) -> Result<Done<()>, AppendError> {
    let failed = |error| AppendError::from(classify(database, error));
    if let Some(fence) = &forget.fence {
        check_fence(connection, database, fence)?;
    }
    let stream = Stream::Session(forget.session.clone());
    let found: Option<(i64, i64)> = connection
        .prepare_cached("SELECT id, last FROM streams WHERE name = ?1")
        .and_then(|mut find| find.query_row([stream.to_string()], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(failed)?;
    let actual = found.map_or(0, |(_, last)| unsigned(last));
    let Some((row, _)) = found.filter(|_| actual == forget.last_event) else {
        return Err(AppendError::Conflict { stream, expected: forget.last_event, actual });
    };
    // Children first: turns are referred to by their names, sessions by their turns.
    for statement in [
        "DELETE FROM turn_messages WHERE turn IN (SELECT id FROM turns WHERE session = ?1)",
        "DELETE FROM turns WHERE session = ?1",
        "DELETE FROM sessions WHERE id = ?1",
    ] {
        connection
            .prepare_cached(statement)
            .and_then(|mut delete| delete.execute([forget.session.as_str()]))
            .map_err(failed)?;
    }
    for statement in ["DELETE FROM events WHERE stream = ?1", "DELETE FROM streams WHERE id = ?1"] {
        connection.prepare_cached(statement).and_then(|mut delete| delete.execute([row])).map_err(failed)?;
    }
    Ok(Done { answer: (), moved: None })
}

/// A stream as it is stored.
struct StreamRow {
    row: i64,
    last: u64,
    /// Whether a row of `jobs` or `sessions` tells what its events amount to.
    projected: bool,
}

/// Finds a stream, or creates it.
fn stream_row(connection: &Connection, stream: &Stream) -> rusqlite::Result<StreamRow> {
    let name = stream.to_string();
    let found = connection
        .prepare_cached("SELECT id, last, projected FROM streams WHERE name = ?1")?
        .query_row([&name], |row| {
            Ok(StreamRow { row: row.get(0)?, last: unsigned(row.get(1)?), projected: row.get(2)? })
        })
        .optional()?;
    if let Some(found) = found {
        return Ok(found);
    }
    connection.prepare_cached("INSERT INTO streams (name, last, projected) VALUES (?1, 0, FALSE)")?.execute([&name])?;
    Ok(StreamRow { row: connection.last_insert_rowid(), last: 0, projected: false })
}

fn check_projection(stream: &Stream, last: u64, projection: &Projection) -> Result<(), AppendError> {
    if projection.stream() == *stream && projection.last_event() == last {
        return Ok(());
    }
    Err(AppendError::ForeignProjection {
        stream: stream.clone(),
        last,
        projected: projection.stream(),
        included: projection.last_event(),
    })
}

fn write_projection(
    connection: &Connection,
    database: &str,
    projection: &Projection,
    at: Timestamp,
    idempotency_key: Option<&str>,
) -> Result<(), AppendError> {
    let stream = projection.stream();
    let json = |result: Result<String, serde_json::Error>| {
        result.map_err(|error| AppendError::Projection { stream: stream.clone(), why: error.to_string() })
    };
    let written = match projection {
        Projection::Job(view) => {
            let text = json(serde_json::to_string(view))?;
            write_job(connection, view, &text, at, idempotency_key)
        }
        Projection::Session(view, turn) => {
            let text = json(serde_json::to_string(view))?;
            let turn = match turn {
                Some(turn) => Some((turn.as_ref(), json(serde_json::to_string(turn))?)),
                None => None,
            };
            write_session(connection, view, &text)
                .and_then(|()| turn.map_or(Ok(()), |(turn, text)| turns::write(connection, view, turn, &text)))
        }
    };
    written.map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation) => {
            AppendError::Projection { stream: stream.clone(), why: error.to_string() }
        }
        Some(_) | None => classify(database, error).into(),
    })
}

fn write_job(
    connection: &Connection,
    view: &JobView,
    text: &str,
    at: Timestamp,
    idempotency_key: Option<&str>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO jobs (id, name, status, project_path, created_at, updated_at, last_event, idempotency_key, view)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (id) DO UPDATE SET
                 name = excluded.name, status = excluded.status, project_path = excluded.project_path,
                 updated_at = excluded.updated_at, last_event = excluded.last_event, view = excluded.view",
        )?
        .execute(params![
            view.id.as_str(),
            view.name,
            view.status.word(),
            view.project_path,
            view.created_at.as_microsecond(),
            at.as_microsecond(),
            signed(view.last_event),
            idempotency_key,
            text,
        ])?;
    Ok(())
}

fn write_session(connection: &Connection, view: &SessionView, text: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, key, updated_at, last_event, view) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET
                 key = excluded.key, updated_at = excluded.updated_at, last_event = excluded.last_event,
                 view = excluded.view",
        )?
        .execute(params![
            view.id.as_str(),
            view.key,
            view.updated_at.as_microsecond(),
            signed(view.last_event),
            text,
        ])?;
    Ok(())
}

/// A lease as it is stored.
struct LeaseRow {
    fence: u64,
    owner: Option<String>,
    expires_at: Timestamp,
}

fn lease_row(connection: &Connection, database: &str, name: &str) -> Result<Option<LeaseRow>, DatabaseError> {
    let row = connection
        .prepare_cached("SELECT fence, owner, expires_at FROM leases WHERE name = ?1")
        .and_then(|mut find| {
            find.query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?))).optional()
        })
        .map_err(|error| classify(database, error))?;
    let Some((fence, owner, expires_at)) = row else { return Ok(None) };
    let expires_at = Timestamp::from_microsecond(expires_at)
        .map_err(|error| DatabaseError::Damaged { database: database.into(), source: std::sync::Arc::new(error) })?;
    Ok(Some(LeaseRow { fence: unsigned(fence), owner, expires_at }))
}

/// A fence may write while it is the newest of its name and was not given back. Time alone does not end it: as long as
/// nobody else has obtained the lease, nobody else can be harmed.
fn check_fence(connection: &Connection, database: &str, fence: &Fence) -> Result<(), AppendError> {
    let row = lease_row(connection, database, &fence.name)?;
    let newest = row.as_ref().map_or(0, |row| row.fence);
    if newest == fence.number && row.is_some_and(|row| row.owner.is_some()) {
        return Ok(());
    }
    Err(AppendError::StaleFence { name: fence.name.clone(), number: fence.number, newest })
}

pub(super) fn acquire(connection: &Connection, database: &str, wish: &Acquire) -> Result<Done<Lease>, LeaseError> {
    let row = lease_row(connection, database, &wish.name)?;
    let newest = row.as_ref().map_or(0, |row| row.fence);
    match row {
        // The same owner gets a new fence: what its former self still has in hand must not write any more.
        Some(LeaseRow { owner: Some(owner), expires_at, .. }) if expires_at > wish.now && owner != wish.owner => {
            return Err(LeaseError::Held { name: wish.name.clone(), owner, expires_at });
        }
        Some(_) | None => {}
    }
    let fence = Fence { name: wish.name.clone(), number: newest + 1 };
    let lease = Lease { fence, owner: wish.owner.clone(), expires_at: after(wish.now, wish.ttl) };
    write_lease(connection, database, &lease)?;
    Ok(Done { answer: lease, moved: None })
}

pub(super) fn renew(
    connection: &Connection,
    database: &str,
    fence: &Fence,
    ttl: Duration,
    now: Timestamp,
) -> Result<Done<Lease>, LeaseError> {
    let owner = own(connection, database, fence)?;
    let lease = Lease { fence: fence.clone(), owner, expires_at: after(now, ttl) };
    write_lease(connection, database, &lease)?;
    Ok(Done { answer: lease, moved: None })
}

/// Gives a lease back. Its row stays, so that the next fence is a greater one.
pub(super) fn release(connection: &Connection, database: &str, fence: &Fence) -> Result<Done<()>, LeaseError> {
    own(connection, database, fence)?;
    connection
        .prepare_cached("UPDATE leases SET owner = NULL WHERE name = ?1")
        .and_then(|mut update| update.execute([&fence.name]))
        .map_err(|error| classify(database, error))?;
    Ok(Done { answer: (), moved: None })
}

/// The owner of a lease, if this is still its newest fence.
fn own(connection: &Connection, database: &str, fence: &Fence) -> Result<String, LeaseError> {
    let row = lease_row(connection, database, &fence.name)?;
    let newest = row.as_ref().map_or(0, |row| row.fence);
    row.filter(|row| row.fence == fence.number).and_then(|row| row.owner).ok_or_else(|| LeaseError::Lost {
        name: fence.name.clone(),
        number: fence.number,
        newest,
    })
}

fn write_lease(connection: &Connection, database: &str, lease: &Lease) -> Result<(), DatabaseError> {
    connection
        .prepare_cached(
            "INSERT INTO leases (name, fence, owner, expires_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (name) DO UPDATE SET
                 fence = excluded.fence, owner = excluded.owner, expires_at = excluded.expires_at",
        )
        .and_then(|mut upsert| {
            upsert.execute(params![
                lease.fence.name,
                signed(lease.fence.number),
                lease.owner,
                lease.expires_at.as_microsecond()
            ])
        })
        .map(|_| ())
        .map_err(|error| classify(database, error))
}

/// A time that is out of reach means "never expires". Kept to the microsecond, as it is stored.
fn after(now: Timestamp, ttl: Duration) -> Timestamp {
    let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX);
    let exact = now.checked_add(ttl).unwrap_or(Timestamp::MAX);
    Timestamp::from_microsecond(exact.as_microsecond()).unwrap_or(exact)
}
