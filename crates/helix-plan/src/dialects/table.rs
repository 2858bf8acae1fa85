//! Every older form of a plan, as data: where it stands, what it means now, and an example in both forms.
//!
//! Must not know diagnostics; the rewriting looks forms up here, and the docs and tests are made from the same rows.

use helix_core::document::Node;

use super::super::print::node_text;

/// The mapping in which an old key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OldPlace {
    /// The top of the file.
    Plan,
    /// `project` at the top.
    Project,
    Phase,
    /// `config` of a phase.
    Config,
    /// `phase_config` of a phase.
    PhaseConfig,
    /// `input`, `input_from` or `output` of a phase, written as a mapping.
    Files,
    Gate,
}

impl OldPlace {
    /// The place in the docs' words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Project => "`project` of a plan",
            Self::Phase => "phase",
            Self::Config => "`config` of a phase",
            Self::PhaseConfig => "`phase_config` of a phase",
            Self::Files => "`input` or `output` of a phase",
            Self::Gate => "gate",
        }
    }
}

/// How the value of an old key becomes a modern value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Same,
    /// A single text becomes a list.
    List,
    /// A number of retries becomes a number of attempts: one more.
    Retries,
    /// Files that the phase reads, in any of their shapes.
    Inputs,
    /// Files that the phase writes, in any of their shapes.
    Outputs,
    /// Phases whose results are read; added to `depends_on`.
    From,
    /// Phases that come before.
    Dependencies,
    /// One gate or several, each a mapping or a bare name.
    Gates,
    /// True, false, the name of a verifying agent, or a mapping.
    Verify,
    /// True for an approval before the phase.
    Approval,
    /// True for a phase that comes after those that a planning phase adds.
    AfterDynamic,
    /// The name of a template, which begins with a phase type.
    Template,
}

/// What an old key means now. A path such as `defaults.timeout` leads into a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Key(&'static str, Shape),
    /// A key of the phases that it concerns, where they do not have it themselves.
    Shared(&'static str, Shape),
    /// A mapping whose keys have rows of their own.
    Parts(OldPlace),
    /// Nothing, for this reason.
    Ignored(&'static str),
}

/// An old key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OldKey {
    pub(super) place: OldPlace,
    pub(super) key: &'static str,
    pub(super) meaning: Meaning,
    /// The form in a plan, as messages and docs show it.
    old: &'static str,
    /// The same in the modern form, with a comment where it says more; empty when it is ignored.
    modern: &'static str,
}

impl OldKey {
    /// A value in the modern form, as messages show it, with the comment of the table.
    pub(super) fn written(&self, path: &str, value: &Node) -> String {
        let value = node_text(value);
        let text = match path.split_once('.') {
            Some((outer, key)) => format!("{outer}: {{ {key}: {value} }}"),
            None => format!("{path}: {value}"),
        };
        text + self.modern.find(" # ").map_or("", |at| &self.modern[at..])
    }
}

const fn key(place: OldPlace, key: &'static str, meaning: Meaning, old: &'static str, modern: &'static str) -> OldKey {
    OldKey { place, key, meaning, old, modern }
}

const WORKFLOW: &str = "the phases describe the work; `workflow` adds those of a workflow";
const TEMPLATE: &str = "the phase's type decides its prompt template";

