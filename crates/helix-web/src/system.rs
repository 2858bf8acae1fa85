//! This host: what it is, how busy it is, and what it holds. Must not change anything.

use axum::extract::State;
use axum::response::Response;
use helix_engine::jobs::Places;
use helix_job::phrases;
use helix_language::say;
use maud::html;

use crate::Pages;
use crate::layout::{Frame, Place};
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;
use crate::when::ago;

/// `GET /system`
pub(crate) async fn show(State(pages): State<Pages>, reader: Reader) -> Shown<Response> {
    let language = reader.language;
    let figures = pages.engine.jobs().figures().await.map_err(|error| PageError::from(error).page(&reader))?;
    let places = |places: Places| {
        say!(language, "web-places", taken = places.taken, places = places.all, waiting = places.waiting)
    };
    let body = html! {
        div.head { h1 { (say!(language, "web-system")) } }
        div.tiles {
            section.tile {
                h2 { (say!(language, "web-this-host")) }
                dl {
                    dt { "Helix" } dd { (env!("CARGO_PKG_VERSION")) }
                    dt { (say!(language, "web-since")) } dd { (ago(language, pages.started_at)) }
                    dt { (say!(language, "web-process")) } dd { (std::process::id()) }
                    dt { (say!(language, "web-roots")) }
                    dd {
                        @if pages.engine.projects().roots().is_empty() { (say!(language, "web-anywhere")) }
                        @for root in pages.engine.projects().roots() { div.path { (root.display()) } }
                    }
                }
            }
            section.tile {
                h2 { (say!(language, "web-places-title")) }
                dl {
                    dt { (say!(language, "web-agents")) } dd { (places(figures.agents)) }
                    dt { (say!(language, "web-gates")) } dd { (places(figures.gates)) }
                    dt { (say!(language, "web-questions")) } dd { a href="/questions" { (figures.open_questions) } }
                }
            }
            section.tile {
                h2 { (say!(language, "web-journal")) }
                dl {
                    @for (status, count) in &figures.counts.jobs { dt { (phrases::job_status(language, *status)) } dd { (count) } }
                    dt { (say!(language, "web-sessions")) } dd { (figures.counts.sessions) }
                    dt { (say!(language, "web-events")) } dd { (figures.counts.events) }
                }
            }
        }
        p.weak { (say!(language, "web-doctor")) " " code { "helix doctor" } }
    };
    Ok(Frame::new(&reader, Place::System, &say!(language, "web-system")).page(body))
}
