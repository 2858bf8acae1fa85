//! Prompts: built-in templates rendered with typed inputs. Text from outside stands in fences and is named as data.
//!
//! Must not know agents' dialects, and reads no files: what a prompt says is decided by its arguments.

use helix_core::finding::{Correction, fence_for};
use helix_core::job::JobSpec;
use helix_core::plan::{GateSpec, Phase, Plan};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;

/// Why a prompt could not be made. Cannot happen with the built-in templates and is found by their tests.
#[derive(Debug, thiserror::Error)]
#[error("the prompt template {template} cannot be rendered")]
pub(crate) struct PromptError {
    template: &'static str,
    source: minijinja::Error,
}

/// The task of a phase, for a new agent session.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn phase(spec: &JobSpec, phase: &Phase, correction: Option<&Correction>) -> Result<String, PromptError> {
    let plan = &spec.plan;
    let others: Vec<Other<'_>> =
        plan.phases.iter().filter(|other| other.id != phase.id).map(|other| Other::of(plan, phase, other)).collect();
    render(
        "phase.md.j2",
        include_str!("../prompts/phase.md.j2"),
        context! {
            plan => Serde(plan),
            phase => Serde(phase),
            others => Serde(others),
            gates => phase.gates.iter().map(explain).collect::<Vec<_>>(),
            adr => Serde(&spec.adr),
            adr_fence => spec.adr.as_ref().map(|adr| fence_for(&adr.text)),
            correction => correction.map(Correction::to_markdown),
        },
    )
}

/// What a resumed agent session is told about its last try; `cwd` is where the work lies now.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn correction(phase: &Phase, correction: &Correction, cwd: &str) -> Result<String, PromptError> {
    render(
        "correction.md.j2",
        include_str!("../prompts/correction.md.j2"),
        context! {
            phase => Serde(phase),
            cwd,
            moved => true,
            gates => phase.gates.iter().map(explain).collect::<Vec<_>>(),
            correction => correction.to_markdown(),
        },
    )
}

/// What the Consultant knows besides the conversation.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ConsultantFacts {
    /// Its working directory.
    pub workspace: String,
    /// Where new projects are created.
    pub projects: String,
    /// The project that the conversation is about.
    pub project: Option<String>,
    /// Jobs that the conversation has started.
    pub jobs: Vec<KnownJob>,
    /// Form of an ADR.
    pub adr_template: String,
    /// Whether Helix's tools are reached over MCP.
    pub mcp: bool,
}

/// A job in a few words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct KnownJob {
    /// Its id.
    pub id: String,
    /// Its plan's name.
    pub name: String,
    /// Where it stands.
    pub status: String,
}

/// Phase types that a plan may name, in the contract's order.
const PHASE_TYPES: &str = "consultant planning feasibility research development review test documentation deploy \
                           integration decision manual";
/// Gates that this version carries out.
const GATE_TYPES: &str = "files_exist, outputs_claimed, syntax_check, tests_pass (command), lint_pass (command), \
                          build_pass (command), command (command), adr_valid, adr_complete, docs_refs_valid";

/// The Consultant's standing instructions.
///
/// # Errors
/// [`PromptError`].
pub(crate) fn consultant(facts: &ConsultantFacts) -> Result<String, PromptError> {
    render(
        "consultant.md.j2",
        include_str!("../prompts/consultant.md.j2"),
        context! {
            phase_types => PHASE_TYPES,
            gate_types => GATE_TYPES,
            ..minijinja::Value::from(Serde(facts))
        },
    )
}

fn render(name: &'static str, template: &'static str, values: minijinja::Value) -> Result<String, PromptError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, values).map_err(|source| PromptError { template: name, source })
}

#[derive(Serialize)]
struct Other<'a> {
    id: &'a str,
    name: &'a str,
    relation: &'static str,
}

impl<'a> Other<'a> {
    fn of(plan: &'a Plan, phase: &Phase, other: &'a Phase) -> Self {
        let relation = if plan.ancestors(&phase.id).contains(&&other.id) {
            "done: its result is in your working directory"
        } else if plan.ancestors(&other.id).contains(&&phase.id) {
            "comes after yours and builds on it"
        } else {
            "independent of yours"
        };
        Self { id: other.id.as_str(), name: &other.name, relation }
    }
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
        GateSpec::TestsPass { command, .. } => {
            format!("tests_pass: `{command}` exits 0, tests really run, and none is lost against the start")
        }
        GateSpec::LintPass { command, .. } => format!("lint_pass: `{command}` exits 0"),
        GateSpec::BuildPass { command, .. } => format!("build_pass: `{command}` exits 0"),
        GateSpec::Command { command, .. } => format!("command: `{command}` exits 0"),
        GateSpec::AdrValid { .. } => "adr_valid: the ADR has no errors".into(),
        GateSpec::AdrComplete { .. } => "adr_complete: the ADR is complete".into(),
        GateSpec::DocsRefsValid {} => "docs_refs_valid: links and file references in changed Markdown resolve".into(),
        GateSpec::CriteriaCovered {} => "criteria_covered: every acceptance criterion has evidence that passes".into(),
        GateSpec::ReviewApproved { .. } => "review_approved: an independent reviewer approves".into(),
        GateSpec::Approval { .. } => "approval: a person approves".into(),
        GateSpec::Manual { .. } => "manual: a person confirms".into(),
        GateSpec::DeploySuccess { command, .. } => format!("deploy_success: `{command}` exits 0"),
        GateSpec::IntegrationPass { command, .. } => format!("integration_pass: `{command}` exits 0"),
    }
}
