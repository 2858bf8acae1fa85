//! Older dialects of `phases.yaml`: the tree that was read, written anew in the modern form, with a warning for each old form.
//!
//! Must not know what makes a plan valid: what it writes is read and checked as if the author had written it.

mod draft;
mod files;
mod left_out;
mod rewrite;
mod table;

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use helix_core::diagnostic::Span;
use helix_core::document::{FieldReader, Limits, Node, Value};
use helix_core::ids::PhaseId;
use helix_core::text::clip;

use super::codes;
use files::{Claims, Meeting, Owner};

pub use table::Modern;

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
    let problems = reader.problems.len();
    let (first, met) = rewrite(node, reader, Meeting::new());
    if met.is_empty() {
        return first;
    }
    // Which files meet is known once all phases are read; a phase may have read such a file before.
    reader.problems.truncate(problems);
    rewrite(node, reader, met).0
}

/// Writes a plan anew; files that meet at one of these paths stay where they lay. Returns at which ones files meet then.
fn rewrite(node: &Node, reader: &mut FieldReader<'_>, meeting: Meeting) -> (Modernised, Meeting) {
    let mut rewriter = Rewriter {
        reader,
        normalised: Vec::new(),
        claims: Claims::new(),
        meeting,
        met: Meeting::new(),
        copied: (0, 0),
        adr: None,
        generating: Vec::new(),
        shared: Vec::new(),
        owner: Owner::default(),
    };
    let node = rewriter.plan(node);
    let mut normalised = rewriter.normalised;
    normalised.sort_by_key(|one| (one.span.start, one.span.end));
    (Modernised { node, normalised }, rewriter.met)
}

/// What the rewriting knows of the plan, and what it writes to besides the tree.
struct Rewriter<'r, 's> {
    reader: &'r mut FieldReader<'s>,
    normalised: Vec<Normalised>,
    claims: Claims,
    /// Where files would meet that therefore stay in the folders of their phases.
    meeting: Meeting,
    /// Where files from different folders have met now.
    met: Meeting,
    /// Nodes and bytes of text that were written more than once.
    copied: (usize, usize),
    adr: Option<String>,
    /// Ids of the phases that generate phases, in the modern form.
    generating: Vec<Node>,
    shared: Vec<SharedValue>,
    /// The phase that is being rewritten.
    owner: Owner,
}

/// A value of the plan that its phases share.
#[derive(Clone)]
struct SharedValue {
    /// Where it stands in a phase.
    path: &'static str,
    key_range: Range<usize>,
    value: Node,
}

impl Rewriter<'_, '_> {
    /// Warns of an old form that was read as a modern one.
    fn report(&mut self, range: &Range<usize>, old: String, modern: Modern) {
        let older = format!("`{}` is an older form", clip(&old, 101));
        let (code, message, help) = match &modern {
            Modern::Written(new) => (codes::OLD_FORM, older, format!("write `{}`", clip(new, 101))),
            Modern::LeftOut => (codes::OLD_FORM, older, "remove it; it is the default".to_owned()),
            Modern::Ignored(why) => {
                (codes::IGNORED_KEY, format!("`{}` is ignored: {why}", clip(&old, 101)), "remove it".to_owned())
            }
        };
        self.reader.warning(code, range, message, help);
        let span = self.reader.source.span(range.clone());
        self.normalised.push(Normalised { span, old, new: modern });
    }

    /// Tells whether nodes may be written once more; a small file must not grow without bound. Reports the first refusal.
    fn may_copy(&mut self, nodes: &[Node], range: &Range<usize>) -> bool {
        let limits = Limits::default();
        let is_too_much = |(nodes, text): (usize, usize)| nodes > limits.nodes || text > limits.text_bytes;
        let was_too_much = is_too_much(self.copied);
        let mut open: Vec<&Node> = nodes.iter().collect();
        while let Some(node) = open.pop().filter(|_| !is_too_much(self.copied)) {
            self.copied.0 += 1;
            match &node.value {
                Value::Scalar(scalar) => self.copied.1 += scalar.text.len(),
                Value::Sequence(items) => open.extend(items.iter()),
                Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            }
        }
        if is_too_much(self.copied) && !was_too_much {
            let message = "the plan is too large after copying shared values into each phase";
            self.reader.error(codes::TOO_LARGE, range, message, "write the values into the phases that need them");
        }
        !is_too_much(self.copied)
    }
}

/// Phases that a value names, in the modern form.
fn references(value: &Node) -> Vec<Node> {
    value.items().iter().map(id_node).collect()
}

/// A phase's id, or a reference to one, in the modern form; what cannot be one stays as it is, for the reader to report.
fn id_node(node: &Node) -> Node {
    let written = node.scalar().filter(|_| !node.is_null() && node.as_bool().is_none());
    match written.and_then(|written| Some((written, modern_id(written)?))) {
        // A valid id is kept as it was written, unless YAML would take it for a number.
        Some((written, id)) if id != written || node.as_number().is_some() => Node::text(id, &node.range),
        Some(_) | None => node.clone(),
    }
}

/// An id with `_`, `.` and upper case, as older plans have them, as the valid id that it stands for; nothing else is guessed.
pub fn modern_id(written: &str) -> Option<String> {
    let id = written.replace(['_', '.'], "-").to_ascii_lowercase();
    PhaseId::new(&id).is_ok().then_some(id)
}
