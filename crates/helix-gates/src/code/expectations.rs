//! What tests ask and which constant they expect, and where a later version expects something else or asks no more.
//!
//! Must not know which changes are allowed. Only answers that stand in the test as a constant count: what is computed may differ.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use helix_core::said::Words;
use helix_language::recorded;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::documented::documented;
use super::{Code, children, inside, is_rust_case, line_of, part, pattern, text, titled, visit};

/// An assertion that something equals a constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The test, with what it lies in.
    pub(crate) test: String,
    line: u32,
    /// What is computed, without white space.
    pub(crate) question: String,
    pub(crate) expected: String,
}

/// A version of a test file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TestFile {
    pub(crate) path: String,
    pub(crate) code: Code,
    pub(crate) source: String,
}

/// A test of a former version that now expects something else, or is gone with what it asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OtherAnswer {
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    /// What happened, with the test's name.
    pub(crate) said: Words,
}

/// What the examples of a text are called, as if they were a test.
const EXAMPLES: &str = "examples";
/// Begins an example, and a line that goes on with one.
const PROMPTS: [&str; 2] = [">>> ", "... "];
/// Begins a question that is a row of a table.
const ROW: &str = "case:";
/// Most of a constant that is shown, in characters.
const SHOWN: usize = 80;

/// Compares what the former versions of test files asked with what the later ones ask; a test may have moved from one to another.
pub(crate) fn other_answers(before: &[TestFile], now: &[TestFile]) -> Vec<OtherAnswer> {
    let all = |files: &[TestFile]| -> Vec<(String, Asked)> {
        files
            .iter()
            .flat_map(|file| asked(file.code, &file.source).into_iter().map(|one| (file.path.clone(), one)))
            .collect()
    };
    let (old, new) = (all(before), all(now));
    let names: BTreeSet<String> = now.iter().flat_map(|file| names_of_tests(file.code, &file.source)).collect();
    let (mut in_test, mut anywhere): (Answers<'_>, Answers<'_>) = Default::default();
    for (_, one) in &new {
        in_test.entry((&one.test, &one.question)).or_default().push(one);
        anywhere.entry(("", &one.question)).or_default().push(one);
    }
    let mut former: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (_, one) in &old {
        former.entry((&one.test, &one.question)).or_default().insert(&one.expected);
    }
    let tables = |files: &[TestFile]| files.iter().flat_map(tables).collect::<Vec<_>>();
    let tables = LazyCell::new(|| (tables(before), tables(now)));
    let has_more_columns = |one: &Asked| {
        let of_test = |table: &&Table| table.test == one.test;
        let was = tables.0.iter().filter(of_test).flat_map(|table| &table.rows).find(|row| row.is(one));
        was.is_some_and(|was| tables.1.iter().filter(of_test).any(|table| table.has(was)))
    };
    let (mut found, mut gone) = (Vec::new(), BTreeMap::<(&str, &str), bool>::new());
    for (path, one) in &old {
        let stays = names.contains(&one.test);
        let answers = match stays {
            true => in_test.get(&(one.test.as_str(), one.question.as_str())),
            // Of a name alone, such as `actual`, nobody knows in another test what it stands for.
            false if constants(&one.question).is_empty() => continue,
            false => anywhere.get(&("", one.question.as_str())),
        };
        let same = answers.is_some_and(|answers| answers.iter().any(|now| now.expected == one.expected));
        let known = former.get(&(one.test.as_str(), one.question.as_str()));
        let other =
            answers.into_iter().flatten().find(|now| known.is_none_or(|known| !known.contains(now.expected.as_str())));
        if stays && answers.is_none() && one.question.starts_with(ROW) && !has_more_columns(one) {
            let (question, then) = (&one.question[ROW.len()..], shown(&one.expected));
            let said = recorded!("gate-expects-row", test = &one.test, question = question, before = then);
            found.push(OtherAnswer { path: path.clone(), line: None, said });
        }
        if !stays {
            *gone.entry((path, &one.test)).or_default() |= answers.is_some();
        }
        if let (false, Some(now)) = (same, other) {
            let (is, then) = (shown(&now.expected), shown(&one.expected));
            let said = recorded!("gate-expects-other", test = &now.test, now = is, before = then);
            found.push(OtherAnswer { path: path.clone(), line: Some(now.line), said });
        }
    }
    for ((path, test), _) in gone.into_iter().filter(|(_, asked)| !asked) {
        let (path, said) = (path.to_owned(), recorded!("gate-expects-gone", test = test));
        found.push(OtherAnswer { path, line: None, said });
    }
    found
}

