//! The keys and words of older plans, as data: where they stand and what they mean now.
//!
//! Must not know diagnostics; the rewriting looks forms up here. The table in the docs has an example of every row.

use helix_core::document::Node;

use super::super::print::node_text;

/// The mapping in which an old key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OldPlace {
    /// The top of the file.
    Plan,
    /// `project` at the top.
    Project,
    Phase,
    Config,
    PhaseConfig,
    /// `input`, `input_from` or `output` of a phase, written as a mapping.
    Files,
    Gate,
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
    SharedValue(&'static str, Shape),
    /// A mapping whose keys have rows of their own.
    Parts(OldPlace),
    /// Nothing, for this reason.
    Ignored(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OldKey {
    pub(super) place: OldPlace,
    pub(super) key: &'static str,
    pub(super) meaning: Meaning,
}

impl OldKey {
    /// A value in the modern form, as messages show it, with a comment on where it is to be written.
    pub(super) fn written(&self, path: &str, value: &Node) -> String {
        let value = node_text(value);
        let text = match path.split_once('.') {
            Some((outer, key)) => format!("{outer}: {{ {key}: {value} }}"),
            None => format!("{path}: {value}"),
        };
        let comment = match self.meaning {
            Meaning::SharedValue(path, _) if path.starts_with("generates_phases") => {
                " # in each phase that generates phases"
            }
            Meaning::SharedValue(..) => " # in each phase",
            Meaning::Key(_, Shape::AfterDynamic) => " # phases that generate phases",
            Meaning::Key(..) | Meaning::Parts(_) | Meaning::Ignored(_) => "",
        };
        text + comment
    }
}

const fn key(place: OldPlace, key: &'static str, meaning: Meaning) -> OldKey {
    OldKey { place, key, meaning }
}

const WORKFLOW: &str = "the phases describe the work; `workflow` adds those of a workflow";
const TEMPLATE: &str = "the phase's type decides its prompt template";

#[rustfmt::skip]
pub(super) const KEYS: &[OldKey] = {
    use Meaning::{Ignored, Key, Parts, SharedValue};
    use OldPlace::{Config, Files, Gate, Phase, PhaseConfig, Plan, Project};
    use Shape::{
        AfterDynamic, Approval, Dependencies, From, Gates, Inputs, List, Outputs, Retries, Same, Template, Verify,
    };
    &[
        key(Plan, "project", Parts(Project)),
        key(Plan, "project_type", Ignored(WORKFLOW)),
        key(Plan, "complexity", Ignored(WORKFLOW)),
        key(Plan, "max_retries", Key("defaults.max_attempts", Retries)),
        key(Plan, "max_dynamic_phases", SharedValue("generates_phases.max", Same)),
        key(Plan, "dynamic_phase_template", SharedValue("generates_phases.template", Template)),
        key(Plan, "skills", SharedValue("skills", List)),

        key(Project, "name", Key("name", Same)),
        key(Project, "type", Ignored(WORKFLOW)),
        key(Project, "description", Key("description", Same)),
        key(Project, "adr", Key("adr", Same)),
        key(Project, "status", Ignored("`helix jobs` shows the state of a job")),
        key(Project, "generated", Ignored("not used; keep it in a comment")),
        key(Project, "max_retries", Key("defaults.max_attempts", Retries)),

        key(Phase, "input", Key("inputs", Inputs)),
        key(Phase, "input_from", Key("depends_on", From)),
        key(Phase, "output", Key("outputs", Outputs)),
        key(Phase, "quality_gate", Key("gates", Gates)),
        key(Phase, "quality_gates", Key("gates", Gates)),
        key(Phase, "gate", Key("gates", Gates)),
        key(Phase, "verify_agent", Key("verify", Verify)),
        key(Phase, "requires_approval", Key("approval", Approval)),
        key(Phase, "max_retries", Key("max_attempts", Retries)),
        key(Phase, "dependencies", Key("depends_on", Dependencies)),
        key(Phase, "after_dynamic", Key("depends_on", AfterDynamic)),
        key(Phase, "config", Parts(Config)),
        key(Phase, "phase_config", Parts(PhaseConfig)),
        key(Phase, "template", Ignored(TEMPLATE)),
        key(Phase, "target", Ignored("not used; name the target in the command of the phase's gate")),
        key(Phase, "estimated_sessions", Ignored("estimates have no effect; `max_turns`, `timeout` and `budget_usd` are limits")),
        key(Phase, "rejection", Ignored("a rejected result is corrected until no attempts are left; then `on_failure` applies")),

        key(Config, "model", Key("model", Same)),
        key(Config, "skills", Key("skills", List)),
        key(Config, "template", Ignored(TEMPLATE)),
        key(Config, "experts", Ignored("there are no experts per phase; use `description` or `skills`")),
        key(Config, "input_from", Key("depends_on", From)),

        key(PhaseConfig, "min_phases", Key("generates_phases.min", Same)),
        key(PhaseConfig, "max_phases", Key("generates_phases.max", Same)),
        key(PhaseConfig, "phase_template", Key("generates_phases.template", Template)),

        key(Files, "files", Key("inputs", List)),
        key(Files, "from", Key("depends_on", From)),
        key(Files, "directory", Key("outputs", List)),
        key(Files, "expected_files", Key("outputs", List)),

        key(Gate, "required_files", Key("files", List)),
        key(Gate, "file_patterns", Key("files", List)),
        key(Gate, "file", Key("files", List)),
        key(Gate, "test_command", Key("command", Same)),
        key(Gate, "test", Key("command", Same)),
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

#[cfg(test)]
#[path = "table_test.rs"]
mod tests;
