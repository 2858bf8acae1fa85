//! The rows of turns: written with their session's view, found by id, by a client's id, and by their place.
//!
//! Must not know what turns mean. One row for each turn, so that a long conversation costs a turn no more than a short one.

use std::ops::ControlFlow;
use std::sync::Arc;

use helix_core::ids::{AgentSessionId, SessionId, TurnId};
use helix_job::session::{SessionView, TextDigest, TurnSummary, TurnView};
use rusqlite::{Row, params};

use super::reads::{enough, one, parse};
use super::signed;
use super::sql::Sql;
use crate::error::{DatabaseError, ReadError};
use crate::query::MAX_ROWS_PER_PAGE;

/// Writes a turn's row, and which turn a client's id of an answer means from now on.
pub(super) fn write(sql: Sql<'_>, view: &SessionView, turn: &TurnView, text: &str) -> Result<(), DatabaseError> {
    let id = |id: &Option<TurnId>| id.as_ref().map(|id| id.as_str().to_owned());
    sql.execute(
        "INSERT INTO turns (id, session, number, parent, under, asked, answered, agent_session, view)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET
             answered = excluded.answered, agent_session = excluded.agent_session, view = excluded.view",
        params![
            turn.id.as_str(),
            turn.session.as_str(),
            turn.number,
            id(&turn.parent),
            id(&turn.under),
            turn.begin.asked.as_str(),
            turn.end.as_ref().and_then(|end| end.answered.as_ref()).map(|digest| digest.as_str().to_owned()),
            turn.begin.agent_session.as_ref().map(|session| session.as_str().to_owned()),
            text,
        ],
    )?;
    if let Some(message) = &turn.begin.client.message {
        sql.execute(
            "INSERT INTO turn_messages (owner, message, turn) VALUES (?1, ?2, ?3)
             ON CONFLICT (owner, message) DO UPDATE SET turn = excluded.turn",
            params![view.owner.as_deref().unwrap_or_default(), message, turn.id.as_str()],
        )?;
    }
    Ok(())
}

/// Turns of a session by number, from the first after `after`.
pub(super) fn list(sql: Sql<'_>, session: &SessionId, after: u32, limit: usize) -> Result<Vec<TurnView>, ReadError> {
    let select = "SELECT id, view FROM turns WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
    let limit = signed(limit.clamp(1, MAX_ROWS_PER_PAGE) as u64);
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let (mut turns, mut bytes) = (Vec::new(), 0);
    sql.each(select, params![session.as_str(), after, limit], read, |(id, text)| {
        bytes += text.len();
        turns.push(parse(sql, &text, &format!("turn {id}"))?);
        Ok::<_, ReadError>(enough(bytes))
    })?;
    Ok(turns)
}

/// A turn by its id.
pub(super) fn by_id(sql: Sql<'_>, id: &TurnId) -> Result<Option<TurnView>, ReadError> {
    one(sql, "SELECT view FROM turns WHERE id = ?1", id.as_str(), "turn")
}

/// The turn that a client's id of an answer means.
pub(super) fn by_message(sql: Sql<'_>, owner: &str, message: &str) -> Result<Option<TurnView>, ReadError> {
    let select = "SELECT view FROM turns WHERE id = (SELECT turn FROM turn_messages WHERE owner = ?1 AND message = ?2)";
    let text: Option<String> = sql.first(select, [owner, message], |row| row.get(0))?;
    text.map(|text| parse(sql, &text, &format!("turn of message {message}"))).transpose()
}

/// What finding turns by a history needs, of all turns of a session.
pub(super) fn summaries(sql: Sql<'_>, session: &SessionId) -> Result<Vec<TurnSummary>, ReadError> {
    type Fields = (String, u32, Option<String>, String, Option<String>);
    let select = "SELECT id, number, under, asked, answered FROM turns WHERE session = ?1 ORDER BY number";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    let mut summaries = Vec::new();
    sql.each(select, [session.as_str()], read, |(id, number, under, asked, answered): Fields| {
        summaries.push(TurnSummary {
            id: turn_id(sql, id)?,
            number,
            under: under.map(|under| turn_id(sql, under)).transpose()?,
            asked: TextDigest::from_stored(asked),
            answered: answered.map(TextDigest::from_stored),
        });
        Ok::<_, ReadError>(ControlFlow::Continue(()))
    })?;
    Ok(summaries)
}

/// The turn that wrote to an agent's session last.
pub(super) fn last_writer(sql: Sql<'_>, agent_session: &AgentSessionId) -> Result<Option<TurnId>, ReadError> {
    let select = "SELECT id FROM turns WHERE agent_session = ?1 ORDER BY number DESC LIMIT 1";
    let id: Option<String> = sql.first(select, [agent_session.as_str()], |row| row.get(0))?;
    id.map(|id| turn_id(sql, id)).transpose()
}

fn turn_id(sql: Sql<'_>, text: String) -> Result<TurnId, ReadError> {
    TurnId::new(text.clone()).map_err(|error| sql.unreadable(&format!("turn {text}"), Arc::new(error)))
}
