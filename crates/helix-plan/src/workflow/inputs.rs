//! Inputs of workflows: their types, where their values come from, and how they are put into the workflow's text.
//!
//! Must not know phases. Values are put into the tree that was read, never into its text, so that no value can become a key.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::document::{Entry, FieldReader, FromNode, Limits, Node, Placed, Text, Value};
use helix_core::{mapping, words};

use super::super::codes;
use super::super::command::split_words;
use super::super::model::{GateSpec, InputValue, Plan};
use super::super::parse::ParsedPlan;
use super::super::pattern::normal_path;
use super::{Input, Workflow};

words! {
    /// What values an input takes.
    pub enum InputKind as "a type of inputs" {
        /// Any text that is not empty.
        Text = "text",
        /// A command line, split like a shell's words but run without one.
        Command = "command",
        /// A path or glob relative to the repository's root.
        Path = "path",
        /// Several of them.
        Paths = "paths",
        /// A whole number from 0.
        Number = "number",
        /// True or false.
        Flag = "flag",
    }
}

words! {
    /// What of a plan an input is taken from where the plan gives no value for it.
    pub enum InputOrigin {
        /// The plan's `adr`.
        Adr = "adr",
        /// The one command of the `tests_pass` gates of the plan's own phases.
        TestsPass = "tests_pass",
        /// The one command of their `lint_pass` gates.
        LintPass = "lint_pass",
        /// The one command of their `build_pass` gates.
        BuildPass = "build_pass",
    }
}

mapping! { schema
    /// An input.
    pub(super) struct InputSource {
        /// What values it takes.
        kind["type"]: InputKind, required = "add the type, such as `type: command`";
        /// What it is for.
        description: Text, required = "add a description";
        /// What of the plan it is taken from where the plan gives no value.
        from: InputOrigin;
        /// The value where there is no other; without one, the plan must give it.
        default: InputValue;
    }
}

impl InputKind {
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
        let of_path = |path: &String| normal_path(path).err().map(|error| (error.to_string(), error.remedy.to_owned()));
        let expected = match (self, value) {
            (Self::Text, InputValue::Text(_))
            | (Self::Number, InputValue::Number(_))
            | (Self::Flag, InputValue::Flag(_)) => return None,
            (Self::Command, InputValue::Text(command)) => {
                return split_words(command).err().map(|error| (error.to_string(), error.remedy));
            }
            (Self::Path, InputValue::Text(path)) => return of_path(path),
            (Self::Paths, InputValue::List(list)) => return list.iter().find_map(of_path),
            (Self::Text | Self::Command | Self::Path, _) => "a text",
            (Self::Paths, _) => "a list of paths, such as [src/a.py]",
            (Self::Number, _) => "a whole number from 0",
            (Self::Flag, _) => "true or false",
        };
        Some((format!("it must be {expected}"), format!("write {expected} here")))
    }
}

impl FromNode for InputValue {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if let Value::Sequence(_) = &node.value {
            let list = Vec::<String>::from_node(node, what, reader)?;
            return Some(Self::List(list.into_iter().map(|item| item.value).collect()));
        }
        if let Some(flag) = node.as_bool() {
            return Some(Self::Flag(flag));
        }
        if node.as_number().is_some() {
            return u32::from_node(node, what, reader).map(Self::Number);
        }
        Text::from_node(node, what, reader).map(Self::Text)
    }
}

/// The inputs that a workflow declares.
pub(super) fn declared(
    written: Vec<(Placed<String>, Placed<InputSource>)>,
    reader: &mut FieldReader<'_>,
) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for (name, input) in written {
        let good = name.value.starts_with(|first: char| first.is_ascii_lowercase())
            && name.value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if good && name.value != PLAN {
            inputs.extend(checked(name.value, input.value, reader));
        } else {
            let message = format!("`{}` cannot be the name of an input", name.value);
            let help = "use lower-case letters, digits and `_`, beginning with a letter; `plan` is the plan's own name";
            reader.error(codes::WORKFLOW_INPUT, &name.range, message, help);
        }
    }
    inputs
}

