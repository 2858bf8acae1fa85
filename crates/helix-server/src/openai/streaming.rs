//! A turn's events, and then those of its jobs, as a stream of bytes. Must not know the form of an answer.

use std::ops::ControlFlow::{Break, Continue};

use axum::response::Response;
use futures::{Stream, StreamExt, stream};
use helix_core::error_chain;
use helix_engine::consultant::{TurnEnded, TurnEvent};
use helix_engine::sessions::JobNews;
use tokio::sync::mpsc;

use super::error::ApiError;
use super::presenter::{Presenter, Wire};
use super::turn_stream::TurnStream;
use crate::shared::Shared;
use crate::sse;

/// What a stream shows.
enum Shown {
    /// The client sees that the server is there.
    Start,
    Event(TurnEvent),
    /// The answer, which news of jobs follow.
    Answer(Box<TurnEnded>),
    News(JobNews),
}

/// Where the next thing to show comes from.
enum Source {
    Turn(Box<TurnStream>),
    /// The jobs of the session, after the answer.
    Jobs(mpsc::Receiver<JobNews>),
}

/// The response. It runs in the connection's own task; when the client disconnects, the connection drops it, and with it the turn's
/// [`TurnStream`].
pub(crate) fn response<W: Wire>(shared: Shared, mut presenter: Presenter<W>, turn: TurnStream) -> Response {
    let items = shown(shared.clone(), turn, presenter.shows_status());
    let shutdown = shared.shutdown.clone();
    sse::follow(&shared, items, move |out, shown| {
        match shown {
            Some(Shown::Start) => presenter.begin(out),
            Some(Shown::Event(event)) => presenter.event(out, event),
            Some(Shown::Answer(ended)) => presenter.on_answer(out, &ended),
            Some(Shown::News(news)) => presenter.on_news(out, &news),
            None if shutdown.is_cancelled() => presenter.end(out, &ApiError::shutting_down(presenter.language())),
            None => presenter.end(out, &ApiError::turn_lost(presenter.language())),
        }
        if presenter.is_over() { Break(()) } else { Continue(()) }
    })
}

/// A turn's events; the end of a good answer may be followed by its jobs, where the client shows them.
fn shown(shared: Shared, turn: TurnStream, with_jobs: bool) -> impl Stream<Item = Shown> + Send {
    let start = stream::once(async { Shown::Start });
    start.chain(stream::unfold(Source::Turn(Box::new(turn)), move |source| {
        let shared = shared.clone();
        async move {
            match source {
                Source::Turn(mut turn) => match turn.next_shown().await? {
                    TurnEvent::Ended(ended) if with_jobs && ended.error.is_none() => {
                        Some(match jobs_of(&shared, &turn).await {
                            Some(jobs) => (Shown::Answer(ended), Source::Jobs(jobs)),
                            None => (Shown::Event(TurnEvent::Ended(ended)), Source::Turn(turn)),
                        })
                    }
                    event => Some((Shown::Event(event), Source::Turn(turn))),
                },
                Source::Jobs(mut jobs) => Some((Shown::News(jobs.recv().await?), Source::Jobs(jobs))),
            }
        }
    }))
}

/// News of the jobs of a turn's session, if it has any that go on.
async fn jobs_of(shared: &Shared, turn: &TurnStream) -> Option<mpsc::Receiver<JobNews>> {
    let language = turn.language();
    let (session, turn) = turn.began()?;
    shared.engine.sessions().follow_jobs(session, turn, language).await.unwrap_or_else(|error| {
        tracing::warn!(%session, error = error_chain(&error), "cannot follow the jobs of a session");
        None
    })
}
