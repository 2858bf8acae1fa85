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
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::wrappers::{BroadcastStream, ReceiverStream};

use super::events::PROBLEM;
use crate::problem::Problem;
use crate::sse;
use crate::state::ServerState;

/// An agent's activity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivityFrame {
    /// The phase.
    pub phase: PhaseId,
    /// The run.
    pub run: RunId,
    /// What the agent does.
    pub event: AgentEvent,
}

/// Events that this client was too slow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Missed {
    /// Number of events, of all jobs.
    pub(crate) missed: u64,
}

enum Item {
    Activity(Result<Activity, BroadcastStreamRecvError>),
    /// Whether the job is over.
    Job(Result<bool, EngineError>),
}

/// `GET /api/v1/jobs/{id}/activity`
pub(crate) async fn stream(State(shared): State<ServerState>, Path(id): Path<String>) -> Result<Response, Problem> {
    let jobs = shared.engine.jobs();
    // Subscribed before the job is looked up, so that nothing is lost in between.
    let activity = BroadcastStream::new(jobs.activity()).map(Item::Activity);
    let job = jobs.get(&id).await?;
    let is_last = |event: Recorded<JobEvent>| matches!(event.event, JobEvent::JobFinished { .. });
    let events = ReceiverStream::new(jobs.events(&job.id, job.last_event).await?).map(move |event| event.map(is_last));
    let events = events.chain(stream::iter([Ok(true)])).map(Item::Job);
    Ok(sse::follow(&shared, stream::select(activity, events), move |out, item| {
        match item {
            Some(Item::Activity(Ok(Activity { job: other, phase, run, event }))) if other == job.id => {
                sse::named(out, "activity", &ActivityFrame { phase, run, event });
            }
            Some(Item::Activity(Err(BroadcastStreamRecvError::Lagged(missed)))) => {
                sse::named(out, "missed", &Missed { missed });
            }
            Some(Item::Job(Err(error))) => {
                sse::named(out, PROBLEM, &Problem::from(error));
                return Break(());
            }
            None | Some(Item::Job(Ok(true))) => return Break(()),
            Some(Item::Activity(Ok(_)) | Item::Job(Ok(false))) => {}
        }
        Continue(())
    }))
}
