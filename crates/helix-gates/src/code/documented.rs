//! Examples in the documentation of Rust, as the tests that `cargo test` makes of them.
//!
//! Must not know what a test asks.

use std::collections::BTreeMap;

use super::{Code, text, visit};

/// The examples in a source's documentation that `cargo test` runs and that have to succeed, as tests on the same lines; `None` where there are
/// none. Source: The rustdoc book, "Documentation tests". Not read are `#[doc = "…"]` and code without a fence.
pub(super) fn documented(source: &str) -> Option<String> {
    let documentation = documentation(source);
    let (mut tests, mut fence, mut has_examples) = (String::new(), None, false);
    for row in 0..source.lines().count() {
        let said = documentation.get(&row).map(|said| said.trim());
        let marks = said.map_or(0, |said| said.len() - said.trim_start_matches('`').len());
        match (fence, said) {
            (None, Some(said)) if marks >= 3 => {
                let runs = has_to_succeed(&said[marks..]);
                has_examples |= runs;
                tests.push_str(if runs { "#[test] fn examples() {" } else { "" });
                fence = Some((runs, marks));
            }
            (Some((runs, opened)), said) if said.is_none_or(|said| marks >= opened && marks == said.len()) => {
                tests.push_str(if runs { "}" } else { "" });
                fence = None;
            }
            // A line that begins with `#` alone runs, and is not shown.
            (Some((true, _)), Some(code)) => tests.push_str(code.strip_prefix("# ").unwrap_or(code).trim_matches('#')),
            _ => {}
        }
        tests.push('\n');
    }
    has_examples.then_some(tests)
}

/// What the documentation says on each row.
fn documentation(source: &str) -> BTreeMap<usize, &str> {
    let mut rows = BTreeMap::new();
    let Some(tree) = Code::Rust.parse(source) else { return rows };
    visit(tree.root_node(), |node| {
        let (row, written) = (node.start_position().row, text(node, source));
        match node.kind() {
            "line_comment" => {
                let said = ["///", "//!"].into_iter().find_map(|mark| written.strip_prefix(mark));
                rows.extend(said.map(|said| (row, said)));
            }
            "block_comment" if ["/**", "/*!"].iter().any(|mark| written.starts_with(mark)) => {
                let lines = written[3..].trim_end_matches("*/").lines();
                rows.extend(lines.enumerate().map(|(at, line)| (row + at, line.trim_start().trim_start_matches("* "))));
            }
            _ => {}
        }
        true
    });
    rows
}

/// Whether an example with these words behind its fence runs and has to succeed.
fn has_to_succeed(kind: &str) -> bool {
    let words = || kind.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let is_known = |word: &str| word == "test_harness" || word.starts_with("edition") || word.starts_with("standalone");
    let is_other =
        |word: &str| ["no_run", "compile_fail", "should_panic"].contains(&word) || word.starts_with("ignore");
    !words().any(is_other) && (words().any(|word| word == "rust") || words().all(is_known))
}
