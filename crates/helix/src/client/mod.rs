//! A client of the host's HTTP API, the same one that everybody else uses (`docs/api.md`).
//!
//! Must not know how a host is started or found.

mod chat;
mod events;
mod results;
mod sse;
mod tools;

use std::time::Duration;

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::{SessionView, TurnView};
use helix_store::HostInfo;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codes;
use crate::error::{CommandError, unreadable};
use crate::exit::Exit;

pub(crate) use chat::{ChatEvent, ChatStream, Talk, chat_body, session_key};
pub(crate) use events::{JobEvents, NextEvent};
pub(crate) use results::{AnswerBody, ReopenBody};

use sse::Frames;

/// How long a host may take to accept a connection: it is on this machine.
const CONNECT: Duration = Duration::from_secs(2);

/// How long a host may take to say that it is well.
const HEALTH: Duration = Duration::from_secs(5);

/// A conversation with its turns.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Conversation {
    /// The conversation.
    #[serde(flatten)]
    pub(crate) session: SessionView,
    /// Its turns on all branches, by time of start.
    pub(crate) turns: Vec<TurnView>,
}

/// A connection to a host.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
    pid: u32,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// The host is not there any more.
    Gone(reqwest::Error),
    /// The host said no, or something that cannot be understood.
    Refused(CommandError),
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Gone(source) => Self::environment(codes::HOST_SILENT, "the host went away before it answered")
                .because(&source)
                .hint("run the command again: another host takes over; `helix doctor` looks for the cause"),
            ClientError::Refused(error) => error,
        }
    }
}

/// A job to be started, as the API takes it.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SubmitBody {
    /// The plan file or a directory with one.
    pub(crate) plan: String,
    /// Repository to work in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project_path: Option<String>,
    /// Only these phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) phase_filter: Vec<String>,
    /// This phase and all after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Replaces every phase's agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// Replaces every phase's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Money for the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_turns: Option<u32>,
    /// Submitting again with the same key gives the same job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotency_key: Option<String>,
}

/// What the API says of an accepted job.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Accepted {
    /// The job.
    #[serde(flatten)]
    pub(crate) job: JobView,
    /// What is worth knowing about its plan.
    #[serde(default)]
    pub(crate) warnings: Vec<Diagnostic>,
}

/// A problem as the API reports it (RFC 9457).
#[derive(Debug, Deserialize)]
struct WireProblem {
    detail: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
}

