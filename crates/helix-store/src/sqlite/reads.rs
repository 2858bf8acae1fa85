//! The statements of every read. Must not know about pools or threads.

use std::sync::Arc;

use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::SessionView;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};
use serde::de::DeserializeOwned;

use super::reader::Reading;
use super::{signed, unsigned};
use crate::error::{Cause, ReadError};
use crate::event::StoredEvent;
use crate::query::{Counts, EventPage, JobFilter, JobPage, MAX_EVENTS_PER_READ, MAX_ROWS_PER_PAGE, SessionPage};
use crate::stream::{InvalidStream, Stream};

/// A read stops after this many bytes of events, so that a stream of huge ones does not fill the memory.
pub(super) const MAX_BYTES_PER_READ: usize = 8 * 1024 * 1024;
/// How many jobs an ambiguous beginning of an id names.
const MAX_CANDIDATES: usize = 5;

/// Events of a stream after a number.
pub(super) fn events(reading: &Reading<'_>, stream: &Stream, after: u64, limit: usize) -> Result<EventPage, ReadError> {
    let failed = |error| reading.failed(error);
    let found: Option<(i64, i64)> = reading
        .connection
        .prepare_cached("SELECT id, last FROM streams WHERE name = ?1")
        .and_then(|mut find| find.query_row([stream.to_string()], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(failed)?;
    let Some((row, last)) = found else { return Ok(EventPage { events: Vec::new(), last: 0 }) };
    let sql = "SELECT number, position, at, kind, body, ?4 FROM events WHERE stream = ?1 AND number > ?2
               ORDER BY number LIMIT ?3";
    let limit = signed(limit.min(MAX_EVENTS_PER_READ) as u64);
    let events = stored(reading, sql, params![row, signed(after), limit, stream.to_string()])?;
    Ok(EventPage { events, last: unsigned(last) })
}

/// Events of all streams after a position.
pub(super) fn all_events(reading: &Reading<'_>, after: u64, limit: usize) -> Result<Vec<StoredEvent>, ReadError> {
    let sql = "SELECT number, position, at, kind, body, name FROM events JOIN streams ON streams.id = stream
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    stored(reading, sql, params![signed(after), signed(limit.min(MAX_EVENTS_PER_READ) as u64)])
}

fn stored(
    reading: &Reading<'_>,
    sql: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Vec<StoredEvent>, ReadError> {
    let failed = |error| reading.failed(error);
    let mut select = reading.connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(parameters).map_err(failed)?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let number = unsigned(row.get(0).map_err(failed)?);
        let (at, stream): (String, String) = row.get(2).and_then(|at| Ok((at, row.get(5)?))).map_err(failed)?;
        let what = || format!("event {number} of {stream}");
        let at = at.parse().map_err(|error: jiff::Error| unreadable(reading, &what(), Arc::new(error)))?;
        let stream = stream.parse().map_err(|error: InvalidStream| unreadable(reading, &what(), Arc::new(error)))?;
        let body: String = row.get(4).map_err(failed)?;
        bytes += body.len();
        events.push(StoredEvent {
            stream,
            number,
            position: unsigned(row.get(1).map_err(failed)?),
            at,
            kind: row.get(3).map_err(failed)?,
            body,
        });
        if bytes >= MAX_BYTES_PER_READ {
            break;
        }
    }
    Ok(events)
}

pub(super) fn list_jobs(
    reading: &Reading<'_>,
    filter: &JobFilter,
    cursor: Option<&JobId>,
    limit: usize,
) -> Result<JobPage, ReadError> {
    let mut sql = String::from("SELECT id, view FROM jobs WHERE TRUE");
    let mut values: Vec<Value> = Vec::new();
    if !filter.statuses.is_empty() {
        let marks = vec!["?"; filter.statuses.len()].join(", ");
        sql.push_str(&format!(" AND status IN ({marks})"));
        values.extend(filter.statuses.iter().map(|status| Value::from(status.word().to_owned())));
    }
    for (column, wanted) in [("project_path", &filter.project_path), ("name", &filter.name)] {
        if let Some(wanted) = wanted {
            sql.push_str(&format!(" AND {column} = ?"));
            values.push(wanted.clone().into());
        }
    }
    if let Some(cursor) = cursor {
        sql.push_str(" AND id < ?");
        values.push(cursor.as_str().to_owned().into());
    }
    let (jobs, more) = page::<JobView>(reading, sql, values, limit, "job")?;
    let next = if more { jobs.last().map(|job| job.id.clone()) } else { None };
    Ok(JobPage { jobs, next })
}

pub(super) fn list_sessions(
    reading: &Reading<'_>,
    cursor: Option<&SessionId>,
    limit: usize,
) -> Result<SessionPage, ReadError> {
    let mut sql = String::from("SELECT id, view FROM sessions WHERE TRUE");
    let mut values: Vec<Value> = Vec::new();
    if let Some(cursor) = cursor {
        sql.push_str(" AND id < ?");
        values.push(cursor.as_str().to_owned().into());
    }
    let (sessions, more) = page::<SessionView>(reading, sql, values, limit, "session")?;
    let next = if more { sessions.last().map(|session| session.id.clone()) } else { None };
    Ok(SessionPage { sessions, next })
}

/// How much there is, from the indices alone.
pub(super) fn counts(reading: &Reading<'_>) -> Result<Counts, ReadError> {
    let failed = |error| reading.failed(error);
    let mut select = reading
        .connection
        .prepare_cached("SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status")
        .map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let word: String = row.get(0).map_err(failed)?;
        let status = serde_json::from_value(word.as_str().into())
            .map_err(|error| unreadable(reading, &format!("status {word:?} of a job"), Arc::new(error)))?;
        jobs.push((status, unsigned(row.get(1).map_err(failed)?)));
    }
    let number = |sql: &str| {
        let found = reading.connection.prepare_cached(sql).and_then(|mut find| find.query_row([], |row| row.get(0)));
        found.map(unsigned).map_err(failed)
    };
    // Positions are never used again: the last one is how many there ever were.
    let events = number("SELECT ifnull(max(position), 0) FROM events")?;
    Ok(Counts { jobs, sessions: number("SELECT count(*) FROM sessions")?, events })
}

/// Runs a listing; reads one row more than wanted to know whether there are more.
fn page<V: DeserializeOwned>(
    reading: &Reading<'_>,
    mut sql: String,
    mut values: Vec<Value>,
    limit: usize,
    what: &str,
) -> Result<(Vec<V>, bool), ReadError> {
    let failed = |error| reading.failed(error);
    let limit = limit.clamp(1, MAX_ROWS_PER_PAGE);
    sql.push_str(" ORDER BY id DESC LIMIT ?");
    values.push(Value::from(signed(limit as u64 + 1)));
    let mut select = reading.connection.prepare_cached(&sql).map_err(failed)?;
    let mut rows = select.query(params_from_iter(values)).map_err(failed)?;
    let mut views = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        if views.len() == limit {
            return Ok((views, true));
        }
        let id: String = row.get(0).map_err(failed)?;
        let text: String = row.get(1).map_err(failed)?;
        views.push(parse(reading, &text, &format!("{what} {id}"))?);
    }
    Ok((views, false))
}

