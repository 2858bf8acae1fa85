//! `docs/dependencies.md` and the manifests name the same libraries, so that each one has a reason that can be read.
//!
//! Must not judge the reasons.

use std::collections::BTreeMap;

use super::walls::{Origin, Package};
use super::{Breach, SourceFile};

const PAGE: &str = "docs/dependencies.md";

/// Compares the manifests with the page.
pub(super) fn check(packages: &[Package], files: &[SourceFile]) -> Vec<Breach> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Breach::new(PAGE, "is missing")];
    };
    let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
    let mut breaches = Vec::new();
    for (number, line) in page.text.lines().enumerate() {
        let Some((name, reason)) = row(line) else { continue };
        let place = format!("{PAGE}:{}", number + 1);
        if reason.is_empty() {
            breaches.push(Breach::new(&place, format!("{name} has no reason")));
        }
        if explained.insert(name, number + 1).is_some() {
            breaches.push(Breach::new(&place, format!("{name} is there twice")));
        }
    }
    let mut used: BTreeMap<&str, &str> = BTreeMap::new();
    for package in packages {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.origin == Origin::Registry) {
            used.entry(&dependency.name).or_insert(&package.manifest);
        }
    }
    for (name, manifest) in &used {
        if !explained.contains_key(name) {
            breaches.push(Breach::new(*manifest, format!("{name} has no line in {PAGE}: why is it needed?")));
        }
    }
    for (name, line) in declared(files) {
        if !used.contains_key(name) && !packages.iter().any(|package| package.name == name) {
            breaches.push(Breach::new(format!("Cargo.toml:{line}"), format!("{name} is not used by any crate")));
        }
    }
    for (name, line) in &explained {
        if !used.contains_key(name) {
            breaches.push(Breach::new(format!("{PAGE}:{line}"), format!("{name} is not used by any crate")));
        }
    }
    breaches
}

/// Names and lines of the workspace's own list of versions.
fn declared(files: &[SourceFile]) -> Vec<(&str, usize)> {
    let manifest = files.iter().find(|file| file.path == "Cargo.toml").map_or("", |file| &file.text);
    let lines = manifest.lines().enumerate().skip_while(|(_, line)| *line != "[workspace.dependencies]").skip(1);
    let section = lines.take_while(|(_, line)| !line.starts_with('['));
    section.filter_map(|(number, line)| Some((line.split_once(" =")?.0, number + 1))).collect()
}

/// A row of the table: a name in back quotes, and the reason.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    Some((name, rest.trim().trim_end_matches('|').trim()))
}

#[cfg(test)]
mod tests {
    use super::super::walls::{Dependency, Kind};
    use super::*;

    #[test]
    fn every_library_has_a_reason_and_every_reason_a_library() {
        let dependency = |name: &str, origin| Dependency { name: name.into(), origin, kind: Kind::Shipped };
        let packages = [Package {
            name: "helix".into(),
            manifest: "crates/helix/Cargo.toml".into(),
            dependencies: vec![
                dependency("serde", Origin::Registry),
                dependency("clap", Origin::Registry),
                dependency("helix-core", Origin::Workspace),
            ],
        }];
        let text = "| crate | why |\n|---|---|\n| `serde` | derives |\n| `rand` | |\n";
        let page = SourceFile { path: PAGE.into(), text: text.into() };
        let list = "[package]\nname = \"x\"\n\n[workspace.dependencies]\nhelix = { path = \"helix\" }\nclap = \"4\"\nurl = \"2\"\n\n[lints]\na = 1\n";
        let manifest = SourceFile { path: "Cargo.toml".into(), text: list.into() };
        let found: Vec<_> =
            check(&packages, &[manifest, page]).into_iter().map(|breach| (breach.place, breach.what)).collect();
        let expected = [
            ("docs/dependencies.md:4", "rand has no reason"),
            ("crates/helix/Cargo.toml", "clap has no line in docs/dependencies.md: why is it needed?"),
            ("Cargo.toml:7", "url is not used by any crate"),
            ("docs/dependencies.md:4", "rand is not used by any crate"),
        ];
        assert_eq!(found, expected.map(|(place, what)| (place.to_owned(), what.to_owned())));
        assert_eq!(check(&packages, &[]).len(), 1, "the page itself is missing");
    }
}
