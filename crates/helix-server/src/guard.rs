//! Which requests are let in: by Host and Origin, by who sends them, and by how many came before.
//!
//! Must not know what a request asks for.

use std::time::Instant;

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;

use crate::host_check::HostRules;
use crate::linked_files;
use crate::openai::{ApiError, is_openai, refusal};
use crate::principal::{Asked, Peer, Principal, authenticate};
use crate::problem::{Problem, codes};
use crate::profile::FORWARDED_USER_HEADER;
use crate::shared::Shared;

/// Paths that need no token: they say only whether the server works.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Whether a path needs no token. The name of a linked file is signed.
pub(crate) fn is_open(path: &str) -> bool {
    OPEN_PATHS.contains(&path) || path.starts_with(linked_files::PATH)
}

/// Lets a request through whose sender may send it, and says to what answers it who that is.
pub(crate) async fn require_principal(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    if is_open(request.uri().path()) {
        return next.run(request).await;
    }
    // A body may be sent to another thread, but not looked at from two.
    let (mut parts, body) = request.into_parts();
    let route = parts.extensions.get::<MatchedPath>().map_or("no route", MatchedPath::as_str).to_owned();
    let asked = Asked { method: &parts.method, route: &route };
    let admitted = async {
        let peer = parts.extensions.get::<Peer>();
        let principal = authenticate(&shared, &parts.headers, peer, &asked).await?;
        principal.may(&shared.engine, &asked).await.map(|()| principal)
    };
    match admitted.await {
        Ok(principal) => {
            let forwarded = parts.headers.get(FORWARDED_USER_HEADER).map(|user| user.as_bytes().trim_ascii());
            let owner = principal.owner(forwarded).and_then(|owner| HeaderValue::from_str(&owner).ok());
            if let Some(owner) = owner {
                parts.headers.insert(FORWARDED_USER_HEADER, owner);
            }
            // What an agent says here is recorded and shown like what it prints.
            let body = if matches!(principal, Principal::Agent(_)) { masked(body) } else { body };
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

/// Lets a request of the OpenAI-compatible API through if its key has one left. Reading is free.
pub(crate) async fn require_room(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_openai(request.uri().path()) {
        return next.run(request).await;
    }
    match shared.rate_limit.admit(request.headers(), Instant::now()) {
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
