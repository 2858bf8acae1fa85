//! Inputs of workflows: their types, where their values come from, and how they are put into the workflow's text.
//!
//! Must not know phases. Values are put into the tree that was read, never into its text, so that no value can become a key.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use helix_core::diagnostic::did_you_mean;
use helix_core::yaml::{Entry, FieldReader, Fields, FromYaml, Node, Placed, Scalar, ScalarForm, Value};

use super::super::codes;
use super::super::command::split_words;
use super::super::model::{GateSpec, Plan};
use super::super::pattern::normal_path;
use super::super::source::required_text;
use super::{Input, InputValue};

/// What values an input takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// Any text that is not empty.
    Text,
    /// A command line, split like a shell's words but run without one.
    Command,
    /// A path or glob relative to the repository's root.
    Path,
    /// Several of them.
    Paths,
    /// A whole number from 0.
    Number,
    /// True or false.
    Flag,
}

/// What of a plan an input is taken from where the plan gives no value for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputOrigin {
    /// The plan's `adr`.
    Adr,
    /// The one command of the `tests_pass` gates of the plan's own phases.
    TestsPass,
    /// The one command of their `lint_pass` gates.
    LintPass,
    /// The one command of their `build_pass` gates.
    BuildPass,
}

const KINDS: &[(&str, InputKind)] = &[
    ("text", InputKind::Text),
    ("command", InputKind::Command),
    ("path", InputKind::Path),
    ("paths", InputKind::Paths),
    ("number", InputKind::Number),
    ("flag", InputKind::Flag),
];

const ORIGINS: &[(&str, InputOrigin)] = &[
    ("adr", InputOrigin::Adr),
    ("tests_pass", InputOrigin::TestsPass),
    ("lint_pass", InputOrigin::LintPass),
    ("build_pass", InputOrigin::BuildPass),
];

impl InputKind {
    /// The word in workflows.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("text", |(word, _)| word)
    }

    /// A value of this kind, for checking a workflow that nobody uses yet.
    fn sample(self, name: &str) -> InputValue {
        match self {
            Self::Text => InputValue::Text("text".into()),
            Self::Command => InputValue::Text("true".into()),
            Self::Path => InputValue::Text(format!("sample/{name}")),
            Self::Paths => InputValue::List(vec![format!("sample/{name}")]),
            Self::Number => InputValue::Number(1),
            Self::Flag => InputValue::Flag(false),
        }
    }

    /// What is wrong with a value, and what to write.
    fn problem(self, value: &InputValue) -> Option<(String, String)> {
        match (self, value) {
            (Self::Text, InputValue::Text(_))
            | (Self::Number, InputValue::Number(_))
            | (Self::Flag, InputValue::Flag(_)) => None,
            (Self::Command, InputValue::Text(command)) => {
                split_words(command).err().map(|error| (error.to_string(), error.remedy(command)))
            }
            (Self::Path, InputValue::Text(path)) => {
                normal_path(path).err().map(|error| (error.to_string(), error.remedy().into()))
            }
            (Self::Paths, InputValue::List(list)) => list
                .iter()
                .find_map(|path| normal_path(path).err())
                .map(|error| (error.to_string(), error.remedy().into())),
            (Self::Text | Self::Command | Self::Path, _) => {
                Some(("it must be a text".into(), "write a text here".into()))
            }
            (Self::Paths, _) => Some(("it must be a list of paths".into(), "write a list: [src/a.py]".into())),
            (Self::Number, _) => Some(("it must be a whole number from 0".into(), "write a number here".into())),
            (Self::Flag, _) => Some(("it must be true or false".into(), "write true or false here".into())),
        }
    }
}

impl FromYaml for InputKind {
    fn from_yaml(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        reader.word(node, "a type of inputs", KINDS)
    }
}

impl FromYaml for InputOrigin {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        reader.word(node, &format!("a value of {what}"), ORIGINS)
    }
}

impl FromYaml for InputValue {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if let Value::Sequence(_) = &node.value {
            let list = Vec::<Placed<String>>::from_yaml(node, what, reader)?;
            return Some(Self::List(list.into_iter().map(|item| item.value).collect()));
        }
        if let Some(flag) = node.as_bool() {
            return Some(Self::Flag(flag));
        }
        if node.as_number().is_some() {
            return u32::from_yaml(node, what, reader).map(Self::Number);
        }
        let text = String::from_yaml(node, what, reader)?;
        if text.trim().is_empty() {
            reader.error(
                codes::MISSING_KEY,
                &node.range,
                format!("{what} is empty"),
                "write a value, or leave the key out",
            );
            return None;
        }
        Some(Self::Text(text))
    }
}

