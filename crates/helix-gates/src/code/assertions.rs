//! What tests assert, and where a later version of them asserts less.
//!
//! Must not run anything, nor know which changes are allowed. It counts what can be seen in one file: an assertion in a function
//! of the same file counts where that function is called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use helix_core::said::Words;
use helix_language::recorded;
use regex::Regex;
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::expectations::truth;
use super::{
    Code, attributes, children, holds, inside, is_rust_case, is_rust_test, line_of, part, pattern, text, titled,
};

/// A test that asserts less than it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Weakening {
    /// Its line now, from 1; `None` where it is gone.
    pub(crate) line: Option<u32>,
    /// What happened, with its name and those of what it lies in.
    pub(crate) said: Words,
    /// Whether nothing but hiding a failure comes of it; fewer assertions may have another reason.
    pub(crate) plain: bool,
}

impl Weakening {
    /// A whole file of which nothing can be said any more.
    pub(crate) fn of_file(said: Words) -> Self {
        Self { line: None, said, plain: true }
    }
}

/// What one function, or one test, asserts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Asserts {
    line: u32,
    is_test: bool,
    /// Compare with a value.
    strong: usize,
    /// Ask less: not empty, not equal, of a kind.
    weak: usize,
    /// Cannot fail.
    constant: usize,
    /// Stand where a failure is caught.
    caught: usize,
    skipped: bool,
    /// What it compares with true or false, and what it asks to be that.
    compared: Vec<String>,
    asked: Vec<String>,
    /// Functions that it calls.
    calls: Vec<String>,
    /// Those of them that get what a test of Go fails by.
    handed: Vec<String>,
}

impl Asserts {
    fn real(&self) -> usize {
        self.strong + self.weak
    }
}

/// Functions of a package's other test files by name, with whether they assert something.
pub(crate) type Helpers = BTreeMap<String, bool>;

/// A version of a test file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version<'v> {
    pub(crate) source: &'v str,
    /// What stands beside it for tests to call.
    pub(crate) elsewhere: &'v Helpers,
}

/// What the functions of a file assert that are no tests; of several with one name, the one that asserts nothing counts.
pub(crate) fn helpers(code: Code, source: &str) -> Helpers {
    let mut found = Helpers::new();
    for (name, asserts) in units(code, true, source).unwrap_or_default() {
        if !asserts.is_test {
            let real = asserts.real() > 0;
            found.entry(short(&name).to_owned()).and_modify(|known| *known &= real).or_insert(real);
        }
    }
    found
}

/// Tests of a file that assert less in its later version. `is_test` says whether all of the file is there for tests.
pub(crate) fn weakened(code: Code, is_test: bool, before: Version<'_>, now: Version<'_>) -> Vec<Weakening> {
    let Some(old) = asserts(code, is_test, before) else { return Vec::new() };
    let Some(new) = asserts(code, is_test, now) else {
        return vec![Weakening::of_file(recorded!("gate-weaker-unparsed"))];
    };
    let mut found = Vec::new();
    let moved = moved(&old, &new);
    for (name, was) in &old {
        let Some(is) = new.get(name).or_else(|| new.get(*moved.get(name.as_str())?)) else { continue };
        let (said, plain) = if is.skipped && !was.skipped {
            (recorded!("gate-weaker-skipped", test = name), true)
        } else if code == Code::Rust && was.is_test && !is.is_test {
            (recorded!("gate-weaker-stopped", test = name), true)
        } else if was.real() > 0 && is.real() == 0 && is.caught > was.caught {
            (recorded!("gate-weaker-caught", test = name), true)
        } else if was.real() > 0 && is.real() == 0 && is.constant > 0 {
            (recorded!("gate-weaker-constant", test = name), true)
        } else if was.real() > 0 && is.real() == 0 {
            (recorded!("gate-weaker-nothing", test = name), true)
        } else if is.caught > was.caught && is.real() < was.real() {
            (recorded!("gate-weaker-some-caught", test = name), true)
        } else if is.constant > was.constant && is.real() < was.real() {
            (recorded!("gate-weaker-some-constant", test = name), true)
        } else if is.strong + rewritten(was, is) < was.strong && is.weak > was.weak {
            (recorded!("gate-weaker-compares", test = name), true)
        } else if is.real() < was.real() {
            (recorded!("gate-weaker-fewer", test = name), false)
        } else {
            continue;
        };
        found.push(Weakening { line: Some(is.line), said, plain });
    }
    let goals: BTreeSet<&str> = moved.values().copied().collect();
    let is_fresh =
        |(name, is): &(&String, &Asserts)| is.is_test && !old.contains_key(*name) && !goals.contains(name.as_str());
    let fresh: Vec<_> = new.iter().filter(is_fresh).collect();
    let is_gone = |name: &String| !new.contains_key(name) && !moved.contains_key(name.as_str());
    let gone = old.iter().filter(|(name, was)| was.is_test && was.real() > 0 && is_gone(name)).count();
    let empty: Vec<_> = fresh.iter().filter(|(_, is)| is.real() == 0).collect();
    let in_place = empty.len() != fresh.len();
    let mut former = old.values().filter(|was| was.is_test).peekable();
    // Where no test asserts anything that is seen, they fail by other means.
    let is_known = former.peek().is_none() || former.any(|was| was.real() > 0);
    let count = if in_place { gone } else { empty.len() * usize::from(is_known) };
    for (name, is) in empty.into_iter().take(count) {
        let said = match in_place {
            false => recorded!("gate-weaker-new", test = *name),
            true => recorded!("gate-weaker-replaced", test = *name),
        };
        found.push(Weakening { line: Some(is.line), said, plain: true });
    }
    found
}

