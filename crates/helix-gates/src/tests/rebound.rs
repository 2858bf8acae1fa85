//! Tests whose assertions stay while a name in them stands for something else, though what it stood for is still there.
//!
//! Must not say whether that was to be changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::code::{ALL, Bound, Code, Name, Set, To, called_by};
use crate::definition::is_test;
use crate::judgement::Trouble;
use crate::pattern::beside;

/// A part of a file, or the file.
type Target = (String, Option<String>);

/// Says the names of a file of the result, and its text.
pub(super) type Read<'m> = dyn FnMut(&str) -> Result<Option<Arc<(Bound, String)>>, Trouble> + 'm;

/// Most modules that hand a name on to the next.
const MOST_STEPS: usize = 4;

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
}

/// Names of a test file that stood for a part of the product, or for the language's own, and now stand for something else.
pub(super) fn rebound(
    code: Code,
    path: &str,
    (before, now): (&Bound, &Bound),
    modules: &mut Modules<'_>,
) -> Result<Vec<Rebound>, Trouble> {
    let counts = |name: &&Name| is_test(path) || name.of_test;
    let of_tests = |bound: &'_ Bound| bound.names.iter().filter(counts).cloned().collect::<Vec<_>>();
    let (old, new) = (of_tests(before), of_tests(now));
    let mut targets = BTreeMap::<&str, BTreeSet<Target>>::new();
    for one in &old {
        let To::Import(module, name) = &one.to else { continue };
        let names = if one.name == ALL { before.called.iter().map(String::as_str).collect() } else { vec![&*one.name] };
        for local in names {
            let wanted = if one.name == ALL { Some(local) } else { name.as_deref() };
            let Some((file, name)) = placed(code, path, module, wanted, modules.was) else { continue };
            let is_product = (modules.is)(&file) && (!is_test(&file) || file == path);
            let target = if is_product { followed(code, file, name, modules, MOST_STEPS)? } else { None };
            targets.entry(local).or_default().extend(target.filter(|(file, _)| !is_test(file) || file == path));
        }
    }
    targets.retain(|_, known| !known.is_empty());
    let bound: BTreeSet<&str> = old.iter().map(|one| &*one.name).collect();
    let unbound = |name: &str| before.called.contains(name) && !bound.contains(name);
    // What a file of Rust says beside its tests, they may call by a path.
    let is_gone = |name: &str| {
        let says = |bound: &Bound| bound.names.iter().any(|one| !one.of_test && one.name == name && one.to == To::Own);
        !is_test(path) && says(before) && !says(now)
    };
    let calls: BTreeSet<String> = before.asked.iter().flat_map(|one| called_by(&one.question)).collect();
    let has_all = old.iter().any(|one| one.name == ALL);
    let known: BTreeSet<_> = old.iter().map(|one| (&one.scope, &one.name, &one.to)).collect();
    let mut found = Vec::new();
    for one in &new {
        let is_assertion = one.name.starts_with("assert");
        if known.contains(&(&one.scope, &one.name, &one.to)) || one.is_member && !is_assertion || is_gone(&one.name) {
            continue;
        }
        let target = targets.get(&*one.name);
        let is_of_old = one.scope.is_empty() || before.scopes.contains(&one.scope);
        let is_other = match &one.to {
            To::Own => target.is_some() || unbound(&one.name),
            To::Value if one.scope.is_empty() => target.is_some(),
            To::Value => {
                target.is_some() && is_of_old && before.called.contains(&one.name) || is_assertion && one.is_member
            }
            To::Handed => target.is_some() && is_of_old && before.called.contains(&one.name),
            To::Import(module, name) => {
                let is_alias = name.as_ref().is_some_and(|name| *name != one.name) && !is_assertion;
                let is_taken = code == Code::Rust
                    && unbound(&one.name)
                    && !name.as_ref().is_some_and(|name| calls.contains(&format!("{module}::{name}")));
                let mut is_other = is_taken && is_alias;
                if let Some((file, name)) = placed(code, path, module, name.as_deref(), modules.is).filter(|_| is_taken)
                {
                    is_other |= !has_all && followed(code, file, name, modules, MOST_STEPS)?.is_some();
                }
                for (local, known) in &targets {
                    if one.name != *local && one.name != ALL {
                        continue;
                    }
                    let wanted = if one.name == ALL { Some(*local) } else { name.as_deref() };
                    let leads = match placed(code, path, module, wanted, modules.is) {
                        Some((file, name)) => followed(code, file, name, modules, MOST_STEPS)?,
                        None => None,
                    };
                    is_other |= leads.is_some_and(|leads| !known.contains(&leads));
                }
                is_other
            }
        };
        if is_other {
            found.push(Rebound { line: one.line, name: one.name.clone() });
        }
    }
    found.extend(calls_own((before, now), (&old, &new), |root| targets.contains_key(root)));
    for set in now.set.iter().filter(|set| !before.set.iter().any(|old| old.written == set.written)) {
        if let Some(name) = set_elsewhere(code, path, set, (before, &new), &targets, modules) {
            found.push(Rebound { line: set.line, name });
        }
    }
    found.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    found.dedup_by(|one, other| one.name == other.name || one.line == other.line);
    Ok(found)
}

