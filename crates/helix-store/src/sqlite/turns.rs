//! The rows of turns: written with their session's view, found by id, by a client's id, and by their place.
//!
//! Must not know what turns mean. One row for each turn, so that a long conversation costs a turn no more than a short one.

use std::sync::Arc;

use helix_core::ids::{AgentSessionId, SessionId, TurnId};
use helix_job::session::{SessionView, TextDigest, TurnSummary, TurnView};
use rusqlite::{Connection, OptionalExtension, params};

use super::reader::Reading;
use super::reads::{MAX_BYTES_PER_READ, one, parse, unreadable};
use super::signed;
use crate::error::ReadError;
use crate::query::MAX_ROWS_PER_PAGE;

/// Writes a turn's row, and which turn a client's id of an answer means from now on.
pub(super) fn write(connection: &Connection, view: &SessionView, turn: &TurnView, text: &str) -> rusqlite::Result<()> {
    let id = |id: &Option<helix_core::ids::TurnId>| id.as_ref().map(|id| id.as_str().to_owned());
    connection
        .prepare_cached(
            "INSERT INTO turns (id, session, number, parent, under, asked, answered, agent_session, view)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (id) DO UPDATE SET
                 answered = excluded.answered, agent_session = excluded.agent_session, view = excluded.view",
        )?
        .execute(params![
            turn.id.as_str(),
            turn.session.as_str(),
            turn.number,
            id(&turn.parent),
            id(&turn.under),
            turn.asked.as_str(),
            turn.end.as_ref().and_then(|end| end.answered.as_ref()).map(|digest| digest.as_str().to_owned()),
            turn.agent_session.as_ref().map(|session| session.as_str().to_owned()),
            text,
        ])?;
    if let Some(message) = &turn.client.message {
        connection
            .prepare_cached(
                "INSERT INTO turn_messages (owner, message, turn) VALUES (?1, ?2, ?3)
                 ON CONFLICT (owner, message) DO UPDATE SET turn = excluded.turn",
            )?
            .execute(params![view.owner.as_deref().unwrap_or_default(), message, turn.id.as_str()])?;
    }
    Ok(())
}

/// Turns of a session by number, from the first after `after`.
pub(super) fn list(
    reading: &Reading<'_>,
    session: &SessionId,
    after: u32,
    limit: usize,
) -> Result<Vec<TurnView>, ReadError> {
    let failed = |error| reading.failed(error);
    let mut select = reading
        .connection
        .prepare_cached("SELECT id, view FROM turns WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3")
        .map_err(failed)?;
    let limit = signed(limit.clamp(1, MAX_ROWS_PER_PAGE) as u64);
    let mut rows = select.query(rusqlite::params![session.as_str(), after, limit]).map_err(failed)?;
    let (mut turns, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let id: String = row.get(0).map_err(failed)?;
        let text: String = row.get(1).map_err(failed)?;
        bytes += text.len();
        turns.push(parse(reading, &text, &format!("turn {id}"))?);
        if bytes >= MAX_BYTES_PER_READ {
            break;
        }
    }
    Ok(turns)
}

/// A turn by its id.
pub(super) fn by_id(reading: &Reading<'_>, id: &TurnId) -> Result<Option<TurnView>, ReadError> {
    one(reading, "SELECT view FROM turns WHERE id = ?1", id.as_str(), "turn")
}

/// The turn that a client's id of an answer means.
pub(super) fn by_message(reading: &Reading<'_>, owner: &str, message: &str) -> Result<Option<TurnView>, ReadError> {
    let text: Option<String> = reading
        .connection
        .prepare_cached(
            "SELECT view FROM turns WHERE id = (SELECT turn FROM turn_messages WHERE owner = ?1 AND message = ?2)",
        )
        .and_then(|mut find| find.query_row([owner, message], |row| row.get(0)).optional())
        .map_err(|error| reading.failed(error))?;
    text.map(|text| parse(reading, &text, &format!("turn of message {message}"))).transpose()
}

/// What finding turns by a history needs, of all turns of a session.
pub(super) fn summaries(reading: &Reading<'_>, session: &SessionId) -> Result<Vec<TurnSummary>, ReadError> {
    let failed = |error| reading.failed(error);
    let mut select = reading
        .connection
        .prepare_cached("SELECT id, number, under, asked, answered FROM turns WHERE session = ?1 ORDER BY number")
        .map_err(failed)?;
    let mut rows = select.query([session.as_str()]).map_err(failed)?;
    let mut summaries = Vec::new();
    let turn_id = |text: String| {
        TurnId::new(text.clone()).map_err(|error| unreadable(reading, &format!("turn {text}"), Arc::new(error)))
    };
    while let Some(row) = rows.next().map_err(failed)? {
        let under: Option<String> = row.get(2).map_err(failed)?;
        let answered: Option<String> = row.get(4).map_err(failed)?;
        summaries.push(TurnSummary {
            id: turn_id(row.get(0).map_err(failed)?)?,
            number: row.get(1).map_err(failed)?,
            under: under.map(turn_id).transpose()?,
            asked: TextDigest::from_stored(row.get(3).map_err(failed)?),
            answered: answered.map(TextDigest::from_stored),
        });
    }
    Ok(summaries)
}

/// The turn that wrote to an agent's session last.
pub(super) fn last_writer(reading: &Reading<'_>, agent_session: &AgentSessionId) -> Result<Option<TurnId>, ReadError> {
    let id: Option<String> = reading
        .connection
        .prepare_cached("SELECT id FROM turns WHERE agent_session = ?1 ORDER BY number DESC LIMIT 1")
        .and_then(|mut find| find.query_row([agent_session.as_str()], |row| row.get(0)).optional())
        .map_err(|error| reading.failed(error))?;
    let turn_id = |text: String| {
        TurnId::new(text.clone()).map_err(|error| unreadable(reading, &format!("turn {text}"), Arc::new(error)))
    };
    id.map(turn_id).transpose()
}
