//! `helix acp`: the Consultant as an agent of editors, by the Agent Client Protocol on standard input and output.
//!
//! Must not know how a turn or a job is carried out, and is never a host itself: editors end their agents without ceremony, and
//! jobs must go on.

mod job;
mod peer;
mod session;
mod text;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AgentCapabilities, CancelNotification, Error, Implementation, InitializeResponse,
    ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse, RequestId, SessionCapabilities, SessionId,
    SessionInfo, SessionListCapabilities,
};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use helix_process::bounded::{TooLong, read_line};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::Talk;
use crate::commands::talk::Conversation;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit};
use crate::host::refuse_other_configuration;
use crate::terminal::{Look, Reading, Terminal};

use peer::{Call, Peer};
use session::Session;

/// Longest message of an editor, in bytes, and most requests that are answered at a time.
const LONGEST: u64 = 16 << 20;
const MOST_UNDER_WAY: usize = 100;

/// Sessions that an editor is told of, newest first.
const MOST_LISTED: usize = 100;

pub(crate) fn run(context: &Context) -> Ended {
    if context.terminal.reading == Reading::People && std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        context
            .terminal
            .say("helix acp reads ACP requests from standard input (docs/clients.md); press Ctrl-D to exit");
    }
    context.settings()?;
    context.block_on(async { Agent::new(context).serve().await })
}

