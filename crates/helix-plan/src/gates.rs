//! Gates as they are written in plans.
//!
//! Must not know how a gate is carried out; parameters that could never work are refused here, at submit.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use helix_core::document::{FieldReader, Fields, FromNode, Node, Placed, Text, Words};
use helix_core::text::clip;

use super::codes;
use super::command::split_words;
use super::model::{
    self, GATE_TIMEOUT, GateSpec, MIN_KILLED, MOST_APPROVERS, MutationGate, Seconds, Switch, Taken, TestsGate,
};
use super::pattern::normal_path;
use super::source::TimeLimit;

mod delivery;

/// What parameters a type of gates has, and the gate that is made of them.
#[derive(Clone, Copy)]
enum GateType {
    /// None.
    Bare(fn() -> GateSpec),
    Files(fn(Vec<String>) -> GateSpec),
    /// A key that is true or false.
    Flag(&'static str, fn(bool) -> GateSpec),
    /// A key with a text.
    Text(&'static str, fn(Option<String>) -> GateSpec),
    /// `question`, and who has to approve.
    Approval,
    Command(fn(String, Seconds) -> GateSpec),
    /// Those of a test command.
    Tests,
    /// Those of planted mistakes.
    Mutation,
    /// Those of a delivery.
    Delivery(fn(model::Delivery) -> GateSpec),
}

impl Words for GateType {
    const NOUN: &'static str = "a gate type";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("files_exist", Self::Files(|files| GateSpec::FilesExist { files })),
        ("outputs_claimed", Self::Flag("strict", |strict| GateSpec::OutputsClaimed { strict })),
        ("syntax_check", Self::Files(|files| GateSpec::SyntaxCheck { files })),
        ("tests_pass", Self::Tests),
        ("mutation", Self::Mutation),
        ("lint_pass", Self::Command(|command, timeout| GateSpec::LintPass { command, timeout })),
        ("build_pass", Self::Command(|command, timeout| GateSpec::BuildPass { command, timeout })),
        ("command", Self::Command(|command, timeout| GateSpec::Command { command, timeout })),
        ("adr_valid", Self::Files(|files| GateSpec::AdrValid { files })),
        ("adr_complete", Self::Files(|files| GateSpec::AdrComplete { files })),
        ("docs_refs_valid", Self::Bare(|| GateSpec::DocsRefsValid {})),
        ("criteria_covered", Self::Bare(|| GateSpec::CriteriaCovered {})),
        ("conflicts_resolved", Self::Files(|files| GateSpec::ConflictsResolved { files })),
        ("review_approved", Self::Text("model", |model| GateSpec::ReviewApproved { model })),
        ("approval", Self::Approval),
        ("manual", Self::Text("question", |question| GateSpec::Manual { question })),
        ("deploy_success", Self::Delivery(GateSpec::DeploySuccess)),
        ("integration_pass", Self::Delivery(GateSpec::IntegrationPass)),
    ];
}

impl GateType {
    fn read(self, fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<GateSpec> {
        match self {
            Self::Bare(gate) => Some(gate()),
            Self::Files(gate) => {
                let listed = fields.take::<Vec<String>>("files", reader).map(|list| list.value);
                let good = paths(listed.unwrap_or_default(), "files", reader);
                Some(gate(good.into_iter().map(|path| path.value).collect()))
            }
            Self::Flag(key, gate) => Some(gate(fields.take::<bool>(key, reader).is_some_and(|flag| flag.value))),
            Self::Text(key, gate) => Some(gate(fields.take::<Text>(key, reader).map(|text| text.value))),
            Self::Approval => {
                let question = fields.take::<Text>("question", reader).map(|text| text.value);
                let by = fields.take::<model::ApprovedBy>("by", reader).map(|by| by.value);
                let count = number(fields, ("count", "a number of people"), 1..=MOST_APPROVERS, 1, reader)?;
                Some(GateSpec::Approval { question, by, count })
            }
            Self::Command(gate) => command_and_timeout(fields, reader).map(|(command, timeout)| gate(command, timeout)),
            Self::Tests => {
                let command = command_and_timeout(fields, reader);
                let control = fields.take::<Switch>("control", reader).map(|switch| switch.value);
                let mut taken = |key| fields.take::<Taken>(key, reader).map(|taken| taken.value);
                let (new_tests, weaker, flaky) = (taken("new_tests"), taken("weaker_tests"), taken("flaky"));
                let known = fields.take::<Vec<String>>("known_failures", reader);
                let (command, timeout) = command?;
                let plain = TestsGate::of_command(command, timeout);
                Some(GateSpec::TestsPass(TestsGate {
                    control: control.unwrap_or(plain.control),
                    new_tests: new_tests.unwrap_or(plain.new_tests),
                    weaker_tests: weaker.unwrap_or(plain.weaker_tests),
                    flaky: flaky.unwrap_or(plain.flaky),
                    known_failures: known.into_iter().flat_map(|list| list.value).map(|name| name.value).collect(),
                    ..plain
                }))
            }
            Self::Mutation => {
                let command = command_and_timeout(fields, reader);
                let min_killed = number(fields, ("min_killed", "a share in percent"), 1..=100, MIN_KILLED, reader)?;
                let (command, timeout) = command?;
                Some(GateSpec::Mutation(MutationGate { command, timeout, min_killed }))
            }
            Self::Delivery(gate) => delivery::read(fields, reader).map(gate),
        }
    }
}

fn command_and_timeout(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<(String, Seconds)> {
    let help = "add the command, such as `command: \"pytest -q\"`";
    let command = fields.require::<Text>("command", help, reader);
    let timeout = fields.take::<TimeLimit>("timeout", reader).map_or(GATE_TIMEOUT, |timeout| timeout.value);
    Some((command_line(command?, reader)?, timeout))
}

/// A number that is written, or the usual one; `None` where it is out of range.
fn number(
    fields: &mut Fields<'_>,
    (key, what): (&'static str, &str),
    range: RangeInclusive<u32>,
    usual: u32,
    reader: &mut FieldReader<'_>,
) -> Option<u32> {
    let Some(number) = fields.take::<u32>(key, reader) else { return Some(usual) };
    if !range.contains(&number.value) {
        let message = format!("`{key}` is {}", number.value);
        let help = format!("write {what} from {} to {}", range.start(), range.end());
        reader.error(codes::OUT_OF_RANGE, &number.range, message, help);
        return None;
    }
    Some(number.value)
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
        let kind = fields.require::<GateType>("type", "add the type, such as `type: tests_pass`", reader)?;
        // From here on messages can name the gate.
        fields.name(format!("the gate {}", reader.source.slice(kind.range)));
        let gate = kind.value.read(&mut fields, reader);
        fields.finish(reader);
        gate
    }
}

/// Checks the paths of a list; bad and repeated ones are reported and left out.
pub(super) fn paths(list: Vec<Placed<String>>, key: &str, reader: &mut FieldReader<'_>) -> Vec<Placed<String>> {
    let mut good = Vec::with_capacity(list.len());
    for item in list {
        match normal_path(&item.value) {
            Ok(path) => good.push(Placed::new(path, item.range)),
            Err(error) => reader.error(codes::BAD_PATH, &item.range, format!("`{key}`: {error}"), error.remedy),
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

/// A command line that can be split into words; a problem is reported.
pub(super) fn command_line(command: Placed<String>, reader: &mut FieldReader<'_>) -> Option<String> {
    if let Err(error) = split_words(&command.value) {
        let range = inside(&command, error.at, reader);
        reader.error(codes::BAD_COMMAND, &range, format!("`command`: {error}"), error.remedy);
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
