//! One job on one page: its head, the graph of its phases, what happened, and the phase that is selected.
//!
//! Must not judge anything: what counts is in the views.

pub(crate) mod actions;
mod changes;
mod checks;
mod detail;
pub(crate) mod evidence;
mod graph;
mod head;
mod panel;
mod timeline;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use helix_core::ids::{PhaseId, RunId};
use helix_core::text::one_line;
use helix_engine::EngineError;
use helix_language::Language;
use maud::{Markup, html};
use serde::Deserialize;

use crate::Pages;
use crate::layout::{Frame, Place};
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;

use detail::{JobDetail, Tab};

/// What of a job is looked at.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct JobQuery {
    phase: Option<PhaseId>,
    tab: Option<Tab>,
    attempt: Option<u32>,
    /// The file whose changes are shown whatever its size.
    file: Option<String>,
    /// The run whose events the page has, and how many of them.
    pub(crate) run: Option<RunId>,
    pub(crate) after: Option<u64>,
}

/// What of a job's page is sent again when something moves.
pub(crate) struct Parts {
    pub(crate) moving: Vec<Markup>,
    /// The run whose activity is followed, where that is looked at.
    pub(crate) run: Option<RunId>,
}

/// The parts of a job's page that move by themselves.
pub(crate) async fn parts(pages: &Pages, language: Language, id: &str, asked: &JobQuery) -> Result<Parts, EngineError> {
    let detail = JobDetail::read(&pages.engine, id).await?;
    let selected = detail.select(asked);
    let mut moving = vec![
        head::head(language, &detail),
        graph::graph(language, &detail, &selected),
        timeline::timeline(language, &detail, &selected),
        panel::tabs(language, &detail, &selected),
    ];
    let mut run = None;
    match selected.tab {
        Tab::Activity => {
            run = selected.run();
            // Its items follow one by one.
            moving.push(panel::shell(&selected, panel::list(language, &selected, 0, &[])));
        }
        Tab::Checks => moving.push(panel::shell(&selected, checks::checks(language, &detail, &selected))),
        Tab::Changes | Tab::Evidence | Tab::Prompt => {}
    }
    Ok(Parts { moving, run })
}

/// `GET /jobs/{id}`
pub(crate) async fn show(
    State(pages): State<Pages>,
    reader: Reader,
    Path(id): Path<String>,
    Query(asked): Query<JobQuery>,
) -> Shown<Response> {
    let language = reader.language;
    let made = async {
        let detail = JobDetail::read(&pages.engine, &id).await?;
        let selected = detail.select(&asked);
        let shown = match selected.tab {
            Tab::Activity => panel::activity(&pages, language, &detail, &selected).await?,
            Tab::Changes => changes::changes(&pages, language, &detail, &selected, asked.file.as_deref()).await,
            Tab::Checks => checks::checks(language, &detail, &selected),
            Tab::Evidence => evidence::evidence(&pages, language, &detail, &selected).await,
            Tab::Prompt => panel::prompt(&pages, language, &selected).await?,
        };
        let body = html! {
            (head::head(language, &detail))
            (graph::graph(language, &detail, &selected))
            div.columns {
                div.main {
                    (panel::tabs(language, &detail, &selected))
                    (panel::shell(&selected, shown))
                }
                (timeline::timeline(language, &detail, &selected))
            }
        };
        Ok::<_, EngineError>((body, one_line(&detail.view.name, 80), selected.live(&detail)))
    };
    let (body, title, live) = made.await.map_err(|error| PageError::from(error).page(&reader))?;
    Ok(Frame::new(&reader, Place::Elsewhere, &title).live(live).page(body))
}
