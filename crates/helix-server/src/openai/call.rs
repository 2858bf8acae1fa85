//! A request for a turn, in either form: parsed once, then answered as a stream, in one piece, or as a background task.
//!
//! Must not know what the parts of an answer look like on the wire.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::stream;
use helix_core::ids::SessionId;
use helix_engine::EngineError;
use helix_engine::consultant::{ParentSelector, Purpose, SessionSelector, TurnEvent, phrases};
use helix_engine::sessions::SessionSummary;
use helix_job::session::TurnView;
use helix_language::Language;
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout;
use uuid::Uuid;

use super::error::ApiError;
use super::links::Links;
use super::news::Place;
use super::presenter::{AnswerOptions, Presenter, WholeAnswer, Wire};
use super::request::{ChatRequest, Form};
use super::responses_wire::{ResponsesWire, stored_response};
use super::turn_request::{at_terminal, client_message, drop_unfilled, key_of_task, owner, probe, turn_request};
use super::turn_stream::TurnStream;
use super::{models, streaming, task};
use crate::body;
use crate::config::BackgroundTasks;
use crate::connection::Line;
use crate::host_check::authority;
use crate::principal::Principal;
use crate::problem::Problem;
use crate::profile::Profile;
use crate::sse;
use crate::state::ServerState;

/// Bodies up to this size in bytes are parsed on the runtime; that takes less than a millisecond.
const LARGE: usize = 256 * 1024;
/// How long a background task waits for the topic of its conversation.
const TOPIC_LIMIT: Duration = Duration::from_secs(2);

/// `POST /v1/chat/completions` and `POST /v1/responses`
pub(crate) async fn create<W: Wire>(State(shared): State<ServerState>, request: Request) -> Result<Response, ApiError> {
    let (Parts { mut headers, extensions, uri, .. }, body) = request.into_parts();
    let is_unfilled = drop_unfilled(&mut headers);
    let line = extensions.get::<Line>().cloned().unwrap_or_default();
    let body = body::read(&headers, body, shared.config.body_limit, body::TIME).await?;
    let request = parsed(W::FORM, body).await?;
    let (model, by_model) = models::split_profile(request.model.as_deref());
    let task = task::recognise(&headers, &request);
    if task.as_deref().is_some_and(task::is_of_open_webui) {
        shared.recognised.remember(&headers);
    }
    let is_bare = shared.recognised.has(&headers);
    let profile = Profile::choose(&headers, by_model, shared.config.client, is_bare);
    let options = AnswerOptions {
        id: answer_id::<W>(&headers),
        model: request.model.clone().unwrap_or_else(|| "helix".into()),
        created: Timestamp::now(),
        profile,
        include_usage: request.include_usage,
        previous: request.previous.clone(),
        language: Language::default(),
    };
    if let Some(task) = task {
        let answer = task_answer(&shared, &headers, &task, &request).await?;
        let tool = request.wanted.as_ref().and_then(|wanted| wanted.tool.as_deref());
        let (frames, whole) = Presenter::<W>::task(options, &answer, tool);
        return Ok(match request.stream {
            true => sse::response(stream::iter([Ok(Bytes::from(frames))])),
            false => Json(whole).into_response(),
        });
    }
    if let Some(wanted) = &request.wanted {
        return Err(wanted.refuse());
    }
    let model = models::resolve(model, &shared.config.models)?;
    let mut turn = turn_request(&headers, profile, request.messages, model)?;
    turn.reads_along = request.stream;
    (turn.directory, turn.confirms) = at_terminal(&headers, extensions.get::<Principal>());
    if let Some(id) = request.previous {
        let previous = turn_of_response(&shared, &headers, &id, Some("previous_response_id")).await?;
        turn.session = SessionSelector::Id(previous.session);
        turn.parent = ParentSelector::Ids { parent: previous.begin.client.message };
    }
    let is_known_again = turn.is_known_again();
    if W::FORM == Form::Responses {
        // The answer's id names the turn if the client does not.
        turn.client.message.get_or_insert_with(|| options.id.clone());
    }
    let language = turn.language();
    let trouble = match (is_unfilled, is_bare && profile == Profile::OpenWebUi) {
        (true, _) => Some(phrases::unfilled_headers(language)),
        (false, true) => Some(phrases::no_headers(language)),
        (false, false) => None,
    };
    let first = trouble.filter(|_| turn.history.is_empty()).map(|text| TurnEvent::Note { text });
    let mut links = Links::new(shared.clone(), authority(&headers, &uri), language);
    let continued = turn.history.last().filter(|_| turn.purpose == Purpose::Continue).map(|shown| shown.text.clone());
    continued.iter().for_each(|shown| links.goes_on_from(shown));
    let turn = TurnStream::begin(shared.clone(), profile, line, turn, first, links).await?;
    let language = turn.language();
    let kept_in = (!is_known_again).then(|| turn.session.clone());
    let mut presenter = Presenter::<W>::new(AnswerOptions { language, ..options });
    continued.iter().for_each(|shown| presenter.goes_on_from(shown));
    let mut response = match request.stream {
        true => streaming::response(shared, presenter, turn, Place::from_headers(&headers, profile), kept_in),
        false => Json(whole(&shared, presenter, turn, kept_in.as_ref()).await?).into_response(),
    };
    // What a client says around the answer can be in the language of what Helix says in it.
    response.headers_mut().insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.code()));
    Ok(response)
}

