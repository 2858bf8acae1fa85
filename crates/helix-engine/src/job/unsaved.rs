//! What attempts have left that is in no commit yet: it is kept until there is one.
//!
//! Must not know why a commit failed.

use std::path::Path;

use helix_core::finding::Fault;
use helix_core::ids::{CommitId, JobId};
use helix_core::text::one_line;
use helix_job::{Active, Attempt, JobSpec, PhaseProgress, PhaseState, phrases};
use helix_language::{ErrorView, Language, fault_with_hint, recorded};
use helix_plan::Phase;

use helix_git::{AttemptKey, CommitText};

/// An attempt whose work is in no commit, with what makes one.
pub(crate) struct Unsaved {
    pub(crate) key: AttemptKey,
    pub(super) base: CommitId,
    pub(super) start: CommitId,
    pub(super) text: CommitText,
}

/// Those of a job.
pub(crate) fn unsaved(job: &JobId, active: &Active) -> Vec<Unsaved> {
    let of = |(phase, progress): (&Phase, &PhaseProgress)| {
        let text = commit_text(phase, &active.spec);
        let one = |this: &Attempt| Unsaved {
            key: AttemptKey { job: job.clone(), phase: phase.id.clone(), attempt: this.begin.attempt },
            base: this.begin.base.clone(),
            start: this.begin.start.clone(),
            text: text.clone(),
        };
        progress.unsaved().map(one).collect::<Vec<_>>()
    };
    active.pairs().flat_map(of).collect()
}

/// Longest title of a commit, in characters.
const LONGEST_TITLE: usize = 72;

/// What the commit of an attempt's result says.
pub(super) fn commit_text(phase: &Phase, spec: &JobSpec) -> CommitText {
    let agent = format!("Helix-Agent: {}", made_by(phase, spec));
    CommitText { subject: title(phase.id.as_str(), done(phase)), body: String::new(), trailers: vec![agent] }
}

/// What the commit says that brings a job's results to a branch: its title is that of the only phase, or of the plan.
pub(super) fn result_text(active: &Active) -> CommitText {
    let plan = &active.spec.plan;
    let passed: Vec<&Phase> = active
        .pairs()
        .filter(|(_, progress)| matches!(progress.state, PhaseState::Passed { .. }))
        .map(|(phase, _)| phase)
        .collect();
    let what = match (first_sentence(&plan.description), &passed[..]) {
        ("", [only]) => done(only),
        (description, _) => description,
    };
    let mut agents: Vec<String> = passed.iter().map(|phase| made_by(phase, &active.spec)).collect();
    agents.sort();
    agents.dedup();
    CommitText {
        subject: title(&plan.name, what),
        body: passed.iter().map(|phase| format!("- {}\n", title(phase.id.as_str(), done(phase)))).collect(),
        trailers: agents.iter().map(|agent| format!("Helix-Agent: {agent}")).chain(overruled(active)).collect(),
    }
}

/// What persons have accepted although a gate did not pass: whoever reads the history is to know it.
fn overruled(active: &Active) -> impl Iterator<Item = String> {
    let accepted = active.pairs().flat_map(|(phase, progress)| progress.accepted().iter().map(move |one| (phase, one)));
    accepted.map(|(phase, one)| {
        let by = phrases::person(Language::English, &one.by);
        format!("Helix-Overruled: {} of {}, by {by}: {}", one.name, phase.id, one.reason)
    })
}

/// The agent of a phase, with the model that was chosen for it.
fn made_by(phase: &Phase, spec: &JobSpec) -> String {
    let agent = phase.agent.as_ref().unwrap_or(&spec.default_agent);
    phase.model.as_ref().map_or_else(|| agent.clone(), |model| format!("{agent} ({model})"))
}

/// What a phase does, in the plan's words: its name, where that is more than its id.
fn done(phase: &Phase) -> &str {
    if phase.name == phase.id.as_str() { first_sentence(&phase.description) } else { &phase.name }
}

fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

fn title(name: &str, what: &str) -> String {
    if what.is_empty() { one_line(name, LONGEST_TITLE) } else { one_line(&format!("{name}: {what}"), LONGEST_TITLE) }
}

/// Says where the only copy of an attempt's work is.
pub(super) fn kept_in(worktree: &Path, fault: Fault) -> Fault {
    let (told, directory) = (ErrorView::of_fault(&fault), worktree.display().to_string());
    let message = recorded!("fault-kept-in", why = told.words(), directory = directory);
    let hint = told.hint_words();
    let hint = if hint.is_empty() { message.hint() } else { hint.and("; ").and(message.hint()) };
    fault_with_hint(fault.kind, message, hint)
}
