//! Tests whose assertions stay while a name in them stands for something else, though what it stood for is still there.
//!
//! Must not say whether that was to be changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::code::{ALL, Binding, Bindings, Code, Name, Patch, called_by, parts};
use crate::definition::is_test;
use crate::judgement::Trouble;
use crate::pattern::beside;

/// A part of a file; `None` for the file, or what it hands on as a whole.
type Target = (String, Option<String>);

/// The questions of a file, each with its test.
type Asked<'a> = BTreeSet<(&'a str, &'a str)>;

/// Says the names of a file of the result, and its text.
pub(super) type Read<'m> = dyn FnMut(&str) -> Result<Option<Arc<(Bindings, String)>>, Trouble> + 'm;

/// Most modules that are read for where one name is said.
const MOST_MODULES: usize = 100;
/// Most calls of one question that are compared.
const MOST_CALLS: usize = 16;

/// A name of a test file that stands for something else.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rebound {
    pub(super) line: u32,
    pub(super) name: String,
}

/// The files of the result, and of the tree that the tests are compared with.
pub(super) struct Modules<'m> {
    pub(super) was: &'m dyn Fn(&str) -> bool,
    pub(super) is: &'m dyn Fn(&str) -> bool,
    pub(super) read: &'m mut Read<'m>,
    /// Whether the runner takes back all spies by itself.
    pub(super) restores: bool,
    /// Fails when there is no more time.
    pub(super) go_on: &'m dyn Fn() -> Result<(), Trouble>,
}