/// How often a test asks something to be true, or false, that it compared with that before.
fn rewritten(was: &Asserts, is: &Asserts) -> usize {
    let is_other = |one: &&String| !is.compared.contains(one) && !was.asked.contains(one) && is.asked.contains(one);
    was.compared.iter().filter(is_other).count()
}

/// Tests that are in another group now, from their former name to the present one: of those that are gone, and of those that are new, no
/// other is called so.
fn moved<'t>(old: &'t BTreeMap<String, Asserts>, new: &'t BTreeMap<String, Asserts>) -> BTreeMap<&'t str, &'t str> {
    let only = |these: &'t BTreeMap<String, Asserts>, others: &BTreeMap<String, Asserts>| {
        let mut by_own_name = BTreeMap::<&str, Vec<&str>>::new();
        for (name, _) in these.iter().filter(|(name, asserts)| asserts.is_test && !others.contains_key(*name)) {
            by_own_name.entry(short(name)).or_default().push(name);
        }
        by_own_name.retain(|_, all| all.len() == 1);
        by_own_name
    };
    let (gone, fresh) = (only(old, new), only(new, old));
    gone.into_iter().filter_map(|(own, from)| Some((from[0], fresh.get(own)?[0]))).collect()
}

/// A name without those of what it lies in.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The functions and tests of a file, with what they assert themselves.
fn units(code: Code, is_test: bool, source: &str) -> Option<Vec<(String, Asserts)>> {
    let tree = code.parse(source)?;
    let mut reader = Reader { code, source, found: Vec::new(), asserting: Vec::new() };
    let all_skipped = code == Code::Python && PYTESTMARK.is_match(source);
    let top = Place { unit: None, path: String::new(), caught: false, skipped: all_skipped, of_test: is_test };
    let mut open = vec![(tree.root_node(), top)];
    while let Some((node, place)) = open.pop() {
        let below = reader.enter(node, place);
        open.extend(children(node).into_iter().rev().map(|child| (child, below(child))));
    }
    Some(reader.found)
}

/// What the functions and tests of a file assert, by name.
fn asserts(code: Code, is_test: bool, version: Version<'_>) -> Option<BTreeMap<String, Asserts>> {
    let all = units(code, is_test, version.source)?;
    let helpers: Helpers = all
        .iter()
        .filter(|(_, asserts)| !asserts.is_test)
        .map(|(name, asserts)| (short(name).to_owned(), asserts.real() > 0))
        .collect();
    let mut found: BTreeMap<String, Asserts> = BTreeMap::new();
    for (name, mut asserts) in all {
        let beside = |call: &String| version.elsewhere.get(call).filter(|_| asserts.handed.contains(call));
        let known = |call: &String| helpers.get(call).or_else(|| beside(call)).copied();
        let through = |call: &&String| known(call).unwrap_or_else(|| CHECKS.is_match(call));
        asserts.strong += asserts.calls.iter().filter(through).count();
        if !asserts.is_test && asserts.real() + asserts.constant + asserts.caught == 0 {
            continue;
        }
        // Of several tests with one name, Python runs only one: the one that asserts least is taken for it.
        let rank = |asserts: &Asserts| (!asserts.skipped, asserts.real());
        if found.get(&name).is_none_or(|known| rank(&asserts) < rank(known)) {
            found.insert(name, asserts);
        }
    }
    Some(found)
}

