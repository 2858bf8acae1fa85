//! What a preparation is known by: the files that decide what is installed, the commands, and what is copied.
//!
//! Must not know what is done with it.

use helix_core::ids::CommitId;
use helix_git::{EntryKind, GitError, Repository, TreeListing};
use sha2::{Digest as _, Sha256};

/// Files that decide what package managers install, wherever they lie.
const DECIDE: [&str; 42] = [
    ".node-version",
    ".npmrc",
    ".nvmrc",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    ".yarnrc.yml",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "Pipfile",
    "Pipfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "bun.lock",
    "bun.lockb",
    "composer.json",
    "composer.lock",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "gradle.lockfile",
    "gradle.properties",
    "libs.versions.toml",
    "mise.toml",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "pom.xml",
    "pylock.toml",
    "pyproject.toml",
    "rust-toolchain.toml",
    "setup.cfg",
    "setup.py",
    "uv.lock",
    "yarn.lock",
];

/// Whether a file decides what is installed.
pub(crate) fn decides(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let requirements = name.ends_with(".txt") || name.ends_with(".in");
    DECIDE.binary_search(&name).is_ok()
        || requirements && (name.contains("requirements") || name.contains("constraints"))
}

/// The files of a commit that decide what is installed, in short.
pub(crate) fn locks(repository: &Repository, commit: &CommitId) -> Result<String, GitError> {
    let files = repository.listing(&repository.commit(commit.as_str())?.tree)?;
    Ok(digest_of(&files))
}

fn digest_of(files: &TreeListing) -> String {
    let mut hash = Sha256::new();
    // Of a submodule, the commit has all such files.
    for (path, entry) in files.iter().filter(|(path, entry)| decides(path) || entry.kind == EntryKind::Submodule) {
        hash.update(format!("{path}\0{}\0", entry.object));
    }
    format!("{:x}", hash.finalize())
}

/// Parts put together, each with its length in front.
pub(crate) fn key_of(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(format!("{}\0{part}", part.len()));
    }
    // It is part of paths, which the first line of scripts has no room for.
    format!("{:.16x}", hash.finalize())
}

#[cfg(test)]
#[path = "key_test.rs"]
mod tests;