/// Names of a test file that stood for a part of the product, or for the language's own, and now stand for something else.
pub(super) fn rebound(
    code: Code,
    path: &str,
    (before, now): (&Bindings, &Bindings),
    modules: &mut Modules<'_>,
) -> Result<Vec<Rebound>, Trouble> {
    let [old, new] = [before, now].map(|all| {
        let of_tests = all.names.iter().filter(|one| is_test(path) || one.of_test);
        of_tests.collect::<Vec<&Name>>()
    });
    let calls: BTreeSet<String> = before.asked.iter().flat_map(|one| called_by(&one.question)).collect();
    let roots = calls.iter().map(|call| root(call)).chain(before.called.iter().map(String::as_str));
    let roots: BTreeSet<&str> = roots.filter(|root| !root.is_empty()).collect();
    let mut targets = BTreeMap::<&str, BTreeSet<Target>>::new();
    for one in &old {
        let Binding::Import(module, name) = &one.to else { continue };
        for local in if one.name == ALL { roots.clone() } else { BTreeSet::from([&*one.name]) } {
            (modules.go_on)()?;
            let wanted = if one.name == ALL { Some(local) } else { name.as_deref() };
            let Some((file, name)) = placed(code, path, module, wanted, modules.was) else { continue };
            let is_product = (modules.is)(&file) && (!is_test(&file) || file == path);
            let target = if is_product { modules.followed(code, file, name)? } else { None };
            targets.entry(local).or_default().extend(target.filter(|(file, _)| !is_test(file) || file == path));
        }
    }
    targets.retain(|_, known| !known.is_empty());
    let bound: BTreeSet<&str> = old.iter().map(|one| &*one.name).collect();
    let unbound = |name: &str| before.called.contains(name) && !bound.contains(name);
    // What a file of Rust says beside its tests, they may call by a path.
    let [said, says] = [before, now].map(|all| {
        let own = all.names.iter().filter(|one| !is_test(path) && !one.of_test && one.to == Binding::Own);
        own.map(|one| &*one.name).collect::<BTreeSet<&str>>()
    });
    let has_all = bound.contains(ALL);
    let stays: BTreeSet<&Binding> = new.iter().map(|one| &one.to).collect();
    // In Go, what another package adds without its name has no name that there is already.
    let keeps_all = code == Code::Go && old.iter().all(|one| one.name != ALL || stays.contains(&one.to));
    let known: BTreeSet<_> = old.iter().map(|one| (&one.scope, &one.name, &one.to)).collect();
    let [was, is] = [before, now].map(|all| {
        let asked = all.asked.iter().map(|one| (&*one.test, &*one.question));
        asked.collect::<BTreeSet<_>>()
    });
    let places = former_places((before, now), (&was, &is));
    let mut found = Vec::new();
    for one in &new {
        let is_assertion = one.name.starts_with("assert");
        let is_asked = if one.is_member { is_assertion } else { places.contains(&*one.scope) };
        let is_gone = said.contains(&*one.name) && !says.contains(&*one.name);
        if !is_asked || is_gone || known.contains(&(&one.scope, &one.name, &one.to)) {
            continue;
        }
        let target = targets.get(&*one.name);
        let is_other = match &one.to {
            Binding::Own => target.is_some() || unbound(&one.name),
            Binding::Value | Binding::Parameter => {
                let is_called = one.scope.is_empty() || roots.contains(&*one.name);
                target.is_some() && is_called || is_assertion && one.is_member
            }
            Binding::Import(..) if one.name == ALL && keeps_all => false,
            Binding::Import(module, name) => {
                let is_alias = name.as_ref().is_some_and(|name| *name != one.name) && !is_assertion;
                let is_taken = code == Code::Rust
                    && unbound(&one.name)
                    && !name.as_ref().is_some_and(|name| calls.contains(&format!("{module}::{name}")));
                let mut is_other = is_taken && is_alias;
                if is_taken && !has_all {
                    is_other |= modules.lead(code, path, module, name.as_deref())?.is_some();
                }
                let of_all = targets.iter().filter(|_| one.name == ALL);
                for (local, known) in of_all.chain(targets.get_key_value(&*one.name)) {
                    let wanted = if one.name == ALL { Some(*local) } else { name.as_deref() };
                    let leads = modules.lead(code, path, module, wanted)?;
                    if let Some(leads) = leads.filter(|leads| !known.contains(leads)) {
                        is_other |= !modules.is_one(code, known, &leads, local)?;
                    }
                }
                is_other
            }
        };
        if is_other {
            found.push(Rebound { line: one.line, name: one.name.clone() });
        }
    }
    found.extend(calls_own((&was, &is), (&bound, &new), |root| targets.contains_key(root)));
    let mut files = BTreeMap::<&str, &str>::new();
    for call in &calls {
        for (file, _) in targets.get(root(call)).into_iter().flatten() {
            files.entry(file).or_insert(call);
        }
    }
    let lasts: BTreeSet<&str> = calls.iter().filter_map(|call| call.rsplit('.').next()).collect();
    let names: BTreeMap<&str, &Name> = new.iter().rev().map(|one| (&*one.name, *one)).collect();
    let written: BTreeSet<&str> = before.patches.iter().map(|one| &*one.written).collect();
    for patch in &now.patches {
        (modules.go_on)()?;
        let is_new = |scope: &str| is_for_new_tests(scope, &places, now);
        let of_new = || is_new(&patch.scope) || is_handed_to(&patch.scope, now, is_new);
        let is_restored =
            modules.restores && ["jest.spyOn", "vi.spyOn"].iter().any(|spy| patch.written.starts_with(spy));
        if written.contains(&*patch.written) || (!patch.lasts || is_restored) && of_new() {
            continue;
        }
        let Some((file, part)) = patched(code, path, patch, &names, modules) else { continue };
        let call = files.get(&*file).filter(|_| part.is_none_or(|part| lasts.contains(part)));
        found.extend(call.map(|call| Rebound { line: patch.line, name: part.unwrap_or(call).to_owned() }));
    }
    found.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    found.dedup_by(|one, other| one.name == other.name || one.line == other.line);
    Ok(found)
}

/// The first name of what is called; empty where it is called on what another call gives.
fn root(call: &str) -> &str {
    call.split(['.', ':']).next().unwrap_or_default()
}

