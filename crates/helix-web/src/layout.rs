//! The frame of every page: head, navigation, who is logged in. Must not know what a page shows.

use axum::response::{IntoResponse, Response};
use helix_job::phrases;
use helix_language::say;
use maud::{DOCTYPE, Markup, html};

use crate::assets;
use crate::reader::Reader;

/// Where in the navigation a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Board,
    Questions,
    Decisions,
    System,
    Elsewhere,
}

/// The frame of a page.
pub(crate) struct Frame<'a> {
    reader: &'a Reader,
    place: Place,
    title: &'a str,
    /// Where what is new of this page comes from.
    live: Option<String>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(reader: &'a Reader, place: Place, title: &'a str) -> Self {
        Self { reader, place, title, live: None }
    }

    /// The same, kept true by the events of this address.
    #[must_use]
    pub(crate) fn live(self, address: String) -> Self {
        Self { live: Some(address), ..self }
    }

    pub(crate) fn page(self, body: Markup) -> Response {
        let Self { reader, place, title, live } = self;
        let language = reader.language;
        let entries = [
            (Place::Board, "/", say!(language, "web-board")),
            (Place::Questions, "/questions", say!(language, "web-questions")),
            (Place::Decisions, "/decisions", say!(language, "web-decisions")),
            (Place::System, "/system", say!(language, "web-system")),
        ];
        let body = html! {
            a.skip href="#main" { (say!(language, "web-skip")) }
            header.top {
                a.brand href="/" { (mark()) "Helix" }
                nav aria-label=(say!(language, "web-pages")) {
                    @for (one, address, word) in &entries {
                        a href=(address) aria-current=[(place == *one).then_some("page")] { (word) }
                    }
                }
                div.who {
                    span.person title=(phrases::person(language, &reader.person)) { (reader.person.name) }
                    form method="post" action="/logout" { button.quiet { (say!(language, "web-log-out")) } }
                }
            }
            main #main data-live=[live.as_deref()] { (body) }
            p #connection.connection role="status" hidden { (say!(language, "web-connection-lost")) }
            dialog #keys aria-label=(say!(language, "web-keys")) {
                h2 { (say!(language, "web-keys")) }
                dl.keys {
                    dt { kbd { "j" } " " kbd { "k" } } dd { (say!(language, "web-key-move")) }
                    dt { kbd { "enter" } } dd { (say!(language, "web-key-open")) }
                    dt { kbd { "esc" } } dd { (say!(language, "web-key-back")) }
                    dt { kbd { "/" } } dd { (say!(language, "web-key-search")) }
                    dt { kbd { "a" } } dd { (say!(language, "web-key-answer")) }
                    dt { kbd { "g" } " " kbd { "b" } } dd { (say!(language, "web-board")) }
                    dt { kbd { "g" } " " kbd { "q" } } dd { (say!(language, "web-questions")) }
                    dt { kbd { "g" } " " kbd { "d" } } dd { (say!(language, "web-decisions")) }
                    dt { kbd { "g" } " " kbd { "s" } } dd { (say!(language, "web-system")) }
                    dt { kbd { "?" } } dd { (say!(language, "web-key-help")) }
                }
                form method="dialog" { button { (say!(language, "web-close")) } }
            }
        };
        document(language.code(), title, None, body)
    }
}

/// A whole document.
pub(crate) fn document(code: &str, title: &str, next: Option<&str>, body: Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang=(code) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(next) = next { meta http-equiv="refresh" content={ "0; url=" (next) }; }
                title { (title) " · Helix" }
                link rel="icon" href=(assets::address("mark.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::address("style.css"));
                script type="module" src=(assets::address("pages.js")) {}
            }
            body { (body) }
        }
    };
    ([("content-type", "text/html; charset=utf-8")], page.into_string()).into_response()
}

/// The mark of Helix.
pub(crate) fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false" {
            path d="M7 2c0 6 10 6 10 12 0 4-4 5-4 8" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" {}
            path d="M17 2c0 6-10 6-10 12 0 4 4 5 4 8" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" opacity=".5" {}
        }
    }
}
