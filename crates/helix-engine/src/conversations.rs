//! Conversations as their records show them, for whoever looks at them from outside.
//!
//! Must not know how turns are answered.

use helix_core::ids::{SessionId, TurnId};
use helix_job::session::{SessionView, TurnView};
use helix_store::{MAX_ROWS_PER_PAGE, SessionPage};

use crate::engine::{Engine, EngineError};

impl Engine {
    /// All turns of a conversation, oldest first, on all its branches.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn turns(&self, session: &SessionId) -> Result<Vec<TurnView>, EngineError> {
        let mut turns: Vec<TurnView> = Vec::new();
        loop {
            let after = turns.last().map_or(0, |turn| turn.number);
            let page = self.inner.journal.list_turns(session.clone(), after, MAX_ROWS_PER_PAGE).await;
            let page = page.map_err(|error| EngineError::Journal(Box::new(error)))?;
            if page.is_empty() {
                return Ok(turns);
            }
            turns.extend(page);
        }
    }

    /// A turn.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    pub async fn turn_record(&self, id: &TurnId) -> Result<TurnView, EngineError> {
        let found = self.inner.journal.turn(id.clone()).await;
        let found = found.map_err(|error| EngineError::Journal(Box::new(error)))?;
        found.ok_or_else(|| EngineError::NotFound { kind: "turn", id: id.to_string() })
    }

    /// The newest turn whose answer an owner's client calls so.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn turn_of_message(&self, owner: Option<String>, message: &str) -> Result<Option<TurnView>, EngineError> {
        let found = self.inner.journal.turn_by_message(owner, message.to_owned()).await;
        found.map_err(|error| EngineError::Journal(Box::new(error)))
    }

    /// Some conversations, newest first: at most `limit` of those that are older than `after`.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn session_page(&self, after: Option<SessionId>, limit: usize) -> Result<SessionPage, EngineError> {
        let page = self.inner.journal.list_sessions(after, limit).await;
        page.map_err(|error| EngineError::Journal(Box::new(error)))
    }

    /// The conversation that a client has this key for.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn session_by_key(&self, key: &str) -> Result<Option<SessionView>, EngineError> {
        let found = self.inner.journal.session_by_key(key.to_owned()).await;
        found.map_err(|error| EngineError::Journal(Box::new(error)))
    }
}
