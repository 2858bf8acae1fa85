//! The conversation with an agent, message by message: what it is sent, and what the host is told of it.
//!
//! Must not read or write anything itself.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, CLIENT_METHOD_NAMES, ClientCapabilities, Error, Implementation, InitializeRequest,
    InitializeResponse, NewSessionResponse, PromptRequest, PromptResponse, RequestId, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, SessionConfigKind,
    SessionConfigOptionCategory, SessionId, SessionUpdate, StopReason, ToolCall, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use agent_client_protocol_schema::{ProtocolVersion, v1::SessionConfigSelectOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::Ask;
use super::permission::{Reply, choice, name};

/// A line for the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "acp", rename_all = "snake_case")]
pub(super) enum Record {
    /// A session began.
    Started { session: SessionId, model: Option<String>, version: Option<String> },
    /// What the agent says of the session, as it says it.
    Update { update: Value },
    /// What it says of another session.
    Elsewhere,
    /// A call that the agent asked about, and what a person was asked or has said about it.
    Asked {
        call: Box<ToolCallUpdate>,
        allowed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// The turn ended.
    Ended { stop: StopReason, usage: Option<Tokens> },
    /// The agent refused something, or cannot do what is asked.
    Failed { error: Error },
    /// A line that is no message.
    Noise,
}

/// What a turn has consumed. The protocol has no word for it yet, and agents say it in this form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tokens {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cached_read_tokens: u64,
    pub(super) cached_write_tokens: u64,
}

/// What follows from a message of the agent.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Lines for the agent.
    pub(super) to_agent: Vec<String>,
    /// Lines for the host.
    pub(super) to_host: Vec<String>,
    /// Whether the conversation is over, and whether it came to its end.
    pub(super) over: Option<bool>,
    /// A call that a person decides: the agent waits for [`Talk::settle`].
    pub(super) to_person: Option<ToPerson>,
}

/// A call that a person decides.
#[derive(Debug)]
pub(super) struct ToPerson {
    id: RequestId,
    request: RequestPermissionRequest,
    /// What puts it to a person, and what that is told.
    pub(super) hook: Vec<String>,
    pub(super) event: Value,
}

impl Heard {
    fn send(&mut self, message: &Value) {
        self.to_agent.push(message.to_string());
    }

    fn tell(&mut self, record: &Record) {
        // Every record is JSON.
        self.to_host.extend(serde_json::to_string(record));
    }

    fn fail(&mut self, error: Error) {
        self.tell(&Record::Failed { error });
        self.over = Some(false);
    }
}

/// What was asked last: its answer is the only one that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
enum Step {
    Initialize,
    Session,
    Model,
    Prompt,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Talk {
    ask: Ask,
    prompt: String,
    step: Step,
    session: Option<NewSessionResponse>,
    version: Option<String>,
    /// Calls that the agent has told of and that are not over, by their ids.
    calls: BTreeMap<String, ToolCall>,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: Option<RequestId>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<Value>,
}

fn request(step: Step, method: &str, params: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "id": step as i64, "method": method, "params": params })
}

/// What Helix says of itself. Agents read, write and run by themselves, within the walls.
pub(super) fn introduction() -> String {
    let helix = Implementation::new("helix", env!("CARGO_PKG_VERSION"));
    let ask = InitializeRequest::new(ProtocolVersion::V1).client_info(helix);
    request(Step::Initialize, AGENT_METHOD_NAMES.initialize, ask.client_capabilities(ClientCapabilities::new()))
        .to_string()
}

/// What an agent says of itself, once it is its answer.
pub(super) fn introduced(line: &str) -> Option<Result<InitializeResponse, Error>> {
    let message: Message = serde_json::from_str(line).ok()?;
    let is_answer = message.method.is_none() && message.id == Some(RequestId::Number(Step::Initialize as i64));
    let answer = match (message.result, message.error) {
        (Some(result), _) => serde_json::from_value(result).map_err(|error| misunderstood(&error)),
        (None, error) => Err(refusal(error.unwrap_or_default())),
    };
    is_answer.then_some(answer)
}

/// What an agent refuses with. One that is no error of JSON-RPC is a refusal all the same.
fn refusal(error: Value) -> Error {
    Error::deserialize(&error).unwrap_or_else(|_| Error::internal_error().data(error))
}

fn misunderstood(error: &serde_json::Error) -> Error {
    Error::invalid_request().data(json!(format!("an answer that cannot be read: {error}")))
}

fn cannot(what: impl Into<String>) -> Error {
    Error::new(INVALID, what)
}

/// JSON-RPC's code for what one side cannot do.
const INVALID: i32 = -32602;

