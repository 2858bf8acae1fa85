//! What a person does with a job: cancel, resume, retry a phase. Must not know whether it may be done; the engine says so.

use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use helix_core::ids::PhaseId;
use helix_engine::jobs::{Again, ReopenRequest};
use serde::Deserialize;

use crate::Pages;
use crate::card::Back;
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;

/// The fields of every form.
#[derive(Debug, Deserialize)]
pub(crate) struct Fields {
    back: Back,
}

/// The fields of a retry.
#[derive(Debug, Deserialize)]
pub(crate) struct Retry {
    phase: PhaseId,
}

/// `POST /jobs/{id}/cancel`
pub(crate) async fn cancel(
    State(pages): State<Pages>,
    reader: Reader,
    Path(id): Path<String>,
    Form(Fields { back }): Form<Fields>,
) -> Shown<Response> {
    let done = async {
        let job = pages.engine.jobs().get(&id).await?;
        pages.engine.jobs().cancel(&job.id, &reader.person).await
    };
    let job = done.await.map_err(|error| PageError::from(error).page(&reader))?;
    Ok(Redirect::to(&back.address(job.id.as_str())).into_response())
}

/// `POST /jobs/{id}/resume`
pub(crate) async fn resume(
    State(pages): State<Pages>,
    reader: Reader,
    Path(id): Path<String>,
    Form(Fields { back }): Form<Fields>,
) -> Shown<Response> {
    let wanted = request(Again::Unfinished, &reader);
    let job = reopen(&pages, &id, wanted).await.map_err(|error| error.page(&reader))?;
    Ok(Redirect::to(&back.address(&job)).into_response())
}

/// `POST /jobs/{id}/retry`
pub(crate) async fn retry(
    State(pages): State<Pages>,
    reader: Reader,
    Path(id): Path<String>,
    Form(Retry { phase }): Form<Retry>,
) -> Shown<Response> {
    let address = format!("?phase={phase}");
    let wanted = request(Again::Phase(phase), &reader);
    let job = reopen(&pages, &id, wanted).await.map_err(|error| error.page(&reader))?;
    Ok(Redirect::to(&format!("{}{address}", Back::Job.address(&job))).into_response())
}

/// Goes on with the plan as it was: a page does not show what has changed in its file since.
fn request(what: Again, reader: &Reader) -> ReopenRequest {
    ReopenRequest { what, takes_plan: false, budget_usd: None, by: reader.person.clone() }
}

async fn reopen(pages: &Pages, id: &str, request: ReopenRequest) -> Result<String, PageError> {
    let job = pages.engine.jobs().get(id).await?;
    Ok(pages.engine.jobs().reopen(&job.id, request).await?.id.to_string())
}
