//! Request bodies: read whole, within a size and a time. Must not know what they mean.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};

use crate::problem::{Problem, codes};

/// Time limit for a body.
pub(crate) const TIME: Duration = Duration::from_secs(120);

/// Reads the body of a request with this head.
///
/// # Errors
/// A [`Problem`] when it is too large, too slow, encoded or broken. What is compressed has no known size before it is unpacked.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limit: usize, time: Duration) -> Result<Bytes, Problem> {
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        let detail =
            format!("the body is encoded as {encoding}, which is not supported; send it without `Content-Encoding`");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, codes::BAD_REQUEST, detail));
    }
    match tokio::time::timeout(time, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => {
            let detail = format!("the body is larger than {limit} bytes");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, codes::TOO_LARGE, detail))
        }
        Ok(Err(error)) => Err(Problem::bad_request(format!("cannot read the body: {error}"))),
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", time.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, codes::BODY_TIMEOUT, detail))
        }
    }
}

fn is_limit(error: &axum::Error) -> bool {
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.any(|cause| cause.is::<http_body_util::LengthLimitError>())
}

#[cfg(test)]
#[path = "body_test.rs"]
mod tests;
