//! Which function or block of a script declares a name: who sets another one sets it for the file.
//!
//! Must not know what a name stands for.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::{children, text};

/// The places of a script that declare names, each with the one around it; the first is the file.
#[derive(Default)]
pub(super) struct Declared {
    places: Vec<(usize, BTreeSet<String>)>,
    of_node: BTreeMap<usize, usize>,
}

impl Declared {
    /// Of the nodes of a script.
    pub(super) fn of(root: Node<'_>, source: &str) -> Self {
        let mut all = Self { places: vec![(0, BTreeSet::new())], of_node: BTreeMap::new() };
        let mut open = vec![(root, 0, 0)];
        while let Some((node, mut place, mut function)) = open.pop() {
            let field = |name: &'static str| node.child_by_field_name(name);
            let is_function = field("parameters").or(field("parameter")).is_some() && node.kind() != "catch_clause";
            if is_function {
                let named = node.kind().ends_with("_declaration").then(|| field("name")).flatten();
                all.places[place].1.extend(named.map(|name| text(name, source).to_owned()));
            }
            let declarators = || children(node).into_iter().filter_map(|one| one.child_by_field_name("name")).collect();
            let one = |name| field(name).into_iter().collect();
            let (into, names) = match node.kind() {
                _ if is_function => (None, one(if field("parameters").is_some() { "parameters" } else { "parameter" })),
                "catch_clause" => (None, one("parameter")),
                "for_in_statement" if field("kind").is_some() => (None, one("left")),
                "for_statement" | "statement_block" | "switch_body" => (None, Vec::new()),
                "class_declaration" => (Some(place), one("name")),
                "lexical_declaration" => (Some(place), declarators()),
                "variable_declaration" => (Some(function), declarators()),
                _ => {
                    open.extend(children(node).into_iter().map(|child| (child, place, function)));
                    continue;
                }
            };
            let names = set(names).into_iter().map(|name| text(name, source).to_owned()).collect();
            match into {
                Some(into) => all.places[into].1.append(&mut { names }),
                None => {
                    all.places.push((place, names));
                    place = all.places.len() - 1;
                    all.of_node.insert(node.id(), place);
                    function = if is_function { place } else { function };
                }
            }
            open.extend(children(node).into_iter().map(|child| (child, place, function)));
        }
        all
    }

    /// The place that a node opens, or that it lies in.
    pub(super) fn place(&self, node: Node<'_>, around: usize) -> usize {
        self.of_node.get(&node.id()).copied().unwrap_or(around)
    }

    /// Whether the file itself, or nobody, declares this name where it is set.
    pub(super) fn is_of_file(&self, name: &str, mut place: usize) -> bool {
        while let Some((around, names)) = self.places.get(place).filter(|_| place > 0) {
            if names.contains(name) {
                return false;
            }
            place = *around;
        }
        true
    }
}

/// The names and parts that patterns set.
pub(super) fn set(mut open: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    while let Some(one) = open.pop() {
        let field = |name| one.child_by_field_name(name).into_iter();
        match one.kind() {
            "identifier" | "type_identifier" | "shorthand_property_identifier_pattern" => found.push(one),
            _ if is_part(one) => found.push(one),
            "assignment_pattern" | "object_assignment_pattern" => open.extend(field("left")),
            "pair_pattern" => open.extend(field("value")),
            "required_parameter" | "optional_parameter" => open.extend(field("pattern")),
            _ => open.extend(children(one)),
        }
    }
    found
}

/// Whether it is a part of something else that is set.
pub(super) fn is_part(node: Node<'_>) -> bool {
    ["attribute", "member_expression", "subscript", "subscript_expression"].contains(&node.kind())
}