impl Talk {
    /// Begins a conversation, with what is to be sent at once.
    ///
    /// # Errors
    /// The file with what is asked cannot be read.
    pub(super) fn begin(ask: &[u8], prompt: String) -> serde_json::Result<(Self, String)> {
        let (ask, step) = (serde_json::from_slice(ask)?, Step::Initialize);
        Ok((Self { ask, prompt, step, session: None, version: None, calls: BTreeMap::new() }, introduction()))
    }

    /// Takes a line of the agent.
    pub(super) fn take(&mut self, line: &str) -> Heard {
        let mut heard = Heard::default();
        match serde_json::from_str::<Message>(line) {
            Ok(Message { method: Some(method), id, params, .. }) => match id {
                Some(id) => self.asked(&method, id, params, &mut heard),
                None if method == CLIENT_METHOD_NAMES.session_update => {
                    let update = params.get("update").cloned().unwrap_or_default();
                    self.remember(&update);
                    let session = self.session.as_ref().map(|session| &*session.session_id.0);
                    // Before its answer has come, a session is known by nothing else.
                    let is_ours = session.is_none_or(|session| params.get("sessionId") == Some(&json!(session)));
                    heard.tell(&if is_ours { Record::Update { update } } else { Record::Elsewhere });
                }
                None => {}
            },
            Ok(Message { id: Some(RequestId::Number(id)), result, error, .. }) if id == self.step as i64 => {
                match (result, error) {
                    (_, Some(error)) => heard.fail(refusal(error)),
                    (result, None) => {
                        if let Err(error) = self.answered(result.unwrap_or_default(), &mut heard) {
                            heard.fail(error);
                        }
                    }
                }
            }
            Ok(_) => {}
            Err(_) => heard.tell(&Record::Noise),
        }
        heard
    }

    /// Remembers what the agent tells of a call: where it asks about that call, it need not say it again.
    fn remember(&mut self, update: &Value) {
        let kind = update.get("sessionUpdate").and_then(Value::as_str);
        if !kind.is_some_and(|kind| kind.starts_with("tool_call")) {
            return;
        }
        let (id, status) = match SessionUpdate::deserialize(update) {
            Ok(SessionUpdate::ToolCall(call)) => {
                let (id, status) = (call.tool_call_id.0.to_string(), Some(call.status));
                self.calls.insert(id.clone(), call);
                (id, status)
            }
            Ok(SessionUpdate::ToolCallUpdate(ToolCallUpdate { tool_call_id, fields, .. })) => {
                let (id, status) = (tool_call_id.0.to_string(), fields.status);
                if let Some(call) = self.calls.get_mut(&id) {
                    call.update(fields);
                }
                (id, status)
            }
            Ok(_) | Err(_) => return,
        };
        if matches!(status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed)) {
            self.calls.remove(&id);
        }
    }

    /// All that is known of a call that the agent asks about.
    fn known(&self, asked: &ToolCallUpdate) -> ToolCallUpdateFields {
        let Some(call) = self.calls.get(&*asked.tool_call_id.0) else { return asked.fields.clone() };
        let mut call = call.clone();
        call.update(asked.fields.clone());
        ToolCallUpdate::from(call).fields
    }

    /// Answers a request of the agent.
    fn asked(&self, method: &str, id: RequestId, params: Value, heard: &mut Heard) {
        let request = (method == CLIENT_METHOD_NAMES.session_request_permission)
            .then(|| serde_json::from_value::<RequestPermissionRequest>(params).ok());
        let Some(Some(request)) = request else {
            let error = Error::method_not_found();
            return heard.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        };
        let known = self.known(&request.tool_call);
        match (self.ask.may.reply(&known), &self.ask.ask_person) {
            (Reply::Ask, Some(hook)) => {
                let (name, input, cwd) = (name(&known), self.ask.may.shown(&known), &self.ask.session.cwd);
                let event = json!({ "tool_name": name, "tool_input": input, "cwd": cwd });
                heard.to_person = Some(ToPerson { id, request, hook: hook.clone(), event });
            }
            (reply, _) => answer(&id, request, reply == Reply::Yes, None, heard),
        }
    }

    /// Ends a conversation with an agent that cannot be heard.
    pub(super) fn broken(error: &std::io::Error) -> Heard {
        let mut heard = Heard::default();
        heard.fail(cannot(error.to_string()));
        heard
    }

    /// Answers a call that was put to a person: whether it is allowed, and why.
    pub(super) fn settle(asked: ToPerson, allowed: bool, because: String) -> Heard {
        let mut heard = Heard::default();
        answer(&asked.id, asked.request, allowed, Some(because), &mut heard);
        heard
    }

    /// Goes on after an answer.
    fn answered(&mut self, result: Value, heard: &mut Heard) -> Result<(), Error> {
        match self.step {
            Step::Initialize => {
                let agent: InitializeResponse = read(result)?;
                if agent.protocol_version != ProtocolVersion::V1 {
                    return Err(cannot(format!("the agent speaks version {} of ACP, not 1", agent.protocol_version)));
                }
                if self.ask.needs_http() && !agent.agent_capabilities.mcp_capabilities.http {
                    return Err(cannot("the agent cannot use tool servers over HTTP, which Helix gives it"));
                }
                self.version = agent.agent_info.map(|agent| agent.version);
                self.step = Step::Session;
                heard.send(&request(self.step, AGENT_METHOD_NAMES.session_new, &self.ask.session));
            }
            Step::Session => {
                let session: NewSessionResponse = read(result.clone())?;
                let model = self.ask.model.clone();
                let asked = model.as_deref().map(|model| choosing(&session, &result, model)).transpose()?;
                let id = session.session_id.clone();
                heard.tell(&Record::Started { session: id, model, version: self.version.clone() });
                self.session = Some(session);
                match asked {
                    Some((method, params)) => {
                        self.step = Step::Model;
                        heard.send(&request(self.step, method, params));
                    }
                    None => self.prompt(heard),
                }
            }
            Step::Model => self.prompt(heard),
            Step::Prompt => {
                let usage = result.get("usage").and_then(|usage| Tokens::deserialize(usage).ok());
                let PromptResponse { stop_reason, .. } = read(result)?;
                heard.tell(&Record::Ended { stop: stop_reason, usage });
                heard.over = Some(true);
            }
        }
        Ok(())
    }

    fn prompt(&mut self, heard: &mut Heard) {
        self.step = Step::Prompt;
        let session = self.session.as_ref().map_or_else(|| SessionId::new(""), |session| session.session_id.clone());
        let prompt = PromptRequest::new(session, vec![std::mem::take(&mut self.prompt).into()]);
        heard.send(&request(self.step, AGENT_METHOD_NAMES.session_prompt, prompt));
    }
}

