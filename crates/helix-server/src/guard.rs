//! Which requests are let in: by Host and Origin, by who sends them, and by how many came before.
//!
//! Must not know what a request asks for.

use std::time::Instant;

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;

use crate::body;
use crate::digest::digest;
use crate::host_check::HostRules;
use crate::linked_files;
use crate::openai::{ApiError, is_openai, refusal};
use crate::principal::{Peer, Principal, RequestedRoute, authenticate, visitor};
use crate::problem::{Problem, codes};
use crate::profile::FORWARDED_USER_HEADER;
use crate::state::ServerState;

/// Paths that need no token: they say only whether the server works.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Whether a path needs no token. The name of a linked file is signed.
pub(crate) fn is_open(path: &str) -> bool {
    // Some clients end every address with a slash.
    OPEN_PATHS.contains(&path.strip_suffix('/').unwrap_or(path)) || path.starts_with(linked_files::PATH)
}

/// Lets a request through whose sender may send it, and says to what answers it who that is.
pub(crate) async fn require_principal(State(shared): State<ServerState>, request: Request, next: Next) -> Response {
    if is_open(request.uri().path()) {
        return next.run(request).await.map(masked);
    }
    // A body may be sent to another thread, but not looked at from two.
    let (mut parts, body) = request.into_parts();
    let route = parts.extensions.get::<MatchedPath>().map_or("no route", MatchedPath::as_str).to_owned();
    let asked = RequestedRoute { method: &parts.method, route: &route };
    let admitted = async {
        let peer = parts.extensions.get::<Peer>();
        let principal = authenticate(&shared, &parts.headers, peer, &asked).await?;
        principal.may(&shared.engine, &asked).await?;
        // What an agent says here is recorded and shown like what it prints. Frames may end within a value.
        let body = match principal {
            Principal::Agent(_) => {
                masked(body::read(&parts.headers, body, shared.config.body_limit, body::TIME).await?.into())
            }
            Principal::Person(_) | Principal::Chat(_) => body,
        };
        Ok::<_, Problem>((principal, body))
    };
    match admitted.await {
        Ok((principal, body)) => {
            let forwarded = parts.headers.get(FORWARDED_USER_HEADER).map(|user| user.as_bytes().trim_ascii());
            let owner = principal.owner(forwarded).and_then(|owner| HeaderValue::from_str(&owner).ok());
            if let Some(owner) = owner {
                parts.headers.insert(FORWARDED_USER_HEADER, owner);
            }
            parts.extensions.insert(principal);
            let mut answer = next.run(Request::from_parts(parts, body)).await;
            // A length that is known stays known: what is masked is as long as it was.
            if let Some(length) = answer.body().size_hint().exact() {
                answer.headers_mut().entry(header::CONTENT_LENGTH).or_insert(length.into());
            }
            answer.map(masked)
        }
        Err(problem) => {
            let is_unknown = problem.status == StatusCode::UNAUTHORIZED.as_u16();
            let mut response = refusal(problem, parts.uri.path());
            if is_unknown {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            response
        }
    }
}

/// A body without the values that this host knows and that nobody may read; as long as it was.
fn masked(body: Body) -> Body {
    let secrets = helix_engine::secrets::held();
    if secrets.is_empty() {
        return body;
    }
    Body::new(body.map_frame(move |frame| {
        frame.map_data(|data| {
            let mut shown = data.to_vec();
            if secrets.mask_known_values(&mut shown) { shown.into() } else { data }
        })
    }))
}

/// Lets a request to a page through of somebody who is logged in, and says to the page who that is. Nothing that an agent has started gets in,
/// whatever it shows, and a form counts only where a page of this server has sent it.
pub(crate) async fn require_visitor(State(shared): State<ServerState>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path.starts_with(helix_web::ASSETS) {
        return next.run(request).await;
    }
    let route = request.extensions().get::<MatchedPath>().map_or(path, MatchedPath::as_str).to_owned();
    let (method, headers, peer) =
        (request.method().clone(), request.headers().clone(), request.extensions().get::<Peer>().cloned());
    if !is_from_own_page(&method, &headers) {
        return helix_web::refuse(&headers, codes::FORBIDDEN_HOST, "no page of this host has sent this form", None);
    }
    if path == helix_web::LOGIN
        && let Some(Peer::Tcp(peer)) = &peer
        && peer.is_of_other_user().await
    {
        return helix_web::refuse(
            &headers,
            codes::FORBIDDEN_HOST,
            "another user of this machine cannot log in here",
            None,
        );
    }
    match visitor(&shared, &headers, peer.as_ref(), &RequestedRoute { method: &method, route: &route }).await {
        Err(problem) => helix_web::refuse(&headers, &problem.code, &problem.detail, problem.hint.as_deref()),
        Ok(None) if path != helix_web::LOGIN => helix_web::ask_to_log_in(&headers),
        Ok(person) => {
            if let Some(person) = person {
                request.extensions_mut().insert(helix_web::Visitor(person));
            }
            next.run(request).await.map(masked)
        }
    }
}

/// Whether a request that changes something was sent by a page of the server that it goes to. Browsers say so with every form.
fn is_from_own_page(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let own = || {
        let (_, origin) = text(header::ORIGIN)?.split_once("://")?;
        Some(origin.eq_ignore_ascii_case(text(header::HOST)?))
    };
    [Method::GET, Method::HEAD].contains(method) || own().unwrap_or_default()
}

/// Lets a request of the OpenAI-compatible API through if its key has one left. Reading is free.
pub(crate) async fn require_room(State(shared): State<ServerState>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_openai(request.uri().path()) {
        return next.run(request).await;
    }
    // The user is the one that a chat server forwards for. Both are digested, since buckets are kept.
    let sender = format!("{:?}", request.extensions().get::<Principal>());
    let user = request.headers().get(FORWARDED_USER_HEADER).map(HeaderValue::as_bytes);
    match shared.rate_limit.take(digest([sender.as_bytes(), user.unwrap_or_default()]), Instant::now()) {
        Ok(()) => next.run(request).await,
        Err((per_minute, seconds)) => ApiError::too_many_requests(per_minute, seconds).into_response(),
    }
}

/// Lets a request through if it names this server and no foreign page sent it.
pub(crate) async fn require_host(State(rules): State<HostRules>, request: Request, next: Next) -> Response {
    match rules.check(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(message) => {
            let problem = Problem::new(StatusCode::FORBIDDEN, codes::FORBIDDEN_HOST, message);
            refusal(problem, request.uri().path())
        }
    }
}
