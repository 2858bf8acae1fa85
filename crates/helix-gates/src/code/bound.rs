//! What the names of a file stand for: what it imports, and what it says itself.
//!
//! Must not know other files: to what an import leads is not said here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::declared::{self, Declared, is_part};
use super::documented::documented;
use super::expectations::{Asked, TEXTS, asked, read};
use super::lasting::Lasting;
use super::{Code, children, inside, is_rust_test, line_of, part, pattern, text, titled};

/// The names of a file, and how its tests use them.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Bindings {
    pub(crate) names: Vec<Name>,
    /// Functions, classes and modules, each with what it lies in.
    pub(crate) scopes: BTreeSet<String>,
    pub(crate) asked: Vec<Asked>,
    /// What its questions call by its own name, and their assertions.
    pub(crate) called: BTreeSet<String>,
    /// Parts of other modules that it sets.
    pub(crate) patches: Vec<Patch>,
    /// What tests are handed by the name of its function, and how often the file says that name.
    pub(crate) fixtures: BTreeMap<String, usize>,
    /// What a script hands on as a whole, or as parts of what it does, by its own names.
    pub(crate) hands_on: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Name {
    /// What it lies in; empty for the whole file.
    pub(crate) scope: String,
    pub(crate) name: String,
    pub(crate) line: u32,
    /// Whether it is there for tests alone.
    pub(crate) of_test: bool,
    /// Whether it belongs to a class: code says it with what it belongs to.
    pub(crate) is_member: bool,
    pub(crate) to: Binding,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Binding {
    /// A part of a module, or the module.
    Import(String, Option<String>),
    /// Something that the file says itself.
    Own,
    /// What was computed.
    Value,
    /// What a caller or a runner hands over.
    Parameter,
}

/// A part of a module, or a module, that is set from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Patch {
    pub(crate) scope: String,
    pub(crate) line: u32,
    /// The code that does it.
    pub(crate) written: String,
    /// The words of what is set, the last of them its own name; or the one name of a module.
    pub(crate) what: Vec<String>,
    /// Whether it lasts beyond the test that does it: an assignment, a patch that is started, what nobody takes back.
    pub(crate) lasts: bool,
}

/// The name of all names of a module.
pub(crate) const ALL: &str = "*";

