//! Sessions as their records show them, with what their jobs do.
//!
//! Must not know how turns are answered.

mod job_news;
mod linked;
mod retention;
mod summary;

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use helix_core::ids::{SessionId, TurnId};
use helix_job::session::{SessionEvent, SessionView, TurnView};
use helix_language::ErrorView;
use helix_store::Key;
use helix_store::{MAX_ROWS_PER_PAGE, SessionPage};

pub use job_news::{JobNews, PhaseNews, Watch};
pub use linked::{FileSignature, LARGEST_LINKED, LinkedFile};
pub use summary::{SessionStage, SessionSummary};

use crate::consultant::{Consultant, ConsultantConfig};
use crate::error::EngineError;
use crate::event_log::record;
use crate::jobs::Jobs;
use crate::services::Services;

/// The sessions of a host.
pub struct Sessions {
    pub(crate) services: Arc<Services>,
    pub(crate) config: ConsultantConfig,
    pub(crate) consultant: Arc<Consultant>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) link_key: Key,
}

impl Sessions {
    /// Sessions, newest first.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn list(&self) -> Result<SessionPage, EngineError> {
        Ok(helix_store::all_sessions(self.services.journal().as_ref()).await?)
    }

    /// Some sessions, newest first: at most `limit` of those that are older than `after`.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn page(&self, after: Option<SessionId>, limit: usize) -> Result<SessionPage, EngineError> {
        Ok(self.services.journal().list_sessions(after, limit).await?)
    }

    /// A session.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    #[boxed]
    pub async fn get(&self, id: &SessionId) -> Result<SessionView, EngineError> {
        let found = self.services.journal().session(id.clone()).await?;
        let view = found.ok_or_else(|| EngineError::not_found("session", id))?;
        Ok(SessionView { blocked: self.consultant.blocked(id), ..view })
    }

    /// The session that a client has this key for.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn by_key(&self, key: &str) -> Result<Option<SessionView>, EngineError> {
        Ok(self.services.journal().session_by_key(key.to_owned()).await?)
    }

    /// All turns of a session, oldest first, on all its branches.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn turns(&self, session: &SessionId) -> Result<Vec<TurnView>, EngineError> {
        let mut turns: Vec<TurnView> = Vec::new();
        loop {
            let after = turns.last().map_or(0, |turn| turn.number);
            let page = self.services.journal().list_turns(session.clone(), after, MAX_ROWS_PER_PAGE).await?;
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
    #[boxed]
    pub async fn turn(&self, id: &TurnId) -> Result<TurnView, EngineError> {
        self.services.journal().turn(id.clone()).await?.ok_or_else(|| EngineError::not_found("turn", id))
    }

    /// The newest turn whose answer an owner's client calls so.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn turn_of_message(&self, owner: Option<String>, message: &str) -> Result<Option<TurnView>, EngineError> {
        Ok(self.services.journal().turn_by_message(owner, message.to_owned()).await?)
    }

    /// Adds an event to a session, or says at once why that cannot be done: a tool's caller waits for it.
    pub(crate) async fn record(&self, view: SessionView, event: SessionEvent) -> Result<(), ErrorView> {
        record(&self.services.writer, view, event).await
    }
}
