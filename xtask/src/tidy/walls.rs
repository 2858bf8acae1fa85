//! The walls between crates: who may use whom, and which foreign things each may not know (`ARCHITECTURE.md`).
//!
//! Must not know versions or features; `cargo metadata` says what a manifest asks for.

use anyhow::Context;
use serde_json::Value;

use super::Breach;
use crate::workspace;

/// A crate of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// Its manifest, from the repository's root.
    pub(super) manifest: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// One line of a manifest.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// Whether it is another crate of the workspace.
    pub(super) origin: Origin,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Workspace,
    Registry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of what is shipped (normal and build dependencies).
    Shipped,
    /// For tests, examples and benchmarks.
    Development,
}

/// What a crate may use and what it must not know.
struct Wall {
    name: &'static str,
    /// Crates of the workspace that it may use.
    may_use: &'static [&'static str],
    /// Other people's crates that stand for what it must not know.
    must_not_know: &'static [&'static str],
}

/// Crates that stand for a clock, a disk, a network, a process or async: what the pure crates do without.
const SURROUNDINGS: &[&str] = &[
    "tokio",
    "tokio-util",
    "tokio-stream",
    "futures",
    "async-trait",
    "rusqlite",
    "axum",
    "hyper",
    "reqwest",
    "tower",
    "rustix",
    "nix",
    "libc",
    "inotify",
    "signal-hook",
    "getrandom",
    "rand",
    "tempfile",
    "clap",
    "tracing-subscriber",
];

/// Crates that stand for the database, HTTP and the terminal.
const FRONT_ENDS: &[&str] = &["rusqlite", "axum", "hyper", "reqwest", "tower", "rmcp", "clap", "ratatui"];

const WALLS: &[Wall] = &[
    Wall { name: "helix-core", may_use: &[], must_not_know: SURROUNDINGS },
    Wall { name: "helix-language", may_use: &["helix-core"], must_not_know: SURROUNDINGS },
    Wall { name: "helix-plan", may_use: &["helix-core"], must_not_know: SURROUNDINGS },
    Wall { name: "helix-adr", may_use: &["helix-core", "helix-plan"], must_not_know: SURROUNDINGS },
    Wall { name: "helix-failure", may_use: &["helix-core"], must_not_know: SURROUNDINGS },
    Wall {
        name: "helix-job",
        may_use: &["helix-core", "helix-language", "helix-plan", "helix-adr", "helix-failure"],
        must_not_know: SURROUNDINGS,
    },
    Wall {
        name: "helix-agents",
        may_use: &["helix-core", "helix-language", "helix-process"],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-store",
        may_use: &["helix-core", "helix-failure", "helix-job"],
        must_not_know: &[
            "axum",
            "hyper",
            "reqwest",
            "tower",
            "rmcp",
            "nix",
            "inotify",
            "signal-hook",
            "clap",
            "ratatui",
        ],
    },
    Wall { name: "helix-process", may_use: &["helix-core", "helix-language"], must_not_know: FRONT_ENDS },
    Wall { name: "helix-git", may_use: &["helix-core", "helix-language", "helix-process"], must_not_know: FRONT_ENDS },
    Wall {
        name: "helix-project",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-plan",
            "helix-adr",
            "helix-job",
            "helix-process",
            "helix-git",
        ],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-workspace",
        may_use: &["helix-core", "helix-language", "helix-plan", "helix-process", "helix-git"],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-gates",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-plan",
            "helix-adr",
            "helix-process",
            "helix-git",
            "helix-project",
            "helix-workspace",
        ],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-runs",
        may_use: &["helix-core", "helix-language", "helix-job", "helix-agents", "helix-store"],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-consultant",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-plan",
            "helix-adr",
            "helix-job",
            "helix-process",
            "helix-agents",
            "helix-store",
            "helix-project",
            "helix-runs",
        ],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-engine",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-plan",
            "helix-adr",
            "helix-failure",
            "helix-job",
            "helix-process",
            "helix-git",
            "helix-project",
            "helix-gates",
            "helix-workspace",
            "helix-agents",
            "helix-store",
            "helix-runs",
            "helix-consultant",
        ],
        must_not_know: FRONT_ENDS,
    },
    Wall {
        name: "helix-web",
        may_use: &["helix-core", "helix-language", "helix-plan", "helix-job", "helix-project", "helix-engine"],
        must_not_know: &["rusqlite", "reqwest", "nix", "inotify", "signal-hook", "clap", "ratatui"],
    },
    Wall {
        name: "helix-server",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-failure",
            "helix-job",
            "helix-git",
            "helix-project",
            "helix-engine",
            "helix-web",
        ],
        must_not_know: &["rusqlite", "nix", "inotify", "signal-hook", "clap", "ratatui"],
    },
    Wall {
        name: "helix",
        may_use: &[
            "helix-core",
            "helix-language",
            "helix-plan",
            "helix-adr",
            "helix-failure",
            "helix-job",
            "helix-process",
            "helix-git",
            "helix-project",
            "helix-workspace",
            "helix-agents",
            "helix-store",
            "helix-engine",
            "helix-server",
        ],
        must_not_know: &["rusqlite"],
    },
    Wall { name: "helix-testkit", may_use: &["helix-core"], must_not_know: &["rusqlite"] },
    Wall { name: "xtask", may_use: &["helix-testkit"], must_not_know: &["rusqlite"] },
];

