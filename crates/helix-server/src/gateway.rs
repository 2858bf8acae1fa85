//! The gateway to an agent's provider: takes the run's key, passes on what is asked with the provider's, and the answer as it comes.
//!
//! Must not know what is asked or answered: bodies pass unread, and nothing of them is kept or logged.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use helix_core::error_chain;
use helix_engine::Passage;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use reqwest::redirect::Policy;
use reqwest::{Body, Certificate, Client, NoProxy, Proxy, Url};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Most connections of one run; further ones wait.
const MOST_CONNECTIONS: usize = 64;
const CONNECT: Duration = Duration::from_secs(30);

/// Headers of one connection, and those that the next one writes itself.
const OF_A_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::HOST,
    header::EXPECT,
];

/// Serves a run's passage to its provider until the process ends. Has to be called on a thread without a runtime.
///
/// # Errors
/// The system gives no runtime, or does not let it use the listener.
pub fn serve_gateway(passage: Passage) -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(passage))
}

async fn serve(passage: Passage) -> io::Result<()> {
    passage.listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(passage.listener)?;
    let client = client(&passage.provider, &passage.environment);
    let gate = Arc::new(Gate { client, provider: passage.provider, keys: passage.keys });
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = Arc::clone(&permits).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptor is free, for example.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let gate = Arc::clone(&gate);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let gate = Arc::clone(&gate);
                async move { Ok::<_, Infallible>(gate.pass(request).await) }
            });
            // Small pieces of a stream are not to wait for more, and a connection that breaks off is noticed.
            drop(stream.set_nodelay(true));
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
            drop(permit);
        });
    }
}

/// Who asks the provider as the agent itself would: by its proxies, with its certificates.
fn client(provider: &str, environment: &[(String, String)]) -> Result<Client, String> {
    let set = |name: &str| {
        let found = environment.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    // The system's certificates take a while to read.
    let tls = provider.starts_with("https:");
    let mut client = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .tls_built_in_root_certs(tls);
    for file in ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"].into_iter().filter_map(set).filter(|_| tls) {
        let read = std::fs::read(file).map_err(|error| format!("cannot read the certificates in {file}: {error}"))?;
        let found = Certificate::from_pem_bundle(&read).map_err(|error| format!("{file}: {}", error_chain(&error)))?;
        client = found.into_iter().fold(client, reqwest::ClientBuilder::add_root_certificate);
    }
    let proxy = if tls { set("HTTPS_PROXY") } else { set("HTTP_PROXY") };
    if let Some(proxy) = proxy {
        let proxy = Proxy::all(proxy).map_err(|error| format!("the proxy cannot be used: {}", error_chain(&error)))?;
        client = client.proxy(proxy.no_proxy(set("NO_PROXY").and_then(NoProxy::from_string)));
    }
    client.build().map_err(|error| error_chain(&error))
}

struct Gate {
    client: Result<Client, String>,
    provider: String,
    keys: Vec<(String, String)>,
}

impl Gate {
    async fn pass(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let mut headers = parts.headers;
        if headers.contains_key(header::UPGRADE) {
            return refuse(
                StatusCode::UPGRADE_REQUIRED,
                "invalid_request_error",
                "Helix's gateway speaks HTTP/1.1 only",
            );
        }
        if !self.exchange(&mut headers) {
            let why = "Helix's gateway: this is not the key of the run";
            return refuse(StatusCode::UNAUTHORIZED, "authentication_error", why);
        }
        let Some(target) = parts.uri.path_and_query().and_then(|asked| self.target(asked.as_str())) else {
            let why = "Helix's gateway leads to the provider's address alone";
            return refuse(StatusCode::FORBIDDEN, "permission_error", why);
        };
        OF_A_CONNECTION.iter().for_each(|name| drop(headers.remove(name)));
        let client = match &self.client {
            Ok(client) => client,
            Err(why) => return self.unreachable(why),
        };
        let asked = client.request(parts.method, target).headers(headers).body(Body::wrap(body)).send();
        match asked.await {
            Ok(answer) => {
                let mut answer = Response::<Body>::from(answer);
                OF_A_CONNECTION.iter().for_each(|name| drop(answer.headers_mut().remove(name)));
                answer
            }
            Err(error) => self.unreachable(&error_chain(&error.without_url())),
        }
    }

    /// Puts the provider's key in the place of the run's; whether there was one.
    fn exchange(&self, headers: &mut HeaderMap) -> bool {
        let mut known = false;
        for value in headers.values_mut() {
            let Ok(text) = value.to_str() else { continue };
            let (scheme, given) = text.split_once(' ').map_or(("", text), |(scheme, given)| (scheme, given.trim()));
            let own = self.keys.iter().find(|(own, _)| bool::from(own.as_bytes().ct_eq(given.as_bytes())));
            let Some((_, key)) = own else { continue };
            let Ok(mut new) = HeaderValue::from_str(format!("{scheme} {key}").trim_start()) else { continue };
            new.set_sensitive(true);
            (*value, known) = (new, true);
        }
        known
    }

    /// What is asked of the provider; `None` where that is not below its address.
    fn target(&self, asked: &str) -> Option<Url> {
        let provider = Url::parse(&self.provider).ok()?;
        let mut target = provider.clone();
        let (path, query) = asked.split_once('?').map_or((asked, None), |(path, query)| (path, Some(query)));
        target.set_path(path);
        target.set_query(query);
        let root = provider.path().trim_end_matches('/');
        let rest = target.path().strip_prefix(root)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(target)
    }

    fn unreachable(&self, why: &str) -> Response<Body> {
        let provider =
            Url::parse(&self.provider).map_or_else(|_| String::new(), |url| url.origin().ascii_serialization());
        let why = format!("Helix's gateway cannot reach the provider at {provider}: {why}");
        refuse(StatusCode::BAD_GATEWAY, "api_error", &why)
    }
}

/// An error in the form of providers.
fn refuse(status: StatusCode, kind: &str, why: &str) -> Response<Body> {
    let body = serde_json::json!({ "type": "error", "error": { "type": kind, "message": why } }).to_string();
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

#[cfg(test)]
#[path = "gateway_test.rs"]
mod tests;
