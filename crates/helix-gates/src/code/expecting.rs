//! Tests that expect something else than they did: where a test says which constant it expects, another one is put there.
//!
//! Must not know what tests of such a form show.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::expectations::{NUMBERS, PYTHON_EQUAL, SCRIPT_EQUAL, TEXTS, compared, read};
use super::{Code, Edit, children, edited, part, pattern, text};

/// Names of what compares and does not ask for one value: another value may be as right.
static UNEQUAL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)not|greater|less|least|most|above|below|within|between"));

/// A test and the edits with which it expects something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expecting {
    /// Its own name, which every runner prints as a part of the test's.
    pub(crate) test: String,
    /// Whether one of them is in an assertion of a known form.
    pub(crate) is_certain: bool,
    /// Whether one of these comes in each run, and compares with that constant alone.
    pub(crate) is_exact: bool,
    /// The whole test.
    written: String,
    edits: Vec<Edit>,
}

impl Expecting {
    /// Whether this is the same test, wherever it stands in its file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.test == other.test && self.written == other.written
    }
}

/// The tests of a file that can be made to expect something else.
pub(crate) fn expecting(code: Code, source: &str) -> Vec<Expecting> {
    let mut all: Vec<(String, Expecting)> = Vec::new();
    read(code, source, |test, unit, node| {
        let edits: Vec<Edit> = (expected(code, node, source).into_iter())
            .filter_map(|(range, expected)| Some(Edit { range, with: another(code, &expected)? }))
            .collect();
        if edits.is_empty() {
            return;
        }
        if all.last().is_none_or(|(last, _)| last != test) {
            let own = test.rsplit("::").next().unwrap_or(test).trim_matches(['"', '\'', '`']).to_owned();
            let written = text(unit, source).to_owned();
            all.push((
                test.to_owned(),
                Expecting { test: own, is_certain: false, is_exact: false, written, edits: Vec::new() },
            ));
        }
        if let Some((_, known)) = all.last_mut() {
            let is_certain = !matches!(node.kind(), "expression_statement" | "assert_statement");
            known.is_certain |= is_certain;
            known.is_exact |= is_certain && is_one(node, source) && comes_always(unit, node);
            known.edits.extend(edits);
        }
    });
    let all: Vec<Expecting> = all.into_iter().map(|(_, test)| test).collect();
    let can_be_read = |source: &str| code.parse(source).is_some_and(|tree| !tree.root_node().has_error());
    if all.is_empty() || can_be_read(&expecting_else(source, &all)) { all } else { Vec::new() }
}

/// Whether a comparison of a known form asks for one value: rows of parameters may be about anything, and a condition may lead elsewhere.
fn is_one(node: Node<'_>, source: &str) -> bool {
    node.kind() != "if_statement" && !part(node, "function", source).ends_with("mark.parametrize")
}

/// Whether what stands in a test runs whenever that runs to its end.
fn comes_always(unit: Node<'_>, node: Node<'_>) -> bool {
    const MAY_NOT: [&str; 13] = [
        "if_",
        "for_",
        "while_",
        "try_",
        "with_",
        "match_",
        "loop_",
        "switch_",
        "closure",
        "lambda",
        "conditional",
        "ternary",
        "boolean_operator",
    ];
    let above = std::iter::successors(node.parent(), Node::parent).take_while(|above| above.id() != unit.id());
    let kinds: Vec<&str> = above.map(|above| above.kind()).collect();
    // The test itself may be a function within its mark or its call.
    let functions = kinds.iter().filter(|kind| kind.contains("function") && !kind.starts_with("call")).count();
    functions <= usize::from(!unit.kind().starts_with("function_"))
        && !kinds.iter().any(|kind| MAY_NOT.iter().any(|branch| kind.starts_with(branch)))
}

/// A test file in which these of its tests expect something else.
pub(crate) fn expecting_else<'e>(source: &str, tests: impl IntoIterator<Item = &'e Expecting>) -> String {
    edited(source, tests.into_iter().flat_map(|test| test.edits.iter().cloned()).collect())
}

