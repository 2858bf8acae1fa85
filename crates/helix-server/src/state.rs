//! The state that all handlers share. Must not know any route.

use std::sync::{Arc, Mutex, PoisonError};

use helix_core::ids::SessionId;
use helix_engine::Engine;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::ServerConfig;
use crate::profile::Recognised;
use crate::rate_limit::RateLimit;

/// A turn that a client has asked for.
#[derive(Debug)]
pub(crate) struct AskedTurn {
    pub(crate) session: SessionId,
    /// Digest of what it asks.
    pub(crate) request: Option<String>,
    /// Whether it asks for more of an answer.
    pub(crate) continues: bool,
}

/// What its session was asked for since a turn was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AskedSince {
    Nothing,
    /// More of an answer.
    Rest,
    Message,
}

/// The turns that are not over, each with what tells it of later ones of its session.
#[derive(Default)]
pub(crate) struct OpenTurns(Mutex<Vec<(AskedTurn, watch::Sender<AskedSince>)>>);

impl OpenTurns {
    /// Adds a turn until the receiver is dropped, and tells the others of its session. The same request again wants the same
    /// answer, so it is not told.
    pub(crate) fn add(&self, turn: AskedTurn) -> watch::Receiver<AskedSince> {
        let asked = if turn.continues { AskedSince::Rest } else { AskedSince::Message };
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|(_, since)| !since.is_closed());
        for (other, since) in &*turns {
            if other.session == turn.session && other.request != turn.request {
                since.send_modify(|since| *since = asked.max(*since));
            }
        }
        let (since, told) = watch::channel(AskedSince::Nothing);
        turns.push((turn, since));
        told
    }
}

/// The engine, the settings and the state of the whole server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) config: Arc<ServerConfig>,
    /// Fires when the server shuts down: endless streams end then.
    pub(crate) shutdown: CancellationToken,
    /// Tasks that outlive their request.
    pub(crate) tasks: TaskTracker,
    pub(crate) open_turns: Arc<OpenTurns>,
    /// How many requests each key has left.
    pub(crate) rate_limit: Arc<RateLimit>,
    /// Clients that were recognised by what they send.
    pub(crate) recognised: Arc<Recognised>,
    /// When this server started: what `/v1/models` reports as a model's creation.
    pub(crate) started_at: jiff::Timestamp,
}

impl ServerState {
    /// Whether this host ends; the engine may be the first to.
    pub(crate) fn is_ending(&self) -> bool {
        self.shutdown.is_cancelled() || self.engine.is_closing()
    }

    pub(crate) fn new(engine: Engine, config: ServerConfig) -> Self {
        let rate_limit = Arc::new(RateLimit::new(config.rate_limit));
        Self {
            engine,
            config: Arc::new(config),
            rate_limit,
            recognised: Arc::default(),
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
            open_turns: Arc::default(),
            started_at: jiff::Timestamp::now(),
        }
    }
}