/// Reads the inputs that a workflow declares.
pub(super) fn declared(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Vec<Input> {
    let Some(entry) = fields.entry("inputs") else { return Vec::new() };
    let Value::Mapping(entries) = &entry.value.value else {
        reader.wrong_type(&entry.value, "`inputs`", "a mapping of names to inputs", None);
        return Vec::new();
    };
    let mut inputs: Vec<Input> = Vec::new();
    for entry in entries.iter() {
        let name = entry.key.to_string();
        let good = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !good || name == PLAN {
            let message = format!("`{name}` cannot be the name of an input");
            let help = "use lower-case letters, digits and `_`, beginning with a letter; `plan` is the plan's own name";
            reader.error(codes::WORKFLOW_INPUT, &entry.key_range, message, help);
        } else if inputs.iter().any(|known| known.name == name) {
            let message = format!("the input `{name}` is declared twice");
            reader.error(codes::DUPLICATE_KEY, &entry.key_range, message, "keep one of them");
        } else {
            inputs.extend(input(name, &entry.value, reader));
        }
    }
    inputs
}

fn input(name: String, node: &Node, reader: &mut FieldReader<'_>) -> Option<Input> {
    let mut fields = reader.open(node, &format!("the input `{name}`"))?;
    let kind = fields.require::<InputKind>("type", "say what it takes, such as `type: command`", reader);
    let description = required_text(&mut fields, "description", "say what it is for", reader);
    let from = fields.take::<InputOrigin>("from", reader);
    let default = fields.take::<InputValue>("default", reader);
    fields.finish(reader);
    let kind = kind?.value;
    if let Some(from) = &from {
        let fits = match from.value {
            InputOrigin::Adr => matches!(kind, InputKind::Path | InputKind::Text),
            InputOrigin::TestsPass | InputOrigin::LintPass | InputOrigin::BuildPass => {
                matches!(kind, InputKind::Command | InputKind::Text)
            }
        };
        if !fits {
            let message = format!("`from` gives the input `{name}` no {}", kind.word());
            reader.error(codes::WORKFLOW_INPUT, &from.range, message, "`adr` is a path, the others are commands");
        }
    }
    if let Some(default) = &default
        && let Some((message, help)) = kind.problem(&with_plan(&default.value, "plan"))
    {
        reader.error(codes::WORKFLOW_INPUT, &default.range, format!("the default of `{name}`: {message}"), help);
    }
    let (from, default) = (from.map(|from| from.value), default.map(|default| default.value));
    Some(Input { name, kind, description: description?.value, from, default })
}

/// The inputs that a plan gives, with the places of their names and values.
pub(in super::super) fn given(node: &Node, reader: &mut FieldReader<'_>) -> Vec<(Placed<String>, Placed<InputValue>)> {
    let Value::Mapping(entries) = &node.value else {
        reader.wrong_type(node, "`inputs` of the workflow", "a mapping of names to values", None);
        return Vec::new();
    };
    let mut given: Vec<(Placed<String>, Placed<InputValue>)> = Vec::new();
    for entry in entries.iter() {
        let name = entry.key.to_string();
        if given.iter().any(|(known, _)| known.value == name) {
            let message = format!("the input `{name}` is there twice");
            reader.error(codes::DUPLICATE_KEY, &entry.key_range, message, "keep one of them");
            continue;
        }
        let what = format!("the input `{name}`");
        let value = InputValue::from_yaml(&entry.value, &what, reader);
        given.extend(
            value.map(|value| {
                (Placed::new(name, entry.key_range.clone()), Placed::new(value, entry.value.range.clone()))
            }),
        );
    }
    given
}

/// What may be put into a workflow's text: every input, and the plan's own name.
pub(super) struct Values {
    by_name: BTreeMap<String, InputValue>,
}

/// The name by which a workflow asks for the plan's name, in the form of file names.
const PLAN: &str = "plan";

/// Why an input has no value: which input, and what is wrong with it.
pub(super) struct NoValue {
    pub(super) input: String,
    pub(super) message: String,
    pub(super) help: String,
}

impl Values {
    /// Defaults where there are any, else samples: enough to find out whether the workflow's text is right.
    pub(super) fn samples(inputs: &[Input]) -> Self {
        let mut by_name: BTreeMap<String, InputValue> = inputs
            .iter()
            .map(|input| {
                let default = input.default.as_ref().map(|default| with_plan(default, "plan"));
                (input.name.clone(), default.unwrap_or_else(|| input.kind.sample(&input.name)))
            })
            .collect();
        by_name.insert(PLAN.into(), InputValue::Text("plan".into()));
        Self { by_name }
    }

    /// What a plan gives, or what is taken from it, or the defaults.
    pub(super) fn of(plan: &Plan, inputs: &[Input]) -> Result<Self, Vec<NoValue>> {
        let given = plan.workflow.as_ref().map(|call| &call.inputs);
        let name = file_name(&plan.name);
        let mut by_name = BTreeMap::new();
        let mut missing = Vec::new();
        for unknown in given.into_iter().flat_map(BTreeMap::keys) {
            if !inputs.iter().any(|input| &input.name == unknown) {
                let known = || inputs.iter().map(|input| input.name.as_str());
                let help = match did_you_mean(unknown, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if inputs.is_empty() => "it takes none".into(),
                    None => format!("it takes: {}", known().collect::<Vec<_>>().join(", ")),
                };
                let message = format!("it has no input `{unknown}`");
                missing.push(NoValue { input: unknown.clone(), message, help });
            }
        }
        for input in inputs {
            match value(input, given.and_then(|given| given.get(&input.name)), plan, &name) {
                Ok(value) => {
                    by_name.insert(input.name.clone(), value);
                }
                Err((message, help)) => missing.push(NoValue { input: input.name.clone(), message, help }),
            }
        }
        by_name.insert(PLAN.into(), InputValue::Text(name));
        if missing.is_empty() { Ok(Self { by_name }) } else { Err(missing) }
    }

    /// The tree with values in the place of `${{ name }}`. What is asked for and not there is reported.
    pub(super) fn put_into(&self, node: &Node, reader: &mut FieldReader<'_>) -> Node {
        let value = match &node.value {
            Value::Scalar(scalar) => return self.scalar(node, &scalar.text, reader),
            Value::Sequence(items) => {
                let mut all: Vec<Node> = Vec::with_capacity(items.len());
                for item in items.iter() {
                    let new = self.put_into(item, reader);
                    // A list in the place of an item becomes several items.
                    match (&item.value, &new.value) {
                        (Value::Scalar(_), Value::Sequence(several)) => all.extend(several.iter().cloned()),
                        _ => all.push(new),
                    }
                }
                Value::Sequence(all.into())
            }
            Value::Mapping(entries) => Value::Mapping(
                entries
                    .iter()
                    .map(|entry| Entry { value: self.put_into(&entry.value, reader), ..entry.clone() })
                    .collect(),
            ),
        };
        Node { range: node.range.clone(), value }
    }

    fn scalar(&self, node: &Node, text: &str, reader: &mut FieldReader<'_>) -> Node {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let Some((name, behind)) = after.split_once("}}") else {
                let help = "close it with `}}`";
                reader.error(codes::BAD_PLACEHOLDER, &node.range, "`${{` is not closed", help);
                return node.clone();
            };
            let Some(value) = self.get(name.trim(), &node.range, reader) else { return node.clone() };
            if before.is_empty() && out.is_empty() && behind.trim().is_empty() {
                return whole(value, &node.range);
            }
            out.push_str(before);
            out.push_str(&match value {
                InputValue::Flag(flag) => flag.to_string(),
                InputValue::Number(number) => number.to_string(),
                InputValue::Text(text) => text.clone(),
                InputValue::List(list) => list.join(", "),
            });
            rest = behind;
        }
        if out.is_empty() && rest.len() == text.len() {
            return node.clone();
        }
        out.push_str(rest);
        scalar(out, ScalarForm::Text, &node.range)
    }

    fn get(&self, name: &str, range: &Range<usize>, reader: &mut FieldReader<'_>) -> Option<&InputValue> {
        let value = self.by_name.get(name);
        if value.is_none() {
            let known = || self.by_name.keys().map(String::as_str);
            let help = match did_you_mean(name, known()) {
                Some(near) => format!("did you mean `${{{{ {near} }}}}`?"),
                None => format!("declare it in `inputs`; known are: {}", known().collect::<Vec<_>>().join(", ")),
            };
            reader.error(codes::BAD_PLACEHOLDER, range, format!("there is no input `{name}`"), help);
        }
        value
    }
}

