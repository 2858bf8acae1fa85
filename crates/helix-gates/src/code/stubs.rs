//! The same source whose functions answer nonsense: tests that mean something notice.
//!
//! What stands outside of functions stays, as do types and names, so that what is compiled still compiles: the nonsense is
//! returned before the former body, which stays behind it. Must not know which files are replaced.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::{Code, Edit, attributes, edited, holds, is_rust_test, part, text, visit};

/// What a function of Python answers: it equals nothing, and asking whether it is true fails.
const PYTHON: &str = "return type(\"HelixNonsense\", (), {\"__bool__\": lambda self: 1 // 0})()";
/// As an expression, for a lambda.
const PYTHON_VALUE: &str = "type(\"HelixNonsense\", (), {\"__bool__\": lambda self: 1 // 0})()";

const PYTHON_FUNCTIONS: [&str; 2] = ["function_definition", "lambda"];

/// A source whose functions answer nonsense.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stubbed {
    pub(crate) source: String,
    /// The text of each of these functions as it was.
    pub(crate) functions: BTreeSet<String>,
}

/// The source with nonsense in all of its functions; `None` when it cannot be parsed.
pub(crate) fn stubbed(code: Code, source: &str) -> Option<Stubbed> {
    // Where the grammar stumbles, nonsense might land in the wrong place and prove nothing.
    let tree = code.parse(source).filter(|tree| !tree.root_node().has_error())?;
    // What runs when the file is loaded may be what makes the tests blind: it goes on doing so.
    let loading = run_on_load(code, tree.root_node(), source);
    let (mut edits, mut functions) = (Vec::new(), BTreeSet::new());
    visit(tree.root_node(), |node| {
        let found = match code {
            Code::Python => python(node, source),
            Code::JavaScript | Code::TypeScript | Code::Tsx => script(code, node, source),
            Code::Rust => rust(node, source),
            Code::Go => go(node, source),
        };
        match found {
            Found::Nothing => true,
            Found::Leave => false,
            Found::Function(edit) => {
                let name = node.child_by_field_name("name").map(|name| text(name, source));
                if name.is_none_or(|name| !loading.contains(name)) {
                    edits.push(edit);
                    functions.insert(text(node, source).to_owned());
                }
                false
            }
        }
    });
    Some(Stubbed { source: edited(source, edits), functions })
}

/// Names of the functions that statements outside of functions call for nothing but what they do, and of those that these call.
fn run_on_load<'s>(code: Code, root: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    if matches!(code, Code::Rust | Code::Go) {
        return found;
    }
    let calls = |of: Node<'_>| {
        let mut names = Vec::new();
        visit(of, |node| {
            let called =
                node.child_by_field_name("function").filter(|_| matches!(node.kind(), "call" | "call_expression"));
            names.extend(called.filter(|called| called.kind() == "identifier").map(|called| text(called, source)));
            true
        });
        names
    };
    let statements = super::children(root).into_iter().filter(|node| node.kind() == "expression_statement");
    let bare = statements
        .filter(|node| node.named_child(0).is_some_and(|child| matches!(child.kind(), "call" | "call_expression")));
    let mut open: Vec<&str> = bare.flat_map(calls).collect();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            visit(root, |node| {
                if node.child_by_field_name("name").is_some_and(|own| text(own, source) == name)
                    && let Some(body) = node.child_by_field_name("body")
                {
                    open.extend(calls(body));
                }
                true
            });
        }
    }
    found
}

enum Found {
    /// No function; there may be some below.
    Nothing,
    /// It stays as it is, with everything in it.
    Leave,
    Function(Edit),
}

fn insert(at: usize, with: impl Into<String>) -> Found {
    Found::Function(Edit { range: at..at, with: with.into() })
}

