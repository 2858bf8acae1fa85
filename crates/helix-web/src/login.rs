//! Getting in and out: a code becomes a session, and its cookie. Must not know who makes codes.

use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::ids::JobId;
use helix_language::say;
use maud::{Markup, html};
use serde::Deserialize;

use crate::Pages;
use crate::cookie::{kept, session_of};
use crate::layout::{document, mark};
use crate::page_error::PageError;
use crate::reader::{Reader, language};

/// The path that logs in.
pub const LOGIN: &str = "/login";

/// The query of the address that logs in.
#[derive(Debug, Deserialize)]
pub(crate) struct Login {
    code: Option<String>,
    /// The job to look at first.
    job: Option<String>,
}

/// `GET /login`
pub(crate) async fn log_in(
    State(pages): State<Pages>,
    method: Method,
    headers: HeaderMap,
    Query(Login { code, job }): Query<Login>,
) -> Response {
    // Who looks at an address without opening it does not use it up.
    let Some(code) = code.filter(|_| method == Method::GET) else { return ask_to_log_in(&headers) };
    let logins = pages.engine.logins().clone();
    let made = tokio::task::spawn_blocking(move || logins.log_in(&code)).await;
    let language = language(&headers);
    match made {
        Ok(Ok(Some(token))) => {
            let job = job.and_then(|job| JobId::new(job).ok());
            let next = job.map_or_else(|| "/".to_owned(), |job| format!("/jobs/{job}"));
            // Not a redirect: a browser that comes from elsewhere would not show the cookie where that leads.
            let body = alone(html! {
                h1 { (say!(language, "web-logged-in")) }
                p { a.button href=(next) { (say!(language, "web-go-on")) } }
            });
            let page = document(language.code(), &say!(language, "web-logged-in"), Some(&next), body);
            ([(header::SET_COOKIE, kept(&headers, Some(&token)))], page).into_response()
        }
        Ok(Ok(None)) => refusal(&headers, Some(&say!(language, "web-code-spent"))),
        Ok(Err(error)) => refusal(&headers, Some(PageError::from(error).message())),
        Err(error) => refusal(&headers, Some(&error.to_string())),
    }
}

/// `POST /logout`
pub(crate) async fn log_out(State(pages): State<Pages>, _: Reader, headers: HeaderMap) -> Response {
    if let Some(token) = session_of(&headers).map(str::to_owned) {
        let logins = pages.engine.logins().clone();
        let ended = tokio::task::spawn_blocking(move || logins.log_out(&token)).await;
        if let Ok(Err(error)) = ended {
            return refusal(&headers, Some(PageError::from(error).message()));
        }
    }
    let language = language(&headers);
    let body = alone(html! {
        h1 { (say!(language, "web-logged-out")) }
        p { (say!(language, "web-log-in-again")) }
        p { code { "helix open" } }
    });
    let page = document(language.code(), &say!(language, "web-logged-out"), None, body);
    ([(header::SET_COOKIE, kept(&headers, None))], page).into_response()
}

/// What somebody sees whom nobody knows.
pub fn ask_to_log_in(headers: &HeaderMap) -> Response {
    refusal(headers, None)
}

/// What somebody sees who is not let in.
pub fn refuse(headers: &HeaderMap, code: &str, why: &str, hint: Option<&str>) -> Response {
    let language = language(headers);
    let body = alone(html! {
        h1 { (say!(language, "web-refused")) }
        p { (why) }
        @if let Some(hint) = hint { p.hint { (hint) } }
        p.weak { (code) }
    });
    (StatusCode::FORBIDDEN, document(language.code(), &say!(language, "web-refused"), None, body)).into_response()
}

fn refusal(headers: &HeaderMap, why: Option<&str>) -> Response {
    let language = language(headers);
    let body = alone(html! {
        h1 { (say!(language, "web-log-in")) }
        @if let Some(why) = why { p.hint { (why) } }
        p { (say!(language, "web-how-to-log-in")) }
        p { code { "helix open" } }
        p.weak { (say!(language, "web-how-to-log-in-elsewhere")) }
    });
    (StatusCode::UNAUTHORIZED, document(language.code(), &say!(language, "web-log-in"), None, body)).into_response()
}

/// A page without navigation.
fn alone(body: Markup) -> Markup {
    html! { main #main.alone { p.brand { (mark()) "Helix" } (body) } }
}
