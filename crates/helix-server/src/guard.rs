//! Which requests are let in: by Host and Origin, by the bearer token, and by how many came before.
//!
//! Must not know what a request asks for.

use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::host_check::HostRules;
use crate::linked_files;
use crate::openai::{ApiError, is_openai, refusal};
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Paths that need no token: they say only whether the server works.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Whether a path needs no token. The name of a linked file is signed.
pub(crate) fn is_open(path: &str) -> bool {
    OPEN_PATHS.contains(&path) || path.starts_with(linked_files::PATH)
}

/// Lets a request through if it carries the token.
pub(crate) async fn require_token(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let admitted = match &shared.config.token {
        None => true,
        Some(_) if is_open(path) => true,
        Some(token) => carries(request.headers(), token),
    };
    if admitted {
        return next.run(request).await;
    }
    let detail = "this request needs the header `Authorization: Bearer <token>` with this server's token";
    let hint = "the token is in the file `token` of the state directory; `helix serve` prints its path";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, codes::UNAUTHORIZED, detail).hint(hint);
    let mut response = refusal(problem, path);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
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

/// Compares in constant time; only the token's length can be learnt from the time it takes.
fn carries(headers: &HeaderMap, token: &str) -> bool {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return false };
    let value = value.as_bytes();
    let Some((scheme, given)) = value.split_at_checked(7) else { return false };
    scheme.eq_ignore_ascii_case(b"bearer ") && given.trim_ascii().ct_eq(token.as_bytes()).into()
}

#[cfg(test)]
#[path = "guard_test.rs"]
mod tests;
