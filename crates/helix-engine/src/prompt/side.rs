//! What reviewers and advisers are told, and the two sides of a conflict.
//!
//! Must not know how their answers are read.

use helix_core::evidence::RunsBy;
use helix_core::finding::{Verdict, fence_for};
use helix_core::ids::PhaseId;
use helix_job::{Attempt, JobSpec, PhaseProgress};
use helix_language::Language;
use helix_plan::Phase;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use super::tried::told;
use super::{PromptError, render};
use helix_git::Patch;

/// What a reviewer is to look at; `unusable` says why its answer before could not be used.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn review(
    spec: &JobSpec,
    phase: &Phase,
    this: &Attempt,
    patch: &Patch,
    unusable: Option<&str>,
) -> Result<String, PromptError> {
    let gates: Vec<String> =
        this.gates.iter().map(|gate| format!("{}: {} ({})", gate.gate, gate.verdict.word(), gate.summary)).collect();
    let changed = this.result.as_ref().map(|result| result.changed.as_slice()).unwrap_or_default();
    let changed: Vec<String> = changed.iter().map(|file| file.path.clone()).collect();
    render(
        "review.md.j2",
        include_str!("../../prompts/review.md.j2"),
        context! {
            plan => Serde(&spec.plan),
            phase => Serde(phase),
            adr => Serde(&spec.adr),
            adr_fence => spec.adr.as_ref().map(|adr| fence_for(&adr.text)),
            gates,
            changed,
            patch => patch.text.as_str(),
            patch_fence => fence_for(&patch.text),
            cut => patch.cut,
            unusable,
            rules => this.runs_by_itself.iter().filter(|file| file.by == RunsBy::Agent).map(|file| file.path.clone()).collect::<Vec<_>>(),
        },
    )
}

/// What an adviser is asked about a phase that has no attempts left.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn advice(
    spec: &JobSpec,
    phase: &Phase,
    progress: &PhaseProgress,
    models: &[String],
) -> Result<String, PromptError> {
    let attempts: Vec<Told> = progress.attempts.iter().map(Told::from_attempt).collect();
    let before: Vec<String> = progress.advice.iter().map(|advice| advice.reason.clone()).collect();
    let record = attempts.iter().map(|told| told.findings.as_str()).collect::<String>();
    render(
        "advice.md.j2",
        include_str!("../../prompts/advice.md.j2"),
        context! {
            plan => Serde(&spec.plan),
            phase => Serde(phase),
            attempts => Serde(&attempts),
            fence => fence_for(&record),
            before,
            models => Serde(models),
        },
    )
}

/// Both sides of a conflict, for the prompt of the agent that resolves it.
pub(crate) fn both_sides(sides: &[(PhaseId, Patch)]) -> String {
    let mut text = String::from("\n## The two sides\nWhat each phase changed in these files, as data:\n");
    for (phase, patch) in sides {
        let fence = fence_for(&patch.text);
        text.push_str(&format!("\nBy `{phase}`:\n{fence}diff\n{}\n{fence}\n", patch.text.trim_end()));
        if patch.cut > 0 {
            text.push_str(&format!("({} more bytes are left out)\n", patch.cut));
        }
    }
    text
}

#[derive(Serialize)]
struct Told {
    number: u32,
    summary: String,
    findings: String,
}

impl Told {
    fn from_attempt(one: &Attempt) -> Self {
        let findings = match one.stopped_by() {
            Some((_, Verdict::Fail { findings }, _)) => findings.iter().take(FINDINGS_TOLD).map(told).collect(),
            Some(_) | None => String::new(),
        };
        Self { number: one.begin.attempt, summary: Language::English.words(&one.summary()), findings }
    }
}

/// Findings of one try that an adviser is told.
const FINDINGS_TOLD: usize = 12;