/// Test tools that every crate may use for its tests.
const FOR_TESTS: &str = "helix-testkit";

/// The crates of the workspace with what their manifests ask for.
pub(super) fn packages() -> anyhow::Result<Vec<Package>> {
    let text = workspace::output(workspace::cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed something unexpected")?;
    let root = workspace::root();
    let mut packages = Vec::new();
    for package in list(&metadata, "packages") {
        let manifest = std::path::Path::new(word(package, "manifest_path"));
        let manifest = manifest.strip_prefix(&root).unwrap_or(manifest).display().to_string();
        let dependencies = list(package, "dependencies").iter().map(dependency).collect();
        packages.push(Package { name: word(package, "name").to_owned(), manifest, dependencies });
    }
    Ok(packages)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn dependency(value: &Value) -> Dependency {
    Dependency {
        name: word(value, "name").to_owned(),
        origin: if value["path"].is_string() { Origin::Workspace } else { Origin::Registry },
        kind: if word(value, "kind") == "dev" { Kind::Development } else { Kind::Shipped },
    }
}

/// Compares every manifest with the walls.
pub(super) fn check(packages: &[Package]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for package in packages {
        let Some(wall) = WALLS.iter().find(|wall| wall.name == package.name) else {
            let what = format!("{} is in no wall; add it to xtask/src/tidy/walls.rs and ARCHITECTURE.md", package.name);
            breaches.push(Breach::new(&package.manifest, what));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some(why) = forbidden(wall, dependency) {
                breaches.push(Breach::new(&package.manifest, why));
            }
        }
    }
    breaches
}

fn forbidden(wall: &Wall, dependency: &Dependency) -> Option<String> {
    let Wall { name, may_use, must_not_know } = wall;
    let other = dependency.name.as_str();
    match (dependency.origin, dependency.kind) {
        (Origin::Workspace, Kind::Development) if other == FOR_TESTS => None,
        (Origin::Workspace, _) if may_use.contains(&other) => None,
        (Origin::Workspace, _) if may_use.is_empty() => {
            Some(format!("{name} must not use {other}, nor any other crate of ours"))
        }
        (Origin::Workspace, _) => Some(format!("{name} must not use {other}, only {}", may_use.join(", "))),
        (Origin::Registry, Kind::Shipped) if must_not_know.contains(&other) => {
            Some(format!("{name} must not know {other}; the crate that owns such things does"))
        }
        (Origin::Registry, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, origin: Origin, kind: Kind, other: &str) -> Package {
        let dependencies = vec![Dependency { name: other.into(), origin, kind }];
        Package { name: name.into(), manifest: format!("crates/{name}/Cargo.toml"), dependencies }
    }

    #[test]
    fn allowed_edges_pass_and_others_do_not() {
        use Kind::{Development, Shipped};
        use Origin::{Registry, Workspace};
        for (name, origin, kind, other, breaches) in [
            ("helix-agents", Workspace, Shipped, "helix-core", 0),
            ("helix-agents", Workspace, Development, "helix-testkit", 0),
            ("helix-agents", Workspace, Shipped, "helix-testkit", 1),
            ("helix-agents", Workspace, Development, "helix-store", 1),
            ("helix-store", Workspace, Shipped, "helix-agents", 1),
            ("helix-core", Workspace, Shipped, "helix-agents", 1),
            ("helix-core", Registry, Shipped, "tokio", 1),
            ("helix-core", Registry, Development, "tempfile", 0),
            ("helix-server", Workspace, Shipped, "helix-store", 1),
            ("helix-server", Registry, Shipped, "rusqlite", 1),
            ("helix-store", Registry, Shipped, "rusqlite", 0),
            ("helix-new", Registry, Shipped, "serde", 1),
        ] {
            let found = check(&[package(name, origin, kind, other)]);
            assert_eq!(found.len(), breaches, "{name} -> {other} ({kind:?}): {found:?}");
        }
    }
}
