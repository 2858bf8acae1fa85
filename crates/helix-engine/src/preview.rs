//! What agents would be told if a plan were carried out now, for people who want to read it first.
//!
//! Must not run anything, and needs no engine.

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use schemars::JsonSchema;
use serde::Serialize;

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