fn python(node: Node<'_>, source: &str) -> Found {
    let Some(body) = PYTHON_FUNCTIONS.contains(&node.kind()).then(|| node.child_by_field_name("body")).flatten() else {
        return Found::Nothing;
    };
    if node.kind() == "lambda" {
        return Found::Function(Edit { range: body.byte_range(), with: PYTHON_VALUE.into() });
    }
    let name = part(node, "name", source);
    // An asynchronous generator may not return a value, and a constructor must not.
    let generates = text(node, source).starts_with("async") && holds(body, &["yield"], &PYTHON_FUNCTIONS);
    let answer = if generates || name == "__init__" { "return" } else { PYTHON };
    let statements = super::children(body);
    let statements: Vec<Node<'_>> = statements.into_iter().filter(|node| node.kind() != "comment").collect();
    let Some(first) = statements.first() else { return Found::Leave };
    // A text that describes the function stays the first: its examples are tests.
    let described =
        first.kind() == "expression_statement" && first.named_child(0).is_some_and(|text| text.kind() == "string");
    let at = match (described, statements.get(1)) {
        (false, _) => first.start_byte(),
        (true, Some(second)) => second.start_byte(),
        (true, None) => return insert(first.end_byte(), format!("; {answer}")),
    };
    let line = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = &source[line..at];
    let separator = if indent.chars().all(char::is_whitespace) { format!("\n{indent}") } else { "; ".to_owned() };
    insert(at, format!("{answer}{separator}"))
}

fn script(code: Code, node: Node<'_>, source: &str) -> Found {
    const FUNCTIONS: [&str; 6] = [
        "function_declaration",
        "function_expression",
        "generator_function_declaration",
        "generator_function",
        "arrow_function",
        "method_definition",
    ];
    let Some(body) = FUNCTIONS.contains(&node.kind()).then(|| node.child_by_field_name("body")).flatten() else {
        return Found::Nothing;
    };
    if part(node, "name", source) == "constructor" || part(node, "return_type", source).contains("never") {
        return Found::Leave;
    }
    // It is not even equal to itself, neither true nor anything that one could call or ask for parts.
    let nonsense = if code == Code::JavaScript { "NaN" } else { "(NaN as any)" };
    match body.kind() {
        "statement_block" => insert(body.start_byte() + 1, format!(" if (1) return {nonsense}; ")),
        _ => Found::Function(Edit { range: body.byte_range(), with: nonsense.into() }),
    }
}

fn rust(node: Node<'_>, source: &str) -> Found {
    if is_rust_test(node, source) || node.kind() == "macro_definition" {
        return Found::Leave;
    }
    if node.kind() != "function_item" {
        return Found::Nothing;
    }
    let Some(body) = node.child_by_field_name("body") else { return Found::Leave };
    let head = source.get(node.start_byte()..body.start_byte()).unwrap_or_default();
    let before_name = head.split("fn ").next().unwrap_or_default();
    let procedural = attributes(node, source).iter().any(|attribute| attribute.contains("proc_macro"));
    if before_name.split_whitespace().any(|word| word == "const") || procedural {
        return Found::Leave;
    }
    let returned = node.child_by_field_name("return_type").map(|node| text(node, source)).unwrap_or("()");
    let answer = match returned {
        "()" => "return",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            "return 97"
        }
        "f32" | "f64" => "return 97.25",
        // Not every crate has `std`, and not in every edition does a path begin at `core`.
        "String" => "return \"helix\".into()",
        "&str" | "&'static str" => "return \"helix\"",
        _ => "panic!(\"this function answers nonsense\")",
    };
    let inner = super::children(body).into_iter().take_while(|node| node.kind() == "inner_attribute_item").last();
    let at = inner.map_or(body.start_byte() + 1, |inner| inner.end_byte());
    insert(at, format!(" if \"helix\".len() == 5 {{ {answer}; }} "))
}

fn go(node: Node<'_>, source: &str) -> Found {
    if !matches!(node.kind(), "function_declaration" | "method_declaration" | "func_literal") {
        return Found::Nothing;
    }
    let Some(body) = node.child_by_field_name("body") else { return Found::Leave };
    let name = part(node, "name", source);
    if name == "init" {
        return Found::Leave;
    }
    let answer = match node.child_by_field_name("result").map(|node| text(node, source)) {
        None => "return",
        Some(
            "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "byte",
        ) => "return 97",
        Some("string") => "return \"helix\"",
        Some(_) => "panic(\"this function answers nonsense\")",
    };
    insert(body.start_byte() + 1, format!(" if len(\"helix\") == 5 {{ {answer} }}; "))
}

#[cfg(test)]
#[path = "stubs_test.rs"]
mod tests;
