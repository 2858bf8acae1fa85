//! The Consultant: opens sessions by the client's key, finds them again, and gives each its loop.
//!
//! Must not know what a turn does.

use async_recursion::async_recursion as boxed;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use helix_core::ids::{RunId, SessionId, TurnId};
use helix_job::Recorded;
use helix_job::session::{SessionEvent, SessionView};
use helix_language::{ErrorView, Language};
use helix_store::{NewEvent, NewSession, Opened, ReadError, all_sessions};
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::actor::{self, QueuedTurn, RunningTurn, SessionActor, TurnPermit};
use super::config::ConsultantConfig;
use super::services::ConsultantServices;
use super::{ParentSelector, SessionSelector, TurnError, TurnEvent, TurnRequest, files, locator, phrases, user_words};
use helix_project::project::project_above;
use helix_runs::event_log::Blocked;
use helix_runs::mutex::lock;
use helix_runs::services::Services;

/// Longest time that each step of a stop may take: a stop ends a turn within two seconds.
const CHAT_GRACE: Duration = Duration::from_millis(700);
/// Turns that may wait in one session.
const QUEUE: usize = 32;
/// Events that a slow listener may be behind before the agent's record is read more slowly.
const LISTENER_BUFFER: usize = 256;
/// How long the loop of a session is kept that nobody asks anything. A new one reads the record, which takes a millisecond.
const IDLE: Duration = Duration::from_secs(60);

/// Answers in all sessions of a host.
pub struct Consultant {
    services: Arc<ConsultantServices>,
    actors: Arc<Actors>,
}

/// The loops of the sessions in which something was asked lately.
type Actors = Mutex<HashMap<SessionId, SessionHandle>>;

/// The way into a session's loop.
#[derive(Clone)]
struct SessionHandle {
    queue: mpsc::Sender<QueuedTurn>,
    running: Arc<Mutex<Option<RunningTurn>>>,
    blocked: Blocked,
    /// Turns that are waiting or under way.
    open: Arc<watch::Sender<usize>>,
}

impl SessionHandle {
    /// Whether there is nothing that it could be asked, or be asked about, but by a new request. Looked at while nobody can clone it.
    fn is_unused(&self) -> bool {
        *self.open.borrow() == 0 && self.open.receiver_count() == 0 && self.queue.strong_count() == 1
    }
}

impl Consultant {
    /// `projects` is where it creates new projects, `roots` are where projects may lie (anywhere if empty), `config_dir` has the
    /// user's own workflows.
    pub fn new(
        host: Arc<Services>,
        config: ConsultantConfig,
        projects: PathBuf,
        roots: Vec<PathBuf>,
        config_dir: Option<PathBuf>,
    ) -> Self {
        let runner = host.runner.clone().with_grace_within(CHAT_GRACE);
        let services =
            Arc::new(ConsultantServices { host, runner, config, projects, roots, config_dir, told: Mutex::default() });
        Self { services, actors: Arc::default() }
    }

    /// Goes on with turns that a former host began.
    #[boxed]
    pub async fn recover(&self) -> Result<(), ReadError> {
        for view in self.interrupted().await? {
            self.handle(view);
        }
        Ok(())
    }

    /// Runs of turns that a former host began and whose end is not recorded.
    #[boxed]
    pub async fn open_runs(&self) -> Result<Vec<RunId>, ReadError> {
        let interrupted = self.interrupted().await?;
        let turns = interrupted.iter().filter_map(SessionView::running);
        Ok(turns.flat_map(|turn| actor::runs_of(&self.services.runner, &turn.id)).collect())
    }

    async fn interrupted(&self) -> Result<Vec<SessionView>, ReadError> {
        let mut sessions = all_sessions(self.services.journal().as_ref()).await?.sessions;
        sessions.retain(|view| view.running().is_some());
        Ok(sessions)
    }

    /// Finds the session of a request, or opens it, and has the request name it and its language.
    ///
    /// # Errors
    /// [`TurnError`] when there is none.
    #[boxed]
    pub async fn locate(&self, request: &mut TurnRequest) -> Result<SessionId, TurnError> {
        let view = self.find(request).await?;
        if request.language.is_none() {
            request.language = self.language_of(view.latest.clone()).await.map_err(journal_error)?;
        }
        request.session = SessionSelector::Id(view.id.clone());
        Ok(view.id)
    }

    /// The language that the user wrote up to a turn, by the record; `None` where nothing tells.
    #[boxed]
    pub async fn language_of(&self, turn: Option<TurnId>) -> Result<Option<Language>, ReadError> {
        user_words::language_at(self.services.journal(), turn).await
    }

