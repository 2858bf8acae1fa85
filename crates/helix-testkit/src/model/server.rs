//! Serves a script over HTTP on loopback, and records what was asked.
//!
//! Must not know what scripts mean: it carries out what was chosen, byte for byte.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use axum::serve::{IncomingStream, Listener};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::ReceiverStream;

use super::choose::{Choice, Uses, choose, whole_message};
use super::fault::{ErrorBody, Fault, FaultKind, error_body};
use super::request::{RecordedRequest, RequestView};
use super::script::Script;
use super::stream::{Ending, Script as Stream};
use crate::sandbox::TEST_KEY;

/// Says why the endpoint did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken, or loopback is not there.
    #[error("127.0.0.1:{port} cannot be listened on")]
    Listen {
        /// The port asked for; 0 means any.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The thread or its runtime cannot be made.
    #[error("the endpoint's thread cannot be started")]
    Thread(#[source] io::Error),
    /// The thread ended before it listened.
    #[error("the endpoint's thread ended before it listened")]
    Ended,
}

/// Says that requests did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("{got} of {wanted} model requests came within {within:?}")]
pub struct WaitError {
    /// How many were waited for.
    pub wanted: usize,
    /// How many came.
    pub got: usize,
    /// How long was waited.
    pub within: Duration,
}

/// A running endpoint; dropping it closes every connection.
///
/// It runs on a thread of its own, so that tests with and without a runtime can use it alike.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    count: watch::Receiver<usize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    log: Mutex<Log>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Log {
    messages: Vec<RecordedRequest>,
    others: Vec<RecordedRequest>,
    failures: Vec<String>,
    uses: Uses,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptedModel {
    /// Starts an endpoint on a free port.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(script: Script) -> Result<Self, StartError> {
        let (model, ready) = Self::spawn(script, 0)?;
        model.settle(ready.await)
    }

    /// The same without a runtime.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start_blocking(script: Script) -> Result<Self, StartError> {
        Self::start_on(script, 0)
    }

    /// The same on a given port; 0 means any. Blocks until it listens.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start_on(script: Script, port: u16) -> Result<Self, StartError> {
        let (model, ready) = Self::spawn(script, port)?;
        model.settle(ready.blocking_recv())
    }

    fn spawn(
        script: Script,
        port: u16,
    ) -> Result<(Self, oneshot::Receiver<Result<SocketAddr, StartError>>), StartError> {
        let (count_sender, count) = watch::channel(0);
        let shared = Arc::new(Shared { script, log: Mutex::default(), count: count_sender });
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready_sender, ready) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let serving = Arc::clone(&shared);
        let serve = move || {
            runtime.block_on(async move {
                let bound = bind(port).await;
                let (listener, address) = match bound {
                    Ok(bound) => bound,
                    Err(error) => return drop(ready_sender.send(Err(error))),
                };
                let routes = Router::new()
                    .fallback(handle)
                    .layer(DefaultBodyLimit::disable())
                    .with_state(serving)
                    .into_make_service_with_connect_info::<Resetter>();
                drop(ready_sender.send(Ok(address)));
                tokio::select! {
                    _ = axum::serve(ResettingListener(listener), routes) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread =
            std::thread::Builder::new().name("scripted-model".into()).spawn(serve).map_err(StartError::Thread)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok((Self { address, shared, count, stop: Some(stop), thread: Some(thread) }, ready))
    }

    fn settle<E>(mut self, ready: Result<Result<SocketAddr, StartError>, E>) -> Result<Self, StartError> {
        self.address = ready.map_err(|_| StartError::Ended)??;
        Ok(self)
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests for messages so far, in order.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.log().messages.clone()
    }

    /// All other requests so far (`HEAD /`, `count_tokens`, …).
    pub fn other_requests(&self) -> Vec<RecordedRequest> {
        self.shared.log().others.clone()
    }

    /// Everything that the script did not foresee.
    pub fn failures(&self) -> Vec<String> {
        self.shared.log().failures.clone()
    }

    /// Asserts that the script foresaw every request.
    ///
    /// # Panics
    /// If it did not; the message lists what came.
    #[track_caller]
    pub fn assert_no_failures(&self) {
        let failures = self.failures();
        assert!(
            failures.is_empty(),
            "the scripted model was asked what its script does not foresee:\n{}",
            failures.join("\n")
        );
    }

    /// Waits until `wanted` requests for messages have come in, and returns all of them.
    ///
    /// # Errors
    /// [`WaitError`] if that takes longer than `within`.
    pub async fn wait_for(&self, wanted: usize, within: Duration) -> Result<Vec<RecordedRequest>, WaitError> {
        let mut count = self.count.clone();
        let waited = tokio::time::timeout(within, count.wait_for(|count| *count >= wanted)).await;
        match waited {
            Ok(Ok(_)) => Ok(self.requests()),
            Ok(Err(_)) | Err(_) => Err(WaitError { wanted, got: self.requests().len(), within }),
        }
    }

    /// The same without a runtime.
    ///
    /// # Errors
    /// [`WaitError`]; also if no runtime can be made.
    pub fn wait_for_blocking(&self, wanted: usize, within: Duration) -> Result<Vec<RecordedRequest>, WaitError> {
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(self.wait_for(wanted, within)),
            Err(_) => Err(WaitError { wanted, got: self.requests().len(), within }),
        }
    }

    /// Closes every connection and waits for the thread.
    pub fn shutdown(mut self) {
        self.close();
    }

    fn close(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already; that is what is wanted.
            let _gone = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.close();
    }
}

async fn bind(port: u16) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |source| StartError::Listen { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Accepts connections that can be reset.
struct ResettingListener(TcpListener);

impl Listener for ResettingListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            if let Ok((stream, address)) = self.0.accept().await {
                drop(stream.set_nodelay(true));
                return (Connection { stream, resetter: Resetter::default() }, address);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Asks a connection to be reset when it is dropped.
#[derive(Debug, Clone, Default)]
struct Resetter(Arc<AtomicBool>);

impl Connected<IncomingStream<'_, ResettingListener>> for Resetter {
    fn connect_info(stream: IncomingStream<'_, ResettingListener>) -> Self {
        stream.io().resetter.clone()
    }
}

struct Connection {
    stream: TcpStream,
    resetter: Resetter,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.resetter.0.load(Ordering::Relaxed) {
            // Without it the client sees an end of file instead of a reset, which it treats alike.
            drop(self.stream.set_zero_linger());
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<io::Result<usize>> {
        std::pin::Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(resetter): ConnectInfo<Resetter>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let path = uri.path_and_query().map_or_else(|| "/".to_owned(), |path| path.as_str().to_owned());
    let parsed = serde_json::from_slice(&body);
    let recorded = RecordedRequest {
        number: 0,
        method: method.to_string(),
        path,
        headers: readable(&headers),
        body: match &parsed {
            Ok(value) => Value::clone(value),
            Err(_) => Value::Null,
        },
        answered_by: None,
    };
    match (&method, uri.path()) {
        (&Method::POST, "/v1/messages") => match parsed {
            Ok(_) => message(&shared, resetter, recorded).await,
            Err(error) => {
                shared.log().failures.push(format!("the body of a request for messages is no JSON: {error}"));
                json_response(StatusCode::BAD_REQUEST, &error_body("invalid_request_error", &error.to_string()))
            }
        },
        (&Method::POST, "/v1/messages/count_tokens") => {
            other(&shared, recorded);
            json_response(StatusCode::OK, &json!({"input_tokens": body.len().div_ceil(4)}))
        }
        (&Method::GET, "/_scripted/requests") => json_response(StatusCode::OK, &json!(shared.log().messages)),
        (&Method::GET, "/_scripted/failures") => json_response(StatusCode::OK, &json!(shared.log().failures)),
        (&Method::HEAD | &Method::GET, "/" | "/api/hello") => {
            other(&shared, recorded);
            json_response(StatusCode::OK, &json!({"message": "hello"}))
        }
        _ => {
            other(&shared, recorded);
            json_response(StatusCode::NOT_FOUND, &error_body("not_found_error", "the scripted model has no such path"))
        }
    }
}

fn other(shared: &Shared, mut recorded: RecordedRequest) {
    let mut log = shared.log();
    recorded.number = log.others.len() as u64 + 1;
    log.others.push(recorded);
}

async fn message(shared: &Arc<Shared>, resetter: Resetter, mut recorded: RecordedRequest) -> Response<Body> {
    let (chosen, view, request_id) = {
        let mut guard = shared.log();
        let log = &mut *guard;
        recorded.number = log.messages.len() as u64 + 1;
        let view = RequestView::new(recorded.number, &recorded.body, &recorded.headers);
        let chosen = choose(&shared.script, &mut log.uses, &view);
        recorded.answered_by = chosen.as_ref().ok().map(|choice| choice.by.clone());
        log.messages.push(recorded);
        let count = log.messages.len();
        let request_id = format!("req_scripted{:06}", log.uses.id());
        shared.count.send_replace(count);
        (chosen, view, request_id)
    };
    let response = match chosen {
        Err(failure) => Err(failure),
        Ok(choice) => respond(choice, view.stream, resetter).await,
    };
    let mut response = response.unwrap_or_else(|failure| {
        shared.log().failures.push(failure.clone());
        let body = error_body("invalid_request_error", &format!("scripted model: {failure}"));
        let mut response = json_response(StatusCode::BAD_REQUEST, &body);
        insert_header(response.headers_mut(), "x-should-retry", "false");
        response
    });
    insert_header(response.headers_mut(), "request-id", &request_id);
    response
}

async fn respond(choice: Choice, stream: bool, resetter: Resetter) -> Result<Response<Body>, String> {
    let Choice { answer, fault, .. } = choice;
    tokio::time::sleep(Duration::from_millis(answer.first_delay_ms)).await;
    let fault = fault.as_ref();
    if let Some(error) = fault.and_then(Fault::http_error) {
        let mut response = match &error.body {
            ErrorBody::Json(body) => json_response(error.status, body),
            ErrorBody::Html(page) => text_response(error.status, "text/html", page.clone()),
        };
        add_headers(response.headers_mut(), &answer.headers);
        if let Some(fault) = fault {
            add_fault_headers(response.headers_mut(), fault);
        }
        return Ok(response);
    }
    match fault.map(|fault| fault.kind) {
        Some(FaultKind::HangBeforeHeaders) => std::future::pending::<()>().await,
        Some(FaultKind::ResetBeforeHeaders) => {
            // An answer whose body fails at once is the only way to make the server drop a connection.
            resetter.0.store(true, Ordering::Relaxed);
            let failing = futures::stream::once(async { Err::<Bytes, _>(io::Error::other("scripted reset")) });
            return Ok(Response::new(Body::from_stream(failing)));
        }
        _ => {}
    }
    let mut response = if stream {
        let script = answer.stream(fault)?;
        let mut response = Response::new(stream_body(script, resetter));
        insert_header(response.headers_mut(), "content-type", "text/event-stream; charset=utf-8");
        insert_header(response.headers_mut(), "cache-control", "no-cache");
        response
    } else {
        let stop_reason = fault.and_then(Fault::stop_reason).unwrap_or(&answer.stop_reason);
        let mut answer = answer.clone();
        if fault.is_some_and(|fault| fault.kind == FaultKind::EmptyContent) {
            answer.blocks.clear();
        }
        json_response(StatusCode::OK, &whole_message(&answer, stop_reason))
    };
    add_headers(response.headers_mut(), &answer.headers);
    if let Some(fault) = fault {
        add_fault_headers(response.headers_mut(), fault);
    }
    Ok(response)
}

fn stream_body(script: Stream, resetter: Resetter) -> Body {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, io::Error>>(16);
    // The task ends with the connection: every send fails once the client is gone.
    tokio::spawn(async move {
        for event in script.events {
            tokio::time::sleep(Duration::from_millis(script.delay_ms)).await;
            if sender.send(Ok(Bytes::from(event))).await.is_err() {
                return;
            }
        }
        match script.ending {
            Ending::Closed => {}
            Ending::Hang => sender.closed().await,
            Ending::Reset { after_ms } => {
                tokio::time::sleep(Duration::from_millis(after_ms)).await;
                resetter.0.store(true, Ordering::Relaxed);
                drop(sender.send(Err(io::Error::other("scripted reset"))).await);
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    text_response(status, "application/json", body.to_string())
}

fn text_response(status: StatusCode, content_type: &str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    insert_header(response.headers_mut(), "content-type", content_type);
    response
}

fn add_headers(headers: &mut HeaderMap, wanted: &BTreeMap<String, String>) {
    for (name, value) in wanted {
        insert_header(headers, name, value);
    }
}

fn add_fault_headers(headers: &mut HeaderMap, fault: &Fault) {
    if let Some(seconds) = fault.retry_after {
        insert_header(headers, "retry-after", &seconds.to_string());
    }
    if let Some(seconds) = fault.resets_in {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let reset = (now + seconds).to_string();
        for (name, value) in [
            ("status", "rejected"),
            ("reset", &reset),
            ("representative-claim", "five_hour"),
            ("5h-status", "rejected"),
            ("5h-reset", &reset),
            ("5h-utilization", "1.0"),
            ("fallback-percentage", "0.5"),
            ("overage-status", "rejected"),
            ("overage-disabled-reason", "org_level_disabled"),
        ] {
            insert_header(headers, &format!("anthropic-ratelimit-unified-{name}"), value);
        }
    }
    add_headers(headers, &fault.headers);
}

/// Headers that cannot be written are left out: scripts name them, and the test that wants one sees it missing.
fn insert_header(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

fn readable(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut readable = BTreeMap::new();
    for (name, value) in headers {
        let own = value.as_bytes().ends_with(TEST_KEY.as_bytes());
        let secret = !own && matches!(name.as_str(), "authorization" | "x-api-key" | "cookie");
        let text =
            if secret { "[redacted]".to_owned() } else { String::from_utf8_lossy(value.as_bytes()).into_owned() };
        readable.insert(name.as_str().to_owned(), text);
    }
    readable
}
