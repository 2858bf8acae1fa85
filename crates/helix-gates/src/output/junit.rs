//! JUnit XML reports, for commands that name a file for one.
//!
//! Must not believe the totals that a report claims: its test cases are counted.

use roxmltree::{Document, Node};

use crate::test_run::{FailedTest, TestRun};

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

/// Reads a report; `None` when it is no whole XML or holds no test suite.
pub(super) fn read(xml: &str) -> Option<TestRun> {
    let document = Document::parse(xml.trim_start_matches('\u{feff}')).ok()?;
    let named = |node: &Node<'_, '_>, names: &[&str]| names.contains(&node.tag_name().name());
    if !document.descendants().any(|node| named(&node, &["testsuite", "testsuites"])) {
        return None;
    }
    let mut run = TestRun::default();
    for case in document.descendants().filter(|node| named(node, &["testcase"])) {
        let inside = |names| case.children().find(|node| named(node, names));
        let title = case.attribute("name").unwrap_or_default();
        let class = case.attribute("classname").filter(|class| !class.is_empty());
        let name = class.map_or(title.to_owned(), |class| format!("{class}.{title}"));
        match (inside(&["failure", "error"]), inside(&["skipped"])) {
            // A test that is to do fails, and is none of those that count.
            (_, Some(_)) => run.counts.skipped = run.counts.skipped.saturating_add(1),
            (Some(failure), None) => {
                run.counts.failed = run.counts.failed.saturating_add(1);
                let line = case.attribute("line").and_then(|line| line.parse().ok());
                let text = format!("{}\n{}", failure.attribute("message").unwrap_or_default(), text_of(failure));
                let place = case.attribute("file").map(str::to_owned).zip(line);
                run.failures.push(FailedTest::new(name, place, &[text.trim()]));
            }
            (None, None) => {
                run.counts.passed = run.counts.passed.saturating_add(1);
                run.passed.insert(name);
            }
        }
    }
    Some(run)
}

fn text_of(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|part| part.text()).collect()
}
