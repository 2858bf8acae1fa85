//! The editor at the other end: JSON-RPC, a message a line.
//!
//! Must not know what is asked or answered.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, Error, RequestId, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionId, SessionNotification, SessionUpdate,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::error::CommandError;
use crate::terminal::Terminal;

/// Withdraws a request.
const CANCEL_REQUEST: &str = "$/cancel_request";

/// What the editor sends.
#[derive(Debug, Deserialize)]
struct Message {
    id: Option<RequestId>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
}

/// Something that the editor wants.
#[derive(Debug)]
pub(super) struct Call {
    /// What the answer names; none for a notification.
    pub(super) id: Option<RequestId>,
    pub(super) method: String,
    pub(super) params: Value,
}

pub(super) struct Peer {
    terminal: Terminal,
    /// Requests of Helix that wait for an answer.
    waiting: RefCell<BTreeMap<i64, oneshot::Sender<Value>>>,
    next: Cell<i64>,
}

/// A request that is withdrawn when nobody waits for it any more.
struct Asked<'a> {
    peer: &'a Peer,
    id: i64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.peer.waiting.borrow_mut().remove(&self.id).is_some() {
            let withdrawn = json!({ "jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": { "requestId": self.id } });
            // Nobody reads any more: the next thing that is said finds that out.
            drop(self.peer.terminal.json_line(&withdrawn));
        }
    }
}

impl Peer {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal, waiting: RefCell::default(), next: Cell::new(0) }
    }

    /// Takes a line: what it wants, unless it answers a request of Helix.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(super) fn take(&self, line: &str) -> Result<Option<Call>, CommandError> {
        match serde_json::from_str::<Message>(line) {
            Ok(Message { id, method: Some(method), params, .. }) => return Ok(Some(Call { id, method, params })),
            Ok(Message { id: Some(RequestId::Number(id)), method: None, result, .. }) => {
                if let Some(asked) = self.waiting.borrow_mut().remove(&id) {
                    // Whoever asked may have gone.
                    drop(asked.send(result));
                }
            }
            Ok(_) => {}
            Err(error) => {
                self.answer::<()>(&RequestId::Null, Err(Error::parse_error().data(json!(error.to_string()))))?;
            }
        }
        Ok(None)
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(super) fn answer<T: Serialize>(&self, id: &RequestId, answer: Result<T, Error>) -> Result<(), CommandError> {
        let line = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        };
        self.terminal.json_line(&line).map(drop)
    }

    /// Tells what happens in a session.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(super) fn update(&self, session: &SessionId, update: SessionUpdate) -> Result<(), CommandError> {
        let params = SessionNotification::new(session.clone(), update);
        let method = CLIENT_METHOD_NAMES.session_update;
        self.terminal.json_line(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).map(drop)
    }

    /// Has the person choose; `None` where they did not, or the editor cannot ask. Withdrawn where the answer is no longer awaited.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(super) async fn choose(&self, request: &RequestPermissionRequest) -> Result<Option<String>, CommandError> {
        let id = self.next.replace(self.next.get() + 1);
        let (sender, answer) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        let _asked = Asked { peer: self, id };
        let method = CLIENT_METHOD_NAMES.session_request_permission;
        self.terminal.json_line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": request }))?;
        let answered = answer.await.ok().and_then(|answer| serde_json::from_value(answer).ok());
        Ok(match answered.map(|RequestPermissionResponse { outcome, .. }| outcome) {
            Some(RequestPermissionOutcome::Selected(chosen)) => {
                // What was not offered is no choice.
                let is_offered = request.options.iter().any(|option| option.option_id == chosen.option_id);
                is_offered.then(|| chosen.option_id.0.to_string())
            }
            Some(_) | None => None,
        })
    }
}
