//! The statements of every write, each run by the writer inside its savepoint.
//!
//! Must not know about batches or threads. A crash at any point leaves all of a write or nothing of it.

use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::SessionView;
use jiff::Timestamp;
use rusqlite::{ErrorCode, params};

use super::sql::Sql;
use super::writer::Done;
use super::{seal, signed, turns, unsigned};
use crate::append::{Append, Appended, Forget, NewJob, NewSession, Opened, Projection, Submitted};
use crate::error::{AppendError, Cause, DatabaseError};
use crate::fence::Fence;
use crate::stream::Stream;
use crate::subscription::Moved;

/// Writes events and their projection.
pub(super) fn append(sql: Sql<'_>, append: &Append) -> Result<Done<Appended>, AppendError> {
    append_with_key(sql, append, None)
}

/// Writes events and their projection, which gets an idempotency key if it is new.
fn append_with_key(
    sql: Sql<'_>,
    append: &Append,
    idempotency_key: Option<&str>,
) -> Result<Done<Appended>, AppendError> {
    if append.events.is_empty() {
        return Err(illegal(&append.stream, "no events were given"));
    }
    if let Some(fence) = &append.fence {
        check_fence(sql, fence)?;
    }
    let name = append.stream.to_string();
    let StreamRow { row, last: before, projected } = stream_row(sql, &name)?;
    if let Some(expected) = append.expected.filter(|expected| *expected != before) {
        return Err(AppendError::Conflict { stream: append.stream.clone(), expected, actual: before });
    }
    let mut last = before;
    for event in &append.events {
        last += 1;
        sql.execute(
            "INSERT INTO events (stream, number, at, kind, body, seal) VALUES (?1, ?2, ?3, ?4, ?5, seal_of('event',
                 (SELECT seal FROM events WHERE stream = ?1 AND number = ?2 - 1), ?6, ?2, ?3, ?4, ?5))",
            params![row, signed(last), event.at.to_string(), event.kind, event.body, name],
        )?;
    }
    let position = unsigned(sql.inserted());
    match &append.projection {
        Some(projection) => {
            check_projection(&append.stream, last, projection)?;
            let at = append.events.last().map_or(Timestamp::UNIX_EPOCH, |event| event.at);
            write_projection(sql, projection, at, idempotency_key)?;
        }
        // Otherwise the row would go on telling what was true before these events.
        None if projected => return Err(illegal(&append.stream, "they came without its projection")),
        None => {}
    }
    sql.execute(
        "UPDATE streams SET last = ?2, projected = ?3, seal = seal_of('stream', name, ?2) WHERE id = ?1",
        params![row, signed(last), append.projection.is_some()],
    )?;
    let moved = Moved { stream: append.stream.clone(), last };
    Ok(Done { answer: Appended { first: before + 1, last, position }, moved: Some(moved) })
}

/// Creates a job unless its key is taken.
pub(super) fn submit(sql: Sql<'_>, job: &NewJob) -> Result<Done<Submitted>, AppendError> {
    let stream = Stream::Job(job.view.id.clone());
    if let Some(key) = &job.idempotency_key {
        let existing: Option<String> =
            sql.first("SELECT id FROM jobs WHERE idempotency_key = ?1", [key], |row| row.get(0))?;
        if let Some(id) = existing {
            let id = JobId::new(id).map_err(|error| illegal(&stream, error))?;
            return Ok(Done { answer: Submitted::Existing(id), moved: None });
        }
    }
    let first = Append::to(stream, job.events.clone()).after(0).with(Projection::Job(job.view.clone()));
    let done = append_with_key(sql, &first, job.idempotency_key.as_deref())?;
    Ok(Done { answer: Submitted::Created(done.answer), moved: done.moved })
}

/// Creates a session unless its key is taken.
pub(super) fn open_session(sql: Sql<'_>, session: &NewSession) -> Result<Done<Opened>, AppendError> {
    let stream = Stream::Session(session.view.id.clone());
    let existing: Option<String> =
        sql.first("SELECT id FROM sessions WHERE key = ?1", [&session.view.key], |row| row.get(0))?;
    if let Some(id) = existing {
        let id = SessionId::new(id).map_err(|error| illegal(&stream, error))?;
        return Ok(Done { answer: Opened::Existing(id), moved: None });
    }
    let first =
        Append::to(stream, session.events.clone()).after(0).with(Projection::Session(session.view.clone(), None));
    let done = append(sql, &first)?;
    Ok(Done { answer: Opened::Created(done.answer), moved: done.moved })
}

