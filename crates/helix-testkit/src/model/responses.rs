//! A scripted Responses endpoint on loopback, so that the real Codex CLI can be driven without an account.
//!
//! Must not know Helix: it sees only requests of the Responses API and answers with its events.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::StartError;

/// A conversation: its prompt contains a text, and each of its requests gets the next answer.
///
/// The step is the number of outputs of tools and messages of the model after the prompt, so that a repeated request gets the same
/// answer and parallel conversations do not disturb each other.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// What the last prompt contains.
    pub prompt: String,
    /// The answers, in order.
    pub answers: Vec<ModelAnswer>,
}

/// What the model does.
#[derive(Debug, Clone)]
pub enum ModelAnswer {
    /// Runs a command in the CLI's sandbox.
    Command(String),
    /// Says something and ends its turn.
    Text(String),
    /// Refuses with this HTTP status and body.
    Refusal(u16, Value),
    /// Begins to speak; then the stream ends without its last event.
    CutOff(String),
}

/// A running endpoint; dropping it closes every connection. It runs on a thread of its own.
#[derive(Debug)]
pub struct ScriptedResponses {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    exchanges: Vec<Exchange>,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Vec<Value>,
    authorizations: Vec<String>,
    failures: Vec<String>,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptedResponses {
    /// Starts an endpoint on a free port. Blocks until it listens.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(exchanges: Vec<Exchange>) -> Result<Self, StartError> {
        let shared = Arc::new(Shared { exchanges, log: Mutex::default() });
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, listening) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let serving = Arc::clone(&shared);
        let serve = move || {
            runtime.block_on(async move {
                let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
                let bound = bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
                let (listener, address) = match bound {
                    Ok(bound) => bound,
                    Err(source) => return drop(ready.send(Err(StartError::Listen { port: 0, source }))),
                };
                let routes = Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state(serving);
                drop(ready.send(Ok(address)));
                tokio::select! {
                    _ = axum::serve(listener, routes) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread =
            std::thread::Builder::new().name("scripted-responses".into()).spawn(serve).map_err(StartError::Thread)?;
        let address = listening.blocking_recv().map_err(|_| StartError::Ended)??;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Arguments for the CLI, before its subcommand, that make it talk to this endpoint only. The key is the value of the variable
    /// `OPENAI_API_KEY`, whatever that is.
    pub fn codex_arguments(&self) -> [String; 4] {
        let provider = format!(
            "model_providers.scripted={{name=\"scripted\",base_url=\"http://{}/v1\",wire_api=\"responses\",\
             env_key=\"OPENAI_API_KEY\",request_max_retries=1,stream_max_retries=1}}",
            self.address
        );
        ["-c".to_owned(), "model_provider=\"scripted\"".to_owned(), "-c".to_owned(), provider]
    }

    /// The bodies of all requests for responses so far, in order.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.log().requests.clone()
    }

    /// What each request for a response was authorized with, in order.
    pub fn authorizations(&self) -> Vec<String> {
        self.shared.log().authorizations.clone()
    }

    /// Everything that the script did not foresee.
    pub fn failures(&self) -> Vec<String> {
        self.shared.log().failures.clone()
    }
}

impl Drop for ScriptedResponses {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already; that is what is wanted.
            let _gone = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, Infallible> {
    Ok(match (&method, uri.path()) {
        (&Method::POST, "/v1/responses") => match serde_json::from_slice(&body) {
            Ok(request) => {
                let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
                shared.log().authorizations.push(key.unwrap_or_default().to_owned());
                answer(&shared, request)
            }
            Err(error) => {
                shared.log().failures.push(format!("the body of a request is no JSON: {error}"));
                refusal(400, &json!({"error": {"message": error.to_string(), "code": "invalid_json"}}))
            }
        },
        (&Method::GET, "/v1/models") => refusal(200, &json!({"models": []})),
        _ => refusal(404, &json!({"error": {"message": "the scripted model has no such path", "code": "not_found"}})),
    })
}

fn answer(shared: &Shared, request: Value) -> Response<Body> {
    let mut log = shared.log();
    log.requests.push(request.clone());
    let number = log.requests.len();
    let Some((exchange, step)) = exchange_of(&shared.exchanges, &request) else {
        log.failures.push(format!("nothing in the script answers request {number}"));
        return refusal(
            400,
            &json!({"error": {"message": "nothing in the script answers this", "code": "unforeseen"}}),
        );
    };
    let Some(answer) = exchange.answers.get(step) else {
        log.failures.push(format!("exchange {:?} has no answer {}", exchange.prompt, step + 1));
        return refusal(400, &json!({"error": {"message": "the exchange is over", "code": "unforeseen"}}));
    };
    let id = format!("resp_{number:06}");
    match answer {
        ModelAnswer::Refusal(status, body) => refusal(*status, body),
        ModelAnswer::Command(command) => {
            let arguments = json!({ "cmd": command, "yield_time_ms": 30_000 }).to_string();
            let item = json!({"type": "function_call", "id": format!("fc_{number:06}"),
                "call_id": format!("call_{number:06}"), "name": "exec_command", "arguments": arguments});
            events(&[created(&id), done(&item), completed(&id)])
        }
        ModelAnswer::Text(text) => {
            let [added, delta, whole] = message(number, text);
            events(&[created(&id), added, delta, whole, completed(&id)])
        }
        ModelAnswer::CutOff(text) => {
            let [added, delta, _] = message(number, text);
            events(&[created(&id), added, delta])
        }
    }
}

/// The exchange whose prompt is the last that fits, and how far it has come.
fn exchange_of<'s>(exchanges: &'s [Exchange], request: &Value) -> Option<(&'s Exchange, usize)> {
    let input = request.get("input")?.as_array()?;
    let fitting = input.iter().enumerate().rev().find_map(|(place, item)| {
        let said = (item.get("role")? == "user").then(|| item.get("content").map(Value::to_string))??;
        let exchange = exchanges.iter().find(|exchange| said.contains(&exchange.prompt))?;
        Some((place, exchange))
    });
    let (place, exchange) = fitting?;
    let answered = |item: &&Value| item.get("type").is_some_and(|kind| kind == "function_call_output");
    Some((exchange, input[place..].iter().filter(answered).count()))
}

fn created(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id, "object": "response", "status": "in_progress", "output": []}})
}

fn message(number: usize, text: &str) -> [Value; 3] {
    let id = format!("msg_{number:06}");
    let item = json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]});
    let added = json!({"type": "response.output_item.added", "output_index": 0,
        "item": {"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []}});
    let delta = json!({"type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0,
        "delta": text});
    [added, delta, done(&item)]
}

fn done(item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": item})
}

fn completed(id: &str) -> Value {
    json!({"type": "response.completed", "response": {"id": id, "object": "response", "status": "completed", "output": [],
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 20,
                  "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120}}})
}

fn events(events: &[Value]) -> Response<Body> {
    let mut text = String::new();
    for event in events {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
    }
    with_type(StatusCode::OK, "text/event-stream", text)
}

fn refusal(status: u16, body: &Value) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_type(status, "application/json", body.to_string())
}

fn with_type(status: StatusCode, content_type: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}

/// Variables that the CLI needs besides [`ScriptedResponses::codex_arguments`].
pub fn codex_environment(home: &std::path::Path) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("OPENAI_API_KEY".to_owned(), "test-key".to_owned()),
        ("CODEX_HOME".to_owned(), home.display().to_string()),
        ("NO_PROXY".to_owned(), "127.0.0.1".to_owned()),
    ])
}