/// Why a request has no answer.
enum Failure {
    /// The editor is told.
    Told(Error),
    /// Nobody reads any more.
    Left,
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        match &error {
            CommandError::ReaderLeft => Self::Left,
            CommandError::Problem(problem) => {
                let hint = problem.causes.iter().chain(&problem.hint);
                let message = hint.fold(problem.message.clone(), |message, part| format!("{message}; {part}"));
                let data = json!({ "code": problem.code, "hint": problem.hint });
                Self::Told(Error::new(INTERNAL, message).data(data))
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

/// JSON-RPC's code for what failed here.
const INTERNAL: i32 = -32603;

struct Agent<'a> {
    context: &'a Context,
    peer: Peer,
    sessions: RefCell<BTreeMap<String, Rc<Session>>>,
    /// One that the editor is about to hear of.
    opened: RefCell<Option<Rc<Session>>>,
}

impl<'a> Agent<'a> {
    fn new(context: &'a Context) -> Self {
        Self { context, peer: Peer::new(context.terminal), sessions: RefCell::default(), opened: RefCell::default() }
    }

    async fn serve(&self) -> Ended {
        let (sender, mut lines) = mpsc::channel::<Result<String, TooLong>>(1);
        // On a thread that nothing waits for: an editor that has stopped reading may never close this.
        std::thread::spawn(move || {
            let mut stdin = std::io::stdin().lock();
            while let Ok(Some(line)) = read_line(&mut stdin, LONGEST) {
                // A line that is no text is answered as any other that cannot be read.
                let line = line.map(|line| String::from_utf8_lossy(&line).into_owned());
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        let mut answers = FuturesUnordered::new();
        loop {
            tokio::select! {
                line = lines.recv() => match line {
                    Some(Ok(line)) => {
                        let Some(call) = self.peer.take(&line)? else { continue };
                        match call.id {
                            Some(id) if answers.len() >= MOST_UNDER_WAY => {
                                let busy = format!("{MOST_UNDER_WAY} requests are being answered: wait for an answer");
                                self.peer.answer::<()>(&id, Err(Error::invalid_request().data(json!(busy))))?;
                            }
                            _ => answers.push(self.answer(call)),
                        }
                    }
                    Some(Err(too_long)) => {
                        let refused = Error::invalid_request().data(json!(too_long.to_string()));
                        self.peer.answer::<()>(&RequestId::Null, Err(refused))?;
                    }
                    None => return Ok(Exit::Success),
                },
                Some(answered) = answers.next() => answered?,
            }
        }
    }

    async fn answer(&self, call: Call) -> Result<(), CommandError> {
        let Call { id, method, params } = call;
        match (self.result(&method, params).await, id) {
            (Ok(result), Some(id)) => {
                self.peer.answer(&id, Ok(result))?;
                self.opened.take().map_or(Ok(()), |session| session.greet(&self.peer))
            }
            (Err(Failure::Told(error)), Some(id)) => self.peer.answer::<()>(&id, Err(error)),
            (Ok(_) | Err(Failure::Told(_)), None) => Ok(()),
            (Err(Failure::Left), _) => Err(CommandError::ReaderLeft),
        }
    }

    async fn result(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let names = &AGENT_METHOD_NAMES;
        if method == names.initialize {
            return written(&initialized());
        }
        if method == names.session_new {
            let NewSessionRequest { cwd, .. } = read(params)?;
            // An editor may open several at the same time.
            let name = format!("{}-{}", Conversation::named().name(), self.sessions.borrow().len());
            let session = Session::new(self.place(&cwd).await?, SessionId::new(name.clone()), Talk::New(name));
            return written(&NewSessionResponse::new(self.keep(session).id.clone()));
        }
        if method == names.session_load {
            let LoadSessionRequest { cwd, session_id, .. } = read(params)?;
            let context = self.place(&cwd).await?;
            let found = context.host().await?.session(&session_id.0).await.map_err(CommandError::from)?;
            let found = found.ok_or_else(|| Error::session_not_found(session_id.clone()))?;
            // One that is answering stays: whoever loads it can stop it.
            let answering = self.session(&session_id).ok().filter(|session| session.is_answering());
            let session = answering
                .unwrap_or_else(|| self.keep(Session::new(context, session_id, Talk::Session(found.session.id))));
            session.replay(&self.peer, &found.turns)?;
            return written(&LoadSessionResponse::new());
        }
        if method == names.session_list {
            let ListSessionsRequest { cwd, .. } = read(params)?;
            return written(&self.list(cwd).await?);
        }
        if method == names.session_prompt {
            let PromptRequest { session_id, prompt, .. } = read(params)?;
            let stopped = self.session(&session_id)?.prompt(&self.peer, &prompt).await?;
            return written(&PromptResponse::new(stopped));
        }
        if method == names.session_cancel {
            let CancelNotification { session_id, .. } = read(params)?;
            self.session(&session_id)?.stop();
            return Ok(Value::Null);
        }
        Err(Error::method_not_found().data(json!(method)).into())
    }

    /// What is true where the editor has a project open.
    async fn place(&self, cwd: &Path) -> Result<Context, Failure> {
        if !cwd.is_absolute() {
            return Err(Error::invalid_params().data(json!("cwd has to be an absolute path")).into());
        }
        let mut environment = self.context.environment.clone();
        environment.directory = cwd.to_path_buf();
        // An editor shows text as it is, also where colours are forced.
        let terminal = Terminal { look: Look::Plain, error_look: Look::Plain, ..self.context.terminal };
        let context = Context::new(environment, terminal, self.context.overrides.clone());
        refuse_other_configuration(&context.environment, context.settings()?).await?;
        Ok(context)
    }

    fn keep(&self, session: Session) -> Rc<Session> {
        let session = Rc::new(session);
        self.sessions.borrow_mut().insert(session.id.0.to_string(), Rc::clone(&session));
        self.opened.replace(Some(Rc::clone(&session)));
        session
    }

    fn session(&self, id: &SessionId) -> Result<Rc<Session>, Failure> {
        let found = self.sessions.borrow().get(&*id.0).cloned();
        found.ok_or_else(|| Error::session_not_found(id.clone()).into())
    }

    /// Sessions that can be loaded: those of a project, where one is named.
    async fn list(&self, project: Option<PathBuf>) -> Result<ListSessionsResponse, Failure> {
        let client = self.context.host().await?;
        let page = client.sessions(MOST_LISTED).await.map_err(CommandError::from)?;
        let info = |session: helix_job::session::SessionView| {
            let cwd = PathBuf::from(session.project.unwrap_or(session.directory));
            let is_wanted = project.as_ref().is_none_or(|project| *project == cwd);
            let info = SessionInfo::new(SessionId::new(session.id.as_str()), cwd);
            is_wanted.then(|| info.updated_at(session.updated_at.to_string()))
        };
        Ok(ListSessionsResponse::new(page.sessions.into_iter().filter_map(info).collect()))
    }
}

/// What Helix can do in an editor. It reads and writes no file through the editor: work is done in places of its own.
fn initialized() -> InitializeResponse {
    let prompts = PromptCapabilities::new().embedded_context(true);
    let sessions = SessionCapabilities::new().list(SessionListCapabilities::new());
    let capabilities =
        AgentCapabilities::new().load_session(true).prompt_capabilities(prompts).session_capabilities(sessions);
    let helix = Implementation::new("helix", env!("CARGO_PKG_VERSION")).title("Helix".to_owned());
    InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(capabilities).agent_info(helix)
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    serde_json::from_value(params).map_err(|error| Error::invalid_params().data(json!(error.to_string())))
}

fn written(result: &impl Serialize) -> Result<Value, Failure> {
    let written = serde_json::to_value(result);
    written.map_err(|error| Error::internal_error().data(json!(error.to_string())).into())
}
