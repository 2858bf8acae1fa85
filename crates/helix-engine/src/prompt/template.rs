//! Templates of phases: one for each type, built in or the user's own.
//!
//! Must not know what the inputs say; a template that asks for one that is not there is an error, never an empty text.

use helix_consultant::OwnTemplate;
use helix_job::Briefing;
use helix_plan::PhaseType;
use helix_project::workflows::prompt_file_name;
use minijinja::Value;

use super::PromptError;

/// What the templates of all types have in common; they fill its blocks.
const BASE: (&str, &str) = ("phase.md.j2", include_str!("../../prompts/phase.md.j2"));

/// The built-in template of a type.
fn built_in(kind: PhaseType) -> &'static str {
    match kind {
        PhaseType::Consultant => include_str!("../../prompts/phase-consultant.md.j2"),
        PhaseType::Planning => include_str!("../../prompts/planning.md.j2"),
        PhaseType::Feasibility => include_str!("../../prompts/feasibility.md.j2"),
        PhaseType::Research => include_str!("../../prompts/research.md.j2"),
        PhaseType::Development => include_str!("../../prompts/development.md.j2"),
        PhaseType::Review => include_str!("../../prompts/phase-review.md.j2"),
        PhaseType::Test => include_str!("../../prompts/test.md.j2"),
        PhaseType::Documentation => include_str!("../../prompts/documentation.md.j2"),
        PhaseType::Deploy => include_str!("../../prompts/deploy.md.j2"),
        PhaseType::Integration => include_str!("../../prompts/integration.md.j2"),
        PhaseType::Decision => include_str!("../../prompts/decision.md.j2"),
        PhaseType::Manual => include_str!("../../prompts/manual.md.j2"),
    }
}

/// Renders the template of a type: the user's own if there is one.
///
/// # Errors
/// [`PromptError`], with the place in the template.
pub(crate) fn render_phase(kind: PhaseType, briefing: &Briefing, values: Value) -> Result<String, PromptError> {
    let own = briefing.prompts.get(kind.word());
    let (name, text) = match own {
        Some(own) => (own.file.clone(), own.text.as_str()),
        None => (prompt_file_name(kind), built_in(kind)),
    };
    let template = OwnTemplate { name: &name, text, base: Some(BASE) };
    let rendered = if own.is_some() { template.render(&values) } else { template.render_trusted(&values) };
    rendered.map_err(|source| PromptError { template: name, source })
}

#[cfg(test)]
#[path = "template_test.rs"]
mod tests;