/// A job by its id or by a beginning of it.
pub(super) fn job(reading: &Reading<'_>, id_or_prefix: &str) -> Result<Option<JobView>, ReadError> {
    let failed = |error| reading.failed(error);
    if let Some(view) = one(reading, "SELECT view FROM jobs WHERE id = ?1", id_or_prefix, "job")? {
        return Ok(Some(view));
    }
    if id_or_prefix.is_empty() {
        return Ok(None);
    }
    // Ids are ASCII without DEL, so that this is a range of the primary key.
    let mut select = reading
        .connection
        .prepare_cached("SELECT id FROM jobs WHERE id >= ?1 AND id < ?1 || char(127) ORDER BY id LIMIT ?2")
        .map_err(failed)?;
    let mut rows = select.query(rusqlite::params![id_or_prefix, signed(MAX_CANDIDATES as u64)]).map_err(failed)?;
    let mut candidates: Vec<String> = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        candidates.push(row.get(0).map_err(failed)?);
    }
    match candidates.as_slice() {
        [] => Ok(None),
        [only] => one(reading, "SELECT view FROM jobs WHERE id = ?1", only, "job"),
        [_, _, ..] => Err(ReadError::Ambiguous { prefix: id_or_prefix.into(), candidates }),
    }
}

/// A job by its idempotency key.
pub(super) fn job_by_key(reading: &Reading<'_>, key: &str) -> Result<Option<JobView>, ReadError> {
    one(reading, "SELECT view FROM jobs WHERE idempotency_key = ?1", key, "job with key")
}

/// A session by its id.
pub(super) fn session(reading: &Reading<'_>, id: &SessionId) -> Result<Option<SessionView>, ReadError> {
    one(reading, "SELECT view FROM sessions WHERE id = ?1", id.as_str(), "session")
}

/// A session by the client's key.
pub(super) fn session_by_key(reading: &Reading<'_>, key: &str) -> Result<Option<SessionView>, ReadError> {
    one(reading, "SELECT view FROM sessions WHERE key = ?1", key, "session with key")
}

pub(super) fn one<V: DeserializeOwned>(
    reading: &Reading<'_>,
    sql: &str,
    key: &str,
    what: &str,
) -> Result<Option<V>, ReadError> {
    let text: Option<String> = reading
        .connection
        .prepare_cached(sql)
        .and_then(|mut find| find.query_row([key], |row| row.get(0)).optional())
        .map_err(|error| reading.failed(error))?;
    text.map(|text| parse(reading, &text, &format!("{what} {key}"))).transpose()
}

pub(super) fn check(reading: &Reading<'_>) -> Result<Vec<String>, ReadError> {
    let failed = |error| reading.failed(error);
    let mut select = reading.connection.prepare("PRAGMA quick_check").map_err(failed)?;
    let lines: Vec<String> = select.query_map([], |row| row.get(0)).and_then(Iterator::collect).map_err(failed)?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

pub(super) fn parse<V: DeserializeOwned>(reading: &Reading<'_>, text: &str, what: &str) -> Result<V, ReadError> {
    serde_json::from_str(text).map_err(|error| unreadable(reading, what, Arc::new(error)))
}

pub(super) fn unreadable(reading: &Reading<'_>, what: &str, source: Cause) -> ReadError {
    ReadError::Row { database: reading.database.into(), what: what.into(), source }
}
