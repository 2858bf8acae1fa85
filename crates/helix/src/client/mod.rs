//! A client of the host's HTTP API, the same API that everyone else uses (`docs/api.md`).
//!
//! Must not know how a host is started or found.

mod streams;

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{JobId, QuestionId, SessionId};
use helix_job::JobView;
use helix_job::question::QuestionView;
use helix_language::Language;
use helix_server::wire::{
    AcceptRequest, Accepted, AnswerRequest, CallToolResult, CheckRequest, DraftStart, ErrorEnvelope, Holder, JobPage,
    JobRequest, KeyList, KeyRequest, KeyView, Login, LoginRequest, NewKey, Problem, ResumeRequest, RetryRequest,
    RollbackRequest, SessionDetail, SessionPage,
};
use helix_store::{HostInfo, StateDir};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::CONTENT_LANGUAGE;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{CommandError, Exit, codes};
use crate::files::{text_of_problems, unreadable};
use crate::socket;

pub(crate) use streams::{ChatEvent, ChatStream, Here, JobActivity, JobEvents, Talk};

/// What is encoded in an id that is part of a path.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Time limit for connecting to a host, which is on this machine.
const CONNECT: Duration = Duration::from_secs(2);

/// Time limit for a health check.
const HEALTH: Duration = Duration::from_secs(5);

/// A connection to a host.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    pub(crate) url: String,
    /// The socket's address leads through it.
    _state: Arc<OwnedFd>,
    pub(crate) pid: u32,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum ClientError {
    Gone(reqwest::Error),
    /// The host refused, or its answer cannot be parsed.
    Refused(CommandError),
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Gone(source) => Self::environment(codes::HOST_SILENT, "the host stopped before it answered")
                .because(&source)
                .hint("run the command again; if it fails again: `helix doctor`"),
            ClientError::Refused(error) => error,
        }
    }
}

