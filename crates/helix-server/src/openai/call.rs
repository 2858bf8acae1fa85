//! A request for a turn, in either form: parsed once, then answered as a stream, in one piece, or as a background task.
//!
//! Must not know what the parts of an answer look like on the wire.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use helix_engine::consultant::{ParentSelector, SessionSelector, TurnEvent};
use helix_engine::sessions::SessionSummary;
use helix_job::session::TurnView;
use jiff::Timestamp;
use uuid::Uuid;

use super::error::ApiError;
use super::models;
use super::presenter::{AnswerOptions, Presenter, WholeAnswer, Wire};
use super::request::ChatRequest;
use super::streaming;
use super::task::Task;
use super::turn_request::{key_of_task, owner, turn_request};
use super::turn_stream::TurnStream;
use crate::body;
use crate::config::BackgroundTasks;
use crate::problem::Problem;
use crate::profile::Profile;
use crate::shared::Shared;
use crate::sse;

/// Bodies up to this size in bytes are parsed on the runtime; that takes less than a millisecond.
const LARGE: usize = 256 * 1024;
/// How long a background task waits for the topic of its conversation.
const TOPIC_LIMIT: Duration = Duration::from_secs(2);

struct ChatCall {
    headers: HeaderMap,
    request: ChatRequest,
    profile: Profile,
    /// The model without the profile that its name may carry.
    model: Option<String>,
}

/// `POST /v1/chat/completions` and `POST /v1/responses`
pub(crate) async fn create<W: Wire>(State(shared): State<Shared>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&head.headers, body, shared.config.body_limit, shared.config.body_timeout).await?;
    let call = ChatCall::new(&shared, head.headers, parsed::<W>(body).await?);
    let options = AnswerOptions {
        id: format!("{}{}", W::ID, Uuid::now_v7().simple()),
        model: call.request.model.clone().unwrap_or_else(|| "helix".into()),
        created: Timestamp::now(),
        profile: call.profile,
        include_usage: call.request.include_usage,
        previous: call.request.previous.clone(),
    };
    let stream = call.request.stream;
    if let Some(answer) = call.task(&shared).await {
        let (frames, whole) = Presenter::<W>::task(options, &answer?);
        return Ok(match stream {
            true => sse::response(futures::stream::iter([Ok(Bytes::from(frames))])),
            false => Json(whole).into_response(),
        });
    }
    let turn = call.begin(shared.clone(), W::NAMES_TURNS.then(|| options.id.clone())).await?;
    let presenter = Presenter::<W>::new(options);
    if stream {
        return Ok(sse::response(streaming::frames(shared, presenter, turn)));
    }
    Ok(Json(whole(&shared, presenter, turn).await?).into_response())
}

/// Parses a body; a large one off the runtime, which has other clients to serve.
async fn parsed<W: Wire>(body: Bytes) -> Result<ChatRequest, ApiError> {
    if body.len() <= LARGE {
        return Ok(W::parse(&body)?);
    }
    match tokio::task::spawn_blocking(move || W::parse(&body)).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(ApiError::parsing_failed(&error)),
    }
}

/// Waits for the end of a turn and returns the answer in one piece.
async fn whole<W: Wire>(
    shared: &Shared,
    mut presenter: Presenter<W>,
    mut turn: TurnStream,
) -> Result<W::Whole, ApiError> {
    let (mut frames, mut thinking) = (Vec::new(), String::new());
    loop {
        let event = tokio::select! {
            event = turn.next() => event.ok_or_else(ApiError::turn_lost)?,
            () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down()),
        };
        let mut whole = None;
        if let TurnEvent::Thinking { text } = &event {
            thinking.push_str(text);
        } else if let TurnEvent::Ended(ended) = &event {
            if let Some(error) = ApiError::of_turn(ended, Timestamp::now()) {
                return Err(error);
            }
            let (text, thinking) = (ended.answer.clone(), std::mem::take(&mut thinking));
            whole = Some(WholeAnswer { text, thinking, usage: ended.usage, turn: turn.began().cloned() });
        }
        presenter.event(&mut frames, event);
        // The presenter keeps the parts of the answer; the frames of a stream are not needed.
        frames.clear();
        if let Some(answer) = whole {
            return Ok(presenter.into_whole(answer));
        }
    }
}

/// The turn of a response, among those of the same user.
///
/// # Errors
/// [`ApiError`] when there is none; `param` is the field that names it.
pub(super) async fn turn_of_response(
    shared: &Shared,
    headers: &HeaderMap,
    id: &str,
    param: Option<&str>,
) -> Result<TurnView, ApiError> {
    let found = shared.engine.sessions().turn_of_message(owner(headers), id).await.map_err(Problem::from)?;
    found.ok_or_else(|| ApiError::response_not_found(id, param))
}

impl ChatCall {
    fn new(shared: &Shared, headers: HeaderMap, request: ChatRequest) -> Self {
        let (model, by_model) = models::split_profile(request.model.as_deref());
        let profile = Profile::choose(&headers, by_model, shared.config.client);
        let model = model.map(str::to_owned);
        Self { headers, request, profile, model }
    }

    /// The answer to a background task; `None` if it is a turn. It needs no session and no agent.
    async fn task(&self, shared: &Shared) -> Option<Result<String, ApiError>> {
        let task = Task::recognise(&self.headers, &self.request)?;
        Some(match shared.config.background_tasks {
            BackgroundTasks::Answer => task.answer(&self.request, &self.topic(shared).await),
            BackgroundTasks::Refuse => Err(ApiError::task_not_supported(task.name())),
        })
    }

    /// The topic of the conversation that a task is about, if it is known in time: a title is not worth waiting for.
    async fn topic(&self, shared: &Shared) -> SessionSummary {
        let Some(key) = key_of_task(&self.headers) else { return SessionSummary::default() };
        let owner = owner(&self.headers);
        match tokio::time::timeout(TOPIC_LIMIT, shared.engine.sessions().summary(owner.as_deref(), &key)).await {
            Ok(Ok(found)) => found.unwrap_or_default(),
            failed @ (Ok(Err(_)) | Err(_)) => {
                tracing::warn!(?failed, "cannot read the topic of a session");
                SessionSummary::default()
            }
        }
    }

    /// Starts the turn; `own_id` names it if the client does not.
    async fn begin(self, shared: Shared, own_id: Option<String>) -> Result<TurnStream, ApiError> {
        let Self { headers, request, profile, model } = self;
        let model = models::resolve(model.as_deref(), &shared.config.models)?;
        let mut turn = turn_request(&headers, profile, request.messages, model)?;
        if let Some(id) = request.previous {
            let previous = turn_of_response(&shared, &headers, &id, Some("previous_response_id")).await?;
            turn.session = SessionSelector::Id(previous.session);
            turn.parent = ParentSelector::Ids { parent: Some(id) };
        }
        turn.client.message = turn.client.message.or(own_id);
        TurnStream::begin(shared, profile, turn).await
    }
}
