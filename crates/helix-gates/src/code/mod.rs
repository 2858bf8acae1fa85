//! Source files as syntax trees: where functions begin, and what tests assert.
//!
//! Must not know commits or gates.

mod assertions;
mod bound;
mod declared;
mod documented;
mod encoding;
mod expectations;
mod expecting;
mod faults;
mod lasting;
mod mutants;
mod stubs;
mod watching;

use std::ops::Range;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tree_sitter::{Language, Node, Parser, Tree};

pub(crate) use assertions::{Helpers, Version, Weakening, helpers, weakened};
pub(crate) use bound::{ALL, Binding, Bindings, Name, Patch, bound, called_by, parts};
pub(crate) use documented::{as_documentation, included};
pub(crate) use encoding::other_encoding;
pub(crate) use expectations::{Asked, OtherAnswer, TestFile, asked, has_examples, known_answers, other_answers};
pub(crate) use expecting::{Expecting, expecting, expecting_else};
pub(crate) use faults::{Weaker, lying, weaker};
pub(crate) use mutants::{Mutant, mutants, new_lines};
pub(crate) use stubs::{Stubbed, stubbed};
pub(crate) use watching::{Blinded, blinded};

/// Longest file that is parsed; a longer one was generated.
pub(crate) const MAX_SOURCE: usize = 2 << 20;

/// A language whose functions and tests are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Code {
    Python,
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    Rust,
    Go,
}

impl Code {
    pub(crate) const ALL: [Self; 6] =
        [Self::Python, Self::JavaScript, Self::TypeScript, Self::Tsx, Self::Rust, Self::Go];

    /// Whether tests in one language may be of code in the other.
    pub(crate) fn is_tested_with(self, other: Self) -> bool {
        self == other || self.is_script() && other.is_script()
    }

    /// Whether Node runs it.
    pub(crate) fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Tsx)
    }

    /// By the name of a file.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with(".d.ts") || path.contains("node_modules/") {
            return None;
        }
        Some(match path.rsplit_once('.')?.1 {
            "py" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "rs" => Self::Rust,
            "go" => Self::Go,
            _ => return None,
        })
    }

    fn grammar(self) -> Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            // The grammar with JSX reads all of JavaScript.
            Self::JavaScript | Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }

    /// Whether the language reads this source in an encoding in which it may say something else than it shows here.
    pub(crate) fn reads_otherwise(self, source: &str) -> bool {
        self == Self::Python && other_encoding(source).is_some()
    }

    /// `None` when the file is too long, its language reads it otherwise, or the grammar gives no answer.
    fn parse(self, source: &str) -> Option<Tree> {
        if source.len() > MAX_SOURCE || self.reads_otherwise(source) {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&self.grammar()).ok()?;
        parser.parse(source, None)
    }
}

/// A pattern of this module.
fn pattern(text: &str) -> Regex {
    // Each pattern is a literal of this file, and its tests read every one of them.
    Regex::new(text).unwrap_or_else(|_| Regex::new("$^").unwrap_or_else(|_| unreachable!("an empty pattern is one")))
}

/// The text of a node.
fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The text of a node's part by the part's name; empty where it has none.
fn part<'s>(node: Node<'_>, name: &str, source: &'s str) -> &'s str {
    node.child_by_field_name(name).map(|part| text(part, source)).unwrap_or_default()
}

/// The line on which a node begins, from 1.
fn line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

/// The name of what lies in a group of tests, with that of the group.
fn inside(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// A title as a part of such a name: what stands between parts is not in it.
fn titled(title: &str) -> String {
    title.replace("::", "∷")
}

/// The node's children that have names.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Visits nodes from the root in the order of the text, without recursion; below one only where `enter` says so.
fn visit<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if enter(node) {
            open.extend(children(node).into_iter().rev());
        }
    }
}

/// Whether a node below this one is of one of these kinds, not looking into functions.
fn holds(root: Node<'_>, kinds: &[&str], functions: &[&str]) -> bool {
    let mut found = false;
    visit(root, |node| {
        found |= kinds.contains(&node.kind());
        !found && (node == root || !functions.contains(&node.kind()))
    });
    found
}

/// Attributes that stand before an item of Rust.
fn attributes<'s>(item: Node<'_>, source: &'s str) -> Vec<&'s str> {
    // The tree is slow to say what stands before a node, and is asked about every one.
    if !may_follow_attribute(item, source) {
        return Vec::new();
    }
    let before = std::iter::successors(item.prev_named_sibling(), Node::prev_named_sibling).take_while(is_of_item);
    before.filter(|node| node.kind() == "attribute_item").map(|node| text(node, source)).collect()
}

/// Whether it is an attribute or a comment of the item that follows.
fn is_of_item(node: &Node<'_>) -> bool {
    matches!(node.kind(), "attribute_item" | "line_comment" | "block_comment")
}

/// Whether an attribute or a comment ends just before a node.
fn may_follow_attribute(node: Node<'_>, source: &str) -> bool {
    let all = source.get(..node.start_byte()).unwrap_or_default();
    let before = all.trim_end();
    let last_line = || before.rsplit('\n').next().unwrap_or_default();
    before.ends_with(']') || before.ends_with("*/") || all[before.len()..].contains('\n') && last_line().contains("//")
}

/// Whether an item of Rust is there for tests only.
fn is_rust_test(item: Node<'_>, source: &str) -> bool {
    attributes(item, source).iter().any(|attribute| {
        let inner = attribute.trim_start_matches("#[").replace(' ', "");
        ["cfg(test)", "cfg(all(test,", "cfg(all(test)"].iter().any(|start| inner.starts_with(start)) || runs(attribute)
    })
}

/// Whether a function of Rust is a test that runs: what is built for tests alone may be there to help them.
fn is_rust_case(function: Node<'_>, source: &str) -> bool {
    attributes(function, source).into_iter().any(runs)
}

/// Whether an attribute of Rust makes a function a test.
fn runs(attribute: &str) -> bool {
    let inner = attribute.trim_start_matches("#[").trim_end_matches(']').replace(' ', "");
    let name = inner.split(['(', '=']).next().unwrap_or_default();
    matches!(name.rsplit("::").next(), Some("test" | "rstest" | "test_case" | "proptest"))
}

/// A replacement of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Edit {
    range: Range<usize>,
    with: String,
}

/// Makes edits that do not overlap.
fn edited(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let (mut out, mut at) = (String::with_capacity(source.len() + edits.len() * 32), 0);
    for edit in edits.into_iter() {
        if edit.range.start < at {
            continue;
        }
        out.push_str(source.get(at..edit.range.start).unwrap_or_default());
        out.push_str(&edit.with);
        at = edit.range.end;
    }
    out.push_str(source.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
fn said_of_test(words: &helix_core::said::Words) -> String {
    helix_language::RECORD.words(words).trim_start_matches("the test ").to_owned()
}