/// Module-wide marks of pytest that skip all.
static PYTESTMARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^pytestmark\s*=.*\b(skip|xfail)\b"));
/// Functions of other files, where nobody has looked, that assert by what they are called.
static CHECKS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^_?(assert|check|verify|expect|ensure|validate|should|compare)"));
/// Calls that are assertions, by language.
static PYTHON_CALLS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(^|\.)(assert\w*|raises|warns|fail|deprecated_call|assertRaises\w*)$"));
static SCRIPT_CALLS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((\w+\.)?assert(\.\w+)*|t\.(is|not|deepEqual|equal|equals|same|like|throws\w*|regex|match|strictSame|ok|notOk|true|truthy|false)|should(\.\w+)*)$",
    )
});
/// Properties of Chai and its plugins for spies and promises that assert when they are read.
static UNCALLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\.\s*(ok|true|false|null|undefined|NaN|exists?|empty|extensible|sealed|frozen|finite|[aA]rguments|called(Once|Twice|Thrice|WithNew)?|fulfilled|rejected)$",
    )
});
static WEAK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(assert|assert_?true|assert_?false|assert_?is_?not_?none|assert_?is_?instance|assert_?not\w*|assert_?is_?not|assert_?greater\w*|assert_?less\w*|assert_?in|assert_?regex\w*|assert_called|assert_called_once|ok|true|truthy|false|not\w*|tobetruthy|tobedefined|tobefalsy|tobeinstanceof|tobegreaterthan\w*|tobelessthan\w*|tohavebeencalled|tomatch|tocontain\w*|match|matches|include\w*|contains|regexp?|exists|isok|assert_ne|debug_assert|prop_assert|error|noerror|len|greater\w*|less\w*|implements)$",
    )
});
/// Words of an expression that name nothing.
static NAMES: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_][A-Za-z0-9_]*"));
static STRINGS: LazyLock<Regex> = LazyLock::new(|| pattern(r#""(\\.|[^"\\])*"|'(\\.|[^'\\])*'|`(\\.|[^`\\])*`"#));
static ALWAYS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\bor\s+(True|1|not None)\b|\|\|\s*(true|1)\b)"));

/// Where a node stands.
#[derive(Clone)]
struct Place {
    /// Index of the function or test that it lies in.
    unit: Option<usize>,
    path: String,
    caught: bool,
    skipped: bool,
    of_test: bool,
}

impl Place {
    fn enter(&mut self, name: &str) {
        self.path = inside(&self.path, name);
    }
}

struct Reader<'s> {
    code: Code,
    source: &'s str,
    found: Vec<(String, Asserts)>,
    /// What a test of Go has made of `assert` or `require`, to call it on.
    asserting: Vec<&'s str>,
}

