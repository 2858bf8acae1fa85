//! The files of the pages, compiled in. Their names change with what they hold, so that browsers may keep them.
//!
//! Must not know which page uses which.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::ASSETS;

/// A file.
struct Asset {
    file: &'static str,
    kind: &'static str,
    content: &'static str,
    /// Its name in addresses.
    name: String,
}

static FILES: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files = [
        ("style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
        ("pages.js", "text/javascript; charset=utf-8", include_str!("assets/pages.js")),
        ("mark.svg", "image/svg+xml", include_str!("assets/mark.svg")),
    ];
    let named = files.into_iter().map(|(file, kind, content)| {
        let digest = format!("{:x}", Sha256::digest(content));
        Asset { file, kind, content, name: format!("{}-{file}", &digest[..12]) }
    });
    named.collect()
});

/// The address of a file.
pub(crate) fn address(file: &str) -> String {
    let found = FILES.iter().find(|one| one.file == file);
    format!("{ASSETS}{}", found.map_or(file, |one| &one.name))
}

/// `GET /assets/{name}`
pub(crate) async fn show(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|one| one.name == name) {
        Some(Asset { kind, content, .. }) => {
            let headers =
                [(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
            (headers, *content).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
