//! What the agent of a phase is told: its task, what was tried before, and what was found about its last try.
//!
//! Must not know how the answer is judged. Every value is typed; what comes from outside stands in fences.

use helix_core::diagnostic::Diagnostic;
use helix_core::finding::{Correction, Finding, fence_for};
use helix_job::{AdrText, Attempt, Briefing, JobSpec, SkillEntry};
use helix_language::RECORD;
use helix_plan::{Ancestry, GateSpec, MutationGate, Phase, PhaseType, Plan, TestsGate, codes};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::template::render_phase;
use super::tried::{Tried, tried};
use super::{PromptError, render};

/// The task of a phase, for a new agent session. `earlier` are the attempts of other sessions, of which this one knows nothing.
///
/// # Errors
/// [`PromptError`]; not for a plan that was checked with [`check`].
pub(crate) fn phase(
    spec: &JobSpec,
    phase: &Phase,
    earlier: &[Attempt],
    correction: Option<&Correction>,
) -> Result<String, PromptError> {
    let values = Values::new(&spec.plan, spec.adr.as_ref());
    values.task(&spec.briefing, phase, &values.others(phase).collect::<Vec<_>>(), &tried(earlier), correction)
}

/// The task of a phase's first try, before there is a job.
///
/// # Errors
/// As for [`phase`].
pub(crate) fn first(
    plan: &Plan,
    adr: Option<&AdrText>,
    briefing: &Briefing,
    phase: &Phase,
) -> Result<String, PromptError> {
    let values = Values::new(plan, adr);
    values.task(briefing, phase, &values.others(phase).collect::<Vec<_>>(), &[], None)
}

/// What a resumed agent session is told about its last try, or what a person answered; `cwd` is where the work lies now.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn correction(phase: &Phase, correction: &Correction, cwd: &str) -> Result<String, PromptError> {
    render(
        "correction.md.j2",
        include_str!("../../prompts/correction.md.j2"),
        context! {
            phase => Serde(phase),
            cwd,
            moved => true,
            answer => is_answer(correction),
            generates => phase.generates_phases.is_some(),
            gates => checks(phase),
            correction => correction.to_markdown(),
        },
    )
}

/// Renders the prompt of every phase of a plan, in all its forms, so that no template can fail while a job runs.
///
/// # Errors
/// One diagnostic for each phase type whose template fails; `place` gives the file and place of the phase with this index.
pub(crate) fn check(
    plan: &Plan,
    adr: Option<&AdrText>,
    briefing: &Briefing,
    place: impl Fn(usize, Diagnostic) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut failed: Vec<PhaseType> = Vec::new();
    let values = Values::new(plan, adr);
    for (at, phase) in plan.phases.iter().enumerate() {
        let added = phase.generates_phases.iter().flat_map(|generates| [generates.template, PhaseType::Feasibility]);
        for kind in std::iter::once(phase.kind).chain(added) {
            if failed.contains(&kind) {
                continue;
            }
            let phase = Phase { kind, ..phase.clone() };
            if let Err(error) = values.every_form(briefing, &phase) {
                failed.push(kind);
                let message = format!("{error}: {}", error.place());
                let help = "correct the template; docs/prompts.md lists what it can show";
                problems.push(place(at, Diagnostic::error(codes::BAD_PROMPT, "", message).help(help)));
            }
        }
    }
    problems
}

/// What the prompts of all phases of a plan show, made once for all of them.
struct Values<'a> {
    plan: &'a Plan,
    ancestry: Ancestry<'a>,
    shared: Value,
}

impl<'a> Values<'a> {
    fn new(plan: &'a Plan, adr: Option<&AdrText>) -> Self {
        let adr = adr.map(|adr| Adr { path: &adr.path, text: &adr.text, fence: fence_for(&adr.text) });
        let shared = context! {
            plan => Serde(plan),
            ids => plan.phases.iter().map(|phase| phase.id.to_string()).collect::<Vec<_>>(),
            adr => Serde(adr),
        };
        Self { plan, ancestry: plan.ancestry(), shared }
    }

