//! Rules for single files: their size, their names, and that they tell nothing about the machine they were written on.
//!
//! Must not know Rust's grammar; what can be seen line by line is enough.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::{Breach, SourceFile};
use crate::workspace;

const MAX_LINES: usize = 600;
/// Longest `main.rs`, exclusive.
const MAX_MAIN_LINES: usize = 40;
/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "manager", "misc"];
/// People who do not exist: homes that examples and recordings may contain.
const INVENTED_PEOPLE: [&str; 7] = ["user", "dev", "me", "you", "alice", "somebody", "other"];

/// A directory below `/home` or `/Users`.
static HOME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[^\w./-])/(?:home|Users)/([A-Za-z0-9_][\w.-]*)").ok());
/// `mod name`.
static MODULE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*(?:pub(?:\([a-z: ]+\))?\s+)?mod\s+(\w+)").ok());

/// Paths that exist only here: the repository's place, and the homes of its user and of cargo.
pub(super) fn machine_paths() -> Vec<String> {
    let mut paths = vec![workspace::root().display().to_string()];
    for variable in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
        if let Ok(path) = std::env::var(variable) {
            paths.push(path);
        }
    }
    // The home of an invented person is where a real person of that name would work.
    let telling = |path: &String| Path::new(path).components().count() > 1 && !is_invented(path);
    paths.into_iter().filter(telling).collect()
}

fn is_invented(path: &str) -> bool {
    INVENTED_PEOPLE.iter().any(|name| Path::new(path).starts_with(Path::new("/home").join(name)))
}

pub(super) fn check(files: &[SourceFile], machine_paths: &[String]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in files {
        if file.path.ends_with(".rs") {
            size(file, &mut breaches);
            names(file, &mut breaches);
            unit_tests(file, &mut breaches);
        }
        places(file, machine_paths, &mut breaches);
    }
    match files.iter().find(|file| file.path == "CHANGELOG.md") {
        None => breaches.push(Breach::new("CHANGELOG.md", "is missing")),
        Some(file) if !file.text.lines().any(|line| line.starts_with("## ") && line.contains("Unreleased")) => {
            breaches.push(Breach::new("CHANGELOG.md", "has no section \"## Unreleased\""));
        }
        Some(_) => {}
    }
    breaches
}

fn size(file: &SourceFile, breaches: &mut Vec<Breach>) {
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        breaches.push(Breach::new(&file.path, format!("has {lines} lines; split it by noun (at most {MAX_LINES})")));
    }
    if Path::new(&file.path).file_name().is_some_and(|name| name == "main.rs") && lines >= MAX_MAIN_LINES {
        let what = format!("has {lines} lines; a main only starts things (fewer than {MAX_MAIN_LINES})");
        breaches.push(Breach::new(&file.path, what));
    }
}

/// Unit tests of products stand in files of their own, so that a change to one rebuilds no other crate.
fn unit_tests(file: &SourceFile, breaches: &mut Vec<Breach>) {
    let product = file.path.starts_with("crates/") && file.path.contains("/src/") && !file.path.contains("testkit");
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    // `#[path]` stands between the two where the tests have a file whose name says so.
    let inside = lines
        .windows(2)
        .any(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && !pair[1].ends_with("_test;"));
    if product && inside {
        let own = file.path.replace(".rs", "_test.rs");
        breaches.push(Breach::new(&file.path, format!("has unit tests; move them to {own}, named by `#[path]`")));
    }
}

fn names(file: &SourceFile, breaches: &mut Vec<Breach>) {
    let without_extension = file.path.trim_end_matches(".rs");
    if let Some(name) = without_extension.split('/').find(|part| EMPTY_NAMES.contains(part)) {
        breaches.push(Breach::new(&file.path, format!("{name:?} says nothing; name what is inside")));
    }
    for (number, line) in file.text.lines().enumerate() {
        let module = MODULE.as_ref().and_then(|regex| regex.captures(line)).and_then(|found| found.get(1));
        if let Some(name) = module.map(|name| name.as_str()).filter(|name| EMPTY_NAMES.contains(name)) {
            let place = format!("{}:{}", file.path, number + 1);
            breaches.push(Breach::new(place, format!("a module {name:?} says nothing; name what is inside")));
        }
    }
}

