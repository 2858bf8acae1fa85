//! Drafts of a session: the decision and the plan as a person sees them before anything runs.
//!
//! Must not start anything. The files are an agent's: nothing of them steers the terminal.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use helix_core::diagnostic::Diagnostic;
use helix_engine::tools::{ADR_DRAFT, PLAN_DRAFT};
use helix_job::session::SessionView;
use helix_language::{Language, say};
use helix_plan::Plan;
use helix_project::workflows::WorkflowPaths;
use jiff::Timestamp;
use serde::Serialize;

use super::read_draft;
use crate::config::user_directory;
use crate::context::Context;
use crate::error::CommandError;
use crate::files::unreadable;
use crate::terminal::{Meaning, one_line, plain, rendered};

/// Longest description of a phase that is shown, in characters.
const LONGEST: usize = 200;

/// What waits for a yes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Drafts {
    /// Where they are.
    pub(crate) directory: PathBuf,
    /// The text of the decision, if there is one.
    pub(crate) decision: Option<String>,
    /// The text of the plan.
    pub(crate) text: String,
    /// The plan with the phases of its workflow; `None` where it has errors.
    pub(crate) plan: Option<Plan>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Which draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draft {
    Decision,
    Plan,
}

/// What a person says to drafts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    Edit(Draft),
    NotNow,
    /// What is to be changed, in words for the Consultant.
    Change(String),
}

impl Answer {
    pub(super) fn parse(typed: &str) -> Self {
        match typed.trim().to_lowercase().as_str() {
            "y" | "yes" | "j" | "ja" => Self::Yes,
            "e" | "edit" => Self::Edit(Draft::Plan),
            "d" | "decision" => Self::Edit(Draft::Decision),
            "" | "n" | "no" | "nein" => Self::NotNow,
            _ => Self::Change(typed.trim().to_owned()),
        }
    }
}

impl Drafts {
    /// Those of a session that were written after its last job was started.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) fn waiting(
        context: &Context,
        session: &SessionView,
        last: Option<Timestamp>,
    ) -> Result<Option<Self>, CommandError> {
        let directory = PathBuf::from(&session.directory);
        let read = |name: &str| read_draft(&directory, name).map_err(unreadable(&directory.join(name)));
        if !is_newer(&directory.join(PLAN_DRAFT), last) {
            return Ok(None);
        }
        let Some(text) = read(PLAN_DRAFT)? else { return Ok(None) };
        let decision = if is_newer(&directory.join(ADR_DRAFT), last) { read(ADR_DRAFT)? } else { None };
        let project = session.project.as_deref().map(Path::new);
        let workflows = WorkflowPaths::new(project, user_directory(&context.environment));
        let parsed = Plan::parse(PLAN_DRAFT, &text).and_then(|parsed| workflows.expand(parsed, PLAN_DRAFT));
        let (plan, diagnostics) = match parsed {
            Ok(parsed) => (Some(parsed.plan), parsed.warnings),
            Err(diagnostics) => (None, diagnostics),
        };
        Ok(Some(Self { directory, decision, text, plan, diagnostics }))
    }

    /// Whether the plan can be run.
    pub(crate) fn is_valid(&self) -> bool {
        self.plan.is_some()
    }

    /// Shows the decision and the plan.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(crate) fn show(&self, context: &Context) -> Result<(), CommandError> {
        let (terminal, language) = (&context.terminal, context.terminal.language);
        let title = |text: &str| terminal.paint(Meaning::Strong, &format!("── {text}"));
        if let Some(decision) = &self.decision {
            let text = match terminal.columns() {
                Some(columns) => rendered(decision, language, terminal.look, columns),
                None => format!("{}\n", plain(decision).trim_end()),
            };
            terminal.raw(&format!("{}\n{text}\n", title(&say!(language, "drafts-decision"))))?;
        }
        if let Some(plan) = self.plan_in_words(context, language) {
            terminal.data(&plan)?;
        }
        terminal.say_diagnostics(&self.diagnostics, &self.text);
        Ok(())
    }

    /// The plan; `None` where it has errors.
    pub(crate) fn plan_in_words(&self, context: &Context, language: Language) -> Option<String> {
        let (plan, terminal) = (self.plan.as_ref()?, &context.terminal);
        let name = say!(language, "drafts-plan", name = one_line(&plan.name, LONGEST));
        let mut lines = vec![terminal.paint(Meaning::Strong, &format!("── {name}"))];
        if !plan.description.trim().is_empty() {
            lines.push(one_line(&plan.description, LONGEST));
        }
        for phase in &plan.phases {
            let id = terminal.paint(Meaning::Strong, phase.id.as_str());
            lines.push(format!("  {id} ({}): {}", phase.kind.word(), one_line(&phase.name, LONGEST)));
            let described = one_line(&phase.description, LONGEST);
            if !described.is_empty() && described != phase.name {
                lines.push(format!("    {described}"));
            }
            let after: Vec<&str> = phase.depends_on.iter().map(|id| id.as_str()).collect();
            if !after.is_empty() {
                lines.push(format!("    {}", say!(language, "drafts-after", phases = after.join(", "))));
            }
            let gates = phase.gates.iter().map(|gate| {
                let commands: Vec<String> = gate.commands().iter().map(|command| format!(" `{command}`")).collect();
                format!("{}{}", gate.name(), commands.concat())
            });
            let checks =
                gates.chain(phase.verify.as_ref().map(|_| say!(language, "drafts-verifier"))).collect::<Vec<_>>();
            let checks = if checks.is_empty() { say!(language, "drafts-unchecked") } else { checks.join(", ") };
            lines.push(format!("    {}", say!(language, "drafts-checks", checks = plain(&checks))));
        }
        Some(lines.join("\n"))
    }

    /// What is wrong with the plan, or odd about it.
    pub(crate) fn problems(&self, context: &Context) -> String {
        self.diagnostics.iter().map(|one| context.terminal.pictured(one, &self.text)).collect::<Vec<_>>().join("\n")
    }

    /// The file of a draft; that of the plan where there is no decision.
    pub(super) fn file(&self, which: Draft) -> PathBuf {
        let name = match which {
            Draft::Decision if self.decision.is_some() => ADR_DRAFT,
            Draft::Decision | Draft::Plan => PLAN_DRAFT,
        };
        self.directory.join(name)
    }
}

/// Whether a file was written after a time.
fn is_newer(path: &Path, since: Option<Timestamp>) -> bool {
    let changed = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
    let changed = changed.and_then(|file| file.modified().ok());
    changed.is_some_and(|changed| since.is_none_or(|since| changed > SystemTime::from(since)))
}

#[cfg(test)]
#[path = "drafts_test.rs"]
mod tests;