    /// Answers a user message: opens the session if need be, queues behind its other turns, runs the agent. The turn
    /// goes on when the receiver is dropped; [`Consultant::stop_turn`] ends it.
    ///
    /// # Errors
    /// [`TurnError`] when it cannot begin.
    #[boxed]
    pub async fn turn(&self, request: TurnRequest) -> Result<mpsc::Receiver<TurnEvent>, TurnError> {
        let view = self.find(&request).await?;
        let (listener, events) = mpsc::channel(LISTENER_BUFFER);
        let mut unsent = (request, listener);
        while !self.services.host.closing.is_cancelled() {
            let handle = self.handle(view.clone());
            let (permit, ahead) = TurnPermit::take(&handle.open);
            if ahead > 0 {
                // The buffer is new and empty, and its receiver is here: this cannot fail.
                drop(unsent.1.try_send(TurnEvent::Status { text: phrases::queued(unsent.0.language(), ahead) }));
            }
            if let Some(why) = handle.blocked.now() {
                drop(unsent.1.try_send(TurnEvent::Status { text: why.line() }));
            }
            let (request, listener) = unsent;
            match handle.queue.send(QueuedTurn { request, listener, permit }).await {
                Ok(()) => return Ok(events),
                // The loop ended between finding and using it: make a new one.
                Err(mpsc::error::SendError(back)) => unsent = (back.request, back.listener),
            }
        }
        Err(TurnError::Closing)
    }

    /// Stops a turn of a session if it is running; returns whether it was. A turn that waits behind it is not touched.
    pub fn stop_turn(&self, session: &SessionId, turn: &TurnId) -> bool {
        let handle = lock(&self.actors).get(session).cloned();
        let Some(handle) = handle else { return false };
        let running = lock(&handle.running).clone().filter(|running| running.turn == *turn);
        running.inspect(|running| running.stop.cancel()).is_some()
    }

    /// Why a session cannot be recorded at the moment.
    pub fn blocked(&self, session: &SessionId) -> Option<ErrorView> {
        lock(&self.actors).get(session).and_then(|handle| handle.blocked.now())
    }

    /// Ends the loop of a session that is gone.
    pub fn close(&self, session: &SessionId) {
        // Its queue has no other sender: the loop ends with it.
        drop(lock(&self.actors).remove(session));
    }

    /// Whether a turn of a session is waiting or under way.
    pub fn is_busy(&self, session: &SessionId) -> bool {
        lock(&self.actors).get(session).is_some_and(|handle| *handle.open.borrow() > 0)
    }

    /// How many turns of a session are waiting or under way, from now on.
    pub fn open_turns(&self, view: SessionView) -> watch::Receiver<usize> {
        self.handle(view).open.subscribe()
    }

    /// The session of a request; opened if the client has a new key for it, or none that proves which is meant.
    async fn find(&self, request: &TurnRequest) -> Result<SessionView, TurnError> {
        if let Err(error) = self.services.runner.profile(&self.services.config.agent) {
            return Err(TurnError::Agent(phrases::run_failed(request.language(), &error)));
        }
        let journal = self.services.journal();
        // Who is, or forwards, somebody means theirs; anyone else has the host's token and with it everything.
        let is_own = |view: &SessionView| request.owner.is_none() || view.owner == request.owner;
        match &request.session {
            SessionSelector::Id(id) => {
                let found = journal.session(id.clone()).await.map_err(journal_error)?;
                found.filter(is_own).ok_or_else(|| TurnError::NoSession(id.clone()))
            }
            SessionSelector::Unnamed(prefix) => {
                match locator::proven(journal, prefix, request).await.map_err(journal_error)? {
                    Some(view) if is_own(&view) => Ok(view),
                    Some(_) | None => self.open(&format!("{prefix}{}", uuid::Uuid::now_v7().simple()), request).await,
                }
            }
            SessionSelector::Key(key) => match journal.session_by_key(key.clone()).await.map_err(journal_error)? {
                Some(view) if is_own(&view) => Ok(view),
                Some(view) => Err(TurnError::NoSession(view.id)),
                None => self.open(key, request).await,
            },
        }
    }

