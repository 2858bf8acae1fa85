//! The board: what needs a person, what runs, what is proven, and what ended otherwise. Must not know a job's details.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Query, State};
use axum::response::Response;
use helix_core::agent_event::AgentEvent;
use helix_core::ids::JobId;
use helix_core::text::clip;
use helix_engine::{Activity, Engine, EngineError, JobFilter};
use helix_job::phrases::{self, Sign};
use helix_job::{JobStatus, JobView, PhaseStatus, PhaseView};
use helix_language::{Language, say};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::Pages;
use crate::card;
use crate::layout::{Frame, Place};
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;
use crate::sign::sign;

/// How long a failed job needs somebody.
const RECENT: SignedDuration = SignedDuration::from_hours(72);
/// Most ended jobs of one status.
const ENDED: usize = 50;
/// Most jobs whose agents are known of.
const MOST_JOBS: usize = 1_000;

/// What the agents of jobs do right now, in a few words each.
#[derive(Debug, Default)]
pub(crate) struct NowDoing(Mutex<HashMap<JobId, String>>);

impl NowDoing {
    /// Those of an engine, until the server shuts down.
    pub(crate) fn followed(engine: &Engine, shutdown: CancellationToken) -> Arc<Self> {
        let (now_doing, mut activity) = (Arc::new(Self::default()), engine.jobs().activity());
        let kept = Arc::clone(&now_doing);
        tokio::spawn(async move {
            loop {
                let heard = tokio::select! {
                    heard = activity.recv() => heard,
                    () = shutdown.cancelled() => return,
                };
                match heard {
                    Ok(Activity { job, event, .. }) => kept.hear(job, &event),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        now_doing
    }

    fn hear(&self, job: JobId, event: &AgentEvent) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            AgentEvent::ToolStarted { name, input, .. } => {
                if known.len() >= MOST_JOBS {
                    known.clear();
                }
                let doing = clip(&phrases::tool_call(&job, name, input), 60);
                known.insert(job, doing);
            }
            AgentEvent::Finished { .. } => drop(known.remove(&job)),
            _ => {}
        }
    }

    fn activity(&self, job: &JobId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(job).cloned()
    }
}

/// The lanes of the board, from left to right.
const LANES: [(&str, Sign); 4] =
    [("needs", Sign::Waiting), ("running", Sign::Running), ("proven", Sign::Passed), ("otherwise", Sign::Skipped)];

/// The jobs of each lane as they are now.
async fn lanes(pages: &Pages) -> Result<[Vec<JobView>; LANES.len()], EngineError> {
    let jobs = pages.engine.jobs();
    let mut all = jobs.list(JobFilter::unfinished()).await?.jobs;
    for status in [JobStatus::Succeeded, JobStatus::Failed, JobStatus::Cancelled] {
        let filter = JobFilter { statuses: vec![status], ..JobFilter::default() };
        all.extend(jobs.page(filter, None, ENDED).await?.jobs);
    }
    all.sort_by_key(|job| std::cmp::Reverse(job.completed_at.unwrap_or(job.created_at)));
    let now = Timestamp::now();
    let mut lanes = [const { Vec::new() }; LANES.len()];
    for job in all {
        lanes[lane(&job, now)].push(job);
    }
    Ok(lanes)
}

/// In which lane a job is.
fn lane(job: &JobView, now: Timestamp) -> usize {
    let is_recent = || job.completed_at.is_some_and(|at| now.duration_since(at) < RECENT);
    // Of a limit of its provider, or a delivery of another job.
    let is_held = || {
        let waits = |phase: &PhaseView| phase.stage.as_deref().is_some_and(|stage| stage.starts_with("waits until "));
        job.phases.iter().any(|phase| phase.status == PhaseStatus::Waiting && waits(phase))
    };
    match job.status {
        JobStatus::Succeeded if job.reverted.is_none() && job.phases.iter().all(is_checked) => 2,
        JobStatus::Failed if is_recent() => 0,
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Cancelled => 3,
        _ if phrases::open_questions(job).next().is_some() || job.error.is_some() || is_held() => 0,
        _ => 1,
    }
}

/// Whether a phase passed because something checked it, and nobody overruled what did not pass; or was never to run. The page of the job looks at
/// the proof itself.
fn is_checked(phase: &PhaseView) -> bool {
    let was_checked = phase.gates.iter().any(|gate| gate.verdict.passed())
        || phase.review.as_ref().is_some_and(|review| review.verdict.passed());
    match phase.status {
        PhaseStatus::Passed => was_checked && phase.accepted.is_empty(),
        PhaseStatus::Skipped => phase.attempt == 0 && phase.error.is_none(),
        _ => false,
    }
}

/// All lanes, as they are sent again when something moves.
///
/// # Errors
/// The journal cannot be read.
pub(crate) async fn fragment(pages: &Pages, language: Language, wanted: Option<&str>) -> Result<Markup, EngineError> {
    let mut lanes = lanes(pages).await?;
    let words: Vec<String> = wanted.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    for jobs in lanes.iter_mut().filter(|_| !words.is_empty()) {
        jobs.retain(|job| words.iter().all(|word| card::searched(job).contains(word)));
    }
    let nothing = words.is_empty() && lanes.iter().all(Vec::is_empty);
    Ok(html! {
        div #lanes.lanes data-v=(if nothing { "none" } else { "some" }) {
            @if nothing { (beginning(language)) } @else {
                @for ((name, of), jobs) in LANES.into_iter().zip(&lanes) {
                    section.lane id={ "lane-" (name) } aria-labelledby={ "title-" (name) } {
                        h2 id={ "title-" (name) } {
                            (sign(of, None)) (say!(language, "web-lane", lane = name)) " " span.count id={ "count-" (name) } data-v=(jobs.len()) { (jobs.len()) }
                        }
                        div.cards id={ "cards-" (name) } data-list {
                            @for job in jobs { (card::job(language, job, pages.now_doing.activity(&job.id).as_deref())) }
                            @if jobs.is_empty() { p.empty id={ "empty-" (name) } data-v="empty" { (say!(language, "web-lane-empty", lane = name)) } }
                        }
                    }
                }
            }
        }
    })
}

/// How one begins.
fn beginning(language: Language) -> Markup {
    html! {
        section.beginning {
            h2 { (say!(language, "web-begin")) }
            p { (say!(language, "web-begin-how")) }
            ol.steps {
                li { (say!(language, "web-begin-demo")) pre { "helix demo" } }
                li { (say!(language, "web-begin-chat")) pre { "helix chat" } }
                li { (say!(language, "web-begin-plan")) pre { "helix run plans/NAME/phases.yaml" } }
            }
        }
    }
}

/// What is looked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    q: Option<String>,
}

/// `GET /`
pub(crate) async fn show(
    State(pages): State<Pages>,
    reader: Reader,
    Query(Search { q: wanted }): Query<Search>,
) -> Shown<Response> {
    let language = reader.language;
    let lanes =
        fragment(&pages, language, wanted.as_deref()).await.map_err(|error| PageError::from(error).page(&reader))?;
    let body = html! {
        div.head {
            h1 { (say!(language, "web-board")) }
            form.search method="get" action="/" role="search" {
                input #search type="search" name="q" value=[&wanted] aria-label=(say!(language, "web-search"))
                    placeholder=(say!(language, "web-search")) autocomplete="off";
            }
        }
        (lanes)
    };
    Ok(Frame::new(&reader, Place::Board, &say!(language, "web-board")).live("/live".into()).page(body))
}

#[cfg(test)]
#[path = "board_test.rs"]
mod tests;
