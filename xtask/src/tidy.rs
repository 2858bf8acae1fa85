//! `cargo xtask tidy`: the rules of the house that a compiler does not know, each in a file of its own.
//!
//! Must not mend anything; it says which rule is broken where, and what to do.

mod codes;
mod dependencies;
mod files;
mod modules;
mod pages;
mod walls;

use anyhow::{Context, bail};

use crate::workspace;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    /// `path` or `path:line`, from the repository's root.
    place: String,
    /// What is wrong, and what would be right.
    what: String,
}

/// A file that is tracked, or would be if everything were added.
#[derive(Debug)]
struct SourceFile {
    /// From the repository's root, with `/`.
    path: String,
    /// Its text; empty when it is none.
    text: String,
}

impl Breach {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// Checks all rules and names every breach.
pub(crate) fn run() -> anyhow::Result<()> {
    let files = source_files()?;
    let packages = walls::packages()?;
    let mut breaches = walls::check(&packages);
    breaches.extend(files::check(&files, &files::machine_paths()));
    breaches.extend(modules::check(&files));
    breaches.extend(codes::check(&files));
    breaches.extend(pages::check(&files));
    breaches.extend(dependencies::check(&packages, &files));
    if breaches.is_empty() {
        eprintln!("{} files and {} crates keep the rules", files.len(), packages.len());
        return Ok(());
    }
    for Breach { place, what } in &breaches {
        eprintln!("{place}: {what}");
    }
    bail!("{} violations of the project rules (docs/development.md explains them)", breaches.len())
}

/// Everything that git tracks or would track.
fn source_files() -> anyhow::Result<Vec<SourceFile>> {
    let root = workspace::root();
    let mut git = std::process::Command::new("git");
    git.current_dir(&root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    let listed = workspace::output(&mut git)?;
    let mut files = Vec::new();
    for path in listed.split('\0').filter(|path| !path.is_empty()) {
        let absolute = root.join(path);
        // Deleted but not yet staged, or a link to a directory.
        if !absolute.is_file() {
            continue;
        }
        let bytes = std::fs::read(&absolute).with_context(|| format!("cannot read {}", absolute.display()))?;
        files.push(SourceFile { path: path.to_owned(), text: String::from_utf8(bytes).unwrap_or_default() });
    }
    Ok(files)
}
