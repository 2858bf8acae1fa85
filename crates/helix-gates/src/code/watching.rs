//! Code that sees whether it is tested: the same source without what it sees that by.
//!
//! Must not say that such code is wrong: what changes when it sees nothing shows that.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::{Code, Edit, children, edited, is_of_item, is_rust_test, line_of, part, pattern, text, visit};

/// A source that sees no test runner.
#[derive(Serialize, Deserialize)]
pub(crate) struct Blinded {
    pub(crate) source: String,
    /// Where it looked, from 1, and at what.
    pub(crate) looks: Vec<(u32, String)>,
}

/// Names of test runners, and of variables that say that tests run.
static RUNNER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(unittest|_?pytest|nose2?|CI|CONTINUOUS_INTEGRATION|PYTEST_\w+|NODE_TEST_CONTEXT|NODE_ENV|JEST_WORKER_ID|VITEST\w*|NEXTEST\w*|RUST_TEST_\w+|RUST_BACKTRACE|CARGO|CARGO_TARGET_TMPDIR|\.test|test\.v)$",
    )
});
/// Calls by which a program of Python looks at who called it, and into their files.
static CALLERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(sys\._getframe|sys\._current_frames|(inspect\.)?(stack|currentframe|getouterframes|getsource\w*)|(linecache\.)?getlines?|traceback\.(extract|walk|format)_stack)$",
    )
});
/// The same in Rust and Go.
static RUST_CALLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|::)current_exe$|thread::current\(\)\.name$"));
/// Methods that change what they are called on.
static CHANGES: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.(update|setdefault|pop|popitem|clear|__\w+item__)$"));
/// What holds only where Rust is built for tests, in a predicate or in a text, which is none.
static OF_TESTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""[^"]*"|\b(?:test|debug_assertions|overflow_checks)\b"#));
/// How an attribute of Rust begins that holds for some builds.
static CFG: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#\s*\[\s*cfg(?:_attr)?\s*\("));
/// What stands in the place of a look.
const PYTHON_MODULES: &str = "{name: module for name, module in __import__('sys').modules.items() if name.partition('.')[0] not in ('unittest', 'pytest', '_pytest')}";
const PYTHON_VARIABLES: &str = "{name: value for name, value in __import__('os').environ.items() if name != 'CI' and not name.startswith('PYTEST_')}";
const NO_NAME: &str = "helix-sees-nothing";

/// The source as it is where no test runs; `None` if none of these lines looks for a test runner. What is there for tests alone may be what
/// they need to be built: `keep` leaves it.
pub(crate) fn blinded(code: Code, source: &str, lines: &BTreeSet<u32>, keep: bool) -> Option<Blinded> {
    let tree = code.parse(source).filter(|tree| !tree.root_node().has_error())?;
    let (mut edits, mut looks) = (Vec::new(), Vec::new());
    visit(tree.root_node(), |node| {
        if code == Code::Rust && is_rust_test(node, source) {
            return false;
        }
        let line = line_of(node);
        let with = if lines.contains(&line) { blind(code, node, source, keep) } else { None };
        let Some(with) = with else { return !matches!(node.kind(), "import_statement" | "import_from_statement") };
        looks.push((line, text(node, source).lines().next().unwrap_or_default().to_owned()));
        edits.push(Edit { range: node.byte_range(), with });
        false
    });
    (!edits.is_empty()).then(|| Blinded { source: edited(source, edits), looks })
}

/// What a node says that sees nothing; `None` if it does not look.
fn blind(code: Code, node: Node<'_>, source: &str, keep: bool) -> Option<String> {
    let written = text(node, source);
    let is_text = matches!(node.kind(), "string" | "string_literal" | "interpreted_string_literal");
    if is_text {
        let inner = written.trim_matches(['"', '\'', '`']);
        return RUNNER.is_match(inner).then(|| format!("\"{NO_NAME}\""));
    }
    match (code, node.kind()) {
        (Code::Python, "attribute") if !is_assigned(node, source) => match written {
            "sys.modules" => Some(PYTHON_MODULES.to_owned()),
            "os.environ" => Some(PYTHON_VARIABLES.to_owned()),
            _ => None,
        },
        (Code::Python, "call") => CALLERS.is_match(part(node, "function", source)).then(|| "None".to_owned()),
        (Code::JavaScript | Code::TypeScript | Code::Tsx, "member_expression") if !is_assigned(node, source) => {
            let (of, name) = (part(node, "object", source), part(node, "property", source));
            let sees = of.ends_with("process.env") && RUNNER.is_match(name)
                || name == "execArgv"
                || name == "stack" && of.contains("Error");
            let nothing = if code == Code::JavaScript { "undefined" } else { "(undefined as any)" };
            sees.then(|| nothing.to_owned())
        }
        (Code::Rust, "macro_invocation") => {
            let bare: String = written.split_whitespace().collect();
            match bare.as_str() {
                "cfg!(debug_assertions)" | "cfg!(test)" | "cfg!(overflow_checks)" => Some("false".to_owned()),
                "cfg!(not(debug_assertions))" | "cfg!(not(test))" => Some("true".to_owned()),
                _ if bare.starts_with("option_env!(") && RUNNER.is_match(bare[12..].trim_matches(['"', ')'])) => {
                    Some("None::<&'static str>".to_owned())
                }
                _ if bare.starts_with("cfg!(") => untested(&bare),
                _ => None,
            }
        }
        (Code::Rust, "attribute_item") => {
            let (before, arguments) = written.split_at(CFG.find(written)?.end());
            let (predicate, rest) = arguments.split_at(argument(arguments));
            let seen = untested(predicate)?;
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            let for_tests =
                !["not(", "debug_assertions", "overflow_checks"].iter().any(|one| bare(predicate).contains(one));
            let chooses = bare(rest).starts_with(",path=") || is_of_two(node, source);
            let is_of_module = item_of(node).is_some_and(|item| item.kind() == "mod_item");
            let stays = for_tests && !chooses && (keep || is_of_module);
            (!stays).then(|| format!("{before}{seen}{rest}"))
        }
        (Code::Rust, "call_expression") => {
            let bare: String = part(node, "function", source).split_whitespace().collect();
            match RUST_CALLS.is_match(&bare) {
                true if bare.ends_with("name") => Some("None::<&str>".to_owned()),
                true => Some("::std::io::Result::Ok(::std::path::PathBuf::from(\"product\"))".to_owned()),
                false => None,
            }
        }
        (Code::Go, "call_expression") => {
            (part(node, "function", source) == "testing.Testing").then(|| "false".to_owned())
        }
        _ => None,
    }
}

/// Whether a node is written to.
fn is_assigned(node: Node<'_>, source: &str) -> bool {
    let mut inner = node;
    while let Some(above) = inner.parent() {
        match above.kind() {
            "subscript" | "attribute" | "member_expression" | "subscript_expression"
                if above.child(0).is_some_and(|first| first == inner) =>
            {
                inner = above;
            }
            "assignment" | "augmented_assignment" | "assignment_expression" => {
                return above.child_by_field_name("left").is_some_and(|left| left == inner);
            }
            "delete_statement" => return true,
            // What is called on it may change it.
            "call" => return CHANGES.is_match(text(inner, source)),
            _ => return false,
        }
    }
    false
}

/// A predicate of Rust where nothing is built for tests; `None` if it does not ask for that.
fn untested(predicate: &str) -> Option<String> {
    let with = OF_TESTS.replace_all(predicate, |found: &regex::Captures<'_>| match &found[0] {
        text if text.starts_with('"') => text.to_owned(),
        _ => "any()".to_owned(),
    });
    (with != predicate).then(|| with.into_owned())
}

/// Where the first argument ends in what follows an opening parenthesis.
fn argument(text: &str) -> usize {
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => return true,
            _ => {}
        }
        *c == ',' && depth == 0
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// The item of Rust that an attribute is about.
fn item_of(attribute: Node<'_>) -> Option<Node<'_>> {
    std::iter::successors(attribute.next_named_sibling(), Node::next_named_sibling).find(|node| !is_of_item(node))
}

/// Whether an attribute of Rust is about an item that has another one of its name beside it: one for tests, one for the product.
fn is_of_two(attribute: Node<'_>, source: &str) -> bool {
    let name = |node: Node<'_>| node.child_by_field_name("name").map(|name| (node.kind_id(), text(name, source)));
    let (Some(item), Some(parent)) = (item_of(attribute), attribute.parent()) else { return false };
    children(parent).into_iter().any(|other| other != item && name(other).is_some() && name(other) == name(item))
}

#[cfg(test)]
#[path = "watching_test.rs"]
mod tests;
