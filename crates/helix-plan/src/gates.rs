//! Gates as they are written in plans.
//!
//! Must not know how a gate is carried out; parameters that could never work are refused here, at submit.

use std::collections::HashSet;
use std::ops::Range;

use helix_core::document::{FieldReader, Fields, FromNode, Node, Placed, Text, Words};
use helix_core::text::clip;

use super::codes;
use super::command::split_words;
use super::model::{GATE_TIMEOUT, GateSpec, Seconds};
use super::pattern::normal_path;
use super::source::TimeLimit;

mod delivery;

/// Reads the parameters of one type of gates.
#[derive(Clone, Copy)]
struct ReadGate(fn(&mut Fields<'_>, &mut FieldReader<'_>) -> Option<GateSpec>);

impl Words for ReadGate {
    const NOUN: &'static str = "a gate type";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("files_exist", Self(|fields, reader| Some(GateSpec::FilesExist { files: files(fields, reader) }))),
        (
            "outputs_claimed",
            Self(|fields, reader| {
                let strict = fields.take::<bool>("strict", reader).is_some_and(|strict| strict.value);
                Some(GateSpec::OutputsClaimed { strict })
            }),
        ),
        ("syntax_check", Self(|fields, reader| Some(GateSpec::SyntaxCheck { files: files(fields, reader) }))),
        (
            "tests_pass",
            Self(|fields, reader| {
                command(fields, reader).map(|(command, timeout)| GateSpec::TestsPass { command, timeout })
            }),
        ),
        (
            "lint_pass",
            Self(|fields, reader| {
                command(fields, reader).map(|(command, timeout)| GateSpec::LintPass { command, timeout })
            }),
        ),
        (
            "build_pass",
            Self(|fields, reader| {
                command(fields, reader).map(|(command, timeout)| GateSpec::BuildPass { command, timeout })
            }),
        ),
        (
            "command",
            Self(|fields, reader| {
                command(fields, reader).map(|(command, timeout)| GateSpec::Command { command, timeout })
            }),
        ),
        ("adr_valid", Self(|fields, reader| Some(GateSpec::AdrValid { files: files(fields, reader) }))),
        ("adr_complete", Self(|fields, reader| Some(GateSpec::AdrComplete { files: files(fields, reader) }))),
        ("docs_refs_valid", Self(|_, _| Some(GateSpec::DocsRefsValid {}))),
        ("criteria_covered", Self(|_, _| Some(GateSpec::CriteriaCovered {}))),
        (
            "conflicts_resolved",
            Self(|fields, reader| Some(GateSpec::ConflictsResolved { files: files(fields, reader) })),
        ),
        (
            "review_approved",
            Self(|fields, reader| {
                Some(GateSpec::ReviewApproved { model: fields.take::<Text>("model", reader).map(|model| model.value) })
            }),
        ),
        (
            "approval",
            Self(|fields, reader| {
                Some(GateSpec::Approval {
                    question: fields.take::<Text>("question", reader).map(|question| question.value),
                })
            }),
        ),
        (
            "manual",
            Self(|fields, reader| {
                Some(GateSpec::Manual {
                    question: fields.take::<Text>("question", reader).map(|question| question.value),
                })
            }),
        ),
        ("deploy_success", Self(|fields, reader| delivery::read(fields, reader).map(GateSpec::DeploySuccess))),
        ("integration_pass", Self(|fields, reader| delivery::read(fields, reader).map(GateSpec::IntegrationPass))),
    ];
}

impl FromNode for GateSpec {
    type Value = Self;
    const ITEM: Option<&'static str> = Some("a gate");
    fn from_node(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if let Some(text) = node.scalar() {
            let help = Some(format!("write {{ type: {} }}", clip(text, 41)));
            reader.wrong_type(node, "a gate", "a mapping with `type`", help);
            return None;
        }
        let mut fields = reader.open(node, "a gate")?;
        let read = fields.require::<ReadGate>("type", "add the type, such as `type: tests_pass`", reader)?;
        // From here on messages can name the gate.
        fields.name(format!("the gate {}", reader.source.slice(read.range)));
        let gate = (read.value.0)(&mut fields, reader);
        fields.finish(reader);
        gate
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
    let mut good = Vec::with_capacity(list.len());
    for item in list {
        match normal_path(&item.value) {
            Ok(path) => good.push(Placed::new(path, item.range)),
            Err(error) => reader.error(codes::BAD_PATH, &item.range, format!("`{key}`: {error}"), error.remedy()),
        }
    }
    distinct(good, key, reader)
}

/// The values of a list without those that are there already, which are reported.
pub(super) fn distinct(mut list: Vec<Placed<String>>, key: &str, reader: &mut FieldReader<'_>) -> Vec<Placed<String>> {
    let mut seen = HashSet::new();
    list.retain(|item| {
        let first = seen.insert(item.value.clone());
        if !first {
            let message = format!("`{}` is listed twice in `{key}`", item.value);
            reader.warning(codes::DUPLICATE_VALUE, &item.range, message, "remove one");
        }
        first
    });
    list
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
