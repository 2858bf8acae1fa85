//! JUnit XML reports, for commands that name a file for one.
//!
//! Must not be a general XML reader: tags and attributes of test cases are all it looks at.

use super::output::{FailedTest, TestRun};

/// The report that a command line names, relative to its directory.
pub(crate) fn report_path(argv: &[String]) -> Option<&str> {
    let flags =
        ["--junitxml", "--junit-xml", "--junit", "--test-reporter-destination", "--outputFile", "--output-file"];
    argv.iter().enumerate().find_map(|(index, word)| {
        let (flag, value) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        let value = value.or_else(|| argv.get(index + 1).map(String::as_str))?;
        (flags.contains(&flag) && value.ends_with(".xml")).then_some(value)
    })
}

/// Reads a report; `None` when it holds no test suite.
pub(super) fn read(xml: &str) -> Option<TestRun> {
    let mut run = TestRun::default();
    let (mut suites, mut case): (bool, Option<Case>) = (false, None);
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let quoted = [("!--", "-->"), ("![CDATA[", "]]>")].into_iter().find(|(open, _)| rest.starts_with(open));
        if let Some((_, close)) = quoted {
            rest = rest.find(close).map_or("", |end| &rest[end + close.len()..]);
            continue;
        }
        let Some(end) = tag_end(rest) else { break };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name =
            tag.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        match (tag.starts_with('/'), name) {
            (false, "testsuite" | "testsuites") => suites = true,
            (false, "testcase") => {
                let class = attribute(tag, "classname").unwrap_or_default();
                let title = attribute(tag, "name").unwrap_or_default();
                let name = if class.is_empty() { title } else { format!("{class}.{title}") };
                let line = attribute(tag, "line").and_then(|line| line.parse().ok());
                case = Some(Case { name, place: attribute(tag, "file").zip(line), end: CaseEnd::Passed });
                if tag.ends_with('/') {
                    finish(&mut case, &mut run);
                }
            }
            (true, "testcase") => finish(&mut case, &mut run),
            (false, "failure" | "error") => {
                if let Some(case) = &mut case {
                    let text = rest.split("</").next().unwrap_or_default();
                    let text = if tag.ends_with('/') { "" } else { text };
                    let message = attribute(tag, "message").unwrap_or_default();
                    case.end = CaseEnd::Failed(format!("{message}\n{}", unescape(text)));
                }
            }
            (false, "skipped") => {
                if let Some(case) = &mut case {
                    case.end = CaseEnd::Skipped;
                }
            }
            _ => {}
        }
    }
    suites.then_some(run)
}

struct Case {
    name: String,
    place: Option<(String, u32)>,
    end: CaseEnd,
}

enum CaseEnd {
    Passed,
    Skipped,
    Failed(String),
}

fn finish(case: &mut Option<Case>, run: &mut TestRun) {
    let Some(case) = case.take() else { return };
    match case.end {
        CaseEnd::Passed => run.counts.passed = run.counts.passed.saturating_add(1),
        CaseEnd::Skipped => run.counts.skipped = run.counts.skipped.saturating_add(1),
        CaseEnd::Failed(text) => {
            run.counts.failed = run.counts.failed.saturating_add(1);
            run.failures.push(FailedTest::new(case.name, case.place, &[text.trim()]));
        }
    }
}

/// Index of the `>` that ends a tag, past quoted values.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(index, c)| match (quote, c) {
        (None, '>') => Some(index),
        (None, '"' | '\'') => {
            quote = Some(c);
            None
        }
        (Some(open), _) if open == c => {
            quote = None;
            None
        }
        _ => None,
    })
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back();
        let after = &rest[at + name.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start)
            && let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\''))
        {
            return value[1..].split(quote).next().map(unescape);
        }
        rest = after;
    }
    None
}

fn unescape(text: &str) -> String {
    text.replace("<![CDATA[", "")
        .replace("]]>", "")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#10;", "\n")
        .replace("&amp;", "&")
}