/// Questions that ask a function of the test file with what they asked another.
fn calls_own(
    (before, now): (&Bound, &Bound),
    (old, new): (&[Name], &[Name]),
    is_known: impl Fn(&str) -> bool,
) -> Vec<Rebound> {
    let known: BTreeSet<&str> = old.iter().map(|one| &*one.name).collect();
    let own = new.iter().filter(|one| one.to == To::Own && !one.is_member && !known.contains(&*one.name));
    let own: Vec<&Name> = own.collect();
    let asked: BTreeSet<(&str, &str)> = now.asked.iter().map(|is| (&*is.test, &*is.question)).collect();
    let mut found = Vec::new();
    for was in &before.asked {
        let Some(call) = called_by(&was.question).into_iter().find(|call| was.question.contains(&format!("{call}(")))
        else {
            continue;
        };
        let root = call.split(['.', ':']).next().unwrap_or_default();
        if !is_known(root) || asked.contains(&(&*was.test, &*was.question)) {
            continue;
        }
        for one in &own {
            let asks = was.question.replace(&format!("{call}("), &format!("{}(", one.name));
            if asked.contains(&(&*was.test, &*asks)) {
                found.push(Rebound { line: one.line, name: root.to_owned() });
            }
        }
    }
    found
}

/// The name of what a test asks and something sets from outside.
fn set_elsewhere(
    code: Code,
    path: &str,
    set: &Set,
    (before, names): (&Bound, &[Name]),
    targets: &BTreeMap<&str, BTreeSet<Target>>,
    modules: &Modules<'_>,
) -> Option<String> {
    let own = set.scope.rsplit("::").next().unwrap_or_default();
    let is_new_test =
        !before.scopes.contains(&set.scope) && (own.starts_with("test") || own.starts_with(['"', '\'', '`']));
    if is_new_test {
        return None;
    }
    let calls: Vec<String> = before.asked.iter().flat_map(|one| called_by(&one.question)).collect();
    let file = |module: &str| placed(code, path, module, None, modules.is).map(|(file, _)| file);
    let asks_of = |file: &str| {
        let leads = |root: &str| targets.get(root).is_some_and(|known| known.iter().any(|(known, _)| known == file));
        calls.iter().find(|call| leads(call.split('.').next().unwrap_or_default())).cloned()
    };
    let module = match &set.what[..] {
        [module] => Some(module.clone()),
        [sys, loaded, module @ ..] if sys == "sys" && loaded == "modules" => Some(module.join(".")),
        _ => None,
    };
    if let Some(module) = module {
        return asks_of(&file(&module)?);
    }
    let (last, of) = set.what.split_last()?;
    if !calls.iter().any(|call| call.rsplit('.').next() == Some(last)) {
        return None;
    }
    let imported = names.iter().find(|name| Some(&name.name) == of.first() && of.len() == 1);
    let module = match imported.map(|name| &name.to) {
        Some(To::Import(module, None)) => file(module)?,
        Some(To::Import(module, Some(name))) => placed(code, path, module, Some(name), modules.is)?.0,
        Some(To::Own | To::Value | To::Handed) => return None,
        None => file(&of.join("."))?,
    };
    asks_of(&module).map(|_| last.clone())
}

/// Where a name of a module is said, through the modules that take it from others.
fn followed(
    code: Code,
    file: String,
    name: Option<String>,
    modules: &mut Modules<'_>,
    steps: usize,
) -> Result<Option<Target>, Trouble> {
    let Some(name) = name.filter(|_| code != Code::Go) else { return Ok(Some((file, None))) };
    let Some(module) = (modules.read)(&file)?.filter(|_| steps > 0) else { return Ok(Some((file, Some(name)))) };
    let (bound, text) = &*module;
    let said = bound.names.iter().rev().find(|one| one.name == name && !one.is_member && !one.of_test);
    let imports = match said.map(|one| &one.to) {
        Some(To::Import(module, name)) => vec![(module, name.clone())],
        Some(To::Own | To::Value | To::Handed) => return Ok(Some((file, Some(name)))),
        None => {
            let all = bound.names.iter().filter(|one| one.name == ALL && !one.of_test);
            all.filter_map(|one| match &one.to {
                To::Import(module, _) => Some((module, Some(name.clone()))),
                To::Own | To::Value | To::Handed => None,
            })
            .collect()
        }
    };
    for (module, name) in imports {
        let found = match placed(code, &file, module, name.as_deref(), modules.is) {
            Some((next, name)) if next != file => followed(code, next, name, modules, steps - 1)?,
            Some(_) => None,
            // What is not in the tree is the same wherever it is taken from.
            None if said.is_some() => Some((module.clone(), name)),
            None => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    // A module may make its names when it is loaded.
    let makes = match code {
        Code::JavaScript | Code::TypeScript | Code::Tsx => name == "default" || text.contains(&name),
        Code::Python => ["globals()", "__getattr__", "vars()", "setattr("].iter().any(|word| text.contains(word)),
        Code::Rust | Code::Go => false,
    };
    Ok(makes.then_some((file, Some(name))))
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
