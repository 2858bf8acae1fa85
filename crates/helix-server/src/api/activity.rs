//! What a job's agents are doing now, as a live stream. Must not number or keep anything: the run's log is the record.

use std::ops::ControlFlow::{Break, Continue};

use axum::extract::{Path, State};
use axum::response::Response;
use futures::{StreamExt, stream};
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{PhaseId, RunId};
use helix_engine::{Activity, EngineError};
use helix_job::{JobEvent, Recorded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;

use super::events::PROBLEM;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sse;

/// An agent's activity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ActivityFrame {
    /// The phase.
    pub(crate) phase: PhaseId,
    /// The run.
    pub(crate) run: RunId,
    /// What the agent does.
    pub(crate) event: AgentEvent,
}

/// Events that this client was too slow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Missed {
    /// Number of events, of all jobs.
    pub(crate) missed: u64,
}

enum Item {
    Activity(Result<Activity, u64>),
    Job(Result<Recorded<JobEvent>, EngineError>),
    End,
}

/// `GET /api/v1/jobs/{id}/activity`
pub(crate) async fn stream(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Response, Problem> {
    // Subscribed before the job is looked up, so that nothing is lost in between.
    let activity = stream::unfold(shared.engine.jobs().activity(), |mut activity| async move {
        match activity.recv().await {
            Ok(one) => Some((Item::Activity(Ok(one)), activity)),
            Err(RecvError::Lagged(missed)) => Some((Item::Activity(Err(missed)), activity)),
            Err(RecvError::Closed) => None,
        }
    });
    let job = shared.engine.jobs().get(&id).await?;
    let events = sse::receiver(shared.engine.jobs().events(&job.id, job.last_event).await?);
    let events = events.map(Item::Job).chain(stream::iter([Item::End]));
    let items = stream::select(activity, events);
    Ok(sse::follow(&shared, items, move |out, item| match item {
        Item::Activity(Ok(Activity { job: other, .. })) if other != job.id => Continue(()),
        Item::Activity(Ok(Activity { phase, run, event, job: _ })) => {
            sse::named(out, "activity", &ActivityFrame { phase, run, event });
            Continue(())
        }
        Item::Activity(Err(missed)) => {
            sse::named(out, "missed", &Missed { missed });
            Continue(())
        }
        Item::Job(Ok(Recorded { event: JobEvent::JobFinished { .. }, .. })) | Item::End => Break(()),
        Item::Job(Ok(_)) => Continue(()),
        Item::Job(Err(error)) => {
            sse::named(out, PROBLEM, &Problem::from(error));
            Break(())
        }
    }))
}
