//! The statements of every read. Must not know about pools or threads.

use std::ops::ControlFlow;

use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::SessionView;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, params, params_from_iter};
use serde::de::DeserializeOwned;

use super::sql::{Sql, json, unreadable};
use super::{seal, signed, unsigned};
use crate::error::{DatabaseError, ReadError};
use crate::event::StoredEvent;
use crate::query::{Counts, EventPage, JobFilter, JobPage, MAX_EVENTS_PER_READ, MAX_ROWS_PER_PAGE, SessionPage};
use crate::stream::{InvalidStream, Stream};

/// A read stops after this many bytes of events, so that a stream of huge ones does not fill the memory.
pub(super) const MAX_BYTES_PER_READ: usize = 8 * 1024 * 1024;
/// Events, and whether their seals fit.
const EVENT: &str = "SELECT number, position, at, kind, body, name, events.seal = seal_of('event',
        (SELECT seal FROM events AS before WHERE before.stream = events.stream AND before.number = events.number - 1),
        name, number, at, kind, body) AS sealed
    FROM events JOIN streams ON streams.id = stream";
/// The first other records of each table that their seals do not fit.
const ALTERED: [&str; 4] = [
    "SELECT 'the end of ' || name FROM streams WHERE seal IS NOT seal_of('stream', name, last)
     OR last IS NOT (SELECT max(number) FROM events WHERE stream = streams.id) LIMIT 20",
    "SELECT 'job ' || id FROM jobs WHERE seal IS NOT seal_of('job', id, view) LIMIT 20",
    "SELECT 'session ' || id FROM sessions WHERE seal IS NOT seal_of('session', id, view) LIMIT 20",
    "SELECT 'turn ' || id FROM turns WHERE seal IS NOT seal_of('turn', id, view) LIMIT 20",
];
/// Views of jobs and of sessions, and whether their seals fit.
const JOB: &str = "SELECT view, seal = seal_of('job', id, view) AS sealed FROM jobs";
const SESSION: &str = "SELECT view, seal = seal_of('session', id, view) AS sealed FROM sessions";
/// How many jobs an ambiguous beginning of an id names.
const MAX_CANDIDATES: usize = 5;

/// Events of a stream after a number.
pub(super) fn events(sql: Sql<'_>, stream: &Stream, after: u64, limit: usize) -> Result<EventPage, ReadError> {
    let name = stream.to_string();
    let select = "SELECT id, last, seal = seal_of('stream', name, last) AS sealed FROM streams WHERE name = ?1";
    let found = sql.first(select, [&name], |row| {
        seal::check(row, &name)?;
        Ok((row.get::<_, i64>(0)?, unsigned(row.get(1)?)))
    })?;
    let Some((row, last)) = found else { return Ok(EventPage { events: Vec::new(), last: 0 }) };
    let select = format!("{EVENT} WHERE stream = ?1 AND number > ?2 ORDER BY number LIMIT ?3");
    let limit = limit.min(MAX_EVENTS_PER_READ);
    let events = stored(sql, &select, params![row, signed(after), signed(limit as u64)])?;
    if events.is_empty() && after < last && limit > 0 {
        return Err(sql.broken(&format!("event {last} of {name}")).into());
    }
    Ok(EventPage { events, last })
}

/// Events of all streams after a position, without those that something else has changed: they keep nobody from what comes after them.
pub(super) fn all_events(sql: Sql<'_>, after: u64, limit: usize) -> Result<Vec<StoredEvent>, ReadError> {
    let select = format!("{EVENT} WHERE position > ?1 AND sealed ORDER BY position LIMIT ?2");
    stored(sql, &select, params![signed(after), signed(limit.min(MAX_EVENTS_PER_READ) as u64)])
}

fn stored(sql: Sql<'_>, select: &str, parameters: &[&dyn rusqlite::ToSql]) -> Result<Vec<StoredEvent>, ReadError> {
    let (mut events, mut bytes) = (Vec::new(), 0);
    sql.each(select, parameters, |row| {
        let (number, name) = (unsigned(row.get(0)?), row.get_ref(5)?.as_str()?);
        let what = || format!("event {number} of {name}");
        seal::check(row, &what())?;
        let at = row.get_ref(2)?.as_str()?.parse().map_err(|error: jiff::Error| unreadable(&what(), error))?;
        let stream = name.parse().map_err(|error: InvalidStream| unreadable(&what(), error))?;
        let body: String = row.get(4)?;
        bytes += body.len();
        events.push(StoredEvent { stream, number, position: unsigned(row.get(1)?), at, kind: row.get(3)?, body });
        Ok(enough(bytes))
    })?;
    Ok(events)
}

