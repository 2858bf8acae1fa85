//! What all handlers share. Must not know any route.

use std::sync::Arc;

use helix_engine::Engine;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::ServerConfig;
use crate::openai::Abandoned;
use crate::rate_limit::RateLimit;

/// The engine, the settings, and what belongs to the server as a whole. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) config: Arc<ServerConfig>,
    /// Fires when the server shuts down: endless streams end then.
    pub(crate) shutdown: CancellationToken,
    /// Tasks that outlive their request.
    pub(crate) tasks: TaskTracker,
    /// Turns whose clients went away.
    pub(crate) abandoned: Arc<Abandoned>,
    /// How many requests each key has left.
    pub(crate) rate_limit: Arc<RateLimit>,
    /// When this server started: what `/v1/models` reports as a model's creation.
    pub(crate) started_at: jiff::Timestamp,
}

impl Shared {
    pub(crate) fn new(engine: Engine, config: ServerConfig) -> Self {
        let rate_limit = Arc::new(RateLimit::new(config.rate_limit));
        Self {
            engine,
            config: Arc::new(config),
            rate_limit,
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
            abandoned: Arc::new(Abandoned::default()),
            started_at: jiff::Timestamp::now(),
        }
    }
}
