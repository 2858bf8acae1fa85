//! Files that answers link to: their signed names in addresses, and what a browser is given that opens one without the API's token.
//!
//! Must not know which files may be read. A name tells what the agent wrote, so that a history can have the agent's own words again.

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::stream;
use helix_core::ids::SessionId;
use helix_engine::sessions::{FileSignature, LARGEST_LINKED};
use helix_language::{Language, say};
use tokio::io::AsyncReadExt as _;

use crate::problem::Problem;
use crate::state::ServerState;

/// What the path of each address begins with.
pub(crate) const PATH: &str = "/helix/files/";
/// Bytes that are read and sent at once.
const PIECE: usize = 64 * 1024;
/// What a page may do that a browser makes of a file: nothing.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/// Headers of everything that is opened so.
pub(crate) const GUARDS: [(header::HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "private, no-cache"),
];

/// The name of a file in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileToken {
    pub(crate) session: SessionId,
    /// Where the link leads as the agent wrote it.
    pub(crate) written: String,
    pub(crate) signature: FileSignature,
}

impl FileToken {
    /// As it stands in an address.
    pub(crate) fn text(&self) -> String {
        let name = URL_SAFE_NO_PAD.encode(format!("{}/{}", self.session, self.written));
        format!("{name}.{}", URL_SAFE_NO_PAD.encode(self.signature))
    }

    /// Reads one without checking its signature; `None` if it is not a token.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (name, signature) = text.split_once('.')?;
        let name = String::from_utf8(URL_SAFE_NO_PAD.decode(name).ok()?).ok()?;
        let (session, written) = name.split_once('/')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
        Some(Self { session: SessionId::new(session).ok()?, written: written.to_owned(), signature })
    }
}

/// The file of a token. A person opens it in a browser: where there is none, they read why.
pub(crate) async fn show(shared: &ServerState, token: &str, language: Language) -> Result<Response, Problem> {
    let found = match FileToken::read(token) {
        Some(FileToken { session, written, signature }) => {
            shared.engine.sessions().linked(&session, &written, Some(signature)).await?
        }
        None => None,
    };
    let Some(found) = found else {
        return Ok((StatusCode::NOT_FOUND, GUARDS, say!(language, "link-gone")).into_response());
    };
    let kind = match found.path.extension().map(|end| end.to_ascii_lowercase()).as_deref().and_then(|end| end.to_str())
    {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        _ => "text/plain; charset=utf-8",
    };
    let file = tokio::fs::File::from_std(found.file).take(LARGEST_LINKED);
    let body = stream::try_unfold(file, async |mut file| {
        let mut piece = vec![0; PIECE];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok::<_, std::io::Error>((length > 0).then(|| (Bytes::from(piece), file)))
    });
    Ok((GUARDS, [(header::CONTENT_TYPE, kind)], Body::from_stream(body)).into_response())
}
