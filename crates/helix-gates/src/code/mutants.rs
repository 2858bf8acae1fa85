//! Small mistakes, planted one at a time into changed lines of a source: tests that mean something notice them.
//!
//! Must not run anything, nor know commits. Texts and log calls stay as they are: hardly any test asks for them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::{Code, Edit, edited, is_rust_test, text, visit};

/// Longest line that is shown of a mutant, in characters.
const SHOWN: usize = 160;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mutant {
    /// Where it is planted, from 1.
    pub(crate) line: u32,
    /// The line as it was, without its indentation.
    pub(crate) before: String,
    /// The line with the mistake.
    pub(crate) after: String,
    range: Range<usize>,
    with: String,
}

impl Mutant {
    /// The source with the mistake in it; `None` where it would not be one of the language any more.
    pub(crate) fn planted(&self, code: Code, source: &str) -> Option<String> {
        let text = self.text(source);
        code.parse(&text).is_some_and(|tree| !tree.root_node().has_error()).then_some(text)
    }

    /// The source with the mistake in it, whatever comes of that.
    pub(crate) fn text(&self, source: &str) -> String {
        edited(source, vec![Edit { range: self.range.clone(), with: self.with.clone() }])
    }

    /// What tells it apart from the others of its file.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}:{}", self.range.start, self.range.end, self.with)
    }
}

/// Lines, from 1, that are nowhere in the former version; all where there was none.
pub(crate) fn new_lines(before: Option<&str>, now: &str) -> BTreeSet<u32> {
    let known: BTreeSet<&str> = before.unwrap_or_default().lines().map(str::trim).collect();
    (1..).zip(now.lines()).filter(|(_, line)| !known.contains(line.trim())).map(|(number, _)| number).collect()
}

/// All mistakes that can be made in these lines; `None` where the source cannot be parsed.
pub(crate) fn mutants(code: Code, source: &str, lines: &BTreeSet<u32>) -> Option<Vec<Mutant>> {
    let tree = code.parse(source).filter(|tree| !tree.root_node().has_error())?;
    let starts: Vec<usize> = std::iter::once(0).chain(source.match_indices('\n').map(|(end, _)| end + 1)).collect();
    let mut found = Vec::new();
    visit(tree.root_node(), |node| {
        if is_left_alone(code, node, source) {
            return false;
        }
        let mut plant = |range: Range<usize>, with: String| {
            let before = starts.partition_point(|start| *start <= range.start);
            let line = u32::try_from(before).unwrap_or(u32::MAX);
            if lines.contains(&line) && source.get(range.clone()) != Some(with.as_str()) {
                let start = starts.get(before.wrapping_sub(1)).copied().unwrap_or_default();
                let (before, after) = shown(source, start, &range, &with);
                found.push(Mutant { line, before, after, range, with });
            }
        };
        operator(node, source, &mut plant);
        condition(code, node, source, &mut plant);
        constant(node, source, &mut plant);
        statement(code, node, source, &mut plant);
        answer(code, node, source, &mut plant);
        true
    });
    Some(found)
}

/// The first line of a replacement, before and after; of a line that is too long to show, the part around it. `start` is the line's.
fn shown(source: &str, start: usize, range: &Range<usize>, with: &str) -> (String, String) {
    let start = if range.start - start > SHOWN { source.floor_char_boundary(range.start - SHOWN / 2) } else { start };
    let part = |from: usize| &source[from..source.floor_char_boundary(from.saturating_add(4 * SHOWN))];
    let clip = |text: &str| text.lines().next().unwrap_or_default().trim().chars().take(SHOWN).collect::<String>();
    (clip(part(start)), clip(&format!("{}{with}{}", &source[start..range.start], part(range.end))))
}

/// Types, imports, attributes, tests, and what runs only as a program: no mistake there says anything about tests.
fn is_left_alone(code: Code, node: Node<'_>, source: &str) -> bool {
    let kind = node.kind();
    let typed = matches!(
        kind,
        "type"
            | "type_annotation"
            | "type_arguments"
            | "type_parameters"
            | "array_type"
            | "attribute_item"
            | "use_declaration"
            | "import_statement"
            | "import_from_statement"
            | "import_declaration"
            | "decorator"
            | "macro_definition"
            | "enum_variant"
            | "interface_declaration"
            | "type_alias_declaration"
            | "type_item"
    );
    let program = code == Code::Python
        && kind == "if_statement"
        && node
            .child_by_field_name("condition")
            .is_some_and(|asked| ["__name__ == \"__main__\"", "__name__ == '__main__'"].contains(&text(asked, source)))
        && node.child_by_field_name("alternative").is_none();
    typed || program || code == Code::Rust && is_rust_test(node, source)
}

/// Another operator that a careless author might have written.
fn other(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "<" => "<=",
        "<=" => "<",
        ">" => ">=",
        ">=" => ">",
        "==" => "!=",
        "!=" => "==",
        "===" => "!==",
        "!==" => "===",
        "is" => "is not",
        "is not" => "is",
        "in" => "not in",
        "not in" => "in",
        "and" => "or",
        "or" => "and",
        "&&" => "||",
        "||" | "??" => "&&",
        "+" => "-",
        "-" => "+",
        "*" => "/",
        "/" | "//" | "%" | "**" => "*",
        "+=" => "-=",
        "-=" => "+=",
        "*=" => "/=",
        "/=" | "//=" | "%=" => "*=",
        "<<" => ">>",
        ">>" => "<<",
        _ => return None,
    })
}