fn whole(value: &InputValue, range: &Range<usize>) -> Node {
    match value {
        InputValue::Flag(flag) => scalar(flag.to_string(), ScalarForm::Plain, range),
        InputValue::Number(number) => scalar(number.to_string(), ScalarForm::Plain, range),
        InputValue::Text(text) => scalar(text.clone(), ScalarForm::Text, range),
        InputValue::List(list) => {
            let items = list.iter().map(|item| scalar(item.clone(), ScalarForm::Text, range)).collect();
            Node { range: range.clone(), value: Value::Sequence(items) }
        }
    }
}

fn scalar(text: String, form: ScalarForm, range: &Range<usize>) -> Node {
    Node { range: range.clone(), value: Value::Scalar(Rc::new(Scalar { text, form })) }
}

fn value(
    input: &Input,
    given: Option<&InputValue>,
    plan: &Plan,
    plan_name: &str,
) -> Result<InputValue, (String, String)> {
    if let Some(given) = given {
        return match input.kind.problem(given) {
            None => Ok(given.clone()),
            Some((message, help)) => Err((format!("the input `{}`: {message}", input.name), help)),
        };
    }
    let taken = input.from.map_or(Ok(None), |from| taken(plan, from))?;
    match (taken, &input.default) {
        (Some(taken), _) => Ok(InputValue::Text(taken)),
        (None, Some(default)) => Ok(with_plan(default, plan_name)),
        (None, None) => {
            let kind = input.kind.word();
            let message = format!("it needs the input `{}`, a {kind}: {}", input.name, input.description);
            let also = match input.from {
                None => String::new(),
                Some(InputOrigin::Adr) => ", or name the plan's `adr`".into(),
                Some(InputOrigin::TestsPass) => ", or give a phase of the plan the gate tests_pass".into(),
                Some(InputOrigin::LintPass) => ", or give a phase of the plan the gate lint_pass".into(),
                Some(InputOrigin::BuildPass) => ", or give a phase of the plan the gate build_pass".into(),
            };
            let name = plan.workflow.as_ref().map_or("…", |call| &call.name);
            Err((message, format!("write workflow: {{ name: {name}, inputs: {{ {}: … }} }}{also}", input.name)))
        }
    }
}

