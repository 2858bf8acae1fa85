//! The bearer token. Must not know where it comes from.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq;

use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Paths that need no token: they say only whether the server works.
pub(crate) const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Lets a request through if it carries the token.
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
    let detail = "this request needs the header `Authorization: Bearer <token>` with this server's token";
    let hint = "the token is in the file `token` of the state directory; `helix serve` prints its path";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, codes::UNAUTHORIZED, detail).hint(hint);
    let mut response = problem.respond_at(path);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
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