/// Whether a read that has taken so much goes on.
pub(super) fn enough(bytes: usize) -> ControlFlow<()> {
    if bytes >= MAX_BYTES_PER_READ { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

pub(super) fn list_jobs(
    sql: Sql<'_>,
    filter: &JobFilter,
    cursor: Option<&JobId>,
    limit: usize,
) -> Result<JobPage, ReadError> {
    let mut select = String::from("SELECT id, view, seal = seal_of('job', id, view) AS sealed FROM jobs WHERE TRUE");
    let mut values: Vec<Value> = Vec::new();
    if !filter.statuses.is_empty() {
        let marks = vec!["?"; filter.statuses.len()].join(", ");
        select.push_str(&format!(" AND status IN ({marks})"));
        values.extend(filter.statuses.iter().map(|status| Value::from(status.word().to_owned())));
    }
    for (column, wanted) in [("project_path", &filter.project_path), ("name", &filter.name)] {
        if let Some(wanted) = wanted {
            select.push_str(&format!(" AND {column} = ?"));
            values.push(wanted.clone().into());
        }
    }
    if let Some(cursor) = cursor {
        select.push_str(" AND id < ?");
        values.push(cursor.as_str().to_owned().into());
    }
    let (jobs, next, unreadable) = page(sql, select, values, limit, "job", JobId::new)?;
    Ok(JobPage { jobs, next, unreadable })
}

pub(super) fn list_sessions(sql: Sql<'_>, cursor: Option<&SessionId>, limit: usize) -> Result<SessionPage, ReadError> {
    let mut select =
        String::from("SELECT id, view, seal = seal_of('session', id, view) AS sealed FROM sessions WHERE TRUE");
    let mut values: Vec<Value> = Vec::new();
    if let Some(cursor) = cursor {
        select.push_str(" AND id < ?");
        values.push(cursor.as_str().to_owned().into());
    }
    let (sessions, next, unreadable) = page(sql, select, values, limit, "session", SessionId::new)?;
    Ok(SessionPage { sessions, next, unreadable })
}

/// How much there is, from the indices alone.
pub(super) fn counts(sql: Sql<'_>) -> Result<Counts, ReadError> {
    let by_status = "SELECT json_quote(status) AS word, count(*) FROM jobs GROUP BY status ORDER BY status";
    let jobs = sql.all(by_status, [], |row| Ok((json(row, "word", "a job's status")?, unsigned(row.get(1)?))))?;
    let number = |select: &str| sql.one(select, [], |row| row.get(0)).map(unsigned);
    // Positions are never used again: the last one is how many there ever were.
    let events = number("SELECT ifnull(max(position), 0) FROM events")?;
    Ok(Counts { jobs, sessions: number("SELECT count(*) FROM sessions")?, events })
}

/// The views of a listing, where the next one begins, and what of it cannot be read.
type Listed<V, I> = (Vec<V>, Option<I>, Vec<I>);

/// Runs a listing; reads one row more than wanted to know whether there are more. A record that cannot be read hides no other.
fn page<V: DeserializeOwned, I: Clone, E: std::error::Error + Send + Sync + 'static>(
    sql: Sql<'_>,
    mut select: String,
    mut values: Vec<Value>,
    limit: usize,
    what: &str,
    id_of: fn(String) -> Result<I, E>,
) -> Result<Listed<V, I>, DatabaseError> {
    let limit = limit.clamp(1, MAX_ROWS_PER_PAGE);
    select.push_str(" ORDER BY id DESC LIMIT ?");
    values.push(Value::from(signed(limit as u64 + 1)));
    let mut rows = sql.all(&select, params_from_iter(values), |row| {
        let id: String = row.get("id")?;
        let what = format!("{what} {id}");
        Ok((id_of(id).map_err(|error| unreadable(&what, error))?, view(row, &what)))
    })?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(id, _)| id.clone());
    let (mut views, mut unread) = (Vec::new(), Vec::new());
    for (id, view) in rows {
        match view {
            Ok(view) => views.push(view),
            Err(_) => unread.push(id),
        }
    }
    Ok((views, next, unread))
}

