//! What a job's agents do right now. Not numbered and not kept: the run's log is the record.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{PhaseId, RunId};
use helix_engine::{Activity, EngineError};
use helix_job::{JobEvent, Recorded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::events::PROBLEM;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sse;

/// Name of the frame that says how many events this client was too slow for.
const MISSED: &str = "missed";
/// Name of the frame that holds what an agent does.
const ACTIVITY: &str = "activity";

/// What an agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ActivityFrame {
    /// In which phase.
    pub(crate) phase: PhaseId,
    /// In which run.
    pub(crate) run: RunId,
    /// What it does.
    pub(crate) event: AgentEvent,
}

/// Events that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Missed {
    /// How many, of all jobs.
    pub(crate) missed: u64,
}

struct Watch {
    shared: Shared,
    job: helix_core::ids::JobId,
    activity: broadcast::Receiver<Activity>,
    /// Ends with the job.
    events: mpsc::Receiver<Result<Recorded<JobEvent>, EngineError>>,
}

/// `GET /api/v1/jobs/{id}/activity`
pub(crate) async fn stream(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Response, Problem> {
    // Before the job is looked up, so that nothing falls between.
    let activity = shared.engine.activity();
    let job = shared.engine.job(&id).await?;
    let events = shared.engine.job_events(&job.id, job.last_event).await?;
    let watch = Watch { shared, job: job.id, activity, events };
    Ok(sse::response(futures::stream::unfold(Some(watch), |watch| async move {
        let (out, watch) = watch?.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(out)), watch))
    })))
}

impl Watch {
    /// The next frame, and the watch if there can be more; `None` when the job or the server is over.
    async fn next(mut self) -> Option<(Vec<u8>, Option<Self>)> {
        let mut out = Vec::new();
        let heartbeat = tokio::time::sleep(self.shared.config.heartbeat);
        tokio::pin!(heartbeat);
        loop {
            tokio::select! {
                biased;
                () = self.shared.shutdown.cancelled() => return None,
                activity = self.activity.recv() => match activity {
                    Ok(Activity { job, phase, run, event }) if job == self.job => {
                        sse::named(&mut out, ACTIVITY, &ActivityFrame { phase, run, event });
                    }
                    Ok(_) => continue,
                    Err(RecvError::Lagged(missed)) => sse::named(&mut out, MISSED, &Missed { missed }),
                    Err(RecvError::Closed) => return None,
                },
                event = self.events.recv() => match event {
                    None => return None,
                    Some(Ok(recorded)) => match recorded.event {
                        JobEvent::JobFinished { .. } => return None,
                        JobEvent::JobSubmitted { .. }
                        | JobEvent::AttemptStarted { .. }
                        | JobEvent::RunFinished { .. }
                        | JobEvent::ResultCommitted { .. }
                        | JobEvent::GateFinished { .. }
                        | JobEvent::PhasesProposed { .. }
                        | JobEvent::PhasesRejected { .. }
                        | JobEvent::ReviewFinished { .. }
                        | JobEvent::QuestionAsked { .. }
                        | JobEvent::QuestionAnswered { .. }
                        | JobEvent::QuestionExpired { .. }
                        | JobEvent::AdviceGiven { .. }
                        | JobEvent::ConflictFound { .. }
                        | JobEvent::JobResumed { .. }
                        | JobEvent::Failure(_)
                        | JobEvent::AttemptFaulted { .. }
                        | JobEvent::DeliveryBegun { .. }
                        | JobEvent::Integrated { .. }
                        | JobEvent::IntegrationFailed { .. }
                        | JobEvent::CancelRequested { .. } => continue,
                    },
                    Some(Err(error)) => {
                        sse::named(&mut out, PROBLEM, &Problem::from(error));
                        return Some((out, None));
                    }
                },
                () = &mut heartbeat => out.extend_from_slice(sse::HEARTBEAT),
            }
            return Some((out, Some(self)));
        }
    }
}
