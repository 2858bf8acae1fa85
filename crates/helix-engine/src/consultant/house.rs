//! All conversations of an engine: opens them by the client's key, finds them again, and gives each its loop.
//!
//! Must not know what a turn does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use helix_core::ids::{RunId, SessionId};
use helix_job::Recorded;
use helix_job::session::{SessionEvent, SessionView};
use helix_store::{MAX_ROWS_PER_PAGE, NewEvent, NewSession, Opened, ReadError};
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::desk::Desk;
use super::room::{self, Room, Seat, Waiting};
use super::{Conversation, Place, TurnError, TurnEvent, TurnRequest, copying};
use crate::job::lock;

/// Turns that may wait in one conversation.
const QUEUE: usize = 32;
/// Events that a slow listener may be behind before the agent's record is read more slowly.
const LISTENER_BUFFER: usize = 256;

/// All conversations of an engine.
pub(crate) struct House {
    desk: Arc<Desk>,
    sessions: std::path::PathBuf,
    tasks: TaskTracker,
    rooms: Mutex<HashMap<SessionId, Door>>,
}

/// The way into a conversation's loop.
#[derive(Clone)]
struct Door {
    queue: mpsc::Sender<Waiting>,
    stop: Arc<Mutex<CancellationToken>>,
    /// Turns that are waiting or under way.
    open: Arc<watch::Sender<usize>>,
}

impl House {
    pub(crate) fn new(desk: Arc<Desk>, sessions: std::path::PathBuf, tasks: TaskTracker) -> Self {
        Self { desk, sessions, tasks, rooms: Mutex::default() }
    }

    /// Goes on with turns that a former host began.
    pub(crate) async fn recover(&self) -> Result<(), ReadError> {
        for view in self.interrupted().await? {
            self.door(view);
        }
        Ok(())
    }

    /// Runs of turns that a former host began and whose end is not recorded.
    pub(crate) async fn open_runs(&self) -> Result<Vec<RunId>, ReadError> {
        let interrupted = self.interrupted().await?;
        let turns = interrupted.iter().filter_map(SessionView::running);
        Ok(turns.flat_map(|turn| room::runs_of(&self.desk.runner, &turn.id)).collect())
    }