impl Client {
    /// A client of an announced host.
    ///
    /// # Errors
    /// When its state directory cannot be opened.
    pub(crate) fn new(host: &HostInfo, state: &StateDir) -> Result<Self, CommandError> {
        let (directory, socket) = socket::address(state).map_err(unreadable(state.root()))?;
        // A proxy of the user's is for the world outside.
        let http = reqwest::Client::builder()
            .no_proxy()
            .unix_socket(socket)
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| CommandError::helix(codes::RUNTIME, "cannot set up an HTTP client").because(&error))?;
        let url = host.url.trim_end_matches('/').to_owned();
        Ok(Self { http, url, _state: Arc::new(directory), pid: host.pid })
    }

    /// Makes a key, which is told this once.
    pub(crate) async fn create_key(&self, holder: Holder, name: &str) -> Result<NewKey, ClientError> {
        self.post("/api/v1/keys", &KeyRequest { holder, name: name.to_owned() }).await
    }

    /// All keys.
    pub(crate) async fn keys(&self) -> Result<Vec<KeyView>, ClientError> {
        let list: KeyList = self.decode(self.request(Method::GET, "/api/v1/keys")).await?;
        Ok(list.keys)
    }

    /// Revokes a key; those that are left.
    pub(crate) async fn revoke_key(&self, holder: Holder, name: &str) -> Result<KeyList, ClientError> {
        let path = format!("/api/v1/keys/{}/{}", holder.word(), in_path(name));
        self.decode(self.request(Method::DELETE, &path)).await
    }

    /// An address that logs a browser in, once.
    pub(crate) async fn log_in(&self, job: Option<&str>) -> Result<Login, ClientError> {
        self.post("/api/v1/logins", &LoginRequest { job: job.map(str::to_owned) }).await
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
    /// [`ClientError`]; problems of the plan are in its diagnostics.
    pub(crate) async fn submit(&self, body: &JobRequest) -> Result<Accepted, ClientError> {
        self.post("/api/v1/jobs", body).await
    }

    /// All jobs, newest first.
    pub(crate) async fn jobs(&self) -> Result<JobPage, ClientError> {
        let (mut all, mut after) = (JobPage::default(), None);
        loop {
            let query: (_, Option<(_, JobId)>) = (("limit", "500"), after.map(|id| ("after", id)));
            let page: JobPage = self.decode(self.request(Method::GET, "/api/v1/jobs").query(&query)).await?;
            all.jobs.extend(page.jobs);
            all.unreadable.extend(page.unreadable);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// One job, by id or unique prefix.
    pub(crate) async fn job(&self, id: &str) -> Result<JobView, ClientError> {
        self.decode(self.request(Method::GET, &job_path(id, ""))).await
    }

    /// Cancels a job.
    pub(crate) async fn cancel(&self, id: &str) -> Result<JobView, ClientError> {
        self.post(&job_path(id, "/cancel"), &json!({})).await
    }

    /// Resumes a job from what has not passed; runs `phase` again if one is named.
    pub(crate) async fn reopen(
        &self,
        id: &str,
        phase: Option<String>,
        request: ResumeRequest,
    ) -> Result<JobView, ClientError> {
        let Some(phase) = phase else { return self.post(&job_path(id, "/resume"), &request).await };
        let ResumeRequest { budget_usd, plan } = request;
        self.post(&job_path(id, "/retry"), &RetryRequest { phase, budget_usd, plan }).await
    }

    /// Has the gates of a job judge its last results again.
    pub(crate) async fn check(&self, id: &str, request: &CheckRequest) -> Result<JobView, ClientError> {
        self.post(&job_path(id, "/check"), request).await
    }

    /// Lets the result of a phase count although a gate did not pass.
    pub(crate) async fn accept(&self, id: &str, request: &AcceptRequest) -> Result<JobView, ClientError> {
        self.post(&job_path(id, "/accept"), request).await
    }

    /// Takes a delivery of a job back.
    pub(crate) async fn roll_back(&self, id: &str, request: &RollbackRequest) -> Result<JobView, ClientError> {
        self.post(&job_path(id, "/rollback"), request).await
    }

    /// Reverts the merged result of a job.
    pub(crate) async fn revert(&self, id: &str) -> Result<JobView, ClientError> {
        self.post(&job_path(id, "/revert"), &json!({})).await
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ClientError`]; then nothing has changed.
    pub(crate) async fn answer(&self, id: &QuestionId, body: &AnswerRequest) -> Result<QuestionView, ClientError> {
        self.post(&format!("/api/v1/questions/{}/answer", in_path(id.as_str())), body).await
    }

    /// A job's events after a number, and then as they come.
    pub(crate) async fn events(&self, id: &JobId, after: u64) -> Result<JobEvents, ClientError> {
        let request = self
            .request(Method::GET, &job_path(id.as_str(), "/events"))
            .header("accept", "text/event-stream")
            .header("last-event-id", after.to_string());
        Ok(JobEvents(streams::frames(self.send(request).await?)))
    }

    /// What a job's agents do from now on.
    pub(crate) async fn activity(&self, id: &JobId) -> Result<JobActivity, ClientError> {
        let request =
            self.request(Method::GET, &job_path(id.as_str(), "/activity")).header("accept", "text/event-stream");
        Ok(JobActivity(streams::frames(self.send(request).await?)))
    }

    /// Sends the Consultant a message; the answer streams in OpenAI's form.
    pub(crate) async fn chat(
        &self,
        talk: &Talk,
        model: Option<&str>,
        here: &Here,
        message: &str,
    ) -> Result<ChatStream, ClientError> {
        let header = match talk {
            Talk::New(_) => "x-chat",
            Talk::Session(_) => "x-helix-session",
        };
        let body = json!({
            "model": model.map_or_else(|| "helix".to_owned(), |model| format!("helix:{model}")),
            "stream": true,
            "messages": [{ "role": "user", "content": message }],
        });
        let request = self.request(Method::POST, "/v1/chat/completions").header(header, talk.name());
        let request =
            request.header("x-helix-client", here.profile.word()).header("accept-language", here.language.code());
        let request = request.header("x-helix-directory", here.directory.as_os_str().as_bytes());
        let request = if here.confirms { request.header("x-helix-confirms", "yes") } else { request };
        let request = request.json(&body);
        let response = self.send(request).await?;
        let language =
            response.headers().get(CONTENT_LANGUAGE).and_then(|value| Language::of_tag(value.to_str().ok()?));
        Ok(ChatStream { frames: streams::frames(response), language })
    }

    /// Stops the running turn of a session.
    pub(crate) async fn stop_turn(&self, session: &SessionId) -> Result<(), ClientError> {
        let path = format!("/api/v1/sessions/{}/stop", in_path(session.as_str()));
        self.send(self.request(Method::POST, &path)).await.map(drop)
    }

    /// Starts the drafts of a session.
    pub(crate) async fn start_drafts(&self, session: &SessionId, start: &DraftStart) -> Result<Accepted, ClientError> {
        self.post(&format!("/api/v1/sessions/{}/start", in_path(session.as_str())), start).await
    }

    /// The newest sessions, at most so many.
    pub(crate) async fn sessions(&self, most: usize) -> Result<SessionPage, ClientError> {
        let mut page: SessionPage = self.decode(self.request(Method::GET, "/api/v1/sessions")).await?;
        page.sessions.truncate(most);
        Ok(page)
    }

    /// A session with its turns, by its id or by the name of a [`Talk`]; `None` if the host has no such session.
    pub(crate) async fn session(&self, name: &str) -> Result<Option<SessionDetail>, ClientError> {
        let named = self.request(Method::GET, "/api/v1/sessions").query(&[("key", format!("chat:{name}"))]);
        let found: SessionPage = self.decode(named).await?;
        let id = found.sessions.first().map_or(name, |session| session.id.as_str());
        let request = self.request(Method::GET, &format!("/api/v1/sessions/{}", in_path(id)));
        let response = request.send().await.map_err(ClientError::Gone)?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        decoded(accepted(response).await?).await.map(Some)
    }

    /// Calls a tool over MCP, as agents do, for a client whose relative paths start at `directory`. The result is MCP's own, also for
    /// a refusal of the tool.
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        directory: &Path,
    ) -> Result<CallToolResult, ClientError> {
        /// A JSON-RPC response.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Reply {
            Done { result: CallToolResult },
            Refused { error: Value },
        }
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments },
        });
        let request = self
            .request(Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("x-helix-directory", directory.as_os_str().as_bytes());
        match self.decode(request.json(&call)).await? {
            Reply::Done { result } => Ok(result),
            Reply::Refused { error } => {
                let message = error["message"].as_str().unwrap_or_default();
                Err(ClientError::Refused(CommandError::usage(codes::HOST_REFUSED, message).hint("nothing was changed")))
            }
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        accepted(request.send().await.map_err(ClientError::Gone)?).await
    }

    async fn decode<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        decoded(self.send(request).await?).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.decode(self.request(Method::POST, path).json(body)).await
    }
}

/// The response, if it is not an error.
async fn accepted(response: Response) -> Result<Response, ClientError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.bytes().await.map_err(ClientError::Gone)?;
    Err(ClientError::Refused(refusal(status, &body)))
}

async fn decoded<T: DeserializeOwned>(response: Response) -> Result<T, ClientError> {
    let body = response.bytes().await.map_err(ClientError::Gone)?;
    serde_json::from_slice(&body).map_err(|error| ClientError::Refused(unreadable_answer(&error)))
}

/// An answer of the host that cannot be parsed.
fn unreadable_answer(error: &serde_json::Error) -> CommandError {
    CommandError::helix(codes::HOST_UNINTELLIGIBLE, "cannot parse the host's answer")
        .because(error)
        .hint("the host may be another version of Helix: stop it and run the command again")
}

fn job_path(id: &str, rest: &str) -> String {
    format!("/api/v1/jobs/{}{rest}", in_path(id))
}

fn in_path(id: &str) -> String {
    utf8_percent_encode(id, IN_PATH).to_string()
}

fn refusal(status: StatusCode, body: &[u8]) -> CommandError {
    let exit = match status.as_u16() {
        503 | 507 => Exit::Environment,
        500..=599 => Exit::Helix,
        _ => Exit::Usage,
    };
    if let Ok(problem) = serde_json::from_slice::<Problem>(body) {
        let source_text = text_of_problems(&problem.diagnostics);
        let exit = if problem.code == codes::LEFT_TO_PERSON { Exit::No } else { exit };
        return CommandError::new(exit, problem.code.into_owned(), problem.detail.into_string())
            .hint_if(problem.hint)
            .diagnostics(problem.diagnostics, source_text);
    }
    let said = match serde_json::from_slice::<ErrorEnvelope>(body) {
        Ok(envelope) => envelope.error.message,
        Err(_) => String::from_utf8_lossy(body).chars().take(300).collect(),
    };
    CommandError::new(exit, codes::HOST_REFUSED, format!("the host answered {status}: {said}"))
        .hint("see the host's log")
}
