//! Who reads a page, and in which language. Must not know which page.

use axum::extract::FromRequestParts;
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use helix_job::Person;
use helix_language::Language;

/// Who was let in; an extension of each request.
#[derive(Debug, Clone)]
pub struct Visitor(pub Person);

/// Who reads, and how.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) language: Language,
    pub(crate) person: Person,
}

/// The language that a browser asks for first among those that Helix speaks.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|asked| asked.to_str().ok());
    asked.and_then(Language::of_tag).unwrap_or_default()
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        match parts.extensions.get::<Visitor>() {
            Some(Visitor(person)) => Ok(Self { language: language(&parts.headers), person: person.clone() }),
            // The server that mounts the pages asks people to log in.
            None => Err(StatusCode::UNAUTHORIZED),
        }
    }
}
