//! Walls inside crates: no cycle of imports between modules that are not parent and child, and paths that a crate must
//! not name.
//!
//! Must not know types: a reference counts where its path is written, resolved through `use` and re-exports of the crate.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::{Breach, SourceFile};

/// A module's path in its crate, or a path that names something in it.
type Path = Vec<String>;

/// Paths that a crate must not name though it may use the crate that they are in, and why.
const FORBIDDEN_PATHS: &[(&str, &str, &str)] =
    &[("helix", "helix_agents::dialect", "the terminal must not know agent dialects; ask the engine")];

/// A module with what it refers to.
#[derive(Debug, Default)]
struct Module {
    /// Paths as written, from `use` and from expressions, types and patterns.
    references: Vec<Path>,
    /// What `use` brings in here: the name, and the path that it stands for.
    names: BTreeMap<String, Path>,
}

/// Checks the modules of all crates.
pub(super) fn check(files: &[SourceFile]) -> Vec<Breach> {
    let mut crates: BTreeMap<&str, BTreeMap<Path, Module>> = BTreeMap::new();
    let mut breaches = Vec::new();
    for file in files {
        let Some((name, path)) = place(&file.path) else { continue };
        match syn::parse_file(&file.text) {
            Ok(parsed) => read(&parsed.items, path, crates.entry(name).or_default()),
            Err(error) => breaches.push(Breach::new(&file.path, format!("cannot be parsed: {error}"))),
        }
    }
    for (name, modules) in &crates {
        for (parent, members, edges) in cycles(modules) {
            let (within, members) = ([vec![(*name).to_owned()], parent].concat().join("::"), members.join(", "));
            let edges = edges.join(", ");
            let what = format!("cycle of imports between {members}; move what they share beneath both: {edges}");
            breaches.push(Breach::new(within, what));
        }
        for (owner, forbidden, why) in FORBIDDEN_PATHS.iter().filter(|(owner, ..)| owner == name) {
            let forbidden: Path = forbidden.split("::").map(str::to_owned).collect();
            let named =
                modules.iter().filter(|(_, module)| module.references.iter().any(|path| path.starts_with(&forbidden)));
            breaches.extend(
                named.map(|(path, _)| Breach::new([vec![(*owner).to_owned()], path.clone()].concat().join("::"), *why)),
            );
        }
    }
    breaches
}

/// The crate and the module path of a file of a crate's `src`, unless it holds tests alone.
fn place(file: &str) -> Option<(&str, Path)> {
    let (name, rest) = file.strip_prefix("crates/")?.split_once("/src/")?;
    let stem = rest.strip_suffix(".rs").filter(|stem| !stem.ends_with("_test"))?;
    let mut path: Path = stem.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        path.pop();
    }
    Some((name, path))
}

/// Reads the items of a module and of the modules written in it.
fn read(items: &[Item], path: Path, modules: &mut BTreeMap<Path, Module>) {
    let mut module = Module::default();
    for item in items {
        match item {
            Item::Mod(inner) if is_test(&inner.attrs) => {}
            Item::Mod(inner) => {
                if let Some((_, items)) = &inner.content {
                    read(items, [path.clone(), vec![inner.ident.to_string()]].concat(), modules);
                }
            }
            other => module.visit_item(other),
        }
    }
    modules.insert(path, module);
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => false,
    })
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.import(&item.tree, Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.references.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    // What a macro is given is only tokens; a path among them is still a reference.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(" :: ", "::");
        let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
        let paths = words.filter(|word| word.contains("::"));
        self.references.extend(paths.map(|path| path.split("::").map(str::to_owned).collect()));
        visit::visit_macro(self, call);
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, mut path: Path) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(&part.tree, path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path.clone())),
            UseTree::Name(name) => self.bring_in(name.ident.to_string(), path, &name.ident),
            UseTree::Rename(rename) => self.bring_in(rename.rename.to_string(), path, &rename.ident),
            UseTree::Glob(_) => self.references.push(path),
        }
    }

    fn bring_in(&mut self, name: String, mut path: Path, what: &syn::Ident) {
        if what != "self" {
            path.push(what.to_string());
        }
        self.references.push(path.clone());
        self.names.insert(name, path);
    }
}

