//! The bearer token. Must not know where it comes from.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use crate::openai::ApiError;
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Paths that answer without a token: they say nothing but whether the server works.
pub(crate) const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

const MESSAGE: &str = "the request needs the header `Authorization: Bearer <token>` with this server's token";
const HINT: &str = "the token is in the file `token` of the state directory; `helix serve` prints its path";

/// Lets a request through if it carries the token. [54]
pub(crate) async fn require_token(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let admitted = match &shared.config.token {
        None => true,
        Some(_) if OPEN_PATHS.contains(&path) => true,
        Some(token) => carries(request.headers(), token),
    };
    if admitted {
        return next.run(request).await;
    }
    let mut response = if is_openai(path) {
        ApiError::unauthorized(format!("{MESSAGE}; {HINT}")).into_response()
    } else {
        Problem::new(StatusCode::UNAUTHORIZED, codes::UNAUTHORIZED, MESSAGE).hint(HINT).into_response()
    };
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Whether errors of this path have OpenAI's form.
pub(crate) fn is_openai(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// Compares in constant time; only the token's length can be learnt from the time it takes.
fn carries(headers: &HeaderMap, token: &str) -> bool {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return false };
    let value = value.as_bytes();
    let Some((scheme, given)) = value.split_at_checked(7) else { return false };
    scheme.eq_ignore_ascii_case(b"bearer ") && given.trim_ascii().ct_eq(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))])
    }

    #[test]
    fn only_the_whole_token_opens() {
        for good in ["Bearer hx-1", "bearer hx-1", "Bearer  hx-1 "] {
            assert!(carries(&with(good), "hx-1"), "{good}");
        }
        for bad in ["", "Bearer", "Bearer ", "Bearer hx-", "Bearer hx-12", "Basic hx-1", "hx-1", "Bearerhx-1"] {
            assert!(!carries(&with(bad), "hx-1"), "{bad}");
        }
        assert!(!carries(&HeaderMap::new(), "hx-1"));
    }
}