    async fn interrupted(&self) -> Result<Vec<SessionView>, ReadError> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.desk.journal.list_sessions(cursor, MAX_ROWS_PER_PAGE).await?;
            found.extend(page.sessions.into_iter().filter(|view| view.running().is_some()));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(found);
            }
        }
    }

    pub(crate) async fn turn(&self, request: TurnRequest) -> Result<mpsc::Receiver<TurnEvent>, TurnError> {
        if request.message.trim().is_empty() && request.uploads.is_empty() {
            return Err(TurnError::Request("the message is empty".into()));
        }
        if let Err(error) = self.desk.runner.profile(&self.desk.config.agent) {
            let hint = "set [consultant] agent in helix.toml to one that is there".to_owned();
            return Err(TurnError::Agent { message: error.to_string(), hint: Some(hint) });
        }
        let view = self.find(&request).await?;
        let (listener, events) = mpsc::channel(LISTENER_BUFFER);
        let mut unsent = (request, listener);
        while !self.desk.closing.is_cancelled() {
            let door = self.door(view.clone());
            let (seat, ahead) = Seat::take(&door.open);
            if ahead > 0 {
                // The buffer is new and empty, and its receiver is here: this cannot fail.
                drop(unsent.1.try_send(TurnEvent::Queued { ahead }));
            }
            let (request, listener) = unsent;
            match door.queue.send(Waiting { request, listener, seat }).await {
                Ok(()) => return Ok(events),
                // The loop ended between finding and using it: make a new one.
                Err(mpsc::error::SendError(back)) => unsent = (back.request, back.listener),
            }
            lock(&self.rooms).remove(&view.id);
        }
        Err(TurnError::Journal("the engine is closing".into()))
    }

    /// Stops the turn under way; `false` if there is none.
    pub(crate) fn stop_turn(&self, view: &SessionView) -> bool {
        let door = lock(&self.rooms).get(&view.id).cloned();
        match door {
            Some(door) if view.running().is_some() => {
                lock(&door.stop).cancel();
                true
            }
            Some(_) | None => false,
        }
    }

    /// Ends the loop of a conversation that is gone.
    pub(crate) fn close(&self, session: &SessionId) {
        // Its queue has no other sender: the loop ends with it.
        drop(lock(&self.rooms).remove(session));
    }

    /// Whether a turn of a conversation is waiting or under way.
    pub(crate) fn is_busy(&self, session: &SessionId) -> bool {
        lock(&self.rooms).get(session).is_some_and(|door| *door.open.borrow() > 0)
    }

    /// How many turns of a conversation are waiting or under way, from now on.
    pub(crate) fn open_turns(&self, view: SessionView) -> watch::Receiver<usize> {
        self.door(view).open.subscribe()
    }

    /// The conversation of a request; opened if the client has a new key for it.
    async fn find(&self, request: &TurnRequest) -> Result<SessionView, TurnError> {
        let journal = &self.desk.journal;
        match &request.conversation {
            Conversation::Session(id) => {
                let found = journal.session(id.clone()).await.map_err(journal_error)?;
                found.ok_or_else(|| TurnError::NoSession(id.clone()))
            }
            Conversation::Key(key) => match journal.session_by_key(key.clone()).await.map_err(journal_error)? {
                Some(view) => Ok(view),
                None => self.open(key, request).await,
            },
        }
    }

    /// Opens a conversation. One that goes on from an answer of another one is a copy of that, drafts included.
    async fn open(&self, key: &str, request: &TurnRequest) -> Result<SessionView, TurnError> {
        let journal = &self.desk.journal;
        let origin = match &request.place {
            Place::Ids { parent: Some(parent) } => {
                let turn = journal.turn_by_message(request.owner.clone(), parent.clone()).await;
                turn.map_err(journal_error)?.map(|turn| turn.session)
            }
            Place::Ids { parent: None } | Place::Latest | Place::History => None,
        };
        let origin = match origin {
            Some(origin) => journal.session(origin).await.map_err(journal_error)?,
            None => None,
        };
        let now = Timestamp::now();
        let id = SessionId::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), crate::engine::random());
        let directory = self.sessions.join(id.as_str()).join("work");
        tokio::fs::create_dir_all(&directory).await.map_err(journal_error)?;
        if let Some(origin) = &origin {
            let copied = copying::copy(origin.directory.clone(), directory.clone()).await.map_err(journal_error)?;
            if copied.extent == copying::Extent::Part {
                tracing::warn!(from = %origin.id, to = %id, ?copied, "a conversation's directory is too large to be copied whole");
            }
        }
        let event = SessionEvent::SessionOpened {
            key: key.to_owned(),
            owner: request.owner.clone(),
            copied_from: origin.map(|origin| origin.id),
            directory: directory.to_string_lossy().into_owned(),
            agent: self.desk.config.agent.clone(),
        };
        let new = NewEvent::of(now, &event).map_err(journal_error)?;
        let recorded = Recorded { number: 1, at: now, event };
        let view = SessionView::apply(None, &id, &recorded).map_err(journal_error)?.view;
        self.desk.crash.pass(|| "before opening a conversation".into());
        let opened = journal.open_session(NewSession { events: vec![new], view: Box::new(view.clone()) }).await;
        self.desk.crash.pass(|| "after opening a conversation".into());
        match opened.map_err(journal_error)? {
            Opened::Created(_) => Ok(view),
            Opened::Existing(other) => {
                let found = journal.session(other.clone()).await.map_err(journal_error)?;
                found.ok_or_else(|| TurnError::Journal(format!("session {other} is gone").into()))
            }
        }
    }

    fn door(&self, view: SessionView) -> Door {
        let mut rooms = lock(&self.rooms);
        if let Some(door) = rooms.get(&view.id).filter(|door| !door.queue.is_closed()) {
            return door.clone();
        }
        let (queue, waiting) = mpsc::channel(QUEUE);
        let stop = Arc::new(Mutex::new(CancellationToken::new()));
        let id = view.id.clone();
        let room = Room::new(Arc::clone(&self.desk), view, waiting, Arc::clone(&stop));
        self.tasks.spawn(room.run());
        let door = Door { queue, stop, open: Arc::default() };
        rooms.insert(id, door.clone());
        door
    }
}

fn journal_error(error: impl std::error::Error + Send + Sync + 'static) -> TurnError {
    TurnError::Journal(Box::new(error))
}
