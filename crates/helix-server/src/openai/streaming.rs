//! A turn's events, and then those of its jobs, as a stream of bytes. Must not know the form of an answer.

use std::ops::ControlFlow::{Break, Continue};

use axum::response::Response;
use futures::{Stream, StreamExt, stream};
use helix_core::ids::SessionId;
use helix_engine::consultant::{TurnEnded, TurnEvent};
use helix_engine::sessions::{JobNews, Watch};
use tokio::sync::mpsc;

use super::error::ApiError;
use super::news::{self, Place, Watched};
use super::presenter::{Presenter, Wire};
use super::turn_stream::TurnStream;
use crate::sse;
use crate::state::ServerState;

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
    Jobs(mpsc::Receiver<JobNews>, Watched),
}

/// The response; `kept_in` as in [`ApiError::shutting_down`]. It runs in the connection's own task; when the client disconnects, the
/// connection drops it, and with it the turn's [`TurnStream`].
pub(crate) fn response<W: Wire>(
    shared: ServerState,
    mut presenter: Presenter<W>,
    turn: TurnStream,
    place: Option<Place>,
    kept_in: Option<SessionId>,
) -> Response {
    let links = turn.links.jobs();
    let items = shown(shared.clone(), turn, presenter.shows_status(), place);
    let host = shared.clone();
    sse::follow(&shared, items, move |out, shown| {
        match shown {
            Some(Shown::Start) => presenter.begin(out),
            Some(Shown::Event(event)) => presenter.event(out, event),
            Some(Shown::Answer(ended)) => presenter.on_answer(out, &ended),
            Some(Shown::News(news)) => presenter.on_news(out, &news, &links),
            None if host.is_ending() => {
                presenter.end(out, &ApiError::shutting_down(presenter.language(), kept_in.as_ref()))
            }
            None => presenter.end(out, &ApiError::turn_lost(presenter.language())),
        }
        if presenter.is_over() { Break(()) } else { Continue(()) }
    })
}

/// A turn's events; the end of a good answer may be followed by its jobs, where the client shows them. What goes on then is told at its
/// place in the client.
fn shown(
    shared: ServerState,
    turn: TurnStream,
    with_jobs: bool,
    place: Option<Place>,
) -> impl Stream<Item = Shown> + Send {
    let start = stream::once(async { Shown::Start });
    let tell_on = move |shared: &ServerState, watched: &Watched| {
        if let Some(place) = &place {
            shared.tasks.spawn(news::tell(shared.clone(), place.clone(), watched.clone()));
        }
    };
    start.chain(stream::unfold(Source::Turn(Box::new(turn)), move |source| {
        let (shared, tell_on) = (shared.clone(), tell_on.clone());
        async move {
            match source {
                Source::Turn(mut turn) => match turn.next_shown().await? {
                    TurnEvent::Ended(ended) if with_jobs && ended.error.is_none() => {
                        let watched = Watched::from_turn(&turn);
                        Some(match jobs_of(&shared, watched.as_ref()).await {
                            Some((jobs, watched)) => (Shown::Answer(ended), Source::Jobs(jobs, watched)),
                            None => {
                                watched.iter().for_each(|watched| tell_on(&shared, watched));
                                (Shown::Event(TurnEvent::Ended(ended)), Source::Turn(turn))
                            }
                        })
                    }
                    event => Some((Shown::Event(event), Source::Turn(turn))),
                },
                Source::Jobs(mut jobs, watched) => {
                    let news = jobs.recv().await?;
                    if matches!(&news, JobNews::GoesOn { jobs, .. } if !jobs.is_empty()) {
                        tell_on(&shared, &watched);
                    }
                    Some((Shown::News(news), Source::Jobs(jobs, watched)))
                }
            }
        }
    }))
}

/// News of the jobs of a turn's session, if it has any that go on.
async fn jobs_of(shared: &ServerState, watched: Option<&Watched>) -> Option<(mpsc::Receiver<JobNews>, Watched)> {
    let watched = watched?;
    let jobs = watched.jobs(shared, Watch::Answer).await?;
    Some((jobs, watched.clone()))
}
