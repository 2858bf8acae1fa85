//! Examples in the documentation of Rust, as the tests that `cargo test` makes of them.
//!
//! Must not know what a test asks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Code, pattern, text, visit};

/// The examples in a source's documentation that `cargo test` runs and that have to succeed, as tests on the same lines; `None` where there are
/// none. Source: The rustdoc book, "Documentation tests". Not read is code without a fence.
pub(super) fn documented(source: &str) -> Option<String> {
    let documentation = documentation(source);
    let (mut tests, mut fence, mut has_examples) = (String::new(), None, false);
    for row in 0..source.lines().count() {
        let none = [None];
        let said: Vec<Option<&str>> =
            documentation.get(&row).into_iter().flatten().map(|said| Some(said.trim())).collect();
        for said in if said.is_empty() { none.as_slice() } else { &said } {
            let mark = said.and_then(|said| ['`', '~'].into_iter().find(|mark| said.starts_with(*mark)));
            let marks = said.zip(mark).map_or(0, |(said, mark)| said.len() - said.trim_start_matches(mark).len());
            match (fence, said) {
                (None, Some(said)) if marks >= 3 => {
                    let runs = has_to_succeed(&said[marks..]);
                    has_examples |= runs;
                    tests.push_str(if runs { "#[test] fn examples() {" } else { "" });
                    fence = Some((runs, mark, marks));
                }
                (Some((runs, by, opened)), said)
                    if said.is_none_or(|said| mark == by && marks >= opened && marks == said.len()) =>
                {
                    tests.push_str(if runs { "}" } else { "" });
                    fence = None;
                }
                // A line that begins with `#` alone runs, and is not shown; `##` stands for a `#` that is.
                (Some((true, ..)), Some(code)) if !code.starts_with("//") => {
                    let rest = code.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with([' ', '#']));
                    tests.push_str(rest.unwrap_or(code));
                    tests.push(' ');
                }
                _ => {}
            }
        }
        tests.push('\n');
    }
    has_examples.then_some(tests)
}

/// What the documentation says on each row; several lines where an attribute says them.
fn documentation(source: &str) -> BTreeMap<usize, Vec<Cow<'_, str>>> {
    let mut rows = BTreeMap::<usize, Vec<Cow<'_, str>>>::new();
    let Some(tree) = Code::Rust.parse(source) else { return rows };
    visit(tree.root_node(), |node| {
        let (row, written) = (node.start_position().row, text(node, source));
        match node.kind() {
            "line_comment" => {
                let said = ["///", "//!"].into_iter().find_map(|mark| written.strip_prefix(mark));
                rows.entry(row).or_default().extend(said.map(Cow::Borrowed));
            }
            "block_comment" if ["/**", "/*!"].iter().any(|mark| written.starts_with(mark)) => {
                for (at, line) in written[3..].trim_end_matches("*/").lines().enumerate() {
                    rows.entry(row + at).or_default().push(line.trim_start().trim_start_matches("* ").into());
                }
            }
            "attribute_item" | "inner_attribute_item" => {
                let Some(said) = ATTRIBUTE.captures(written) else { return true };
                let plain = said.get(1).map(|said| said.as_str().replace("\\n", "\n").replace("\\\"", "\""));
                let said = plain.or_else(|| Some(said.get(2)?.as_str().to_owned())).unwrap_or_default();
                rows.entry(row).or_default().extend(said.lines().map(|line| Cow::Owned(line.to_owned())));
                rows.entry(row).or_default().extend(said.is_empty().then_some(Cow::Borrowed("")));
            }
            _ => {}
        }
        true
    });
    rows.retain(|_, said| !said.is_empty());
    rows
}

/// An attribute that is documentation.
static ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r##"(?s)^#!?\[\s*doc\s*=\s*(?:"((?:\\.|[^"\\])*)"|r#*"(.*?)"#*)\s*\]$"##));
/// One that takes the documentation from a file.
static INCLUDED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\bdoc\s*=\s*include_str!\s*\(\s*"([^"]+)""#));

/// Files that a source says are its documentation, as it names them.
pub(crate) fn included(source: &str) -> Vec<String> {
    INCLUDED.captures_iter(source).map(|found| found[1].to_owned()).collect()
}

/// A document as a source of Rust that says the same of itself, on the same lines.
pub(crate) fn as_documentation(document: &str) -> String {
    document.lines().map(|line| format!("//! {line}\n")).collect()
}

/// Whether an example with these words behind its fence runs and has to succeed.
fn has_to_succeed(kind: &str) -> bool {
    let words = || kind.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let is_known = |word: &str| word == "test_harness" || word.starts_with("edition") || word.starts_with("standalone");
    let is_other =
        |word: &str| ["no_run", "compile_fail", "should_panic"].contains(&word) || word.starts_with("ignore");
    !words().any(is_other) && (words().any(|word| word == "rust") || words().all(is_known))
}
