//! What a planning phase returned, read from its run and checked against the plan.
//!
//! Must not change the plan: valid phases become an event, and join it when the planning phase passes.

use helix_core::agent_event::AgentEvent;
use helix_core::finding::{Fault, Finding};
use helix_job::JobEvent;
use helix_language::{finding, recorded};
use helix_plan::fragment;
use serde_json::Value;

use super::effects::{AttemptContext, EffectRunner, run_fault};
use crate::agent_run::Listener;

impl EffectRunner {
    pub(super) async fn read_phases(&self, at: AttemptContext<'_>) -> Result<JobEvent, Fault> {
        let AttemptContext { active, phase, attempt: this, .. } = at;
        let mut answer = StructuredAnswer::default();
        self.runner().replay(&this.begin.run, &mut answer).await.map_err(|error| run_fault(&error))?;
        let read = match answer.0 {
            Some(value) => fragment::read(&active.spec.plan, &phase.id, &value).map(|growth| growth.added),
            None => Err(vec![missing()]),
        };
        let (phase, attempt) = (phase.id.clone(), this.begin.attempt);
        Ok(match read {
            Ok(phases) => JobEvent::PhasesProposed { phase, attempt, phases },
            Err(findings) => JobEvent::PhasesRejected { phase, attempt, findings },
        })
    }
}

fn missing() -> Finding {
    finding("plan_fragment.missing", recorded!("result-no-phases"))
}

#[derive(Default)]
struct StructuredAnswer(Option<Value>);

impl Listener for StructuredAnswer {
    async fn hear(&mut self, event: AgentEvent) {
        if let AgentEvent::Finished { structured, .. } = event {
            self.0 = structured;
        }
    }
}