/// Assertions by the test and the question.
type Answers<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Asked>>;

fn shown(constant: &str) -> String {
    format!("`{}`", constant.chars().take(SHOWN).collect::<String>())
}

/// What the tests of a file ask.
pub(crate) fn asked(code: Code, source: &str) -> Vec<Asked> {
    let mut found = asked_by_tests(code, source);
    match code {
        Code::Python => found.extend(examples(source)),
        Code::Rust => found.extend(documented(source).iter().flat_map(|examples| asked_by_tests(code, examples))),
        _ => {}
    }
    found
}

fn asked_by_tests(code: Code, source: &str) -> Vec<Asked> {
    let mut found = Vec::new();
    read(code, source, |test, unit, node| {
        for (question, expected) in compared(code, node, source) {
            let question = said_before(unit, node, &question, source).unwrap_or(question);
            let (question, expected) = (bare(&laid_out(code, &question)), exact(&bare(&laid_out(code, &expected))));
            found.push(Asked { test: test.to_owned(), line: line_of(node), question, expected });
        }
    });
    found
}

/// Whether a text has examples that doctest would run.
pub(crate) fn has_examples(source: &str) -> bool {
    source.lines().any(|line| line.trim_start().starts_with(PROMPTS[0]))
}

/// What the examples of a text ask, and what stands below each.
fn examples(source: &str) -> Vec<Asked> {
    let mut lines = (1..).zip(source.lines().map(str::trim)).peekable();
    let mut found = Vec::new();
    while let Some((line, said)) = lines.next() {
        let Some(question) = said.strip_prefix(PROMPTS[0]) else { continue };
        let mut question = question.to_owned();
        while let Some((_, more)) = lines.next_if(|(_, next)| next.starts_with(PROMPTS[1])) {
            question.push_str(&more[PROMPTS[1].len()..]);
        }
        let ends =
            |next: &str| next.is_empty() || [">>>", "\"\"\"", "'''", "```"].iter().any(|end| next.starts_with(end));
        let mut expected = String::new();
        while let Some((_, more)) = lines.next_if(|(_, next)| !ends(next)) {
            expected.push_str(more);
        }
        if !expected.is_empty() {
            // What is printed is compared as it stands.
            let (question, expected) = (bare(&laid_out(Code::Python, &question)), bare(&expected));
            found.push(Asked { test: EXAMPLES.to_owned(), line, question, expected });
        }
    }
    found
}

/// The names of a file's tests.
fn names_of_tests(code: Code, source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    read(code, source, |test, _, _| {
        found.insert(test.to_owned());
    });
    let has_examples = match code {
        Code::Python => has_examples(source),
        Code::Rust => documented(source).is_some(),
        _ => false,
    };
    if has_examples {
        found.insert(EXAMPLES.to_owned());
    }
    found
}

/// Calls back with each node in a test, the test's name and its own node.
pub(super) fn read(code: Code, source: &str, mut each: impl FnMut(&str, Node<'_>, Node<'_>)) {
    let Some(tree) = code.parse(source) else { return };
    let mut open = vec![(tree.root_node(), String::new())];
    while let Some((node, path)) = open.pop() {
        let inside = |name: &str| inside(&path, name);
        let own = part(node, "name", source);
        let test = match (code, node.kind()) {
            (Code::Python, "function_definition") if own.starts_with("test") => Some(inside(own)),
            (Code::Go, "function_declaration") if own.starts_with("Test") => Some(inside(own)),
            (Code::Rust, "function_item") if is_rust_case(node, source) => Some(inside(own)),
            (Code::JavaScript | Code::TypeScript | Code::Tsx, "call_expression") => {
                let called = part(node, "function", source);
                let named = matches!(called.split('.').next(), Some("test" | "it" | "specify"));
                let first = node.child_by_field_name("arguments").and_then(|all| all.named_child(0)).filter(|_| named);
                first.map(|first| inside(&titled(text(first, source))))
            }
            _ => None,
        };
        if let Some(test) = test {
            // The marks of a test of pytest stand around it.
            let unit = node.parent().filter(|parent| parent.kind() == "decorated_definition").unwrap_or(node);
            visit(unit, |below| {
                each(&test, unit, below);
                true
            });
            continue;
        }
        let below = match node.kind() {
            "class_definition" | "mod_item" => inside(own),
            _ => path,
        };
        open.extend(children(node).into_iter().rev().map(|child| (child, below.clone())));
    }
}