    fn others<'s>(&'s self, phase: &'s Phase) -> impl Iterator<Item = Other<'a>> + 's {
        self.plan.phases.iter().filter(|other| other.id != phase.id).map(|other| {
            let relation = if self.ancestry.is_before(&other.id, &phase.id) {
                "done: its result is in your working directory"
            } else if self.ancestry.is_before(&phase.id, &other.id) {
                "comes after yours and builds on it"
            } else {
                "independent of yours"
            };
            Other { id: other.id.as_str(), name: &other.name, relation }
        })
    }

    fn every_form(&self, briefing: &Briefing, phase: &Phase) -> Result<(), PromptError> {
        let finding = Finding::new("sample", "something is wrong").fix("correct it");
        let finding = Finding { evidence: Some("output".into()), ..finding };
        let sample = Correction::new("a gate failed", vec![finding]);
        let tried = [Tried::new(1, "src/a.py", sample.to_markdown())];
        // All others have the same form: one of them shows whether the template can show them.
        let others: Vec<Other<'_>> = self.others(phase).take(1).collect();
        self.task(briefing, phase, &others, &[], None)?;
        self.task(briefing, phase, &others, &tried, Some(&sample))?;
        Ok(())
    }

    fn task(
        &self,
        briefing: &Briefing,
        phase: &Phase,
        others: &[Other<'_>],
        attempts: &[Tried],
        correction: Option<&Correction>,
    ) -> Result<String, PromptError> {
        let skills: Vec<&SkillEntry> =
            phase.skills.iter().filter_map(|name| briefing.skills.iter().find(|skill| &skill.name == name)).collect();
        let values: Value = context! {
            phase => Serde(phase),
            others => Serde(others),
            gates => checks(phase),
            skills => Serde(skills),
            generates => Serde(&phase.generates_phases),
            attempts => Serde(attempts),
            correction => correction.map(Correction::to_markdown),
            answer => correction.is_some_and(is_answer),
            ..self.shared.clone()
        };
        render_phase(phase.kind, briefing, values)
    }
}

/// Whether a correction is what a person said, and no fault of the work.
fn is_answer(correction: &Correction) -> bool {
    !correction.findings.is_empty() && correction.findings.iter().all(|finding| finding.rule == "question.answer")
}

#[derive(Serialize)]
struct Adr<'a> {
    path: &'a str,
    text: &'a str,
    fence: String,
}

#[derive(Serialize)]
struct Other<'a> {
    id: &'a str,
    name: &'a str,
    relation: &'static str,
}

/// What checks the result, in words: the gates, then the verifier.
fn checks(phase: &Phase) -> Vec<String> {
    let verifier = "verify: then an independent verifier, who knows only this task, the decision, your diff and the files, looks for \
                    what is missing or wrong, weakened tests, secrets and paths of this machine";
    phase.gates.iter().map(explain).chain(phase.verify.is_some().then(|| verifier.to_owned())).collect()
}

fn explain(gate: &GateSpec) -> String {
    let files = |files: &[String], otherwise: &str| {
        if files.is_empty() { otherwise.to_owned() } else { files.join(", ") }
    };
    match gate {
        GateSpec::FilesExist { files: named } => {
            format!("files_exist: {} are there and not empty", files(named, "the files you must create or change"))
        }
        GateSpec::OutputsClaimed { strict: false } => {
            "outputs_claimed: every file you must create or change is in your diff".into()
        }
        GateSpec::OutputsClaimed { strict: true } => {
            "outputs_claimed: exactly the files you must create or change are in your diff".into()
        }
        GateSpec::SyntaxCheck { files: named } => format!("syntax_check: {} parse", files(named, "all changed files")),
        GateSpec::TestsPass(TestsGate { command, .. }) => {
            format!(
                "tests_pass: `{command}` exits 0, tests really run, none is lost against the start, and they fail where your \
                 functions answer nonsense"
            )
        }
        GateSpec::Mutation(MutationGate { command, min_killed, .. }) => format!(
            "mutation: small mistakes are planted in the lines that you change, one at a time, and `{command}` notices at least {min_killed} % of them"
        ),
        GateSpec::LintPass { command, .. } => format!("lint_pass: `{command}` exits 0"),
        GateSpec::BuildPass { command, .. } => format!("build_pass: `{command}` exits 0"),
        GateSpec::Command { command, .. } => format!("command: `{command}` exits 0"),
        GateSpec::AdrValid { .. } => "adr_valid: the ADR has no errors".into(),
        GateSpec::AdrComplete { .. } => "adr_complete: the ADR is complete".into(),
        GateSpec::DocsRefsValid {} => "docs_refs_valid: links and file references in changed Markdown resolve".into(),
        GateSpec::CriteriaCovered {} => "criteria_covered: every acceptance criterion has evidence that passes".into(),
        GateSpec::ConflictsResolved { files: named } => {
            format!("conflicts_resolved: no conflict marker is left in {}", files(named, "any changed file"))
        }
        GateSpec::ReviewApproved { .. } => "review_approved: an independent reviewer approves".into(),
        GateSpec::Approval { .. } => "approval: a person approves".into(),
        GateSpec::Manual { .. } => "manual: a person confirms".into(),
        GateSpec::DeploySuccess(delivery) => {
            format!("deploy_success: Helix delivers, and {}", RECORD.words(&delivery.words()))
        }
        GateSpec::IntegrationPass(delivery) => {
            format!("integration_pass: Helix delivers, and {}", RECORD.words(&delivery.words()))
        }
    }
}

#[cfg(test)]
#[path = "phase_test.rs"]
mod tests;