/// Removes a session with its events and turns, unless something has happened in it since.
pub(super) fn forget_session(sql: Sql<'_>, forget: &Forget) -> Result<Done<()>, AppendError> {
    if let Some(fence) = &forget.fence {
        check_fence(sql, fence)?;
    }
    let stream = Stream::Session(forget.session.clone());
    let found: Option<(i64, i64)> =
        sql.first("SELECT id, last FROM streams WHERE name = ?1", [stream.to_string()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
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
        sql.execute(statement, [forget.session.as_str()])?;
    }
    for statement in ["DELETE FROM events WHERE stream = ?1", "DELETE FROM streams WHERE id = ?1"] {
        sql.execute(statement, [row])?;
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
fn stream_row(sql: Sql<'_>, name: &str) -> Result<StreamRow, DatabaseError> {
    let select =
        "SELECT id, last, projected, seal = seal_of('stream', name, last) AS sealed FROM streams WHERE name = ?1";
    let found = sql.first(select, [name], |row| {
        seal::check(row, name)?;
        Ok(StreamRow { row: row.get(0)?, last: unsigned(row.get(1)?), projected: row.get(2)? })
    })?;
    if let Some(found) = found {
        return Ok(found);
    }
    sql.execute(
        "INSERT INTO streams (name, last, projected, seal) VALUES (?1, 0, FALSE, seal_of('stream', ?1, 0))",
        [name],
    )?;
    Ok(StreamRow { row: sql.inserted(), last: 0, projected: false })
}

fn illegal(stream: &Stream, why: impl std::fmt::Display) -> AppendError {
    AppendError::Illegal { stream: stream.clone(), why: why.to_string() }
}

fn check_projection(stream: &Stream, last: u64, projection: &Projection) -> Result<(), AppendError> {
    if projection.stream() == *stream && projection.last_event() == last {
        return Ok(());
    }
    let (projected, included) = (projection.stream(), projection.last_event());
    Err(illegal(stream, format_args!("a projection of {projected} at event {included} cannot go with event {last}")))
}

fn write_projection(
    sql: Sql<'_>,
    projection: &Projection,
    at: Timestamp,
    idempotency_key: Option<&str>,
) -> Result<(), AppendError> {
    let stream = projection.stream();
    let json = |result: Result<String, serde_json::Error>| result.map_err(|error| illegal(&stream, error));
    let written = match projection {
        Projection::Job(view) => {
            let text = json(serde_json::to_string(view))?;
            write_job(sql, view, &text, at, idempotency_key)
        }
        Projection::Session(view, turn) => {
            let text = json(serde_json::to_string(view))?;
            let turn = match turn {
                Some(turn) => Some((turn.as_ref(), json(serde_json::to_string(turn))?)),
                None => None,
            };
            write_session(sql, view, &text)
                .and_then(|()| turn.map_or(Ok(()), |(turn, text)| turns::write(sql, view, turn, &text)))
        }
    };
    written.map_err(|error| match &error {
        DatabaseError::Unexpected { source, .. } if is_constraint(source) => illegal(&stream, source),
        _ => error.into(),
    })
}

/// Whether another row has what is unique.
fn is_constraint(cause: &Cause) -> bool {
    let error = cause.downcast_ref::<rusqlite::Error>();
    error.and_then(rusqlite::Error::sqlite_error_code) == Some(ErrorCode::ConstraintViolation)
}

fn write_job(
    sql: Sql<'_>,
    view: &JobView,
    text: &str,
    at: Timestamp,
    idempotency_key: Option<&str>,
) -> Result<(), DatabaseError> {
    sql.execute(
        "INSERT INTO jobs (id, name, status, project_path, created_at, updated_at, last_event, idempotency_key, view, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, seal_of('job', ?1, ?9))
         ON CONFLICT (id) DO UPDATE SET
             name = excluded.name, status = excluded.status, project_path = excluded.project_path,
             updated_at = excluded.updated_at, last_event = excluded.last_event, view = excluded.view,
             seal = excluded.seal",
        params![
            view.id.as_str(),
            view.name,
            view.status.word(),
            view.project_path,
            view.created_at.as_microsecond(),
            at.as_microsecond(),
            signed(view.last_event),
            idempotency_key,
            text,
        ],
    )?;
    Ok(())
}

fn write_session(sql: Sql<'_>, view: &SessionView, text: &str) -> Result<(), DatabaseError> {
    sql.execute(
        "INSERT INTO sessions (id, key, updated_at, last_event, view, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, seal_of('session', ?1, ?5))
         ON CONFLICT (id) DO UPDATE SET
             key = excluded.key, updated_at = excluded.updated_at, last_event = excluded.last_event,
             view = excluded.view, seal = excluded.seal",
        params![view.id.as_str(), view.key, view.updated_at.as_microsecond(), signed(view.last_event), text],
    )?;
    Ok(())
}

/// Gives out the next fence of a name.
pub(super) fn take_over(sql: Sql<'_>, name: &str) -> Result<Done<Fence>, DatabaseError> {
    let next = "INSERT INTO fences (name, number) VALUES (?1, 1)
                ON CONFLICT (name) DO UPDATE SET number = number + 1 RETURNING number";
    let number = sql.one(next, [name], |row| row.get(0)).map(unsigned)?;
    Ok(Done { answer: Fence { name: name.to_owned(), number }, moved: None })
}

/// Time does not end a fence: as long as nobody has taken over, nobody else can be harmed.
fn check_fence(sql: Sql<'_>, fence: &Fence) -> Result<(), AppendError> {
    let newest = sql.first("SELECT number FROM fences WHERE name = ?1", [&fence.name], |row| row.get(0))?;
    let newest = newest.map_or(0, unsigned);
    if newest == fence.number {
        return Ok(());
    }
    Err(AppendError::StaleFence { name: fence.name.clone(), number: fence.number, newest })
}