/// The module that a path written in `from` leads to; `None` when it leads out of the crate.
fn target(modules: &BTreeMap<Path, Module>, from: &Path, path: &[String], depth: usize) -> Option<Path> {
    let (mut place, rest): (Path, &[String]) = match path.first().map(String::as_str)? {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (from.clone(), &path[1..]),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            (from[..from.len().saturating_sub(up)].to_vec(), &path[up..])
        }
        first if modules.contains_key(&[from.clone(), vec![first.to_owned()]].concat()) => (from.clone(), path),
        _ => return None,
    };
    let mut rest = rest.iter();
    for part in rest.by_ref() {
        let child = [place.clone(), vec![part.clone()]].concat();
        if modules.contains_key(&child) {
            place = child;
            continue;
        }
        // A name that the module re-exports from below is defined where it comes from.
        let exported = modules.get(&place).and_then(|module| module.names.get(part)).filter(|_| depth < 8);
        return Some(exported.and_then(|path| target(modules, &place, path, depth + 1)).unwrap_or(place));
    }
    Some(place)
}

/// Circles between modules of one parent, each with the parent, its members and the references that make it.
fn cycles(modules: &BTreeMap<Path, Module>) -> Vec<(Path, Vec<String>, Vec<String>)> {
    let mut levels: BTreeMap<Path, BTreeMap<String, BTreeMap<String, String>>> = BTreeMap::new();
    for (from, module) in modules {
        for reference in &module.references {
            let Some(to) = target(modules, from, reference, 0) else { continue };
            let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(own), Some(other)) = (from.get(shared), to.get(shared)) {
                let edges = levels.entry(from[..shared].to_vec()).or_default().entry(own.clone()).or_default();
                let edge = || format!("{} -> {}", from.join("::"), to.join("::"));
                edges.entry(other.clone()).or_insert_with(edge);
            }
        }
    }
    let mut found = Vec::new();
    for (parent, edges) in levels {
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            edges.keys().map(|name| (name, reach(&edges, name))).collect();
        let mut told = BTreeSet::new();
        for (name, own) in &reached {
            if !own.contains(name) || told.contains(name) {
                continue;
            }
            let back = |other: &&&String| reached.get(**other).is_some_and(|theirs| theirs.contains(name));
            let members: Vec<&String> = own.iter().filter(back).copied().collect();
            let among = members.iter().flat_map(|member| edges[*member].iter());
            let lines = among.filter(|(to, _)| members.contains(to)).map(|(_, edge)| edge.clone()).collect();
            told.extend(members.iter().copied());
            found.push((parent.clone(), members.into_iter().cloned().collect(), lines));
        }
    }
    found
}

/// Every module of a level that one leads to, over others too.
fn reach<'a>(edges: &'a BTreeMap<String, BTreeMap<String, String>>, from: &'a str) -> BTreeSet<&'a String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        let others = edges.get(next).into_iter().flat_map(BTreeMap::keys);
        open.extend(others.filter(|other| seen.insert(*other)).map(String::as_str));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile { path: format!("crates/a/src/{path}"), text: (*text).to_owned() })
            .collect();
        check(&files).into_iter().map(|breach| format!("{}: {}", breach.place, breach.what)).collect()
    }

    #[test]
    fn cycles_between_siblings_are_found_and_parents_may_know_their_children() {
        let found = cycles_of(&[
            ("lib.rs", "mod one; mod two; pub use one::One;"),
            ("one.rs", "use crate::two::deep::Two; pub struct One;"),
            ("two/mod.rs", "pub mod deep;"),
            ("two/deep.rs", "pub struct Two(crate::One);"),
        ]);
        let wanted = "a: cycle of imports between one, two; move what they share beneath both: \
                      one -> two::deep, two::deep -> one";
        assert_eq!(found, [wanted]);
        assert_eq!(cycles_of(&[("lib.rs", "mod one; use one::One;"), ("one.rs", "use crate::Other;")]), [""; 0]);
    }

    #[test]
    fn tests_may_use_everything_and_macros_count() {
        let one = "fn f() { format!(\"{}\", super::two::X); }";
        let two = "pub const X: u8 = 1; #[cfg(test)] mod tests { use crate::one; }";
        assert_eq!(cycles_of(&[("lib.rs", ""), ("one.rs", one), ("two.rs", two)]), [""; 0]);
        let two = "pub const X: u8 = 1; use super::one;";
        assert_eq!(cycles_of(&[("lib.rs", ""), ("one.rs", one), ("two.rs", two)]).len(), 1);
    }

    #[test]
    fn a_forbidden_path_is_named_with_its_module() {
        let file = SourceFile {
            path: "crates/helix/src/commands/doctor.rs".into(),
            text: "fn f() { helix_agents::dialect(x); } fn g() { helix_agents::keeper_main(); }".into(),
        };
        let found = check(&[file]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "helix::commands::doctor");
    }
}