impl Client {
    /// A client of an announced host.
    ///
    /// # Errors
    /// When its token cannot be read.
    pub(crate) fn new(host: &HostInfo) -> Result<Self, CommandError> {
        let token = std::fs::read_to_string(&host.token_file).map_err(unreadable(&host.token_file))?;
        // A proxy of the user's is for the world outside, never for the loopback.
        let http = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| CommandError::helix(codes::RUNTIME, "cannot set up an HTTP client").because(&error))?;
        let url = host.url.trim_end_matches('/').to_owned();
        Ok(Self { http, url, token: token.trim().to_owned(), pid: host.pid })
    }

    /// The host's process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The host's address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether the host answers.
    pub(crate) async fn is_healthy(&self) -> bool {
        self.health().await.is_ok()
    }

    /// Asks the host whether it answers.
    ///
    /// # Errors
    /// Why it does not.
    pub(crate) async fn health(&self) -> Result<(), reqwest::Error> {
        let answer = self.http.get(format!("{}/healthz", self.url)).timeout(HEALTH).send().await?;
        answer.error_for_status().map(drop)
    }

    /// Starts a job.
    ///
    /// # Errors
    /// [`ClientError`]; what is wrong with the plan is in its diagnostics.
    pub(crate) async fn submit(&self, body: &SubmitBody) -> Result<Accepted, ClientError> {
        self.decode(self.request(Method::POST, "/api/v1/jobs").json(body)).await
    }

    /// All jobs that the host lists.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn jobs(&self) -> Result<Vec<JobView>, ClientError> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Listing {
            Page { jobs: Vec<JobView> },
            Bare(Vec<JobView>),
        }
        match self.decode(self.request(Method::GET, "/api/v1/jobs")).await? {
            Listing::Page { jobs } | Listing::Bare(jobs) => Ok(jobs),
        }
    }

    /// One job, by id or unique beginning.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn job(&self, id: &str) -> Result<JobView, ClientError> {
        self.decode(self.request(Method::GET, &format!("/api/v1/jobs/{}", in_path(id)))).await
    }

    /// Asks a job to stop; `by` is who wants it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn cancel(&self, id: &str, by: &str) -> Result<JobView, ClientError> {
        let path = format!("/api/v1/jobs/{}/cancel", in_path(id));
        self.decode(self.request(Method::POST, &path).json(&serde_json::json!({ "by": by }))).await
    }

    /// A job's events after a number, and then as they come.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn events(&self, id: &JobId, after: u64) -> Result<JobEvents, ClientError> {
        let request = self
            .request(Method::GET, &format!("/api/v1/jobs/{}/events", in_path(id.as_str())))
            .header("accept", "text/event-stream")
            .header("last-event-id", after.to_string());
        Ok(JobEvents::new(Frames::new(self.send(request).await?)))
    }

    /// The conversation that a client calls by this key.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn session_by_key(&self, key: &str) -> Result<Option<SessionView>, ClientError> {
        #[derive(Deserialize)]
        struct Listing {
            sessions: Vec<SessionView>,
        }
        let found: Listing = self.decode(self.request(Method::GET, "/api/v1/sessions").query(&[("key", key)])).await?;
        Ok(found.sessions.into_iter().next())
    }

    /// Asks the Consultant; the answer streams in OpenAI's form.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn chat(&self, talk: &Talk, body: &serde_json::Value) -> Result<ChatStream, ClientError> {
        let (header, value) = talk.header();
        let request = self.request(Method::POST, "/v1/chat/completions").header(header, value).json(body);
        Ok(ChatStream::new(Frames::new(self.send(request).await?)))
    }

    /// A conversation with its turns; `None` if the host has no session of this id.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn session(&self, id: &SessionId) -> Result<Option<Conversation>, ClientError> {
        let request = self.request(Method::GET, &format!("/api/v1/sessions/{id}"));
        let response = request.send().await.map_err(ClientError::Gone)?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        self.decode(self.request(Method::GET, &format!("/api/v1/sessions/{id}"))).await.map(Some)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(ClientError::Gone)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = response.bytes().await.map_err(ClientError::Gone)?;
        Err(ClientError::Refused(refusal(status, &body)))
    }

    async fn decode<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let body = self.send(request).await?.bytes().await.map_err(ClientError::Gone)?;
        serde_json::from_slice(&body).map_err(|error| {
            let error = CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the host's answer cannot be understood")
                .because(&error)
                .hint("the host may be another version of Helix: stop it and let this one take over");
            ClientError::Refused(error)
        })
    }
}

/// An id as part of a path: whatever would mean something there is encoded.
fn in_path(id: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    id.bytes().map(encode).collect()
}

fn refusal(status: StatusCode, body: &[u8]) -> CommandError {
    let exit = match status.as_u16() {
        503 | 507 => Exit::Environment,
        500..=599 => Exit::Helix,
        _ => Exit::Usage,
    };
    if status == StatusCode::UNAUTHORIZED {
        return CommandError::environment(codes::TOKEN, "the host does not accept this token")
            .hint("the host was started with another token: stop it, or give the same one");
    }
    match serde_json::from_slice::<WireProblem>(body) {
        Ok(problem) => {
            let code = problem.code.unwrap_or_else(|| codes::HOST_REFUSED.to_owned());
            let source_text = source_of(&problem.diagnostics);
            CommandError::new(exit, code, problem.detail)
                .hint_if(problem.hint)
                .diagnostics(problem.diagnostics, source_text)
        }
        Err(_) => {
            let said =
                openai_message(body).unwrap_or_else(|| String::from_utf8_lossy(body).chars().take(300).collect());
            CommandError::new(exit, codes::HOST_REFUSED, format!("the host refused: {status}: {said}"))
                .hint("see the host's log")
        }
    }
}

/// The text that diagnostics point into, if it is a file that can be read from here.
fn source_of(diagnostics: &[Diagnostic]) -> String {
    let file = diagnostics.first().map(|first| std::path::PathBuf::from(&first.file));
    // Without it, places are given as line and column instead of a picture.
    file.filter(|file| file.is_absolute()).and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default()
}

fn openai_message(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    Some(value.get("error")?.get("message")?.as_str()?.to_owned())
}