/// Answers whether a call is allowed.
fn answer(
    id: &RequestId,
    request: RequestPermissionRequest,
    allowed: bool,
    because: Option<String>,
    heard: &mut Heard,
) {
    let outcome = match choice(&request.options, allowed) {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone())),
        None => RequestPermissionOutcome::Cancelled,
    };
    let allowed = allowed && outcome != RequestPermissionOutcome::Cancelled;
    heard.tell(&Record::Asked { call: Box::new(request.tool_call), allowed, because });
    heard.send(&json!({ "jsonrpc": "2.0", "id": id, "result": RequestPermissionResponse::new(outcome) }));
}

fn read<T: serde::de::DeserializeOwned>(result: Value) -> Result<T, Error> {
    serde_json::from_value(result).map_err(|error| misunderstood(&error))
}

/// How the session is told its model: as an option of it, or as agents did before there were options.
fn choosing(session: &NewSessionResponse, told: &Value, model: &str) -> Result<(&'static str, Value), Error> {
    let (id, mut known) = (&session.session_id, Vec::new());
    for option in session.config_options.iter().flatten() {
        let SessionConfigKind::Select(select) = &option.kind else { continue };
        if option.category != Some(SessionConfigOptionCategory::Model) {
            continue;
        }
        let values: Vec<String> = match &select.options {
            SessionConfigSelectOptions::Ungrouped(options) => {
                options.iter().map(|option| option.value.to_string()).collect()
            }
            SessionConfigSelectOptions::Grouped(groups) => {
                groups.iter().flat_map(|group| &group.options).map(|option| option.value.to_string()).collect()
            }
            _ => Vec::new(),
        };
        if values.iter().any(|value| value == model) {
            let params = json!({ "sessionId": id, "configId": option.id, "value": model });
            return Ok((AGENT_METHOD_NAMES.session_set_config_option, params));
        }
        known.extend(values);
    }
    let models = told.pointer("/models/availableModels").and_then(Value::as_array);
    let models = models.into_iter().flatten().filter_map(|model| model.get("modelId")?.as_str());
    known.extend(models.map(str::to_owned));
    if known.iter().any(|known| known == model) {
        return Ok(("session/set_model", json!({ "sessionId": id, "modelId": model })));
    }
    let known =
        if known.is_empty() { "it offers no choice".to_owned() } else { format!("it has {}", known.join(", ")) };
    Err(cannot(format!("the agent has no model {model:?}: {known}")))
}

#[cfg(test)]
#[path = "talk_test.rs"]
mod tests;