/// What a node compares with a constant, and the constant; several where it is a table of parameters.
pub(super) fn compared(code: Code, node: Node<'_>, source: &str) -> Vec<(String, String)> {
    let of = |node: Node<'_>| text(node, source).to_owned();
    let called = part(node, "function", source);
    let arguments = |node: Node<'_>| {
        let all = node.child_by_field_name("arguments").map(children).unwrap_or_default();
        all.into_iter().filter(|one| one.kind() != "keyword_argument").map(of).collect::<Vec<_>>()
    };
    let sides = match (code, node.kind()) {
        (Code::Python, "comparison_operator") if asserted(node) => {
            let operands = children(node);
            let operator = node.child(1).map(|operator| text(operator, source)).unwrap_or_default();
            if operands.len() != 2 || !matches!(operator, "==" | "is") {
                return Vec::new();
            }
            operands.into_iter().map(of).collect()
        }
        (Code::Python, "call") => {
            if is_table(node, source) {
                return rows(node, source).into_iter().map(|row| (row.question, row.expected)).collect();
            }
            if !PYTHON_EQUAL.is_match(called) {
                return Vec::new();
            }
            arguments(node)
        }
        (Code::JavaScript | Code::TypeScript | Code::Tsx, "call_expression") => {
            if SCRIPT_EQUAL.is_match(called) {
                arguments(node)
            } else if let Some((question, matcher)) = called.rsplit_once('.')
                && matches!(matcher, "toBe" | "toEqual" | "toStrictEqual" | "toBeCloseTo" | "toHaveLength")
                && question.starts_with("expect(")
            {
                [vec![question.to_owned()], arguments(node)].concat()
            } else {
                return Vec::new();
            }
        }
        (Code::Rust, "macro_invocation") => {
            let name = part(node, "macro", source);
            if !matches!(name.rsplit("::").next(), Some("assert_eq")) {
                return Vec::new();
            }
            let tokens =
                children(node).into_iter().find(|node| node.kind() == "token_tree").map(of).unwrap_or_default();
            parts(tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default())
        }
        (Code::Go, "if_statement") => {
            let asked = node.child_by_field_name("condition").filter(|asked| asked.kind() == "binary_expression");
            let Some(asked) = asked else { return Vec::new() };
            if asked.child_by_field_name("operator").is_none_or(|operator| text(operator, source) != "!=") {
                return Vec::new();
            }
            let mut sides: Vec<String> = children(asked).into_iter().map(of).collect();
            if let (Some(first), Some(said)) = (sides.first_mut(), node.child_by_field_name("initializer")) {
                *first = of(said);
            }
            sides
        }
        (Code::Go, "call_expression") => {
            if !matches!(called, "assert.Equal" | "require.Equal") {
                return Vec::new();
            }
            arguments(node).into_iter().skip(1).collect()
        }
        _ => return Vec::new(),
    };
    let [one, other] = sides.get(..2).and_then(|two| <&[String; 2]>::try_from(two).ok()).cloned().unwrap_or_default();
    match (is_constant(&one), is_constant(&other)) {
        (false, true) => vec![(one, other)],
        (true, false) => vec![(other, one)],
        _ => Vec::new(),
    }
}