static LOADED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^\(?\s*(?:await\s+)?(?:require|import)\(\s*['"`]([^'"`]+)['"`]\s*\)\s*\)?(?:\.(\w+))?$"#)
});
static WORDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_$][\w$]*"));
/// What a question calls; with a `.` before it where it is called on what another call gives.
static CALLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.?[A-Za-z_$][\w$.:]*!?\("));
static ASSERTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(assert\w*|expect)"));
/// Calls that set something of a module.
static SETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(^|\.)(patch(\.object)?|setattr)$|^((jest|vi)\.(do|unstable_)?[mM]ock\w*|mock\.(module|method)|(jest|vi)\.spyOn)$",
    )
});

/// What takes back what scripts set.
static RESTORES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\.(mockRestore|restoreAllMocks|restoreAll|restore|reset)$"));

/// What the names of a file stand for.
pub(crate) fn bound(code: Code, source: &str) -> Bindings {
    let mut found = Bindings { asked: asked(code, source), ..Bindings::default() };
    names(code, source, false, &mut found);
    assertions(code, source, &mut found.called);
    if let Some(examples) = documented(source).filter(|_| code == Code::Rust) {
        names(code, &examples, true, &mut found);
        assertions(code, &examples, &mut found.called);
    }
    // That of which a method is called is not called itself.
    for call in found.asked.iter().flat_map(|one| called_by(&one.question)).filter(|call| !call.contains('.')) {
        found.called.extend([call.split(':').next(), call.rsplit(':').next()].into_iter().flatten().map(str::to_owned));
    }
    found
}

/// A scope with all that it lies in, the outermost first.
pub(crate) fn parts(scope: &str) -> impl Iterator<Item = &str> {
    scope.match_indices("::").map(|(end, _)| &scope[..end]).chain([scope])
}

/// The functions and methods that a question calls, with what they belong to.
pub(crate) fn called_by(question: &str) -> Vec<String> {
    let bare = TEXTS.replace_all(question, "0");
    CALLS.find_iter(&bare).map(|call| call.as_str().trim_end_matches(['(', '!']).to_owned()).collect()
}

/// The assertions that tests call by a name of their own.
fn assertions(code: Code, source: &str, called: &mut BTreeSet<String>) {
    read(code, source, |_, _, node| {
        let function = match node.kind() {
            "call" | "call_expression" => part(node, "function", source),
            "macro_invocation" => part(node, "macro", source),
            _ => return,
        };
        let own = function.strip_prefix("self.").unwrap_or(function);
        called.extend(ASSERTION.find(own).map(|name| name.as_str().to_owned()));
    });
}

/// Where a node stands.
#[derive(Clone)]
struct Place {
    scope: String,
    of_test: bool,
    /// Whether a runner may hand what it says to tests.
    is_fixture: bool,
    in_class: bool,
    /// Where in what a script declares.
    declares: usize,
}

fn names(code: Code, source: &str, of_test: bool, found: &mut Bindings) {
    let Some(tree) = code.parse(source) else { return };
    let (scope, is_script) = (String::new(), code.is_script());
    let mut open = vec![(tree.root_node(), Place { scope, of_test, is_fixture: false, in_class: false, declares: 0 })];
    let declared = if is_script { Declared::of(tree.root_node(), source) } else { Declared::default() };
    let mut lasting = Lasting::default();
    let (mut spies, mut is_restored) = (Vec::new(), false);
    // What functions of Python bind for the whole file, and what a runner or a `with` hands them, by their scopes.
    let (mut of_file, mut handed) = (BTreeSet::new(), BTreeSet::new());
    while let Some((node, place)) = open.pop() {
        let mut below = place.clone();
        below.declares = declared.place(node, place.declares);
        // One that runs by itself is handed to nobody.
        if node.kind() == "decorated_definition" {
            let head = text(node, source).split("def ").next().unwrap_or_default();
            let is_of_test = !head.contains("autouse") && (!head.contains("scope") || head.contains("function"));
            below.is_fixture = head.contains("fixture") && is_of_test;
            let named = node.child_by_field_name("definition").filter(|_| below.is_fixture && !head.contains("name"));
            found.fixtures.extend(named.map(|one| (part(one, "name", source).to_owned(), 0)));
        } else {
            below.is_fixture = false;
        }
        let decorated =
            node.child_by_field_name("definition").map(|one| inside(&place.scope, part(one, "name", source)));
        below.of_test |= code == Code::Rust && is_rust_test(node, source);
        let own = part(node, "name", source);
        let mut add = |name: &str, to: Binding| {
            let here = (place.scope.clone(), name.to_owned());
            let is_of_file = of_file.contains(&here);
            let (scope, name) = if is_of_file { (String::new(), here.1) } else { here };
            let (of_test, is_member) = (below.of_test, place.in_class && !is_of_file);
            found.names.push(Name { scope, name, line: line_of(node), of_test, is_member, to });
        };
        let words = |node: Node<'_>| WORDS.find_iter(text(node, source)).map(|word| word.as_str()).collect::<Vec<_>>();
        match node.kind() {
            "import_statement" if code == Code::Python => {
                for one in children(node) {
                    let (module, alias) = match one.kind() {
                        "aliased_import" => (part(one, "name", source), Some(part(one, "alias", source))),
                        _ => (text(one, source), None),
                    };
                    let root = module.split('.').next().unwrap_or(module);
                    let module = if alias.is_some() { module } else { root };
                    add(alias.unwrap_or(root), Binding::Import(module.to_owned(), None));
                }
            }
            "import_from_statement" => {
                let module = part(node, "module_name", source).to_owned();
                let from = node.child_by_field_name("module_name").map(|from| from.id());
                for one in children(node).into_iter().filter(|one| Some(one.id()) != from) {
                    let (name, local) = match one.kind() {
                        "wildcard_import" => (ALL, ALL),
                        "aliased_import" => (part(one, "name", source), part(one, "alias", source)),
                        "dotted_name" => (text(one, source), text(one, source)),
                        _ => continue,
                    };
                    add(local, Binding::Import(module.clone(), Some(name.to_owned())));
                }
            }
            "import_statement" | "export_statement" => {
                let module = part(node, "source", source).trim_matches(['"', '\'']).to_owned();
                found.hands_on.extend(handed_on(node, source).into_iter().map(str::to_owned));
                let mut inner = if module.is_empty() { Vec::new() } else { children(node) };
                if node.kind() == "export_statement" && !module.is_empty() && text(node, source).contains(ALL) {
                    add(ALL, Binding::Import(module.clone(), Some(ALL.to_owned())));
                }
                while let Some(one) = inner.pop() {
                    match one.kind() {
                        "import_clause" | "named_imports" | "export_clause" => inner.extend(children(one)),
                        "identifier" => {
                            add(text(one, source), Binding::Import(module.clone(), Some("default".to_owned())))
                        }
                        "namespace_import" => {
                            add(words(one).last().unwrap_or(&""), Binding::Import(module.clone(), None))
                        }
                        "import_specifier" | "export_specifier" => {
                            let (name, alias) = (part(one, "name", source), part(one, "alias", source));
                            let local = if alias.is_empty() { name } else { alias };
                            add(local, Binding::Import(module.clone(), Some(name.to_owned())));
                        }
                        _ => {}
                    }
                }
            }
            "variable_declarator" => {
                let Some(pattern) = node.child_by_field_name("name") else { continue };
                let written = part(node, "value", source);
                let kind = node.child_by_field_name("value").map(|value| value.kind()).unwrap_or_default();
                let loaded = LOADED.captures(written);
                let module = loaded.as_ref().map(|found| found[1].to_owned());
                let inner = loaded.and_then(|found| Some(found.get(2)?.as_str().to_owned()));
                let parts = if pattern.kind() == "identifier" { vec![pattern] } else { children(pattern) };
                for one in parts {
                    let key = part(one, "key", source);
                    let local = words(one.child_by_field_name("value").unwrap_or(one)).first().copied().unwrap_or("");
                    let name = match (pattern.kind(), key) {
                        ("identifier", _) => inner.clone(),
                        (_, "") => Some(local.to_owned()),
                        _ => Some(key.to_owned()),
                    };
                    match &module {
                        Some(module) => add(local, Binding::Import(module.clone(), name)),
                        None if kind.contains("function") || kind == "class" => {
                            add(local, Binding::Own);
                            below.scope = inside(&place.scope, local);
                            found.scopes.insert(below.scope.clone());
                        }
                        None => add(local, Binding::Value),
                    }
                }
            }
            "use_declaration" => {
                let mut inner: Vec<_> =
                    node.child_by_field_name("argument").map(|one| (one, String::new())).into_iter().collect();
                while let Some((one, before)) = inner.pop() {
                    let of = |path: &str| inside(&before, path);
                    match one.kind() {
                        "scoped_use_list" => {
                            let path = of(part(one, "path", source));
                            inner.extend(one.child_by_field_name("list").map(|list| (list, path)));
                        }
                        "use_list" => inner.extend(children(one).into_iter().map(|one| (one, before.clone()))),
                        _ => {
                            let written = text(one, source);
                            let (path, alias) = written.split_once(" as ").unwrap_or((written, ""));
                            let path = of(path.trim()).trim_end_matches("::self").to_owned();
                            let (module, name) = path.rsplit_once("::").unwrap_or(("", &path));
                            let local = if alias.is_empty() { name } else { alias.trim() };
                            add(local, Binding::Import(module.to_owned(), Some(name.to_owned())));
                        }
                    }
                }
            }
            "import_spec" => {
                let path = part(node, "path", source).trim_matches('"');
                let local = match own {
                    "" => path.rsplit('/').next().unwrap_or(path),
                    "." => ALL,
                    own => own,
                };
                if local != "_" {
                    add(local, Binding::Import(path.to_owned(), None));
                }
            }
            "function_definition"
            | "class_definition"
            | "function_declaration"
            | "class_declaration"
            | "function_item"
            | "macro_definition"
            | "mod_item"
            | "struct_item"
            | "enum_item"
            | "const_item"
            | "static_item"
            | "trait_item"
            | "type_item" => {
                add(own, if place.is_fixture { Binding::Parameter } else { Binding::Own });
                below.in_class = matches!(node.kind(), "class_definition" | "trait_item");
                below.scope = inside(&place.scope, own);
                found.scopes.insert(below.scope.clone());
                if let Some(parameters) = node.child_by_field_name("parameters").filter(|_| code == Code::Python) {
                    for one in children(parameters) {
                        let name = words(one).first().copied().unwrap_or_default().to_owned();
                        // What has a default comes from nobody.
                        if one.child_by_field_name("value").is_none() {
                            handed.insert((below.scope.clone(), name.clone()));
                        }
                        let (scope, line) = (below.scope.clone(), line_of(node));
                        let of_test = below.of_test;
                        found.names.push(Name { scope, name, line, of_test, is_member: false, to: Binding::Parameter });
                    }
                }
            }
            "impl_item" => below.in_class = true,
            "let_declaration" | "short_var_declaration" => {
                // What is computed is no function of another name.
                let is_function = |value: &Node<'_>| {
                    let kinds = ["closure_expression", "func_literal", "identifier", "scoped_identifier"];
                    kinds.contains(&value.kind())
                };
                let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"));
                let values = match value {
                    Some(list) if list.kind() == "expression_list" => children(list),
                    value => value.into_iter().collect(),
                };
                if values.iter().any(is_function) {
                    let name = node.child_by_field_name("pattern").filter(|name| name.kind() == "identifier");
                    let name = name.or_else(|| node.child_by_field_name("left"));
                    name.map(words).unwrap_or_default().into_iter().for_each(|name| add(name, Binding::Own));
                }
            }
            // What a function binds of these, it binds for the whole file.
            "global_statement" => {
                let names = children(node).into_iter().map(|one| (place.scope.clone(), text(one, source).to_owned()));
                of_file.extend(names);
            }
            // A pattern of Python that takes whatever is there.
            "case_pattern" | "splat_pattern" => {
                let taken = text(node, source);
                let name = words(node).into_iter().last().filter(|name| taken.ends_with(name) && !taken.contains('.'));
                name.into_iter().for_each(|name| add(name, Binding::Value));
            }
            "assignment_expression" | "augmented_assignment_expression" | "for_in_statement" if is_script => {
                // What a loop declares is its own.
                let to = node.child_by_field_name("left").filter(|_| node.child_by_field_name("kind").is_none());
                if to.is_some_and(|to| ["module.exports", "exports.default"].contains(&text(to, source))) {
                    found.hands_on.extend(handed_on(node, source).into_iter().map(str::to_owned));
                }
                for one in declared::set(to.into_iter().collect()) {
                    if is_part(one) {
                        found.patches.push(patch(node, &place, words(one).into_iter(), source));
                        continue;
                    }
                    let (name, of_test, line) = (text(one, source).to_owned(), below.of_test, line_of(node));
                    let is_of_file = declared.is_of_file(&name, place.declares);
                    let scope = if is_of_file { String::new() } else { place.scope.clone() };
                    found.names.push(Name { scope, name, line, of_test, is_member: false, to: Binding::Value });
                }
            }
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "for_statement"
            | "named_expression"
            | "as_pattern"
                if code != Code::Rust =>
            {
                let to = ["left", "name", "alias"].into_iter().find_map(|field| node.child_by_field_name(field));
                let is_opened =
                    node.kind() == "as_pattern" && node.parent().is_some_and(|above| above.kind() == "with_item");
                for one in declared::set(to.into_iter().collect()) {
                    if is_part(one) {
                        found.patches.push(patch(node, &place, words(one).into_iter(), source));
                        continue;
                    }
                    words(one).into_iter().for_each(|name| add(name, Binding::Value));
                    let is_given = is_opened && !text(node, source).contains("nullcontext(");
                    handed.extend(is_given.then(|| (place.scope.clone(), text(one, source).to_owned())));
                }
            }
            "call" | "call_expression" => {
                let called = part(node, "function", source);
                let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                let first = |at: usize| arguments.get(at).map(|one| text(*one, source)).unwrap_or_default();
                if SETS.is_match(called) {
                    let is_path = first(0).starts_with(['"', '\'', '`']);
                    if is_path && code != Code::Python {
                        let module = first(0).trim_matches(['"', '\'', '`']);
                        found.patches.push(patch(node, &place, [module].into_iter(), source));
                    } else {
                        let and = if is_path { "" } else { first(1) };
                        let what = WORDS.find_iter(first(0)).chain(WORDS.find_iter(and)).map(|word| word.as_str());
                        let is_spy = called.ends_with("spyOn") || called == "mock.method";
                        spies.extend(is_spy.then_some(found.patches.len()));
                        if code == Code::Python {
                            let is_handed = |name: &str| {
                                // What is assigned is no longer what was handed over.
                                !source.contains(&format!("{name} = "))
                                    && parts(&place.scope)
                                        .any(|scope| handed.contains(&(scope.to_owned(), name.to_owned())))
                            };
                            lasting.make(found.patches.len(), node, source, is_handed);
                        }
                        found.patches.push(patch(node, &place, what, source));
                    }
                }
                is_restored |= RESTORES.is_match(called);
                let is_test = matches!(called.split('.').next(), Some("test" | "it" | "specify" | "describe"));
                if is_test && is_script {
                    below.scope = inside(&place.scope, &titled(first(0)));
                    found.scopes.insert(below.scope.clone());
                }
            }
            _ => {}
        }
        if code == Code::Python {
            lasting.see(node, source);
        }
        open.extend(children(node).into_iter().rev().map(|child| {
            let mut below = below.clone();
            if let Some(scope) = decorated.as_ref().filter(|_| child.kind() == "decorator") {
                below.scope.clone_from(scope);
            }
            (child, below)
        }));
    }
    if !found.fixtures.is_empty() {
        for word in WORDS.find_iter(source) {
            found.fixtures.get_mut(word.as_str()).into_iter().for_each(|said| *said += 1);
        }
    }
    spies.retain(|_| !is_restored);
    for at in lasting.all().chain(spies) {
        found.patches[at].lasts = true;
    }
}