#[rustfmt::skip]
pub(super) const KEYS: &[OldKey] = {
    use Meaning::{Ignored, Key, Parts, Shared};
    use OldPlace::{Config, Files, Gate, Phase, PhaseConfig, Plan, Project};
    use Shape::{
        AfterDynamic, Approval, Dependencies, From, Gates, Inputs, List, Outputs, Retries, Same, Template, Verify,
    };
    &[
        key(Plan, "project", Parts(Project), "project: { name: csv-export }", "name: csv-export"),
        key(Plan, "project_type", Ignored(WORKFLOW), "project_type: external", ""),
        key(Plan, "complexity", Ignored(WORKFLOW), "complexity: simple", ""),
        key(Plan, "max_retries", Key("defaults.max_attempts", Retries), "max_retries: 2", "defaults: { max_attempts: 3 }"),
        key(Plan, "max_dynamic_phases", Shared("generates_phases.max", Same), "max_dynamic_phases: 4", "generates_phases: { max: 4 } # in each phase that generates phases"),
        key(Plan, "dynamic_phase_template", Shared("generates_phases.template", Template), "dynamic_phase_template: development", "generates_phases: { template: development } # in each phase that generates phases"),
        key(Plan, "skills", Shared("skills", List), "skills: [python]", "skills: [python] # in each phase"),

        key(Project, "name", Key("name", Same), "project: { name: csv-export }", "name: csv-export"),
        key(Project, "type", Ignored(WORKFLOW), "project: { type: feature }", ""),
        key(Project, "description", Key("description", Same), "project: { description: Exports rows }", "description: Exports rows"),
        key(Project, "adr", Key("adr", Same), "project: { adr: adr/012-csv-export.md }", "adr: adr/012-csv-export.md"),
        key(Project, "status", Ignored("`helix jobs` shows the state of a job"), "project: { status: ready }", ""),
        key(Project, "generated", Ignored("not used; keep it in a comment"), "project: { generated: true }", ""),
        key(Project, "max_retries", Key("defaults.max_attempts", Retries), "project: { max_retries: 2 }", "defaults: { max_attempts: 3 }"),

        key(Phase, "input", Key("inputs", Inputs), "input: docs/spec.md", "inputs: [docs/spec.md]"),
        key(Phase, "input_from", Key("depends_on", From), "input_from: design", "depends_on: [design]"),
        key(Phase, "output", Key("outputs", Outputs), "output: [src/a.py]", "outputs: [src/a.py]"),
        key(Phase, "quality_gate", Key("gates", Gates), "quality_gate: { type: syntax_check }", "gates: [{ type: syntax_check }]"),
        key(Phase, "quality_gates", Key("gates", Gates), "quality_gates: [syntax_check]", "gates: [{ type: syntax_check }]"),
        key(Phase, "gate", Key("gates", Gates), "gate: syntax_check", "gates: [{ type: syntax_check }]"),
        key(Phase, "verify_agent", Key("verify", Verify), "verify_agent: true", "verify: true"),
        key(Phase, "requires_approval", Key("approval", Approval), "requires_approval: true", "approval: before"),
        key(Phase, "max_retries", Key("max_attempts", Retries), "max_retries: 2", "max_attempts: 3"),
        key(Phase, "dependencies", Key("depends_on", Dependencies), "dependencies: [design]", "depends_on: [design]"),
        key(Phase, "after_dynamic", Key("depends_on", AfterDynamic), "after_dynamic: true", "depends_on: [design] # phases that generate phases"),
        key(Phase, "config", Parts(Config), "config: { model: sonnet }", "model: sonnet"),
        key(Phase, "phase_config", Parts(PhaseConfig), "phase_config: { max_phases: 3 }", "generates_phases: { max: 3 }"),
        key(Phase, "template", Ignored(TEMPLATE), "template: development-python", ""),
        key(Phase, "target", Ignored("not used; name the target in the command of the phase's gate"), "target: production", ""),
        key(Phase, "estimated_sessions", Ignored("estimates have no effect; `max_turns`, `timeout` and `budget_usd` are limits"), "estimated_sessions: 2", ""),
        key(Phase, "rejection", Ignored("a rejected result is corrected until no attempts are left; then `on_failure` applies"), "rejection: { action: stop }", ""),

        key(Config, "model", Key("model", Same), "config: { model: sonnet }", "model: sonnet"),
        key(Config, "skills", Key("skills", List), "config: { skills: python }", "skills: [python]"),
        key(Config, "template", Ignored(TEMPLATE), "config: { template: meeting }", ""),
        key(Config, "experts", Ignored("there are no experts per phase; use `description` or `skills`"), "config: { experts: [security] }", ""),
        key(Config, "input_from", Key("depends_on", From), "config: { input_from: design }", "depends_on: [design]"),

        key(PhaseConfig, "min_phases", Key("generates_phases.min", Same), "phase_config: { min_phases: 2 }", "generates_phases: { min: 2, max: 5 }"),
        key(PhaseConfig, "max_phases", Key("generates_phases.max", Same), "phase_config: { max_phases: 3 }", "generates_phases: { max: 3 }"),
        key(PhaseConfig, "phase_template", Key("generates_phases.template", Template), "phase_config: { phase_template: development }", "generates_phases: { max: 5, template: development }"),

        key(Files, "files", Key("inputs", List), "input: { files: [docs/spec.md] }", "inputs: [docs/spec.md]"),
        key(Files, "from", Key("depends_on", From), "input: { from: design }", "depends_on: [design]"),
        key(Files, "directory", Key("outputs", List), "output: { directory: docs }", "outputs: [docs/]"),
        key(Files, "expected_files", Key("outputs", List), "output: { directory: docs, expected_files: [a.md] }", "outputs: [docs/a.md]"),

        key(Gate, "required_files", Key("files", List), "{ type: files_exist, required_files: [README.md] }", "{ type: files_exist, files: [README.md] }"),
        key(Gate, "file_patterns", Key("files", List), "{ type: syntax_check, file_patterns: [\"*.py\"] }", "{ type: syntax_check, files: [\"*.py\"] }"),
        key(Gate, "file", Key("files", List), "{ type: files_exist, file: README.md }", "{ type: files_exist, files: [README.md] }"),
        key(Gate, "test_command", Key("command", Same), "{ type: tests_pass, test_command: pytest -q }", "{ type: tests_pass, command: pytest -q }"),
        key(Gate, "test", Key("command", Same), "{ type: tests_pass, test: pytest -q }", "{ type: tests_pass, command: pytest -q }"),
    ]
};