/// What an assertion says to be true or false, and whether it compares with that. Only what takes nothing else for true or false counts.
pub(super) fn truth(code: Code, called: &str, about: &str) -> Option<(String, bool)> {
    let mut sides = parts(about.trim().strip_prefix('(')?.strip_suffix(')')?);
    sides.retain(|side| code != Code::Go || side != "t");
    match (code, called.rsplit(['.', ':']).next().unwrap_or(called)) {
        (Code::Rust, "assert_eq")
        | (Code::Go, "Equal")
        | (Code::JavaScript | Code::TypeScript | Code::Tsx, "is" | "strictEqual") => {
            let at = sides.iter().take(2).position(|side| side == "true" || side == "false")?;
            let truth = sides.remove(at);
            Some((format!("{truth} {}", bare(sides.first()?)), true))
        }
        (Code::Rust, "assert") => {
            let side = sides.first()?;
            // Before an operator, a `!` denies less than all.
            let denied = side.strip_prefix('!').filter(|side| !side.contains(['|', '&', '^', '<', '>', '=']));
            Some((denied.map_or_else(|| format!("true {}", bare(side)), |side| format!("false {}", bare(side))), false))
        }
        (Code::Go, name @ ("True" | "False"))
        | (Code::JavaScript | Code::TypeScript | Code::Tsx, name @ ("true" | "false" | "isTrue" | "isFalse")) => {
            let truth = name.trim_start_matches("is").to_lowercase();
            Some((format!("{truth} {}", bare(sides.first()?)), false))
        }
        _ => None,
    }
}

/// Whether a condition of Python is what an assertion asks, with parentheses around it or without.
fn asserted(node: Node<'_>) -> bool {
    let mut above = std::iter::successors(node.parent(), Node::parent);
    let above = above.find(|above| above.kind() != "parenthesized_expression");
    above.is_some_and(|above| above.kind() == "assert_statement")
}

/// A row of `pytest.mark.parametrize`: all but the last value are taken for the question.
struct Row {
    question: String,
    expected: String,
    /// Each value with its parameter's name; empty where there are not as many names.
    columns: Vec<(String, String)>,
}

impl Row {
    fn is(&self, one: &Asked) -> bool {
        let said = |text: &str| bare(&laid_out(Code::Python, text));
        said(&self.question) == one.question && exact(&said(&self.expected)) == one.expected
    }

    /// Whether it says the same as a former row, and more.
    fn goes_on(&self, was: &Self) -> bool {
        self.columns.len() > was.columns.len() && was.columns.iter().all(|column| self.columns.contains(column))
    }
}

/// A table of parameters, and the names to which its test says that something computed is equal.
struct Table {
    test: String,
    expected: BTreeSet<String>,
    rows: Vec<Row>,
}

impl Table {
    /// Whether a former row stands in it with further columns, and what was expected there still is.
    fn has(&self, was: &Row) -> bool {
        let is_expected = was.columns.last().is_some_and(|(name, _)| self.expected.contains(name));
        is_expected && self.rows.iter().any(|row| row.goes_on(was))
    }
}

/// Whether a node is a table of parameters of pytest.
fn is_table(node: Node<'_>, source: &str) -> bool {
    node.kind() == "call" && part(node, "function", source).ends_with("mark.parametrize")
}

fn rows(call: Node<'_>, source: &str) -> Vec<Row> {
    let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    let [names, table, ..] = arguments[..] else { return Vec::new() };
    let names: Vec<&str> = WORDS.find_iter(text(names, source)).map(|name| name.as_str()).collect();
    let row = |row: Node<'_>| {
        let values = children(row);
        let (last, first) = values.split_last().filter(|(_, first)| row.kind() == "tuple" && !first.is_empty())?;
        let question = format!("{ROW}{}", source.get(first.first()?.start_byte()..first.last()?.end_byte())?);
        let said = |value: &Node<'_>| bare(&laid_out(Code::Python, text(*value, source)));
        let named = names.iter().zip(&values).map(|(name, value)| ((*name).to_owned(), said(value)));
        let columns = if names.len() == values.len() { named.collect() } else { Vec::new() };
        Some(Row { question, expected: text(*last, source).to_owned(), columns })
    };
    let rows = if table.kind() == "list" { children(table) } else { Vec::new() };
    rows.into_iter().filter_map(row).filter(|row| is_constant(&row.expected)).collect()
}