/// A job by its id or by a beginning of it.
pub(super) fn job(sql: Sql<'_>, id_or_prefix: &str) -> Result<Option<JobView>, ReadError> {
    if let Some(view) = one(sql, &format!("{JOB} WHERE id = ?1"), id_or_prefix, "job")? {
        return Ok(Some(view));
    }
    if id_or_prefix.is_empty() {
        return Ok(None);
    }
    // Ids are ASCII without DEL, so that this is a range of the primary key.
    let range = "SELECT id FROM jobs WHERE id >= ?1 AND id < ?1 || char(127) ORDER BY id LIMIT ?2";
    let most = signed(MAX_CANDIDATES as u64);
    let candidates: Vec<String> = sql.all(range, params![id_or_prefix, most], |row| row.get(0))?;
    match candidates.as_slice() {
        [] => Ok(None),
        [only] => one(sql, &format!("{JOB} WHERE id = ?1"), only, "job"),
        [_, _, ..] => Err(ReadError::Ambiguous { prefix: id_or_prefix.into(), candidates }),
    }
}

pub(super) fn job_by_key(sql: Sql<'_>, key: &str) -> Result<Option<JobView>, ReadError> {
    one(sql, &format!("{JOB} WHERE idempotency_key = ?1"), key, "job with key")
}

pub(super) fn session(sql: Sql<'_>, id: &SessionId) -> Result<Option<SessionView>, ReadError> {
    one(sql, &format!("{SESSION} WHERE id = ?1"), id.as_str(), "session")
}

/// A session by the client's key.
pub(super) fn session_by_key(sql: Sql<'_>, key: &str) -> Result<Option<SessionView>, ReadError> {
    one(sql, &format!("{SESSION} WHERE key = ?1"), key, "session with key")
}

/// Sessions whose keys begin with an ASCII text.
pub(super) fn sessions_by_prefix(sql: Sql<'_>, prefix: &str, limit: usize) -> Result<Vec<SessionView>, ReadError> {
    let select = format!("{SESSION} WHERE key >= ?1 AND key < ?1 || char(127) ORDER BY key DESC LIMIT ?2");
    let limit = signed(limit.clamp(1, MAX_ROWS_PER_PAGE) as u64);
    Ok(sql.all(&select, params![prefix, limit], |row| view(row, &format!("sessions below {prefix}")))?)
}

/// What an entry amounts to, if its seal fits.
pub(super) fn view<V: DeserializeOwned>(row: &Row<'_>, what: &str) -> rusqlite::Result<V> {
    seal::check(row, what)?;
    json(row, "view", what)
}

pub(super) fn one<V: DeserializeOwned>(
    sql: Sql<'_>,
    select: &str,
    key: &str,
    what: &str,
) -> Result<Option<V>, ReadError> {
    Ok(sql.first(select, [key], |row| view(row, &format!("{what} {key}")))?)
}

/// What a row is, for messages.
pub(super) fn named(what: &str, id: ValueRef<'_>) -> String {
    format!("{what} {}", id.as_str().unwrap_or_default())
}

pub(super) fn check(sql: Sql<'_>) -> Result<Vec<String>, ReadError> {
    let mut lines: Vec<String> = sql.all("PRAGMA quick_check", [], |row| row.get(0))?;
    lines.retain(|line| line != "ok");
    let altered = format!("{EVENT} WHERE NOT sealed ORDER BY position LIMIT 20");
    lines.extend(sql.all(&altered, [], |row| {
        Ok(format!("event {} of {} is not what Helix wrote", row.get::<_, i64>(0)?, row.get::<_, String>(5)?))
    })?);
    for select in ALTERED {
        lines.extend(sql.all(select, [], |row| Ok(format!("{} is not what Helix wrote", row.get::<_, String>(0)?)))?);
    }
    Ok(lines)
}