fn places(file: &SourceFile, machine_paths: &[String], breaches: &mut Vec<Breach>) {
    for (number, line) in file.text.lines().enumerate() {
        let place = || format!("{}:{}", file.path, number + 1);
        if let Some(path) = machine_paths.iter().find(|path| mentions(line, path)) {
            breaches.push(Breach::new(place(), format!("{path} exists on one machine only")));
            continue;
        }
        let people = HOME.iter().flat_map(|regex| regex.captures_iter(line)).filter_map(|found| found.get(1));
        if let Some(name) = people.map(|name| name.as_str()).find(|name| !INVENTED_PEOPLE.contains(name)) {
            breaches.push(Breach::new(
                place(),
                format!("the home of {name:?} exists on one machine only; write /home/user"),
            ));
        }
    }
}

/// Whether a line contains a path as a path, and not as a part of a longer one.
fn mentions(line: &str, path: &str) -> bool {
    let part_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        !before.is_some_and(|c| part_of_a_name(c) || c == '/') && !after.is_some_and(part_of_a_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> Vec<String> {
        let changelog = SourceFile { path: "CHANGELOG.md".into(), text: "## Unreleased\n".into() };
        let file = SourceFile { path: path.into(), text: text.into() };
        let found = check(&[changelog, file], &["/srv/checkout".into()]);
        found.into_iter().map(|breach| breach.place).collect()
    }

    #[test]
    fn long_files_are_named() {
        assert_eq!(breaches("src/lib.rs", &"x\n".repeat(601)), ["src/lib.rs"]);
        assert_eq!(breaches("src/lib.rs", &"x\n".repeat(600)), [""; 0]);
        assert_eq!(breaches("src/main.rs", &"x\n".repeat(40)), ["src/main.rs"]);
        assert_eq!(breaches("notes.md", &"x\n".repeat(601)), [""; 0]);
    }

    #[test]
    fn unit_tests_beside_product_code_are_named() {
        let text = "#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(breaches("crates/helix-job/src/state.rs", text), ["crates/helix-job/src/state.rs"]);
        assert_eq!(breaches("crates/helix-job/src/state.rs", "#[cfg(test)]\nmod reading_tests;\n").len(), 1);
        assert_eq!(breaches("crates/helix-testkit/src/lib.rs", text), [""; 0]);
        assert_eq!(
            breaches("crates/helix-job/src/state.rs", "#[cfg(test)]\n#[path = \"state_test.rs\"]\nmod tests;\n"),
            [""; 0]
        );
    }

    #[test]
    fn empty_names_are_named() {
        let in_a_name = EMPTY_NAMES[0];
        assert_eq!(breaches(&format!("src/{in_a_name}.rs"), ""), [format!("src/{in_a_name}.rs")]);
        assert_eq!(breaches(&format!("tests/{in_a_name}/mod.rs"), "").len(), 1);
        assert_eq!(breaches("src/lib.rs", &format!("//!\npub(crate) mod {in_a_name};\n")), ["src/lib.rs:2"]);
        assert_eq!(breaches("src/lib.rs", "mod commonmark;\n"), [""; 0]);
    }

    #[test]
    fn paths_of_one_machine_are_named() {
        let home = ["", "home", "carol", "x"].join("/");
        assert_eq!(breaches("a.json", &format!("ok\n\"cwd\": \"{home}\"")), ["a.json:2"]);
        assert_eq!(breaches("a.json", "\"cwd\": \"/home/user/x\""), [""; 0]);
        assert_eq!(breaches("a.md", "see /srv/checkout/target"), ["a.md:1"]);
        assert_eq!(breaches("a.md", "see /srv/checkouts or x/srv/checkout"), [""; 0]);
    }

    #[test]
    fn a_changelog_without_unreleased_changes_is_named() {
        let file = SourceFile { path: "CHANGELOG.md".into(), text: "# Changelog\n".into() };
        assert_eq!(check(&[file], &[]).len(), 1);
        assert_eq!(check(&[], &[]).len(), 1);
    }
}