fn checked(name: String, written: InputSource, reader: &mut FieldReader<'_>) -> Option<Input> {
    let InputSource { kind, description, from, default, .. } = written;
    let kind = kind?.value;
    if let Some(from) = &from {
        let own = if from.value == InputOrigin::Adr { InputKind::Path } else { InputKind::Command };
        if kind != own && kind != InputKind::Text {
            let message = format!("`from` of the input `{name}` is not a {}", kind.word());
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

/// What may be put into a workflow's text: every input, and the plan's own name.
pub(super) struct Values {
    by_name: BTreeMap<String, InputValue>,
    /// Bytes that may still be put into the text: a small file must not grow without bound.
    left: Cell<usize>,
}

/// The name by which a workflow asks for the plan's name, in the form of file names.
const PLAN: &str = "plan";

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
        Self::new(by_name)
    }

    fn new(by_name: BTreeMap<String, InputValue>) -> Self {
        Self { by_name, left: Cell::new(Limits::default().text_bytes) }
    }

    /// What a plan gives, or what is taken from it, or the defaults. `file` is what messages call the plan.
    pub(super) fn of_plan(parsed: &ParsedPlan, file: &str, workflow: &Workflow) -> Result<Self, Vec<Diagnostic>> {
        let (plan, inputs) = (&parsed.plan, &workflow.inputs);
        let no_inputs = BTreeMap::new();
        let given = plan.workflow.as_ref().map_or(&no_inputs, |call| &call.inputs);
        let name = plan.file_name();
        let mut by_name = BTreeMap::new();
        let mut problems = Vec::new();
        let mut report = |input: &str, message: String, help: String| {
            let message = format!("workflow `{}`: {message}", workflow.name);
            let mut problem = Diagnostic::error(codes::WORKFLOW_INPUT, file, message).help(help);
            problem.span = parsed.places.workflow_inputs.get(input).copied().or(parsed.places.workflow);
            problems.push(problem);
        };
        for unknown in given.keys().filter(|name| inputs.iter().all(|input| &input.name != *name)) {
            let known = || inputs.iter().map(|input| input.name.as_str());
            let help = match did_you_mean(unknown, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if inputs.is_empty() => "it has no inputs".into(),
                None => format!("its inputs: {}", known().collect::<Vec<_>>().join(", ")),
            };
            report(unknown, format!("it has no input `{unknown}`"), help);
        }
        for input in inputs {
            match value(input, given.get(&input.name), plan, &name) {
                Ok(value) => {
                    by_name.insert(input.name.clone(), value);
                }
                Err((message, help)) => report(&input.name, message, help),
            }
        }
        by_name.insert(PLAN.into(), InputValue::Text(name));
        if problems.is_empty() { Ok(Self::new(by_name)) } else { Err(problems) }
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
                InputValue::List(list) => list.join(", "),
                one => whole(one, &node.range).scalar().unwrap_or_default().to_owned(),
            });
            rest = behind;
        }
        if out.is_empty() && rest.len() == text.len() {
            return node.clone();
        }
        out.push_str(rest);
        Node::text(out, &node.range)
    }

    fn get(&self, name: &str, range: &Range<usize>, reader: &mut FieldReader<'_>) -> Option<&InputValue> {
        let value = self.by_name.get(name);
        if let Some(value) = value {
            let Some(left) = self.left.get().checked_sub(size(value)) else {
                let help = "use long values in fewer places";
                reader.error(codes::TOO_LARGE, range, "the workflow is too large with the values of its inputs", help);
                return None;
            };
            self.left.set(left);
        } else {
            let known = || self.by_name.keys().map(String::as_str);
            let help = match did_you_mean(name, known()) {
                Some(near) => format!("did you mean `${{{{ {near} }}}}`?"),
                None => format!("declare it in `inputs`; declared: {}", known().collect::<Vec<_>>().join(", ")),
            };
            reader.error(codes::BAD_PLACEHOLDER, range, format!("unknown input `{name}`"), help);
        }
        value
    }
}

/// What a value takes in memory, roughly, in bytes.
fn size(value: &InputValue) -> usize {
    let text = |text: &String| text.len() + size_of::<Node>();
    match value {
        InputValue::Flag(_) | InputValue::Number(_) => size_of::<Node>(),
        InputValue::Text(one) => text(one),
        InputValue::List(list) => list.iter().map(text).sum(),
    }
}

fn whole(value: &InputValue, range: &Range<usize>) -> Node {
    match value {
        InputValue::Flag(flag) => Node::plain(flag.to_string(), range),
        InputValue::Number(number) => Node::plain(number.to_string(), range),
        InputValue::Text(text) => Node::text(text, range),
        InputValue::List(list) => Node::list(list.iter().map(|item| Node::text(item, range)).collect(), range),
    }
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
                Some(InputOrigin::Adr) => ", or set the plan's `adr`".into(),
                Some(gate) => format!(", or give a phase of the plan the gate {}", gate.word()),
            };
            let name = plan.workflow.as_ref().map_or("…", |call| &call.name);
            Err((message, format!("write workflow: {{ name: {name}, inputs: {{ {}: … }} }}{also}", input.name)))
        }
    }
}

/// What a plan's own words give for an input; an error when they give several things.
fn taken(plan: &Plan, from: InputOrigin) -> Result<Option<String>, (String, String)> {
    if from == InputOrigin::Adr {
        return Ok(plan.adr.clone());
    }
    let gates = plan.gates().filter(|gate| gate.name() == from.word());
    let mut commands: Vec<&str> = gates.flat_map(GateSpec::commands).collect();
    let mut seen = BTreeSet::new();
    commands.retain(|command| seen.insert(*command));
    if let [_, _, ..] = commands[..] {
        let message =
            format!("the plan's own phases have several commands for {}: {}", from.word(), commands.join("; "));
        return Err((message, "choose one in the workflow's `inputs`".into()));
    }
    Ok(commands.first().map(|command| (*command).to_owned()))
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
