//! Request bodies: read whole, within a size and a time. Must not know what they mean.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// It is larger than allowed.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// Allowed size in bytes.
        limit: usize,
    },
    /// It took too long.
    #[error("the body did not arrive within {} s", limit.as_secs())]
    TooSlow { limit: Duration },
    /// It is compressed: its size is known only after unpacking.
    #[error("the body is encoded as {encoding}, which is not supported; send it without `Content-Encoding`")]
    Encoded {
        /// What the header says.
        encoding: String,
    },
    #[error("cannot read the body: {0}")]
    Broken(String),
}

/// Reads the body of a request with this head.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limit: usize, time: Duration) -> Result<Bytes, BodyError> {
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        return Err(BodyError::Encoded { encoding: String::from_utf8_lossy(encoding.as_bytes()).into_owned() });
    }
    match tokio::time::timeout(time, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => Err(BodyError::TooLarge { limit }),
        Ok(Err(error)) => Err(BodyError::Broken(error.to_string())),
        Err(_) => Err(BodyError::TooSlow { limit: time }),
    }
}

fn is_limit(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_over_the_limit_is_told_from_a_broken_one() {
        let time = Duration::from_secs(1);
        assert_eq!(read(&HeaderMap::new(), Body::from("12345"), 5, time).await.unwrap(), "12345");
        assert!(matches!(
            read(&HeaderMap::new(), Body::from("123456"), 5, time).await,
            Err(BodyError::TooLarge { limit: 5 })
        ));
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let stream = futures::stream::pending::<Result<Bytes, std::io::Error>>();
        let read = read(&HeaderMap::new(), Body::from_stream(stream), 5, Duration::from_millis(1)).await;
        assert!(matches!(read, Err(BodyError::TooSlow { .. })));
    }
}
