//! Everything that waits for a person, oldest first, and the answers. Must not know what an answer changes.

use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use helix_core::ids::QuestionId;
use helix_engine::EngineError;
use helix_engine::jobs::{AnswerError, QuestionFilter};
use helix_job::question::Answer;
use helix_language::{Language, say};
use maud::{Markup, html};
use serde::Deserialize;

use crate::Pages;
use crate::card::{self, Back};
use crate::layout::{Frame, Place};
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;

/// The open questions, as they are sent again when something moves.
pub(crate) async fn fragment(pages: &Pages, language: Language) -> Result<Markup, EngineError> {
    let open = pages.engine.jobs().questions(QuestionFilter::Open).await?;
    Ok(html! {
        div #questions.questions data-list {
            @for question in &open { (card::question(language, question, Back::Questions, true)) }
            @if open.is_empty() { p.empty #no-questions data-v="empty" { (say!(language, "web-no-questions")) } }
        }
    })
}

/// `GET /questions`
pub(crate) async fn show(State(pages): State<Pages>, reader: Reader) -> Shown<Response> {
    let language = reader.language;
    let open = fragment(&pages, language).await.map_err(|error| PageError::from(error).page(&reader))?;
    let body = html! { div.head { h1 { (say!(language, "web-questions")) } } div.narrow { (open) } };
    Ok(Frame::new(&reader, Place::Questions, &say!(language, "web-questions"))
        .live("/live?of=questions".into())
        .page(body))
}

/// The fields of an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Fields {
    choice: Option<String>,
    text: Option<String>,
    back: Back,
}

/// `POST /questions/{id}`
pub(crate) async fn answer(
    State(pages): State<Pages>,
    reader: Reader,
    Path(id): Path<String>,
    Form(Fields { choice, text, back }): Form<Fields>,
) -> Shown<Response> {
    let answered = async {
        let id = QuestionId::new(id.as_str()).map_err(|_| AnswerError::NotFound(id.clone()))?;
        let text = text.map(|text| text.replace("\r\n", "\n")).filter(|text| !text.trim().is_empty());
        pages.engine.jobs().answer(&id, Answer { choice, text, by: reader.person.clone() }).await
    };
    let question = answered.await.map_err(|error| PageError::from(error).page(&reader))?;
    Ok(Redirect::to(&back.address(question.job.as_str())).into_response())
}
