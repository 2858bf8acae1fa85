//! Older dialects of `phases.yaml`: the tree that was read, written anew in the modern form, with a note on each old form.
//!
//! Must not know what makes a plan valid: what it writes is read and checked as if the author had written it.

mod draft;
mod files;
mod gate;
mod phase;
mod plan;
mod table;

use std::ops::Range;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use helix_core::diagnostic::Span;
use helix_core::document::{Entry, FieldReader, Limits, Node, Scalar, ScalarForm, Value};
use helix_core::ids::PhaseId;

use super::codes;

pub use table::{Modern, OldForm, OldPlace, old_forms, old_forms_markdown};

/// An old form that was found in a plan, beside the modern one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Normalised {
    /// Where the old form stands.
    pub span: Span,
    /// The old form, in one line.
    pub old: String,
    /// What is to be written instead.
    pub new: Modern,
}

impl std::fmt::Display for Normalised {
    /// Two lines, as a comparison shows them: the old form after `-`, the modern one after `+`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "- {}", self.old)?;
        match &self.new {
            Modern::Written(new) => write!(f, "\n+ {new}"),
            Modern::LeftOut => f.write_str("\n# omitted: it is the default"),
            Modern::Ignored(why) => write!(f, "\n# ignored: {why}"),
        }
    }
}

/// A plan in which only modern forms are left.
pub(super) struct Modernised {
    pub(super) node: Node,
    /// In the order of the file.
    pub(super) normalised: Vec<Normalised>,
}

/// Writes a plan anew in the modern form. Each old form is a warning; what cannot be read as one is an error or left to
/// the reader of modern plans.
pub(super) fn modernise(node: &Node, reader: &mut FieldReader<'_>) -> Modernised {
    let mut pen = Pen { reader, normalised: Vec::new(), claims: files::Claims::default(), copied: Copied::default() };
    let node = plan::plan(node, &mut pen);
    let mut normalised = pen.normalised;
    normalised.sort_by_key(|one| (one.span.start, one.span.end));
    Modernised { node, normalised }
}

/// An old key as it was found.
struct Old<'n> {
    /// What messages call it.
    name: String,
    /// The whole entry, in one line.
    text: String,
    entry: &'n Entry,
}

/// What the rewriting writes to besides the tree.
struct Pen<'r, 's> {
    reader: &'r mut FieldReader<'s>,
    normalised: Vec<Normalised>,
    claims: files::Claims,
    /// What was written more than once: values of the plan that its phases share.
    copied: Copied,
}

/// How much was copied, and whether that was reported as too much.
#[derive(Default)]
struct Copied {
    nodes: usize,
    text: usize,
    refused: usize,
}

impl Pen<'_, '_> {
    /// Notes that an old form was read as a modern one.
    fn note(&mut self, range: &Range<usize>, old: String, modern: Modern) {
        let (code, message, help) = match &modern {
            Modern::Written(new) => {
                (codes::OLD_FORM, format!("`{}` is an older form", shorten(&old)), format!("write `{}`", shorten(new)))
            }
            Modern::LeftOut => (
                codes::OLD_FORM,
                format!("`{}` is an older form", shorten(&old)),
                "remove it; it is the default".to_owned(),
            ),
            Modern::Ignored(why) => {
                (codes::IGNORED_KEY, format!("`{}` is ignored: {why}", shorten(&old)), "remove it".to_owned())
            }
        };
        self.reader.warning(code, range, message, help);
        let span = self.reader.source.span(range.clone());
        self.normalised.push(Normalised { span, old, new: modern });
    }

    /// Tells whether nodes may be written once more; a small file must not grow without bound. Reports the first refusal.
    fn may_copy(&mut self, nodes: &[Node], range: &Range<usize>) -> bool {
        let limits = Limits::default();
        let mut open: Vec<&Node> = nodes.iter().collect();
        while let Some(node) = open.pop() {
            self.copied.nodes += 1;
            match &node.value {
                Value::Scalar(scalar) => self.copied.text += scalar.text.len(),
                Value::Sequence(items) => open.extend(items.iter()),
                Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            }
            if self.copied.nodes > limits.nodes || self.copied.text > limits.text_bytes {
                if self.copied.refused == 0 {
                    let message = "the plan is too large after copying shared values into each phase";
                    let help = "write the values into the phases that need them";
                    self.reader.error(codes::TOO_LARGE, range, message, help);
                }
                self.copied.refused += 1;
                return false;
            }
        }
        true
    }

    /// Notes that an old form was read as this modern one.
    fn written(&mut self, range: &Range<usize>, old: String, new: String) {
        self.note(range, old, Modern::Written(new));
    }

    /// Notes that an old form has no meaning any more.
    fn ignored(&mut self, range: &Range<usize>, old: String, why: &str) {
        self.note(range, old, Modern::Ignored(why.into()));
    }
}

/// A written form, cut to a length that fits into a message.
fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(100).collect();
    if text.chars().nth(100).is_some() {
        out.push('…');
    }
    out
}

/// A node that is text, at the place of what it was made from.
fn text_node(text: impl Into<String>, range: &Range<usize>) -> Node {
    scalar_node(text.into(), ScalarForm::Text, range)
}

/// A node that is a number or truth value, at the place of what it was made from.
fn plain_node(text: impl Into<String>, range: &Range<usize>) -> Node {
    scalar_node(text.into(), ScalarForm::Plain, range)
}

fn scalar_node(text: String, form: ScalarForm, range: &Range<usize>) -> Node {
    Node { range: range.clone(), value: Value::Scalar(Rc::new(Scalar { text, form })) }
}

fn list_node(items: Vec<Node>, range: &Range<usize>) -> Node {
    Node { range: range.clone(), value: Value::Sequence(items.into()) }
}

/// A list as it is, a single value as a list of one.
fn items(node: &Node) -> Vec<Node> {
    match &node.value {
        Value::Sequence(items) => items.to_vec(),
        Value::Scalar(_) | Value::Mapping(_) => vec![node.clone()],
    }
}

/// The text of a scalar that is text.
fn as_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) if node.as_bool().is_none() && node.as_number().is_none() && !node.is_null() => {
            Some(&scalar.text)
        }
        Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => None,
    }
}

/// A phase's id, or a reference to one, in the modern form; what cannot be one stays as it is, for the reader to report.
fn id_node(node: &Node) -> Node {
    let Value::Scalar(scalar) = &node.value else { return node.clone() };
    if node.is_null() || node.as_bool().is_some() {
        return node.clone();
    }
    match modern_id(&scalar.text) {
        // A valid id is kept as it was written, unless YAML would take it for a number.
        Some(id) if id != scalar.text || node.as_number().is_some() => text_node(id, &node.range),
        Some(_) | None => node.clone(),
    }
}

/// An id with `_`, `.` and upper case as the valid id that it stands for; nothing else is guessed.
fn modern_id(written: &str) -> Option<String> {
    let id: String = written
        .chars()
        .map(|character| match character {
            '_' | '.' => '-',
            _ => character.to_ascii_lowercase(),
        })
        .collect();
    PhaseId::new(&id).is_ok().then_some(id)
}
