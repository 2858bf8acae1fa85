//! What agents would be told if a plan were carried out now, for people who want to read it first.
//!
//! Must not run anything, and needs no engine.

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_plan::{Phase, Plan};
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::EngineConfig;
use crate::job::who_looks;
use crate::prompt;
use crate::submit::Inspection;

/// The prompt of a phase's first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhasePrompt {
    /// Which phase.
    pub phase: PhaseId,
    /// What its agent would be told.
    pub prompt: String,
}

/// Who would look at the result of each attempt at a phase, once its gates have passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhaseVerifier {
    /// Which phase.
    pub phase: PhaseId,
    /// The agent.
    pub agent: String,
    /// Its model, where one is named or chosen.
    pub model: Option<String>,
    /// Its time limit, in seconds.
    pub timeout_seconds: u32,
}

/// The verifiers of a plan's phases, as a job of it would ask them; phases without one are left out.
pub fn verifiers(config: &EngineConfig, plan: &Plan) -> Vec<PhaseVerifier> {
    let of = |phase: &Phase| {
        let verify = phase.verify.as_ref()?;
        let own = phase.agent.clone().unwrap_or_else(|| config.default_agent.clone());
        let (agent, model) = who_looks(&config.roles, &config.agents, own, verify.model.clone(), phase.model.clone());
        Some(PhaseVerifier { phase: phase.id.clone(), agent, model, timeout_seconds: verify.timeout.0 })
    };
    plan.phases.iter().filter_map(of).collect()
}

/// Renders the prompt of every phase's first attempt, as a job of the inspected plan would; nothing for a plan that cannot be
/// read.
///
/// # Errors
/// Templates that cannot be rendered.
pub fn first_prompts(inspection: &Inspection) -> Result<Vec<PhasePrompt>, Vec<Diagnostic>> {
    let Inspection { parsed, adr, briefing, file, .. } = inspection;
    let plan = parsed.iter().map(|parsed| &parsed.plan);
    let rendered = plan.flat_map(|plan| plan.phases.iter().map(move |phase| (plan, phase))).map(|(plan, phase)| {
        let prompt = prompt::first(plan, adr.as_ref(), briefing, phase).map_err(|error| {
            let message = format!("{error}: {}", error.place());
            vec![Diagnostic::error(helix_plan::codes::BAD_PROMPT, file, message)]
        })?;
        Ok(PhasePrompt { phase: phase.id.clone(), prompt })
    });
    rendered.collect()
}