/// Scopes that were there before, and those of a test that asks what a former one asks no more: it may be that one.
fn former_places<'b>(
    (before, now): (&'b Bindings, &'b Bindings),
    (was, is): (&Asked<'_>, &Asked<'_>),
) -> BTreeSet<&'b str> {
    let tests: BTreeSet<&str> = was.iter().map(|(test, _)| *test).collect();
    let gone: BTreeSet<&str> = was.difference(is).map(|(_, question)| *question).collect();
    let moved = is.iter().filter(|(test, question)| !tests.contains(test) && gone.contains(question));
    let moved: BTreeSet<&str> = moved.map(|(test, _)| *test).collect();
    let is_moved = |part: &str| moved.contains(part) || part.rsplit("::").next().is_some_and(|own| moved.contains(own));
    let of_moved = now.scopes.iter().filter(|scope| parts(scope).any(is_moved)).flat_map(|scope| parts(scope));
    before.scopes.iter().map(String::as_str).chain([""]).chain(of_moved).collect()
}

/// Whether what stands there is only for tests that were not there before: a new one, or a new class or group of some.
fn is_for_new_tests(scope: &str, places: &BTreeSet<&str>, now: &Bindings) -> bool {
    let Some(new) = parts(scope).find(|part| !places.contains(part)) else { return false };
    let own = new.rsplit("::").next().unwrap_or(new);
    let test = format!("{new}::test");
    let has_tests = || now.scopes.range(test.clone()..).next().is_some_and(|first| first.starts_with(&test));
    own.starts_with("test") || own.starts_with(['"', '\'', '`']) || own.starts_with(char::is_uppercase) && has_tests()
}

/// Whether what stands there is handed to tests, and all of them are such.
fn is_handed_to(scope: &str, now: &Bindings, is_such: impl Fn(&str) -> bool) -> bool {
    let Some((fixture, said)) = parts(scope).next().and_then(|name| now.fixtures.get_key_value(name)) else {
        return false;
    };
    let takes = now.names.iter().filter(|one| one.to == Binding::Parameter && one.name == *fixture);
    // Its own definition is one of the places where the file says it.
    takes.filter(|one| !one.scope.is_empty() && is_such(&one.scope)).count() + 1 == *said
}

/// Questions that ask a function of the test file with what they asked another.
fn calls_own(
    (was, is): (&Asked<'_>, &Asked<'_>),
    (bound, new): (&BTreeSet<&str>, &[&Name]),
    is_known: impl Fn(&str) -> bool,
) -> Vec<Rebound> {
    let own = new.iter().filter(|one| one.to == Binding::Own && !one.is_member && !bound.contains(&*one.name));
    let own: BTreeMap<&str, &Name> = own.map(|one| (&*one.name, *one)).collect();
    // What is asked, whatever one of its calls is called.
    let asks = |(test, question): &(&'_ str, &'_ str)| {
        let calls = called_by(question).into_iter().take(MOST_CALLS);
        let asks = calls.map(|call| ((test.to_string(), question.replace(&format!("{call}("), "?(")), call));
        asks.collect::<Vec<_>>()
    };
    let fresh = is.difference(was).flat_map(asks).filter_map(|(asks, call)| Some((asks, *own.get(&*call)?)));
    let fresh: BTreeMap<_, &Name> = fresh.collect();
    let gone = was.difference(is).flat_map(asks).filter(|(_, call)| is_known(root(call)));
    let found = gone.filter_map(|(asks, call)| Some((fresh.get(&asks)?.line, call)));
    found.map(|(line, call)| Rebound { line, name: root(&call).to_owned() }).collect()
}