impl<'s> Reader<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        text(node, self.source)
    }

    fn part(&self, node: Node<'_>, name: &str) -> &'s str {
        part(node, name, self.source)
    }

    /// Takes in a node; says what holds for each of its children.
    fn enter<'n>(&mut self, node: Node<'n>, mut place: Place) -> impl Fn(Node<'n>) -> Place + use<'n> {
        let mut caught_below = None;
        match self.code {
            Code::Python => self.python(node, &mut place, &mut caught_below),
            Code::JavaScript | Code::TypeScript | Code::Tsx => self.script(node, &mut place, &mut caught_below),
            Code::Rust => self.rust(node, &mut place),
            Code::Go => self.go(node, &mut place),
        }
        move |child| {
            let mut below = place.clone();
            below.caught |= caught_below == Some(child.id());
            below
        }
    }

    /// Begins a function or test.
    fn begin(&mut self, node: Node<'_>, place: &mut Place, name: &str, is_test: bool) {
        place.enter(name);
        place.unit = Some(self.found.len());
        let line = line_of(node);
        let asserts = Asserts { line, is_test, skipped: place.skipped, ..Asserts::default() };
        self.found.push((place.path.clone(), asserts));
    }

    fn unit(&mut self, place: &Place) -> Option<&mut Asserts> {
        self.found.get_mut(place.unit?).map(|(_, asserts)| asserts)
    }

    /// Counts an assertion with these words in it.
    fn assertion(&mut self, place: &Place, called: &str, about: &str) {
        let (code, caught) = (self.code, place.caught);
        let name = called.rsplit(['.', ':', '!']).find(|part| !part.is_empty()).unwrap_or(called);
        let said = truth(code, called, about);
        let Some(unit) = self.unit(place) else { return };
        let is_same = code == Code::Python && name == "assert" && is_same(about);
        let equality = is_same || about.contains("==") || about.contains("matches!");
        let denies = called.split('.').any(|part| part == "not");
        if let Some((about, is_compared)) = said.filter(|_| !caught) {
            if is_compared { &mut unit.compared } else { &mut unit.asked }.push(about);
        }
        if caught {
            unit.caught += 1;
        } else if cannot_fail(called, about) {
            unit.constant += 1;
        } else if equality && !called.contains("not") || !(WEAK.is_match(name) || denies) {
            unit.strong += 1;
        } else {
            unit.weak += 1;
        }
    }

    fn python(&mut self, node: Node<'_>, place: &mut Place, caught: &mut Option<usize>) {
        match node.kind() {
            "decorated_definition" => {
                let marks = children(node).into_iter().filter(|node| node.kind() == "decorator");
                let skips = |text: &str| ["skip", "xfail", "expectedFailure"].iter().any(|word| text.contains(word));
                place.skipped |= marks.map(|mark| self.text(mark)).any(skips);
            }
            "class_definition" => {
                place.enter(self.part(node, "name"));
            }
            "function_definition" if place.unit.is_none() => {
                let name = self.part(node, "name");
                self.begin(node, place, name, name.starts_with("test"));
            }
            "try_statement" => {
                let handlers = children(node)
                    .into_iter()
                    .filter(|node| matches!(node.kind(), "except_clause" | "except_group_clause"));
                let hides = |text: &str| !["raise", "fail", "assert"].iter().any(|word| text.contains(word));
                if handlers.map(|handler| self.text(handler)).any(hides) {
                    *caught = node.child_by_field_name("body").map(|body| body.id());
                }
                if has_to_raise(node) {
                    self.assertion(place, "raises", "error");
                }
            }
            "with_statement" => {
                let head = children(node).into_iter().find(|node| node.kind() == "with_clause");
                if head.is_some_and(|head| self.text(head).contains("suppress(")) {
                    *caught = node.child_by_field_name("body").map(|body| body.id());
                }
            }
            "assert_statement" => {
                let about = node.named_child(0).map(|about| self.text(about)).unwrap_or_default();
                // A pair is never false: the second is no message then.
                let is_pair = node.named_child(0).is_some_and(|about| about.kind() == "tuple");
                self.assertion(place, "assert", if is_pair { "" } else { about });
            }
            "raise_statement" if self.text(node).contains("AssertionError") => {
                // What it depends on stands around it.
                self.assertion(place, "raise", "value ==");
            }
            "call" => {
                let called = self.part(node, "function");
                let about = self.part(node, "arguments");
                let name = called.rsplit('.').next().unwrap_or(called);
                if PYTHON_CALLS.is_match(called) {
                    self.assertion(place, called, about);
                } else if matches!(name, "skip" | "skipTest" | "xfail" | "importorskip") {
                    self.skip(place);
                } else if let Some(unit) = self.unit(place) {
                    unit.calls.push(name.to_owned());
                }
            }
            _ => {}
        }
    }

    fn skip(&mut self, place: &Place) {
        if let Some(unit) = self.unit(place) {
            unit.skipped = true;
        }
    }

    fn script(&mut self, node: Node<'_>, place: &mut Place, caught: &mut Option<usize>) {
        match node.kind() {
            "function_declaration" if place.unit.is_none() => {
                self.begin(node, place, self.part(node, "name"), false);
            }
            "try_statement" => {
                let handler = node.child_by_field_name("handler").map(|handler| self.text(handler));
                let hides = |text: &str| {
                    !["throw", "fail", "assert", "expect", "reject"].iter().any(|word| text.contains(word))
                };
                if handler.is_some_and(hides) {
                    *caught = node.child_by_field_name("body").map(|body| body.id());
                }
            }
            "call_expression" => self.script_call(node, place),
            _ => {}
        }
    }

    fn script_call(&mut self, node: Node<'_>, place: &mut Place) {
        let called = self.part(node, "function");
        let Some(arguments) = node.child_by_field_name("arguments") else { return };
        let root = called.split(['.', '(']).next().unwrap_or(called);
        let first = arguments.named_child(0).filter(|first| matches!(first.kind(), "string" | "template_string"));
        let group = matches!(root, "describe" | "suite" | "context" | "xdescribe" | "fdescribe");
        let single = matches!(root, "test" | "it" | "xit" | "xtest" | "fit" | "specify");
        if let Some(name) = first.filter(|_| group || single) {
            let options =
                children(arguments).into_iter().find(|node| node.kind() == "object").map(|node| self.text(node));
            let off = options.is_some_and(|text| OFF.is_match(text));
            place.skipped |= off || called.contains(".skip") || called.contains(".todo") || root.starts_with('x');
            let name = titled(self.text(name).trim_matches(['"', '\'', '`']));
            if single {
                self.begin(node, place, &name, true);
            } else {
                place.enter(&name);
            }
        } else if root == "expect" && called.contains(").") {
            self.assertion(place, called.rsplit(").").next().map_or(called, |matcher| matcher), self.text(node));
        } else if root == "expect" {
            // It asserts by what is read from it, if that asserts without a call.
            let read = read_from(node).filter(|_| called == root).map(|read| self.text(read));
            if let Some(read) = read.filter(|read| UNCALLED.is_match(read)) {
                self.assertion(place, read.rsplit(").").next().unwrap_or(read), read);
            }
        } else if SCRIPT_CALLS.is_match(called) {
            self.assertion(place, called, self.text(arguments));
        } else if called.ends_with(".skip") || called.ends_with(".todo") {
            self.skip(place);
        } else if let Some(unit) = self.unit(place) {
            unit.calls.push(called.rsplit('.').next().unwrap_or(called).to_owned());
        }
    }

    fn rust(&mut self, node: Node<'_>, place: &mut Place) {
        match node.kind() {
            "mod_item" => {
                place.of_test |= is_rust_test(node, self.source);
                place.enter(self.part(node, "name"));
            }
            "function_item" if place.unit.is_none() => {
                if !is_rust_test(node, self.source) && !place.of_test {
                    return;
                }
                let is_test = is_rust_case(node, self.source);
                let marks = attributes(node, self.source);
                let panics = marks.iter().any(|mark| mark.contains("should_panic"));
                place.skipped |= panics || marks.iter().any(|mark| mark.contains("ignore"));
                self.begin(node, place, self.part(node, "name"), is_test);
                if panics {
                    self.assertion(place, "should_panic", "value ==");
                }
            }
            "macro_invocation" => {
                let called = self.part(node, "macro");
                let about =
                    children(node).into_iter().find(|node| node.kind() == "token_tree").map(|node| self.text(node));
                let name = called.rsplit("::").next().unwrap_or(called);
                if name.contains("assert") || name.ends_with("_eq") || matches!(name, "panic" | "unreachable") {
                    self.assertion(place, name, about.unwrap_or_default());
                }
            }
            "call_expression" => {
                let called = self.part(node, "function");
                if let Some(unit) = self.unit(place) {
                    unit.calls.push(called.rsplit([':', '.']).next().unwrap_or(called).to_owned());
                }
            }
            _ => {}
        }
    }

    fn go(&mut self, node: Node<'_>, place: &mut Place) {
        match node.kind() {
            "function_declaration" if place.unit.is_none() => {
                let name = self.part(node, "name");
                self.asserting.clear();
                self.begin(node, place, name, name.starts_with("Test"));
            }
            "short_var_declaration" => {
                let made = self.part(node, "right");
                if ["assert.New(", "require.New("].iter().any(|new| made.starts_with(new)) {
                    self.asserting.push(self.part(node, "left"));
                }
            }
            "call_expression" => {
                let called = self.part(node, "function");
                let about = self.part(node, "arguments");
                let (root, name) = called.rsplit_once('.').unwrap_or(("", called));
                if matches!(root, "assert" | "require") && name != "New" || self.asserting.contains(&root) {
                    self.assertion(place, name, about);
                } else if matches!(name, "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow")
                    && root.len() == 1
                {
                    // What it depends on stands around it.
                    self.assertion(place, name, "value ==");
                } else if matches!(name, "Skip" | "Skipf" | "SkipNow") {
                    self.skip(place);
                } else {
                    let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                    let is_handed = root.is_empty() && arguments.into_iter().any(|one| self.text(one) == "t");
                    if let Some(unit) = self.unit(place) {
                        unit.calls.push(name.to_owned());
                        unit.handed.extend(is_handed.then(|| name.to_owned()));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a `try` of Python calls something and fails in its `else`: it asks for an exception, as `pytest.raises` does.
fn has_to_raise(node: Node<'_>) -> bool {
    let has = |part: Node<'_>, kind| {
        let body = part.child_by_field_name("body");
        body.is_some_and(|body| holds(body, &[kind], &["function_definition", "class_definition", "lambda"]))
    };
    let otherwise = children(node).into_iter().find(|part| part.kind() == "else_clause");
    has(node, "call") && otherwise.is_some_and(|otherwise| has(otherwise, "raise_statement"))
}

/// The last property that is read from what a call of JavaScript gives, if it is not called.
fn read_from(call: Node<'_>) -> Option<Node<'_>> {
    let above = std::iter::successors(call.parent(), Node::parent);
    let property = above.take_while(|above| above.kind() == "member_expression").last()?;
    property.parent().filter(|above| above.kind() != "call_expression").map(|_| property)
}

/// Options of a test of JavaScript that leave it out.
static OFF: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(skip|todo)\s*:\s*(true|['\x22`1])"));

/// Whether an assertion holds whatever the program does.
fn cannot_fail(called: &str, about: &str) -> bool {
    if called.ends_with("fail") || called == "panic" || called == "unreachable" {
        return false;
    }
    let bare = STRINGS.replace_all(about, "0");
    if ALWAYS.is_match(&bare) {
        return true;
    }
    let words =
        ["True", "None", "true", "null", "undefined", "not", "and", "or", "is", "in", "nil", "t", "expect", "self"];
    let matcher = called.rsplit('.').next().unwrap_or(called);
    let names = NAMES.find_iter(&bare).map(|found| found.as_str());
    let mut names =
        names.filter(|name| !words.contains(name) && *name != matcher && !matches!(*name, "not" | "resolves"));
    // What is false fails always: it marks a place that must not be reached.
    if names.all(|name| name == "False" || name == "false") {
        let denies = matcher.to_ascii_lowercase().contains("false") || matcher.to_ascii_lowercase().contains("falsy");
        return !bare.to_ascii_lowercase().contains("false") || denies || bare.contains("==") || bare.contains(',');
    }
    let bare = bare.trim();
    let inner = bare.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(bare);
    let sides = ["===", "==", " is ", ","].into_iter().find_map(|by| inner.split_once(by));
    sides.is_some_and(|(one, other)| {
        let (one, other) = (one.trim(), other.trim_start_matches('=').trim());
        let is_one = one == other || one == other.split(',').next().unwrap_or_default().trim();
        is_one && !one.is_empty() && !about.contains(['"', '\'', '`'])
    })
}

/// Whether a condition of Python says that two things are one and the same, as `==` does; of a kind asks less.
fn is_same(about: &str) -> bool {
    let bare = STRINGS.replace_all(about, "0");
    let sides = bare.split_once(" is ").filter(|(_, other)| !other.trim_start().starts_with("not "));
    sides.is_some_and(|(one, other)| ![one, other].iter().any(|side| side.trim_start().starts_with("type(")))
}

#[cfg(test)]
#[path = "assertions_test.rs"]
mod tests;
