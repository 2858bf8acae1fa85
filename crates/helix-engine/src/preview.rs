//! What agents would be told if a plan were carried out now, for people who want to read it first.
//!
//! Must not run anything, and needs no engine.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_core::job::AdrText;
use helix_core::plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

use crate::codes;
use crate::prompt;
use crate::skills::SkillCatalog;
use crate::workflows::Shelves;

/// The prompt of a phase's first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhasePrompt {
    /// Which phase.
    pub phase: PhaseId,
    /// What its agent would be told.
    pub prompt: String,
}

/// Renders the prompt of every phase's first attempt, as a job of this plan would. `directory` lies in the project,
/// `config_dir` and `skills` are the user's own; the plan is one whose workflow has been put in.
///
/// # Errors
/// Templates and ADRs that cannot be read or rendered; `file` is the plan's name in them.
pub fn first_prompts(
    file: &str,
    plan: &Plan,
    directory: &Path,
    config_dir: Option<PathBuf>,
    skills: &[PathBuf],
) -> Result<Vec<PhasePrompt>, Vec<Diagnostic>> {
    let shelves = Shelves::around(directory, config_dir);
    let briefing = shelves.briefing(&SkillCatalog::around(directory, skills))?;
    let adr = match &plan.adr {
        None => None,
        Some(path) => {
            let root = shelves.project.as_deref().unwrap_or(directory);
            let text = std::fs::read_to_string(root.join(path)).map_err(|error| {
                let message = format!("the plan's ADR {path} cannot be read: {error}");
                let help = format!("paths are relative to {}", root.display());
                vec![Diagnostic::error(codes::ADR_MISSING, file, message).help(help)]
            })?;
            Some(AdrText { path: path.clone(), text })
        }
    };
    let problems = prompt::check(plan, adr.as_ref(), &briefing, |_, problem| problem);
    if !problems.is_empty() {
        return Err(problems);
    }
    let rendered = plan.phases.iter().map(|phase| {
        let prompt = prompt::first(plan, adr.as_ref(), &briefing, phase).map_err(|error| {
            let message = format!("{error}: {}", error.place());
            vec![Diagnostic::error(helix_core::plan::codes::BAD_PROMPT, file, message)]
        })?;
        Ok(PhasePrompt { phase: phase.id.clone(), prompt })
    });
    rendered.collect()
}