/// The tables of a file's tests.
fn tables(file: &TestFile) -> Vec<Table> {
    let TestFile { code, source, .. } = file;
    let mut found = Vec::new();
    read(*code, source, |test, unit, node| {
        if *code != Code::Python || !is_table(node, source) {
            return;
        }
        let mut expected = BTreeSet::new();
        visit(unit, |below| {
            let sides = match (below.kind(), below.named_child(0)) {
                ("assert_statement", Some(asked)) if asked.child(1).is_some_and(|by| text(by, source) == "==") => {
                    children(asked)
                }
                ("call", _) if PYTHON_EQUAL.is_match(part(below, "function", source)) => {
                    below.child_by_field_name("arguments").map(children).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            if let [one, other, ..] = sides[..] {
                let named = [(one, other), (other, one)].into_iter();
                let named = named.filter(|(side, asked)| side.kind() == "identifier" && asked.kind() == "call");
                expected.extend(named.map(|(side, _)| text(side, source).to_owned()));
            }
            true
        });
        found.push(Table { test: test.to_owned(), expected, rows: rows(node, source) });
    });
    found
}

/// Where the question is a name alone: what it was last said to be before.
fn said_before(unit: Node<'_>, at: Node<'_>, name: &str, source: &str) -> Option<String> {
    let name = name.strip_prefix("expect(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(name);
    if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let before = source.get(unit.start_byte()..at.start_byte())?;
    let said = |line: &str| {
        let (left, right) = line.split_once('=').filter(|(_, right)| !right.starts_with('='))?;
        let left = left.trim_end_matches(':').split(':').next()?.trim();
        (left.rsplit(' ').next()? == name).then(|| format!("{name}={right}"))
    };
    before.lines().rev().find_map(said)
}

/// The parts between commas, as far as brackets and texts do not hold them together.
fn parts(tokens: &str) -> Vec<String> {
    let (mut found, mut depth, mut quoted, mut escaped) = (vec![String::new()], 0_usize, false, false);
    for c in tokens.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    found.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

pub(super) static PYTHON_EQUAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|\.)assert(\w*Equals?|Is)$"));
pub(super) static SCRIPT_EQUAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^((\w+\.)?assert\.(strictEqual|equal|deepEqual|deepStrictEqual)|t\.(is|equal|same|deepEqual))$")
});
pub(super) static TEXTS: LazyLock<Regex> = LazyLock::new(|| pattern(r#""(\\.|[^"\\])*"|'(\\.|[^'\\])*'"#));
/// A text with what says its kind, such as bytes.
static LITERALS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!("(?:\\b(?i:[bcru]|[bc]r|rb)#*)?(?:{})#*", TEXTS.as_str())));
/// A text of code, or a comma before the end of a list.
static LAYOUT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:\b[uU])?(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)')|,\s*([\]}])"#));
/// A text, or texts alone in parentheses that call nothing, after what stands before them.
static GROUPED: LazyLock<Regex> = LazyLock::new(|| {
    let text = format!("(?i:[bru]|[br]{{2}})?(?:{})", TEXTS.as_str());
    pattern(&format!(r#"{text}|(?<before>(?:^|[^\w\s)\]}}"'])\s*)\(\s*(?<texts>(?:{text})(?:\s+(?:{text}))*)\s*\)"#))
});
/// An escaped character, and what says its number.
static ESCAPES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)\\(?:(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|U[0-9A-Fa-f]{8})|.)"));
/// A text whose backslashes may stand for themselves.
static NO_ESCAPES: LazyLock<Regex> = LazyLock::new(|| pattern(r#"`|"""|'''|\b(?i:r|b|br|rb|fr|rf)["']"#));
static WORDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_][A-Za-z0-9_]*"));
pub(super) static NUMBERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d(_?\d)*(\.\d+)?"));

/// A number with its tolerance.
static APPROXIMATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(pytest\.)?approx\((.*?)(,.*)?\)$"));

/// Whether there is nothing in a text but constants.
fn is_constant(text: &str) -> bool {
    const WRAPS: [&str; 12] =
        ["True", "False", "None", "true", "false", "null", "undefined", "nil", "Some", "Ok", "Err", "vec"];
    let text = APPROXIMATE.replace_all(text, "$2");
    let bare = LITERALS.replace_all(&text, "0");
    !text.is_empty() && WORDS.find_iter(&bare).all(|word| WRAPS.contains(&word.as_str()))
}

/// A number without the usual tolerance around it.
fn exact(constant: &str) -> String {
    let inner = APPROXIMATE.captures(constant).filter(|found| found.get(3).is_none());
    inner.and_then(|found| found.get(2)).map_or(constant, |number| number.as_str()).to_owned()
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A piece of code as a formatter may lay it out: one kind of quotes, small letters in the numbers of characters, and no comma after the
/// last part of a list.
fn laid_out(code: Code, text: &str) -> String {
    let has_escapes = !matches!(code, Code::Rust | Code::Go) && !NO_ESCAPES.is_match(text);
    let ungrouped = |found: &Captures<'_>| match (found.name("before"), found.name("texts")) {
        (Some(before), Some(texts)) => format!("{}{}", before.as_str(), texts.as_str()),
        _ => found[0].to_owned(),
    };
    let text = if code == Code::Python { GROUPED.replace_all(text, ungrouped) } else { Cow::Borrowed(text) };
    LAYOUT
        .replace_all(&text, |found: &Captures<'_>| {
            if let Some(end) = found.get(3) {
                return end.as_str().to_owned();
            }
            let whole = &found[0];
            let inner = found.get(1).or_else(|| found.get(2)).map(|inner| inner.as_str()).unwrap_or_default();
            // In Rust and Go, other quotes make another type.
            let quoted = match matches!(code, Code::Rust | Code::Go) || inner.contains(['"', '\'']) {
                true => whole.to_owned(),
                false => format!("\"{inner}\""),
            };
            let in_small = |found: &Captures<'_>| match found.get(1).map(|number| number.as_str().split_at(1)) {
                Some((kind, digits)) => format!("\\{kind}{}", digits.to_lowercase()),
                None => found[0].to_owned(),
            };
            if has_escapes { ESCAPES.replace_all(&quoted, in_small).into_owned() } else { quoted }
        })
        .into_owned()
}