/// Old words as values of `type`, with the modern ones.
pub(super) const WORDS: &[(OldPlace, &str, &str)] = &[
    (OldPlace::Phase, "meeting", "consultant"),
    (OldPlace::Phase, "testing", "test"),
    (OldPlace::Phase, "deployment", "deploy"),
    (OldPlace::Phase, "hardware-test", "manual"),
    (OldPlace::Gate, "python_syntax", "syntax_check"),
    (OldPlace::Gate, "file_exists", "files_exist"),
    (OldPlace::Gate, ADR_GATE, "files_exist"),
];

/// The gate about the project's ADRs: without `files` it means the plan's ADR, or else every ADR.
pub(super) const ADR_GATE: &str = "adr_files_exist";
/// Where the ADRs lie that this gate means when the plan names none.
pub(super) const EVERY_ADR: &str = "adr/*.md";

/// Folders before a path that only say what happens to the file.
pub(super) const REPOSITORY_FOLDERS: [&str; 2] = ["new/", "modified/"];
/// The folder of the phase itself.
pub(super) const OWN_FOLDER: &str = "output/";
/// Before and behind the id of a phase in the path of its folder.
pub(super) const PHASE_FOLDERS: (&str, &str) = ("phases/", "output/");

/// Old forms of values, for the docs and the tests: old and modern.
const VALUES: &[(OldPlace, &str, &str)] = &[
    (OldPlace::Phase, "id: 7", "id: \"7\""),
    (OldPlace::Phase, "id: Build_All.v2", "id: build-all-v2"),
    (OldPlace::Phase, "depends_on: [Design]", "depends_on: [design]"),
    (OldPlace::Phase, "generates_phases: true", "generates_phases: { max: 5 }"),
    (OldPlace::Phase, "verify_agent: code-reviewer", "verify: true"),
    (OldPlace::Phase, "type: meeting", "type: consultant"),
    (OldPlace::Phase, "type: testing", "type: test"),
    (OldPlace::Phase, "type: deployment", "type: deploy"),
    (OldPlace::Phase, "type: hardware-test", "type: manual"),
    (OldPlace::Gate, "{ type: python_syntax }", "{ type: syntax_check }"),
    (OldPlace::Gate, "{ type: file_exists, files: [README.md] }", "{ type: files_exist, files: [README.md] }"),
    (OldPlace::Gate, "{ type: adr_files_exist }", "{ type: files_exist, files: [\"adr/*.md\"] }"),
    (OldPlace::Phase, "output: [output/a.py]", "outputs: [a.py]"),
    (OldPlace::Phase, "output: [new/a.py]", "outputs: [a.py]"),
    (OldPlace::Phase, "output: [modified/a.py]", "outputs: [a.py]"),
    (OldPlace::Phase, "output: [phases/work/output/a.py]", "outputs: [a.py]"),
];

/// An old form with its modern one, as the docs show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldForm {
    pub place: OldPlace,
    /// An example of it.
    pub old: String,
    /// What is to be written instead.
    pub modern: Modern,
}

/// What is to be written instead of an old form.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "is", content = "what", rename_all = "snake_case")]
pub enum Modern {
    /// This.
    Written(String),
    /// Nothing: the form says what holds anyway.
    LeftOut,
    /// Nothing: the form has no meaning any more, for this reason.
    Ignored(String),
}

/// Finds the row of an old key.
pub(super) fn old_key(place: OldPlace, key: &str) -> Option<&'static OldKey> {
    keys_of(place).find(|row| row.key == key)
}

/// The rows of one place.
pub(super) fn keys_of(place: OldPlace) -> impl Iterator<Item = &'static OldKey> {
    KEYS.iter().filter(move |row| row.place == place)
}

/// Every old form with an example, in the docs' order.
pub fn old_forms() -> Vec<OldForm> {
    let mut forms: Vec<OldForm> = Vec::new();
    for row in KEYS {
        let modern = match row.meaning {
            Meaning::Ignored(why) => Modern::Ignored(why.into()),
            Meaning::Key(..) | Meaning::Shared(..) | Meaning::Parts(_) => Modern::Written(row.modern.into()),
        };
        // A mapping's own row shows one of its keys, which has the same example.
        if !forms.iter().any(|other| other.old == row.old && other.modern == modern) {
            forms.push(OldForm { place: row.place, old: row.old.into(), modern });
        }
    }
    let values = VALUES.iter().map(|(place, old, modern)| {
        let modern = Modern::Written((*modern).into());
        OldForm { place: *place, old: (*old).into(), modern }
    });
    forms.extend(values);
    forms
}

/// The table of old forms as Markdown, for `docs/plan.md`.
pub fn old_forms_markdown() -> String {
    let mut out = String::from("| where | older form | is read as |\n|---|---|---|\n");
    for form in old_forms() {
        let modern = match form.modern {
            Modern::Written(text) => format!("`{text}`"),
            Modern::LeftOut => "nothing: it holds anyway".into(),
            Modern::Ignored(why) => format!("ignored: {why}"),
        };
        out.push_str(&format!("| {} | `{}` | {modern} |\n", form.place.title(), form.old));
    }
    out
}