/// The names that an export, or an assignment to one, hands on as the whole of a script, or in the object that is the whole.
fn handed_on<'s>(node: Node<'_>, source: &'s str) -> Vec<&'s str> {
    let field = |name| node.child_by_field_name(name);
    let Some(whole) = field("value").or(field("right")).or(field("declaration")) else {
        let specifiers = children(node).into_iter().filter(|one| one.kind() == "export_clause").flat_map(children);
        return specifiers
            .filter(|one| part(*one, "alias", source) == "default")
            .map(|one| part(one, "name", source))
            .collect();
    };
    match whole.kind() {
        "identifier" => vec![text(whole, source)],
        "object" => {
            let names = |one: Node<'_>| match one.kind() {
                "shorthand_property_identifier" => text(one, source),
                "pair" => part(one, "key", source),
                _ => part(one, "name", source),
            };
            children(whole).into_iter().map(names).collect()
        }
        _ if text(node, source).starts_with("export default") => vec![part(whole, "name", source)],
        _ => Vec::new(),
    }
}

fn patch<'w>(node: Node<'_>, place: &Place, what: impl Iterator<Item = &'w str>, source: &str) -> Patch {
    let (scope, written) = (place.scope.clone(), text(node, source).to_owned());
    let lasts = !node.kind().starts_with("call");
    Patch { scope, line: line_of(node), written, what: what.map(str::to_owned).collect(), lasts }
}
