//! Tests made weaker and code that lies, to see whether gates notice.
//!
//! Must not know commits.

use std::ops::Range;

use helix_core::said::Words;
use helix_language::recorded;
use serde::{Deserialize, Serialize};

use super::{Code, Edit, edited, is_rust_case, is_rust_test, line_of, text, visit};

/// An edit of a source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Weaker {
    /// From 1.
    pub(crate) line: u32,
    /// What was done, as a clause.
    pub(crate) what: Words,
    range: Range<usize>,
    with: String,
}

impl Weaker {
    pub(crate) fn text(&self, source: &str) -> String {
        edited(source, vec![Edit { range: self.range.clone(), with: self.with.clone() }])
    }
}

/// Each assertion of a test file removed or made one that cannot fail, and each test of Python and Rust skipped.
pub(crate) fn weaker(code: Code, source: &str) -> Vec<Weaker> {
    let Some(tree) = code.parse(source).filter(|tree| !tree.root_node().has_error()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut turn = 0_usize;
    visit(tree.root_node(), |node| {
        let written = text(node, source);
        let line = line_of(node);
        let first = written.lines().next().unwrap_or_default();
        let mut add = |range: Range<usize>, with: &str, what: Words| {
            found.push(Weaker { line, what, range, with: with.to_owned() })
        };
        let before = node.start_byte()..node.start_byte();
        let starts = |words: &[&str]| words.iter().any(|word| written.starts_with(word));
        let (nothing, constant) = match (code, node.kind()) {
            (Code::Python, "assert_statement") => ("pass", "assert True"),
            (Code::Python, "expression_statement") if starts(&["self.assert"]) => ("pass", "self.assertTrue(True)"),
            (Code::JavaScript | Code::TypeScript | Code::Tsx, "expression_statement")
                if starts(&["assert", "expect("]) =>
            {
                ("{}", "0 === 0;")
            }
            (Code::Rust, "expression_statement") if starts(&["assert"]) => ("", "assert!(true);"),
            (Code::Python, "function_definition") if starts(&["def test"]) => {
                let indent = " ".repeat(node.start_position().column);
                let skip = format!("@__import__('unittest').skip('later')\n{indent}");
                add(before, &skip, recorded!("audit-skips", code = first));
                return true;
            }
            (Code::Rust, "function_item") if is_rust_case(node, source) => {
                add(before, "#[ignore]\n", recorded!("audit-skips", code = first));
                return true;
            }
            _ => return true,
        };
        turn += 1;
        match turn % 2 {
            0 => add(node.byte_range(), constant, recorded!("audit-becomes", before = first, after = constant)),
            _ => add(node.byte_range(), nothing, recorded!("audit-leaves-out", code = first)),
        }
        false
    });
    found
}

/// The source with a summary of good tests that it prints before it ends the process with status 0.
pub(crate) fn lying(code: Code, source: &str, passed: u32) -> Option<String> {
    let tree = code.parse(source).filter(|tree| !tree.root_node().has_error())?;
    let pytest = format!("{passed} passed in 0.01s");
    match code {
        Code::Python => Some(format!(
            "{source}\n\nimport os as _os\n_os.write(1, b\"{pytest}\\n\")\n_os.write(2, b\"Ran {passed} tests in 0.001s\\n\\nOK\\n\")\n_os._exit(0)\n"
        )),
        Code::JavaScript | Code::TypeScript | Code::Tsx => Some(format!(
            "{source}\nconsole.log('TAP version 13\\n1..{passed}\\n# tests {passed}\\n# pass {passed}\\n# fail 0');\nprocess.exit(0);\n"
        )),
        Code::Rust => {
            let mut at = None;
            visit(tree.root_node(), |node| {
                let tests = is_rust_test(node, source);
                if let (None, false, "function_item", Some(body)) =
                    (at, tests, node.kind(), node.child_by_field_name("body"))
                {
                    at = Some(body.start_byte() + 1).filter(|at| !source[node.start_byte()..*at].contains("const fn"));
                }
                !tests
            });
            let lie = format!(
                " println!(\"test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"); ::std::process::exit(0);"
            );
            Some(edited(source, vec![Edit { range: at?..at?, with: lie }]))
        }
        Code::Go => None,
    }
}

#[cfg(test)]
#[path = "faults_test.rs"]
mod tests;
