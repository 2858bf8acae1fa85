//! The rows of turns: written with their session's view, found by id, by a client's id, and by their place.
//!
//! Must not know what turns mean. One row for each turn, so that a long session costs a turn no more than a short one.

use helix_core::ids::{AgentSessionId, SessionId, TurnId};
use helix_job::session::{SessionView, TextDigest, TurnSummary, TurnView};
use rusqlite::params;

use super::reads::{enough, named, one, view};
use super::signed;
use super::sql::{Sql, unreadable};
use crate::error::{DatabaseError, ReadError};
use crate::query::MAX_ROWS_PER_PAGE;

/// Writes a turn's row, and which turn a client's id of an answer means from now on.
pub(super) fn write(sql: Sql<'_>, view: &SessionView, turn: &TurnView, text: &str) -> Result<(), DatabaseError> {
    let id = |id: &Option<TurnId>| id.as_ref().map(|id| id.as_str().to_owned());
    sql.execute(
        "INSERT INTO turns (id, session, number, parent, under, asked, answered, agent_session, view, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, seal_of('turn', ?1, ?9))
         ON CONFLICT (id) DO UPDATE SET
             answered = excluded.answered, agent_session = excluded.agent_session, view = excluded.view,
             seal = excluded.seal",
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
    let select = "SELECT id, view, seal = seal_of('turn', id, view) AS sealed FROM turns
                  WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
    let limit = signed(limit.clamp(1, MAX_ROWS_PER_PAGE) as u64);
    let (mut turns, mut bytes) = (Vec::new(), 0);
    sql.each(select, params![session.as_str(), after, limit], |row| {
        bytes += row.get_ref("view")?.as_str()?.len();
        turns.push(view(row, &named("turn", row.get_ref("id")?))?);
        Ok(enough(bytes))
    })?;
    Ok(turns)
}

pub(super) fn by_id(sql: Sql<'_>, id: &TurnId) -> Result<Option<TurnView>, ReadError> {
    let select = "SELECT view, seal = seal_of('turn', id, view) AS sealed FROM turns WHERE id = ?1";
    one(sql, select, id.as_str(), "turn")
}

/// The turn that a client's id of an answer means.
pub(super) fn by_message(sql: Sql<'_>, owner: &str, message: &str) -> Result<Option<TurnView>, ReadError> {
    let select = "SELECT view, seal = seal_of('turn', id, view) AS sealed FROM turns
                  WHERE id = (SELECT turn FROM turn_messages WHERE owner = ?1 AND message = ?2)";
    Ok(sql.first(select, [owner, message], |row| view(row, &format!("turn of message {message}")))?)
}

/// What finding turns by a history needs, of all turns of a session.
pub(super) fn summaries(sql: Sql<'_>, session: &SessionId) -> Result<Vec<TurnSummary>, ReadError> {
    let select = "SELECT id, number, under, asked, answered,
            CASE WHEN under IS NULL THEN json_extract(view, '$.before') END
        FROM turns WHERE session = ?1 ORDER BY number";
    let summaries = sql.all(select, [session.as_str()], |row| {
        let under: Option<String> = row.get(2)?;
        Ok(TurnSummary {
            id: turn_id(row.get(0)?)?,
            number: row.get(1)?,
            under: under.map(turn_id).transpose()?,
            asked: TextDigest::from_stored(row.get(3)?),
            answered: row.get::<_, Option<String>>(4)?.map(TextDigest::from_stored),
            before: row.get::<_, Option<String>>(5)?.map(TextDigest::from_stored),
        })
    })?;
    Ok(summaries)
}

/// The turn that wrote to an agent's session last.
pub(super) fn last_writer(sql: Sql<'_>, agent_session: &AgentSessionId) -> Result<Option<TurnId>, ReadError> {
    let select = "SELECT id FROM turns WHERE agent_session = ?1 ORDER BY number DESC LIMIT 1";
    Ok(sql.first(select, [agent_session.as_str()], |row| turn_id(row.get(0)?))?)
}

fn turn_id(text: String) -> rusqlite::Result<TurnId> {
    TurnId::new(text.clone()).map_err(|error| unreadable(&format!("turn {text}"), error))
}