/// Where an assertion says what it expects, and what. In a comparison of another form, and in a call that may be one of the tests' own
/// assertions, since something else in it is computed, that is taken for the last part that has a constant in it.
fn expected(code: Code, node: Node<'_>, source: &str) -> Vec<(Range<usize>, String)> {
    let exact = |node: Node<'_>| {
        let place = |(_, expected): (String, String)| {
            let at = node.start_byte() + text(node, source).rfind(&expected)?;
            Some((at..at + expected.len(), expected))
        };
        compared(code, node, source).into_iter().filter_map(place).collect::<Vec<_>>()
    };
    let inner = node.named_child(0);
    let mut sides = match (code, node.kind(), inner) {
        (Code::Python, "assert_statement", Some(asked)) if asked.kind() == "comparison_operator" => {
            let operator = asked.child(1).map(|operator| text(operator, source));
            if matches!(operator, Some("==" | "is" | "in")) { children(asked) } else { Vec::new() }
        }
        (Code::Python | Code::JavaScript | Code::TypeScript | Code::Tsx, "expression_statement", Some(call)) => {
            call.child_by_field_name("arguments").map(children).unwrap_or_default()
        }
        _ => return exact(node),
    };
    let called = inner.map(|call| part(call, "function", source)).unwrap_or_default();
    if UNEQUAL.is_match(called) {
        return Vec::new();
    }
    if PYTHON_EQUAL.is_match(called) || SCRIPT_EQUAL.is_match(called) {
        sides.truncate(2);
    }
    sides.retain(|side| side.kind() != "keyword_argument");
    let is_computed = |side: &Node<'_>| {
        matches!(
            side.kind(),
            "call" | "call_expression" | "await" | "await_expression" | "subscript" | "subscript_expression"
        )
    };
    let has_constant = |side: &Node<'_>| {
        let written = text(*side, source);
        TEXTS.is_match(written) || NUMBERS.is_match(written)
    };
    let Some(last) = sides.iter().rposition(has_constant) else { return Vec::new() };
    let is_asked = sides.iter().enumerate().any(|(at, side)| at != last && is_computed(side));
    match is_asked && inner.is_some_and(|inner| exact(inner).is_empty()) {
        true => vec![(sides[last].byte_range(), text(sides[last], source).to_owned())],
        false => Vec::new(),
    }
}

/// A constant of the same type that is not equal to this one. Of numbers the next one: a coarse comparison, too, has to tell them apart.
fn another(code: Code, constant: &str) -> Option<String> {
    let has_types = matches!(code, Code::Rust | Code::Go);
    if let Some(found) = TEXTS.find(constant) {
        let at = found.start() + 1;
        let is_letter = has_types && found.as_str().starts_with('\'');
        return (!is_letter).then(|| format!("{}other {}", &constant[..at], &constant[at..]));
    }
    if let Some(found) = NUMBERS.find(constant) {
        let (before, after) = (&constant[..found.end() - 1], &constant[found.end()..]);
        let is_of_base = found.as_str() == "0" && after.starts_with(['x', 'X', 'o', 'O', 'b', 'B']);
        let digit = found.as_str().chars().last().and_then(|last| last.to_digit(10)).filter(|_| !is_of_base)?;
        return Some(format!("{before}{}{after}", if digit == 9 { 8 } else { digit + 1 }));
    }
    let other = match (constant, code) {
        ("True", Code::Python) => "False",
        ("False", Code::Python) => "True",
        ("None", Code::Python) => "9",
        ("true", _) => "false",
        ("false", _) => "true",
        ("null" | "undefined", Code::JavaScript) => "9",
        ("[]", Code::Python | Code::JavaScript) => "[9]",
        _ => return None,
    };
    Some(other.to_owned())
}

#[cfg(test)]
#[path = "expecting_test.rs"]
mod tests;
