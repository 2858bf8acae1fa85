//! The state that all handlers share. Must not know any route.

use std::sync::Arc;

use helix_core::ids::SessionId;
use helix_engine::Engine;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::ServerConfig;
use crate::profile::Recognised;
use crate::rate_limit::RateLimit;

/// Starting turns that a detached turn may lag behind.
const NEXT_TURNS: usize = 64;

/// A turn that starts.
#[derive(Debug, Clone)]
pub(crate) struct NextTurn {
    pub(crate) session: SessionId,
    /// Digest of what it asks.
    pub(crate) request: Option<String>,
    /// Whether it asks for more of an answer.
    pub(crate) continues: bool,
}

impl NextTurn {
    /// Whether whoever starts it has no use for the other one any more: the same request again wants the same answer.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        self.session == other.session && self.request != other.request
    }
}

/// The engine, the settings and the state of the whole server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) config: Arc<ServerConfig>,
    /// Fires when the server shuts down: endless streams end then.
    pub(crate) shutdown: CancellationToken,
    /// Tasks that outlive their request.
    pub(crate) tasks: TaskTracker,
    /// All turns that start.
    pub(crate) next_turns: broadcast::Sender<NextTurn>,
    /// How many requests each key has left.
    pub(crate) rate_limit: Arc<RateLimit>,
    /// Clients that were recognised by what they send.
    pub(crate) recognised: Arc<Recognised>,
    /// When this server started: what `/v1/models` reports as a model's creation.
    pub(crate) started_at: jiff::Timestamp,
}

impl Shared {
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
            next_turns: broadcast::Sender::new(NEXT_TURNS),
            started_at: jiff::Timestamp::now(),
        }
    }
}
