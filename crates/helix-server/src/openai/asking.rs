//! From a parsed request to a turn of the engine: what every way of asking has in common.
//!
//! Must not know the form of answers.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::HeaderMap;
use helix_engine::consultant::{ParentSelector, SessionSelector, SessionSummary, TurnRequest};

use super::address::{self, Address};
use super::conversation::Conversation;
use super::error::ApiError;
use super::models;
use super::profile::Profile;
use super::request::{BadRequest, ChatRequest};
use super::session_key::key_of_task;
use super::task::Task;
use super::turn::Attended;
use crate::config::BackgroundTasks;
use crate::problem::chain;
use crate::shared::Shared;
use tokio_util::sync::CancellationToken;

/// Bodies up to this size in bytes are parsed at once; that takes less than a millisecond.
const LARGE: usize = 256 * 1024;
/// How long a background task waits for what is known of its conversation.
const TOPIC_LIMIT: Duration = Duration::from_secs(2);

/// What a client asked, and how it wants to be answered.
pub(crate) struct Ask {
    headers: HeaderMap,
    request: ChatRequest,
    profile: Profile,
    /// The model without the profile that its name may carry.
    model: Option<String>,
}

/// An answer before this one that a client names by Helix's own id for it.
pub(crate) struct Previous {
    /// Its conversation.
    pub(crate) session: helix_core::ids::SessionId,
    /// Helix's id for it.
    pub(crate) message: String,
}

/// Parses a body; a large one away from the runtime, which has other clients to serve.
///
/// # Errors
/// [`ApiError`] with the field at fault.
pub(crate) async fn parsed<T: Send + 'static>(
    body: Bytes,
    parse: fn(&[u8]) -> Result<T, BadRequest>,
) -> Result<T, ApiError> {
    if body.len() <= LARGE {
        return Ok(parse(&body)?);
    }
    match tokio::task::spawn_blocking(move || parse(&body)).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(ApiError::parsing_failed(&error)),
    }
}

impl Ask {
    pub(crate) fn new(shared: &Shared, headers: HeaderMap, request: ChatRequest) -> Self {
        let (model, by_model) = models::split_profile(request.model.as_deref());
        let profile = Profile::choose(&headers, by_model, shared.config.client);
        let model = model.map(str::to_owned);
        Self { headers, request, profile, model }
    }

    /// The parsed request.
    pub(crate) fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// What the client can show.
    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    /// The answer of a background task, if it is one. No session, no agent. [14]
    pub(crate) async fn task(&self, shared: &Shared) -> Option<Result<String, ApiError>> {
        let task = Task::recognise(&self.headers, &self.request)?;
        Some(match shared.config.background_tasks {
            BackgroundTasks::Answer => task.answer(&self.request, &self.topic(shared).await),
            BackgroundTasks::Refuse => Err(ApiError::task_not_supported(task.name())),
        })
    }

    /// What the conversation that a task is about has come to. Nothing, where it cannot be told in time: a title is not worth
    /// waiting for.
    async fn topic(&self, shared: &Shared) -> SessionSummary {
        let Some(key) = key_of_task(&self.headers) else { return SessionSummary::default() };
        let owner = address::owner(&self.headers);
        match tokio::time::timeout(TOPIC_LIMIT, shared.engine.session_summary(owner.as_deref(), &key)).await {
            Ok(Ok(found)) => found.unwrap_or_default(),
            Ok(Err(error)) => {
                tracing::warn!(error = chain(&error), "what a conversation has come to cannot be read");
                SessionSummary::default()
            }
            Err(_) => {
                tracing::warn!("what a conversation has come to could not be told within {TOPIC_LIMIT:?}");
                SessionSummary::default()
            }
        }
    }

    /// Asks the engine.
    ///
    /// # Errors
    /// [`ApiError`] when the turn cannot begin.
    pub(crate) async fn begin(
        self,
        shared: Shared,
        previous: Option<Previous>,
        own_id: Option<&str>,
    ) -> Result<Attended, ApiError> {
        let model = models::resolve(self.model.as_deref(), &shared.config.models)?;
        let conversation = Conversation::from_messages(&self.request.messages)?;
        let mut address = Address::of(&self.headers, self.profile, &conversation, model.as_deref())?;
        if let Some(previous) = previous {
            address.conversation = SessionSelector::Id(previous.session);
            address.place = ParentSelector::Ids { parent: Some(previous.message) };
        }
        if address.client.message.is_none() {
            address.client.message = own_id.map(str::to_owned);
        }
        let key = address.key();
        let Address { conversation: addressed, owner, place, client } = address;
        let Conversation { system, history, purpose, message, words, uploads, opening: _ } = conversation;
        let request = TurnRequest {
            session: addressed,
            owner,
            parent: place,
            purpose,
            message,
            words,
            uploads,
            history,
            client,
            system,
            model,
            disconnected: CancellationToken::new(),
        };
        Attended::begin(shared, key, self.profile, request).await
    }
}