/// The file of what something sets from outside, and the part of it that is set; `None` for all of it.
fn patched<'p>(
    code: Code,
    path: &str,
    patch: &'p Patch,
    names: &BTreeMap<&str, &Name>,
    modules: &Modules<'_>,
) -> Option<(String, Option<&'p str>)> {
    let file = |module: &str, name: Option<&str>| Some(placed(code, path, module, name, modules.is)?.0);
    match &patch.what[..] {
        [module] => Some((file(module, None)?, None)),
        [sys, loaded, module @ ..] if sys == "sys" && loaded == "modules" => {
            Some((file(&module.join("."), None)?, None))
        }
        [of @ .., last] => {
            let imported = of.first().filter(|_| of.len() == 1).and_then(|name| names.get(&**name));
            let file = match imported.map(|name| &name.to) {
                Some(Binding::Import(module, name)) => file(module, name.as_deref())?,
                Some(_) => return None,
                None => file(&of.join("."), None)?,
            };
            Some((file, Some(last)))
        }
        [] => None,
    }
}

impl Modules<'_> {
    /// Where what a file imports is said.
    fn lead(&mut self, code: Code, from: &str, module: &str, name: Option<&str>) -> Result<Option<Target>, Trouble> {
        (self.go_on)()?;
        match placed(code, from, module, name, self.is) {
            Some((file, name)) => self.followed(code, file, name),
            None => Ok(None),
        }
    }

    /// Whether a name leads to one of these: a script may hand on a thing as a whole, or by its name, if both are the same.
    fn is_one(&mut self, code: Code, known: &BTreeSet<Target>, to: &Target, local: &str) -> Result<bool, Trouble> {
        let is_whole = |(_, name): &Target| name.as_ref().is_none_or(|name| name == local);
        let is_alike = is_whole(to) && known.iter().any(|known| known.0 == to.0 && is_whole(known));
        if !is_alike || !code.is_script() {
            return Ok(false);
        }
        let Some(module) = (self.read)(&to.0)? else { return Ok(false) };
        let (bound, text) = &*module;
        Ok(bound.hands_on.contains(local) || bound.hands_on.is_empty() && !makes(code, "default", text))
    }

    /// Where a name of a module is said, through the modules that take it from others.
    fn followed(&mut self, code: Code, file: String, name: Option<String>) -> Result<Option<Target>, Trouble> {
        let Some(name) = name.filter(|_| code != Code::Go) else { return Ok(Some((file, None))) };
        let is_script = code.is_script();
        let target = |(file, name): (String, String)| (file, Some(name).filter(|name| !is_script || name != "default"));
        let (mut seen, mut open, mut maker) = (BTreeSet::new(), vec![(file, name)], None);
        while let Some(at) = open.pop() {
            (self.go_on)()?;
            if !seen.insert(at.clone()) {
                continue;
            }
            let Some(module) = (self.read)(&at.0)? else { return Ok(Some(target(at))) };
            if seen.len() > MOST_MODULES {
                return Ok(None);
            }
            let (bound, text) = &*module;
            let (file, name) = &at;
            let of_product = bound.names.iter().rev().filter(|one| !one.is_member && !one.of_test);
            let said = of_product.clone().find(|one| one.name == *name).map(|one| &one.to);
            let imports = match said {
                Some(Binding::Import(module, name)) => vec![(module, name.as_deref())],
                Some(_) => return Ok(Some(target(at))),
                None => {
                    let all = of_product.filter(|one| one.name == ALL).filter_map(|one| match &one.to {
                        Binding::Import(module, _) => Some((module, Some(&**name))),
                        _ => None,
                    });
                    all.collect()
                }
            };
            for (module, name) in imports {
                match placed(code, file, module, name, self.is) {
                    Some((next, Some(name))) => open.push((next, name)),
                    Some(whole) => return Ok(Some(whole)),
                    // What is not in the tree is the same wherever it is taken from.
                    None if said.is_some() => return Ok(Some((module.clone(), name.map(str::to_owned)))),
                    None => {}
                }
            }
            if said.is_none() && makes(code, name, text) {
                maker.get_or_insert(at);
            }
        }
        Ok(maker.map(target))
    }
}

/// Whether a module may make a name that it does not say when it is loaded.
fn makes(code: Code, name: &str, text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match code {
        Code::JavaScript | Code::TypeScript | Code::Tsx if name == "default" => {
            has(&["export default", "as default", "export =", "module.exports", "exports.default"])
        }
        Code::JavaScript | Code::TypeScript | Code::Tsx => text.contains(name),
        Code::Python => has(&["globals()", "__getattr__", "vars()", "setattr("]),
        Code::Rust | Code::Go => false,
    }
}

