//! What is new of a page, as server-sent events: parts of it that replace those with the same `id`, and items of an activity.
//!
//! Must not know how parts look. Nothing is lost: a page that comes back is sent all parts as they are now.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{JobId, RunId};
use helix_engine::{EngineError, Follow, Moved, Stream};
use helix_language::Language;
use maud::Markup;
use serde::Deserialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep};
use tokio_stream::wrappers::ReceiverStream;

use crate::activity::Items;
use crate::card::hash;
use crate::cookie::session_of;
use crate::job::{JobQuery, parts};
use crate::reader::Reader;
use crate::{Pages, board, questions};

/// What comes within this time is sent at once.
const TOGETHER: Duration = Duration::from_millis(40);
/// Between two looks at what no event tells, such as a place that becomes free.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Which page of all jobs.
#[derive(Debug, Deserialize)]
pub(crate) struct Of {
    of: Option<String>,
}

/// A page that is kept true.
struct Open {
    pages: Pages,
    language: Language,
    /// The session that it belongs to; without one, nobody has to log in.
    session: Option<String>,
    out: mpsc::Sender<Result<Event, Infallible>>,
    /// Hashes of what was sent last, by number of the part.
    sent: HashMap<usize, u64>,
    /// Ticks however much happens in between: somebody who logs out during a long run is logged out of it, too.
    again: Interval,
}

/// Why a page is looked at again.
enum Wake {
    Moved,
    Heard(Option<AgentEvent>),
    Over,
}

impl Open {
    /// Sends the parts that have changed; whether somebody still listens.
    async fn send(&mut self, parts: Vec<Markup>) -> bool {
        let mut changed = String::new();
        for (number, part) in parts.into_iter().enumerate() {
            let hash = hash(&part.0);
            if self.sent.insert(number, hash) != Some(hash) {
                changed.push_str(&part.0);
            }
        }
        changed.is_empty() || self.out.send(Ok(event("part", &changed))).await.is_ok()
    }

    /// Waits until something of these jobs may have changed, or a run goes on.
    async fn wait(
        &mut self,
        moves: &mut broadcast::Receiver<Moved>,
        job: Option<&JobId>,
        run: &mut Option<mpsc::Receiver<AgentEvent>>,
    ) -> Wake {
        loop {
            let heard = async {
                match run {
                    Some(run) => run.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                moved = moves.recv() => match moved {
                    Ok(Moved { stream: Stream::Job(moved), .. }) if job.is_none_or(|job| *job == moved) => break,
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Wake::Over,
                },
                event = heard => return Wake::Heard(event),
                _ = self.again.tick() => {
                    self.pages.engine.logins().touch();
                    return if self.is_over() { Wake::Over } else { Wake::Moved };
                }
                () = self.out.closed() => return Wake::Over,
                () = self.pages.shutdown.cancelled() => return Wake::Over,
            }
        }
        sleep(TOGETHER).await;
        while moves.try_recv().is_ok() {}
        Wake::Moved
    }

    /// Whether the visitor has logged out meanwhile, or lost their key.
    fn is_over(&self) -> bool {
        self.session.as_ref().is_some_and(|token| self.pages.engine.logins().person(token).is_none())
    }
}

fn event(name: &str, data: &str) -> Event {
    // A carriage return would end a line of the stream.
    Event::default().event(name).data(data.replace('\r', ""))
}

/// Opens a stream for a page.
fn open(pages: Pages, reader: &Reader, headers: &HeaderMap) -> (Open, Response) {
    let (out, frames) = mpsc::channel(16);
    let session = session_of(headers).map(str::to_owned);
    let alive = KeepAlive::new().interval(pages.heartbeat);
    let mut again = interval_at(Instant::now() + LOOK_AGAIN, LOOK_AGAIN);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let open = Open { pages, language: reader.language, session, out, sent: HashMap::new(), again };
    let mut answer = Sse::new(ReceiverStream::new(frames)).keep_alive(alive).into_response();
    // Asks nginx not to hold frames back.
    answer.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    (open, answer)
}

/// `GET /live`
pub(crate) async fn board(
    State(pages): State<Pages>,
    reader: Reader,
    headers: HeaderMap,
    Query(Of { of }): Query<Of>,
) -> Response {
    let (mut open, answer) = open(pages, &reader, &headers);
    tokio::spawn(async move {
        let mut moves = open.pages.engine.jobs().moves();
        loop {
            let part = match of.as_deref() {
                Some("questions") => questions::fragment(&open.pages, open.language).await,
                _ => board::fragment(&open.pages, open.language, None).await,
            };
            let Ok(part) = part else { return };
            if !open.send(vec![part]).await || matches!(open.wait(&mut moves, None, &mut None).await, Wake::Over) {
                return;
            }
        }
    });
    answer
}

/// `GET /jobs/{id}/live`
pub(crate) async fn job(
    State(pages): State<Pages>,
    reader: Reader,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(asked): Query<JobQuery>,
) -> Response {
    let (open, answer) = open(pages, &reader, &headers);
    tokio::spawn(async move {
        if let Err(error) = follow(open, &id, &asked).await {
            tracing::debug!(%error, id, "a page is not followed any more");
        }
    });
    answer
}

async fn follow(mut open: Open, id: &str, asked: &JobQuery) -> Result<(), EngineError> {
    let mut moves = open.pages.engine.jobs().moves();
    let job = open.pages.engine.jobs().get(id).await?.id;
    let (mut followed, mut items, mut run): (Option<RunId>, Items, Option<mpsc::Receiver<AgentEvent>>) =
        (None, Items::new(open.language, &job), None);
    let mut look = true;
    // How many events of the run the page has already.
    let mut known = 0;
    loop {
        if look {
            let parts = parts(&open.pages, open.language, job.as_str(), asked).await?;
            if !open.send(parts.moving).await {
                return Ok(());
            }
            if parts.run != followed {
                let wanted = parts.run.as_ref();
                let begun = match wanted {
                    Some(wanted) => open.pages.engine.jobs().run_events(wanted, Follow::UntilEnd).await.ok(),
                    None => None,
                };
                // A run that has not begun is looked for again.
                if begun.is_some() {
                    known = asked.after.filter(|_| asked.run.as_ref() == wanted).unwrap_or_default();
                    (followed, items, run) = (parts.run, Items::new(open.language, &job), begun);
                }
            }
        }
        look = match open.wait(&mut moves, Some(&job), &mut run).await {
            Wake::Over => return Ok(()),
            Wake::Moved => true,
            Wake::Heard(None) => {
                run = None;
                true
            }
            Wake::Heard(Some(heard)) => {
                let item = items.hear(heard);
                let is_known = known > 0;
                known = known.saturating_sub(1);
                if let Some(item) = item.filter(|_| !is_known)
                    && open.out.send(Ok(event("item", &item.markup.0))).await.is_err()
                {
                    return Ok(());
                }
                false
            }
        };
    }
}