/// The constants in a text that say something: texts and numbers, but not 0 and 1, each once.
pub(crate) fn constants(text: &str) -> BTreeSet<String> {
    let texts = TEXTS.find_iter(text).map(|found| found.as_str().trim_matches(['"', '\'']).to_owned());
    let rest = TEXTS.replace_all(text, " ");
    let numbers = NUMBERS.find_iter(&rest).map(|found| found.as_str().replace('_', "")).collect::<Vec<_>>();
    texts.chain(numbers).filter(|one| !matches!(one.as_str(), "" | "0" | "1")).collect()
}

/// Lines, from 1, of code that has the answer to a question of the tests written beside the question: two such answers are none by accident.
pub(crate) fn known_answers(code: Code, source: &str, lines: &BTreeSet<u32>, asked: &[Asked]) -> BTreeMap<u32, String> {
    let Some(tree) = code.parse(source) else { return BTreeMap::new() };
    let questions: Vec<(BTreeSet<String>, BTreeSet<String>, &Asked)> = asked
        .iter()
        .map(|one| (constants(&one.question), constants(&one.expected), one))
        .filter(|(question, answer, _)| question.len() > 1 && !answer.is_empty() && answer.is_disjoint(question))
        .collect();
    let (mut found, mut entries) = (BTreeMap::new(), 0_usize);
    visit(tree.root_node(), |node| {
        let entry = matches!(
            node.kind(),
            "pair"
                | "if_statement"
                | "elif_clause"
                | "conditional_expression"
                | "ternary_expression"
                | "case_clause"
                | "switch_case"
                | "match_arm"
                | "if_expression"
                | "expression_case"
                | "keyed_element"
        );
        let line = line_of(node);
        if entry && lines.contains(&line) {
            let written = constants(text(node, source));
            let knows = |(question, answer, _): &&(BTreeSet<String>, BTreeSet<String>, &Asked)| {
                written.is_superset(question)
                    && written.is_superset(answer)
                    && written.len() <= question.len() + answer.len() + 2
            };
            if let Some((_, _, one)) = questions.iter().find(knows) {
                found.insert(line, format!("{} is {}", one.question, one.expected));
                entries += 1;
            }
        }
        !questions.is_empty()
    });
    if entries > 1 { found } else { BTreeMap::new() }
}

#[cfg(test)]
#[path = "expectations_test.rs"]
mod tests;
