//! Gates as they are written in plans.
//!
//! Must not know how a gate is carried out; parameters that could never work are refused here, at submit.

use std::ops::Range;

use helix_core::document::{FieldReader, Fields, FromNode, Node, Placed, Text, Value};

use super::codes;
use super::command::split_words;
use super::delivery;
use super::model::{GateSpec, Seconds};
use super::pattern::normal_path;
use super::source::TimeLimit;

/// Time limit of a command gate that names none.
pub const GATE_TIMEOUT: Seconds = Seconds(10 * 60);

type ReadGate = fn(&mut Fields<'_>, &mut FieldReader<'_>) -> Option<GateSpec>;

/// Every gate type with the reading of its parameters.
pub(super) const GATES: &[(&str, ReadGate)] = &[
    ("files_exist", |fields, reader| Some(GateSpec::FilesExist { files: files(fields, reader) })),
    ("outputs_claimed", |fields, reader| {
        let strict = fields.take::<bool>("strict", reader).is_some_and(|strict| strict.value);
        Some(GateSpec::OutputsClaimed { strict })
    }),
    ("syntax_check", |fields, reader| Some(GateSpec::SyntaxCheck { files: files(fields, reader) })),
    ("tests_pass", |fields, reader| {
        command(fields, reader).map(|(command, timeout)| GateSpec::TestsPass { command, timeout })
    }),
    ("lint_pass", |fields, reader| {
        command(fields, reader).map(|(command, timeout)| GateSpec::LintPass { command, timeout })
    }),
    ("build_pass", |fields, reader| {
        command(fields, reader).map(|(command, timeout)| GateSpec::BuildPass { command, timeout })
    }),
    ("command", |fields, reader| {
        command(fields, reader).map(|(command, timeout)| GateSpec::Command { command, timeout })
    }),
    ("adr_valid", |fields, reader| Some(GateSpec::AdrValid { files: files(fields, reader) })),
    ("adr_complete", |fields, reader| Some(GateSpec::AdrComplete { files: files(fields, reader) })),
    ("docs_refs_valid", |_, _| Some(GateSpec::DocsRefsValid {})),
    ("criteria_covered", |_, _| Some(GateSpec::CriteriaCovered {})),
    ("conflicts_resolved", |fields, reader| Some(GateSpec::ConflictsResolved { files: files(fields, reader) })),
    ("review_approved", |fields, reader| {
        Some(GateSpec::ReviewApproved { model: fields.take::<Text>("model", reader).map(|model| model.value) })
    }),
    ("approval", |fields, reader| {
        Some(GateSpec::Approval { question: fields.take::<Text>("question", reader).map(|question| question.value) })
    }),
    ("manual", |fields, reader| {
        Some(GateSpec::Manual { question: fields.take::<Text>("question", reader).map(|question| question.value) })
    }),
    ("deploy_success", |fields, reader| delivery::read(fields, reader).map(GateSpec::DeploySuccess)),
    ("integration_pass", |fields, reader| delivery::read(fields, reader).map(GateSpec::IntegrationPass)),
];

impl FromNode for GateSpec {
    type Value = Self;
    const ITEM: Option<&'static str> = Some("a gate");
    fn from_node(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if let Value::Scalar(scalar) = &node.value {
            let help = Some(format!("write {{ type: {} }}", scalar.text.chars().take(40).collect::<String>()));
            reader.wrong_type(node, "a gate", "a mapping with `type`", help);
            return None;
        }
        let mut fields = reader.open(node, "a gate")?;
        let gate_type = fields.require::<GateType>("type", "add the type, such as `type: tests_pass`", reader)?;
        let (word, read) = gate_type.value.0;
        // From here on messages can name the gate.
        fields.name(format!("the gate {word}"));
        let gate = read(&mut fields, reader);
        fields.finish(reader);
        gate
    }
}

struct GateType((&'static str, ReadGate));

impl FromNode for GateType {
    type Value = Self;
    fn from_node(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let words: Vec<(&str, (&'static str, ReadGate))> = GATES.iter().map(|gate| (gate.0, *gate)).collect();
        reader.word(node, "a gate type", &words).map(Self)
    }
}

fn files(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Vec<String> {
    let listed = fields.take::<Vec<String>>("files", reader);
    paths(listed.map(|list| list.value).unwrap_or_default(), "files", reader)
        .into_iter()
        .map(|path| path.value)
        .collect()
}

/// Checks the paths of a list; bad and repeated ones are reported and left out.
pub(super) fn paths(list: Vec<Placed<String>>, key: &str, reader: &mut FieldReader<'_>) -> Vec<Placed<String>> {
    let mut seen = std::collections::HashSet::new();
    let mut good = Vec::with_capacity(list.len());
    for item in list {
        match normal_path(&item.value) {
            Ok(path) if seen.insert(path.clone()) => good.push(Placed::new(path, item.range)),
            Ok(path) => {
                let message = format!("`{path}` is listed twice in `{key}`");
                reader.warning(codes::DUPLICATE_VALUE, &item.range, message, "remove one");
            }
            Err(error) => reader.error(codes::BAD_PATH, &item.range, format!("`{key}`: {error}"), error.remedy()),
        }
    }
    good
}

fn command(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<(String, Seconds)> {
    let help = "add the command, such as `command: \"pytest -q\"`";
    let command = fields.require::<Text>("command", help, reader);
    let timeout = fields.take::<TimeLimit>("timeout", reader).map_or(GATE_TIMEOUT, |timeout| timeout.value);
    command_line(command?, reader).map(|command| (command, timeout))
}

/// A command line that can be split into words; a problem is reported.
pub(super) fn command_line(command: Placed<String>, reader: &mut FieldReader<'_>) -> Option<String> {
    if let Err(error) = split_words(&command.value) {
        let range = inside(&command, error.at(), reader);
        reader.error(codes::BAD_COMMAND, &range, format!("`command`: {error}"), error.remedy(&command.value));
        return None;
    }
    Some(command.value)
}

/// The place inside a text, where the source shows the text as it is; else the whole text.
fn inside(text: &Placed<String>, at: usize, reader: &FieldReader<'_>) -> Range<usize> {
    let written = reader.source.slice(text.range.clone());
    match written.find(text.value.as_str()) {
        Some(offset) => text.range.start + offset + at..text.range.end,
        None => text.range.clone(),
    }
}