/// `GET /v1/responses/{id}`: a stored answer, also for a client that lost its connection.
pub(crate) async fn stored(
    State(shared): State<ServerState>,
    headers: HeaderMap,
    uri: Uri,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let turn = turn_of_response(&shared, &headers, &id, None).await?;
    let previous = match &turn.parent {
        Some(parent) => shared.engine.sessions().turn(parent).await.map_err(Problem::from)?.begin.client.message,
        None => None,
    };
    let previous = previous.as_deref().map(response_id);
    let language = shared.engine.consultant().language_of(Some(turn.id.clone())).await;
    let language = language.map_err(|error| Problem::from(EngineError::from(error)))?.unwrap_or_default();
    let text = Links::new(shared.clone(), authority(&headers, &uri), language).of_turn(&turn).await;
    Ok(Json(stored_response(&id, &turn, &text, previous, language)))
}

/// The id of an answer. That of a response leads to its turn: by itself, or by the id that the client gave the answer, however often it
/// sends the request.
fn answer_id<W: Wire>(headers: &HeaderMap) -> String {
    match client_message(headers).filter(|_| W::FORM == Form::Responses) {
        Some(message) => response_id(&message),
        None => format!("{}{}", W::ID, Uuid::now_v7().simple()),
    }
}

/// The id of the response that a client calls so.
fn response_id(message: &str) -> String {
    if message.starts_with(ResponsesWire::ID) {
        return message.to_owned();
    }
    format!("{}{}", ResponsesWire::ID, URL_SAFE_NO_PAD.encode(message))
}

/// The answer to a background task. It needs no session and no agent.
async fn task_answer(
    shared: &ServerState,
    headers: &HeaderMap,
    task: &str,
    request: &ChatRequest,
) -> Result<String, ApiError> {
    if task == task::PROBE {
        return Ok(probe(headers));
    }
    if shared.config.background_tasks == BackgroundTasks::Refuse {
        return Err(ApiError::task_not_supported(task));
    }
    let topic = match key_of_task(headers) {
        Some(key) => topic(shared, owner(headers), &key).await,
        None => SessionSummary::default(),
    };
    task::answer(task, request, &topic)
}

/// The topic of the session that a task is about, if it is known in time: a title is not worth waiting for.
async fn topic(shared: &ServerState, owner: Option<String>, key: &str) -> SessionSummary {
    match timeout(TOPIC_LIMIT, shared.engine.sessions().summary(owner.as_deref(), key)).await {
        Ok(Ok(found)) => found.unwrap_or_default(),
        failed @ (Ok(Err(_)) | Err(_)) => {
            tracing::warn!(?failed, "cannot read the topic of a session");
            SessionSummary::default()
        }
    }
}

/// Parses a body; a large one off the runtime, which has other clients to serve.
async fn parsed(form: Form, body: Bytes) -> Result<ChatRequest, ApiError> {
    if body.len() <= LARGE {
        return ChatRequest::parse(form, &body);
    }
    let parsing = tokio::task::spawn_blocking(move || ChatRequest::parse(form, &body));
    parsing.await.map_err(|error| ApiError::parsing_failed(&error))?
}

/// Waits for the end of a turn and returns the answer in one piece.
async fn whole<W: Wire>(
    shared: &ServerState,
    mut presenter: Presenter<W>,
    mut stream: TurnStream,
    kept_in: Option<&SessionId>,
) -> Result<Value, ApiError> {
    let (mut events, mut thinking) = (Vec::new(), String::new());
    let ended = loop {
        let event = tokio::select! {
            event = stream.next() => match event {
                Some(event) => event,
                None if shared.is_ending() => return Err(ApiError::shutting_down(presenter.language(), kept_in)),
                None => return Err(ApiError::turn_lost(presenter.language())),
            },
            () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down(presenter.language(), kept_in)),
        };
        match event {
            TurnEvent::Ended(ended) => break ended,
            TurnEvent::TakenBack { text, .. } => take_back(&mut events, &text),
            event => events.push(event),
        }
    };
    if let Some(error) = ApiError::of_turn(&ended, Timestamp::now()) {
        return Err(error);
    }
    let (usage, turn) = (ended.usage, stream.began().cloned());
    events.push(TurnEvent::Ended(ended));
    let mut frames = Vec::new();
    for event in events {
        for shown in stream.links.apply(event).await {
            if let TurnEvent::Thinking { text } = &shown {
                thinking.push_str(text);
            }
            presenter.event(&mut frames, shown);
        }
        // The presenter keeps the parts of the answer; the frames of a stream are not needed.
        frames.clear();
    }
    let text = presenter.text_so_far().to_owned();
    Ok(presenter.into_whole(WholeAnswer { text, thinking, usage, turn }))
}

/// Takes text out of the last events, which were not sent yet.
fn take_back(events: &mut [TurnEvent], text: &str) {
    let mut left = text;
    for event in events.iter_mut().rev() {
        let TurnEvent::Text { text } = event else { continue };
        if let Some(before) = left.strip_suffix(text.as_str()) {
            left = before;
            text.clear();
        } else {
            if let Some(kept) = text.strip_suffix(left).map(str::len) {
                text.truncate(kept);
            }
            break;
        }
    }
}

/// The turn of a response, among those of the same user.
///
/// # Errors
/// [`ApiError`] when there is none; `param` is the field that names it.
async fn turn_of_response(
    shared: &ServerState,
    headers: &HeaderMap,
    id: &str,
    param: Option<&str>,
) -> Result<TurnView, ApiError> {
    let by_client = id.strip_prefix(ResponsesWire::ID).and_then(|name| URL_SAFE_NO_PAD.decode(name).ok());
    let by_client = by_client.and_then(|message| String::from_utf8(message).ok());
    let sessions = shared.engine.sessions();
    let mut found = sessions.turn_of_message(owner(headers), id).await.map_err(Problem::from)?;
    if let (None, Some(message)) = (&found, by_client) {
        found = sessions.turn_of_message(owner(headers), &message).await.map_err(Problem::from)?;
    }
    found.ok_or_else(|| ApiError::response_not_found(id, param))
}
