//! The tutorial as its readers type it, on the real agent CLI: each block of commands runs in one shell, and the block of text behind it
//! stands in what they said, line by line.

use std::path::Path;

use crate::generated::corner::{Corner, UNITTEST, Work, said};

const TUTORIAL: &str = include_str!("../../../docs/tutorial.md");

/// Stands between the outputs of two blocks.
const MARK: &str = "=== end of a block";

/// Commands, and lines that stand in what they say.
struct Block {
    commands: String,
    said: Vec<String>,
}

fn blocks(section: &str) -> Vec<Block> {
    let (_, text) = TUTORIAL.split_once(&format!("## {section}: ")).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    for fenced in text.split("\n```").skip(1).step_by(2) {
        let (kind, inner) = fenced.split_once('\n').unwrap();
        match (kind, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block { commands: inner.to_owned(), said: Vec::new() }),
            ("text", Some(last)) => last.said.extend(inner.lines().map(str::to_owned)),
            other => panic!("a block of this kind: {:?}", other.0),
        }
    }
    blocks
}

/// Types a section.
fn type_in(section: &str, work: &Work, gates: &[String]) {
    let corner = Corner::new(&[("README", "")]);
    let model = corner.model(work, gates);
    let blocks = blocks(section);
    let helix = Path::new(env!("CARGO_BIN_EXE_helix")).parent().unwrap();
    let mut script = format!("set -e\nexec 2>&1\nPATH={}:$PATH\n", helix.display());
    for block in &blocks {
        script.push_str(&format!("{}\necho '{MARK}'\n", block.commands));
    }
    let output = corner.command("bash").args(["-c", &script]).output().unwrap();
    let all = said(&output);
    assert!(output.status.success(), "{section}: {all}");
    model.assert_no_failures();
    let outputs: Vec<&str> = all.split(MARK).collect();
    assert_eq!(outputs.len(), blocks.len() + 1, "{all}");
    assert!(blocks.iter().any(|block| !block.said.is_empty()), "{section} shows nothing");
    for (block, output) in blocks.iter().zip(outputs) {
        for line in &block.said {
            assert!(output.contains(line.as_str()), "{section} promises {line:?} of:\n{}\n{output}", block.commands);
        }
    }
}

#[test]
fn a_sentence_in_python() {
    type_in(
        "Python",
        &UNITTEST,
        &[r#"      - { type: tests_pass, command: "python3 -m unittest discover -s tests" }"#.to_owned()],
    );
}

#[test]
fn a_plan_by_hand_in_javascript() {
    let work = Work {
        path: "total.js",
        wrong: "exports.total = (prices) => prices.length;\n",
        right: "exports.total = (prices) => prices.reduce((all, one) => all + one, 0);\n",
        test: (
            "total.test.js",
            "const { total } = require('./total.js');\nrequire('node:test').test('total', () => require('node:assert').equal(total([2, 4]), 6));\n",
        ),
        ..Work::default()
    };
    type_in("JavaScript", &work, &[]);
}

#[test]
fn a_failing_test_in_rust() {
    const TESTS: &str = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds_all_prices() {\n        assert_eq!(super::total(&[2, 4]), 6);\n    }\n}\n";
    let code = |sum: &str| format!("pub fn total(prices: &[u32]) -> u32 {{\n    {sum}\n}}\n{TESTS}").leak();
    let work = Work {
        path: "src/lib.rs",
        wrong: code("prices.iter().sum::<u32>() + 1"),
        right: code("prices.iter().sum()"),
        ..Work::default()
    };
    type_in("Rust", &work, &[]);
}