/// What a plan's own words give for an input; an error when they give several things.
fn taken(plan: &Plan, from: InputOrigin) -> Result<Option<String>, (String, String)> {
    let mut commands: Vec<&str> = Vec::new();
    let own = plan.phases.iter().flat_map(|phase| {
        phase.gates.iter().chain(phase.generates_phases.iter().flat_map(|generates| &generates.gates))
    });
    for gate in own {
        let command = match (from, gate) {
            (InputOrigin::Adr, _) => None,
            (InputOrigin::TestsPass, GateSpec::TestsPass { command, .. })
            | (InputOrigin::LintPass, GateSpec::LintPass { command, .. })
            | (InputOrigin::BuildPass, GateSpec::BuildPass { command, .. }) => Some(command),
            (InputOrigin::TestsPass | InputOrigin::LintPass | InputOrigin::BuildPass, _) => None,
        };
        if let Some(command) = command.filter(|command| !commands.contains(&command.as_str())) {
            commands.push(command);
        }
    }
    match (from, &commands[..]) {
        (InputOrigin::Adr, _) => Ok(plan.adr.clone()),
        (_, []) => Ok(None),
        (_, [one]) => Ok(Some((*one).to_owned())),
        (_, several) => {
            let word = ORIGINS.iter().find(|(_, origin)| *origin == from).map_or("", |(word, _)| word);
            let message = format!("the plan's own phases have several commands for {word}: {}", several.join("; "));
            Err((message, "say in the workflow's `inputs` which of them counts for the whole".into()))
        }
    }
}

/// A default with the plan's name in the place of `${{ plan }}`.
fn with_plan(value: &InputValue, name: &str) -> InputValue {
    let put = |text: &str| text.replace("${{ plan }}", name);
    match value {
        InputValue::Text(text) => InputValue::Text(put(text)),
        InputValue::List(list) => InputValue::List(list.iter().map(|text| put(text)).collect()),
        InputValue::Flag(_) | InputValue::Number(_) => value.clone(),
    }
}

/// A plan's name in the form of file names: lower-case letters, digits and `-`.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => out.push(character),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    out.truncate(64);
    let out = out.trim_end_matches('-');
    if out.is_empty() { "plan".into() } else { out.into() }
}
