//! Which patches of Python last beyond the test that makes them: those that nothing seen takes back.
//!
//! Must not know what is patched.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::declared::set;
use super::{part, text};

/// What a file does with the patches that it makes.
#[derive(Default)]
pub(super) struct Lasting<'s> {
    made: Vec<Made<'s>>,
    started: BTreeSet<&'s str>,
    stopped: BTreeSet<&'s str>,
    /// What a `with` takes, or stands before a function.
    entered: BTreeSet<&'s str>,
    /// Names of loops, each with what the loop goes through.
    loops: Vec<(&'s str, &'s str)>,
    stops_all: bool,
}

/// Names under which a test is handed what outlives it.
const LENT_FOR_LONGER: [&str; 6] = ["self", "cls", "class_mocker", "module_mocker", "package_mocker", "session_mocker"];
/// Methods that enter what they are given, and leave it with what they are of.
const ENTERS: [&str; 6] = [
    "enter_context",
    "enter_async_context",
    "enterContext",
    "enterAsyncContext",
    "enterClassContext",
    "enterModuleContext",
];

/// A patch.
struct Made<'s> {
    /// Its number among all of the file.
    at: usize,
    /// What keeps it.
    names: Vec<&'s str>,
    is_started: bool,
    /// Whether what it is made with, or given to, takes it back.
    is_taken: bool,
}

impl<'s> Lasting<'s> {
    /// Takes in a node of the file.
    pub(super) fn see(&mut self, node: Node<'_>, source: &'s str) {
        match node.kind() {
            "attribute" => match part(node, "attribute", source) {
                "start" | "__enter__" => drop(self.started.insert(part(node, "object", source))),
                "stop" | "__exit__" | "undo" => drop(self.stopped.insert(part(node, "object", source))),
                "stopall" => self.stops_all = true,
                _ => {}
            },
            "with_item" | "decorator" => {
                let taken = text(node, source).trim_start_matches('@').split(" as ").next().unwrap_or_default();
                self.entered.insert(taken.trim());
            }
            "for_statement" => self.loops.push((part(node, "left", source), part(node, "right", source))),
            _ => {}
        }
    }

    /// Takes in a call that makes a patch. `is_handed` says whether a runner or a `with` hands over what has a name.
    pub(super) fn make(&mut self, at: usize, call: Node<'_>, source: &'s str, is_handed: impl Fn(&str) -> bool) {
        let called = part(call, "function", source);
        let root = called.split('.').next().unwrap_or_default();
        let (mut names, taker) = keepers(call, source);
        let mut is_taken = called.contains('.') && is_handed(root) && !LENT_FOR_LONGER.contains(&root);
        match called.strip_suffix("setattr") {
            // It is there at once.
            Some(by) => names.push(by.trim_end_matches('.')),
            None => is_taken |= taker.is_some_and(|taker| takes_back(taker, called, source, is_handed)),
        }
        let is_started = taker.is_some_and(|taker| matches!(part(taker, "attribute", source), "start" | "__enter__"));
        self.made.push(Made { at, names, is_started, is_taken });
    }

    /// The patches that last.
    pub(super) fn all(mut self) -> impl Iterator<Item = usize> {
        for (name, through) in &self.loops {
            for known in [&mut self.started, &mut self.stopped, &mut self.entered] {
                if known.contains(name) {
                    known.insert(through);
                }
            }
        }
        self.made.into_iter().filter_map(move |made| {
            let is =
                |known: &BTreeSet<&str>| !made.names.is_empty() && made.names.iter().all(|name| known.contains(name));
            let is_started = made.is_started || made.names.iter().any(|name| self.started.contains(name));
            let is_back = self.stops_all || is(&self.stopped) || !is_started && (made.is_taken || is(&self.entered));
            (!is_back).then_some(made.at)
        })
    }
}

/// The names that keep what a call gives, and what it is given to besides.
fn keepers<'s, 't>(call: Node<'t>, source: &'s str) -> (Vec<&'s str>, Option<Node<'t>>) {
    let (mut names, mut above) = (Vec::new(), call.parent());
    while let Some(node) = above {
        let named = match node.kind() {
            "parenthesized_expression" | "expression_list" | "tuple" | "list" => None,
            "named_expression" => node.child_by_field_name("name"),
            "assignment" | "for_statement" => node.child_by_field_name("left"),
            _ => break,
        };
        names.extend(set(named.into_iter().collect()).into_iter().map(|name| text(name, source)));
        above = node.parent();
    }
    (names, above)
}

/// Whether what a patch is given to takes it back, or never starts it.
fn takes_back(taker: Node<'_>, made: &str, source: &str, is_handed: impl Fn(&str) -> bool) -> bool {
    match taker.kind() {
        "decorator" | "with_item" => true,
        // What only makes one; mockers start theirs at once.
        "expression_statement" => {
            let made = made.trim_start_matches("unittest.").trim_start_matches("mock.");
            made == "patch" || made.starts_with("patch.")
        }
        "as_pattern" => taker.parent().is_some_and(|above| above.kind() == "with_item"),
        "argument_list" => {
            let called = taker.parent().map(|call| part(call, "function", source)).unwrap_or_default();
            called.split_once('.').is_some_and(|(by, method)| ENTERS.contains(&method) && is_handed(by))
        }
        _ => false,
    }
}