/// The file of a module that another one names, and the part of it that is meant.
fn placed(code: Code, from: &str, module: &str, name: Option<&str>, has: &dyn Fn(&str) -> bool) -> Option<Target> {
    let place = from.rsplit_once('/').map_or("", |(place, _)| place);
    let under = |place: &str, path: &str| match (place, path) {
        ("", path) => path.to_owned(),
        (place, "") => place.to_owned(),
        (place, path) => format!("{place}/{path}"),
    };
    let above = || {
        std::iter::successors(Some(place), |place| {
            (!place.is_empty()).then(|| place.rsplit_once('/').map_or("", |(above, _)| above))
        })
    };
    let owned = |name: Option<&str>| name.map(str::to_owned);
    match code {
        Code::Python => {
            let rest = module.trim_start_matches('.');
            let level = module.len() - rest.len();
            let path = rest.replace('.', "/");
            let roots: Vec<String> = match level {
                0 => above().flat_map(|place| [place.to_owned(), under(place, "src"), under(place, "lib")]).collect(),
                _ => vec![above().nth(level - 1)?.to_owned()],
            };
            let file =
                |path: &str| [format!("{path}.py"), under(path, "__init__.py")].into_iter().find(|path| has(path));
            roots.iter().find_map(|root| {
                let module = under(root, &path);
                let part = name.filter(|name| *name != ALL).and_then(|name| file(&under(&module, name)));
                part.map(|part| (part, None)).or_else(|| Some((file(&module)?, owned(name))))
            })
        }
        Code::JavaScript | Code::TypeScript | Code::Tsx => {
            let path = match module.strip_prefix("@/").or_else(|| module.strip_prefix("~/")) {
                Some(rest) => under("src", rest),
                None if module.starts_with('.') => beside(from, module)?,
                None => return None,
            };
            const ENDINGS: [&str; 8] = ["js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts"];
            let stem = path.rsplit_once('.').filter(|(_, end)| ENDINGS.contains(end)).map_or(&*path, |(stem, _)| stem);
            let all = |stem: String| ENDINGS.map(|end| format!("{stem}.{end}")).into_iter();
            let mut files = std::iter::once(path.clone()).chain(all(stem.to_owned())).chain(all(under(&path, "index")));
            Some((files.find(|path| has(path))?, owned(name)))
        }
        Code::Rust => {
            let parts: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
            let (first, rest) = parts.split_first()?;
            if matches!(*first, "self" | "super") {
                return rest.is_empty().then(|| (from.to_owned(), owned(name)));
            }
            if matches!(*first, "std" | "core" | "alloc") {
                return None;
            }
            let above = above().find(|place| has(&under(place, "Cargo.toml")))?;
            let named = ["crates", ""].map(|place| under(place, &first.replace('_', "-")));
            let root = named.into_iter().find(|place| *first != "crate" && has(&under(place, "Cargo.toml")));
            let source = under(root.as_deref().unwrap_or(above), "src");
            // The end of a path may be a module within a file, or a type.
            (0..=rest.len()).rev().find_map(|length| {
                let path = under(&source, &rest[..length].join("/"));
                let files = match length {
                    0 => [under(&path, "lib.rs"), under(&path, "main.rs")],
                    _ => [format!("{path}.rs"), under(&path, "mod.rs")],
                };
                let part = rest.get(length).copied().or(name);
                Some((files.into_iter().find(|path| has(path))?, owned(part)))
            })
        }
        Code::Go => {
            let parts: Vec<&str> = module.split('/').collect();
            let places = (1..parts.len()).map(|at| parts[at..].join("/"));
            places.into_iter().find(|place| has(&format!("{place}/"))).map(|place| (place + "/", None))
        }
    }
}

#[cfg(test)]
#[path = "rebound_test.rs"]
mod tests;