    /// Opens a session. One that goes on from an answer of another one is a copy of that, drafts included.
    async fn open(&self, key: &str, request: &TurnRequest) -> Result<SessionView, TurnError> {
        let journal = self.services.journal();
        let origin = match &request.parent {
            ParentSelector::Ids { parent: Some(parent) } => {
                journal.turn_by_message(request.owner.clone(), parent.clone()).await.map_err(journal_error)?
            }
            ParentSelector::Ids { parent: None } | ParentSelector::Latest | ParentSelector::History => None,
        };
        let origin = match origin {
            Some(turn) => journal.session(turn.session).await.map_err(journal_error)?,
            None => None,
        };
        let (now, random) = (Timestamp::now(), uuid::Uuid::now_v7().as_u64_pair().1);
        let id = SessionId::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), random);
        let directory = self.services.host.state.sessions().join(id.as_str()).join("work");
        tokio::fs::create_dir_all(&directory).await.map_err(journal_error)?;
        if let Some(origin) = &origin {
            let copied = files::copy(origin.directory.clone(), directory.clone()).await.map_err(journal_error)?;
            if !copied.is_whole {
                tracing::warn!(from = %origin.id, to = %id, ?copied, "a session's directory is too large to be copied whole");
            }
        }
        let event = SessionEvent::SessionOpened {
            key: key.to_owned(),
            owner: request.owner.clone(),
            copied_from: origin.map(|origin| origin.id),
            directory: directory.to_string_lossy().into_owned(),
            agent: self.services.config.agent.clone(),
        };
        let project = match request.directory.clone() {
            Some(directory) => self.project_of(directory).await.map_err(journal_error)?,
            None => None,
        };
        let chosen = project.map(|path| SessionEvent::ProjectChosen { path: path.to_string_lossy().into_owned() });
        let (mut new, mut view) = (Vec::new(), None);
        for (number, event) in (1..).zip([Some(event), chosen].into_iter().flatten()) {
            new.push(NewEvent::of(now, &event).map_err(journal_error)?);
            let recorded = Recorded { number, at: now, event };
            view = Some(SessionView::apply(view, &id, &recorded).map_err(journal_error)?.view);
        }
        let Some(view) = view else { return Err(TurnError::NoSession(id)) };
        self.services.host.writer.crash.pass(|| "before opening a session".into());
        let opened = journal.open_session(NewSession { events: new, view: Box::new(view.clone()) }).await;
        self.services.host.writer.crash.pass(|| "after opening a session".into());
        match opened.map_err(journal_error)? {
            Opened::Created(_) => Ok(view),
            Opened::Existing(other) => {
                let found = journal.session(other.clone()).await.map_err(journal_error)?;
                found.ok_or_else(|| TurnError::Journal(format!("session {other} is gone").into()))
            }
        }
    }

    /// The project that a directory belongs to, where projects may lie there.
    async fn project_of(&self, directory: PathBuf) -> Result<Option<PathBuf>, tokio::task::JoinError> {
        let services = Arc::clone(&self.services);
        tokio::task::spawn_blocking(move || {
            let project = project_above(&directory.canonicalize().ok()?, None)?;
            let within = |root: &PathBuf| root.canonicalize().is_ok_and(|root| project.starts_with(root));
            let allowed = services.roots.is_empty() || services.roots.iter().chain([&services.projects]).any(within);
            allowed.then_some(project)
        })
        .await
    }

    fn handle(&self, view: SessionView) -> SessionHandle {
        let mut actors = lock(&self.actors);
        if let Some(handle) = actors.get(&view.id).filter(|handle| !handle.queue.is_closed()) {
            return handle.clone();
        }
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (id, open) = (view.id.clone(), Arc::default());
        let interrupted = view.running().map(|_| TurnPermit::take(&open).0);
        let actor = SessionActor::new(Arc::clone(&self.services), view, waiting);
        let (running, blocked) = (Arc::clone(&actor.running), actor.log.blocked());
        let (others, own) = (Arc::downgrade(&self.actors), id.clone());
        let let_go = move || {
            if let Some(others) = others.upgrade() {
                let_go_of(&others, &own);
            }
        };
        self.services.host.tasks.spawn(actor.run(interrupted, IDLE, let_go));
        let handle = SessionHandle { queue, running, blocked, open };
        actors.insert(id, handle.clone());
        handle
    }
}

/// Takes the loop of a session out of the map, if nobody has anything to do with it: it ends with the last sender of its queue. A loop
/// that asks this may have been followed by a newer one, whose turns stay where they are found.
fn let_go_of(actors: &Actors, session: &SessionId) {
    let mut actors = lock(actors);
    if actors.get(session).is_some_and(SessionHandle::is_unused) {
        actors.remove(session);
    }
}

fn journal_error(error: impl std::error::Error + Send + Sync + 'static) -> TurnError {
    TurnError::Journal(Box::new(error))
}

#[cfg(test)]
#[path = "registry_test.rs"]
mod tests;