fn operator(node: Node<'_>, source: &str, plant: &mut impl FnMut(Range<usize>, String)) {
    let operates = matches!(
        node.kind(),
        "comparison_operator"
            | "boolean_operator"
            | "binary_operator"
            | "binary_expression"
            | "augmented_assignment"
            | "augmented_assignment_expression"
            | "compound_assignment_expr"
            | "assignment_statement"
    );
    if !operates {
        return;
    }
    let mut cursor = node.walk();
    for token in node.children(&mut cursor).filter(|child| !child.is_named()) {
        if let Some(with) = other(text(token, source)) {
            plant(token.byte_range(), with.to_owned());
        }
    }
}

/// The opposite of a condition that has no operator of its own.
fn condition(code: Code, node: Node<'_>, source: &str, plant: &mut impl FnMut(Range<usize>, String)) {
    let asks = matches!(
        node.kind(),
        "if_statement"
            | "elif_clause"
            | "while_statement"
            | "if_expression"
            | "while_expression"
            | "ternary_expression"
    );
    let Some(mut asked) = node.child_by_field_name("condition").filter(|_| asks) else { return };
    while asked.kind() == "parenthesized_expression" {
        let Some(inner) = asked.named_child(0) else { return };
        asked = inner;
    }
    let own = ["comparison_operator", "binary_expression", "boolean_operator", "let_condition", "let_chain"];
    if !own.contains(&asked.kind()) {
        let not = if code == Code::Python { "not " } else { "!" };
        plant(asked.byte_range(), format!("{not}({})", text(asked, source)));
    }
}

fn constant(node: Node<'_>, source: &str, plant: &mut impl FnMut(Range<usize>, String)) {
    let written = text(node, source);
    let with = match (node.kind(), written) {
        ("integer" | "number" | "integer_literal" | "int_literal", digits) => {
            digits.parse::<u64>().ok().and_then(|number| number.checked_add(1)).map(|number| number.to_string())
        }
        ("true" | "false" | "boolean_literal", "true") => Some("false".to_owned()),
        ("true" | "false" | "boolean_literal", "false") => Some("true".to_owned()),
        ("true", "True") => Some("False".to_owned()),
        ("false", "False") => Some("True".to_owned()),
        _ => None,
    };
    if let Some(with) = with {
        plant(node.byte_range(), with);
    }
}

/// A call that is made for what it does, and is left out.
fn statement(code: Code, node: Node<'_>, source: &str, plant: &mut impl FnMut(Range<usize>, String)) {
    let called = node
        .named_child(0)
        .filter(|child| node.kind() == "expression_statement" && matches!(child.kind(), "call" | "call_expression"));
    let Some(function) = called.and_then(|called| called.child_by_field_name("function")) else { return };
    let name = text(function, source).to_ascii_lowercase();
    let tells = ["print", "log", "console", "debug", "trace", "warn", "info"];
    if tells.iter().any(|word| name.contains(word)) || name == "super().__init__" || name == "super" {
        return;
    }
    let with = match code {
        Code::Python => "pass",
        Code::JavaScript | Code::TypeScript | Code::Tsx | Code::Go => "{}",
        Code::Rust => "();",
    };
    plant(node.byte_range(), with.to_owned());
}

/// A function that answers what stands for nothing.
fn answer(code: Code, node: Node<'_>, source: &str, plant: &mut impl FnMut(Range<usize>, String)) {
    match (code, node.kind()) {
        (Code::Python | Code::JavaScript | Code::TypeScript | Code::Tsx, "return_statement") => {
            let nothing = match code {
                Code::Python => "None",
                Code::JavaScript => "undefined",
                _ => "(undefined as any)",
            };
            let answered =
                node.named_child(0).filter(|value| !matches!(text(*value, source), "None" | "undefined" | "null"));
            if let Some(value) = answered {
                plant(value.byte_range(), nothing.to_owned());
            }
        }
        (Code::Rust, "function_item") => {
            let returned = node.child_by_field_name("return_type").map(|returned| text(returned, source));
            let (Some(body), Some(returned)) = (node.child_by_field_name("body"), returned) else { return };
            let plain = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
            let usual = ["f32", "f64", "bool", "String", "&str", "&'static str"];
            let wide = ["Vec<", "Option<", "BTreeMap<", "HashMap<", "HashSet<", "BTreeSet<"];
            let known = plain.contains(&returned)
                || usual.contains(&returned)
                || wide.iter().any(|start| returned.starts_with(start));
            let is_const = source[node.start_byte()..body.start_byte()].contains("const fn");
            if known && !is_const {
                let default = " if \"helix\".len() == 5 { return Default::default(); }";
                plant(body.start_byte()..body.start_byte() + 1, format!("{{{default}"));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "mutants_test.rs"]
mod tests;
