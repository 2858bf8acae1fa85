//! What a planning phase returned, read from its run and checked against the plan.
//!
//! Must not change the plan: valid phases become an event, and join it when the planning phase passes.

use helix_core::agent_event::AgentEvent;
use helix_core::finding::Finding;
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_job::{Active, JobEvent};
use helix_plan::fragment;
use serde_json::Value;

use super::effects::{EffectRunner, run_fault};
use crate::agent_run::Listener;

impl EffectRunner {
    pub(super) async fn read_phases(&self, job: &JobId, active: &Active, id: &PhaseId, attempt: u32) -> JobEvent {
        let mut ear = Ear::default();
        let run = RunId::for_attempt(job, id, attempt);
        if let Err(error) = self.runner().replay(&run, &mut ear).await {
            return JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault: run_fault(&error) };
        }
        let read = match ear.structured {
            Some(value) => fragment::read(&active.spec.plan, id, &value).map(|growth| growth.added),
            None => Err(vec![missing()]),
        };
        match read {
            Ok(phases) => JobEvent::PhasesProposed { phase: id.clone(), attempt, phases },
            Err(findings) => JobEvent::PhasesRejected { phase: id.clone(), attempt, findings },
        }
    }
}

fn missing() -> Finding {
    Finding::new("plan_fragment.missing", "the answer holds no phases in the form that was asked for")
        .fix("return the phases as structured output by the schema")
}

#[derive(Default)]
struct Ear {
    structured: Option<Value>,
}

impl Listener for Ear {
    async fn hear(&mut self, event: AgentEvent) {
        if let AgentEvent::Finished { structured, .. } = event {
            self.structured = structured;
        }
    }
}
