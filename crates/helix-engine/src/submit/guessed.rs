//! Outputs whose paths look guessed: a plan that was written without a look at the tree names `src/routes_evolution.py` where the
//! project has `src/api/routes_evolution.py`, and gets a second file.
//!
//! Must not know git: it is given the paths of the commit that the job starts from.

use std::collections::{BTreeMap, BTreeSet};

use helix_plan::{Plan, is_glob};

/// Names that every directory may have one of, by what stands before the first dot.
const COMMON: [&str; 14] = [
    "__init__",
    "__main__",
    "conftest",
    "index",
    "main",
    "mod",
    "lib",
    "app",
    "readme",
    "changelog",
    "license",
    "cargo",
    "package",
    "setup",
];

/// An output that no file of the commit and no directory of it leads to, and the file of the same name that is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guess<'a> {
    /// Index of the phase and of its output.
    pub(super) at: (usize, usize),
    pub(super) output: &'a str,
    pub(super) there: &'a str,
}

/// The outputs that look guessed: plain paths into a directory that is not there, with a name that just one other file has.
pub(super) fn guesses<'a>(plan: &'a Plan, paths: impl Iterator<Item = &'a str> + Clone) -> Vec<Guess<'a>> {
    let mut directories = BTreeSet::new();
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        let (directory, name) = split(path);
        named.entry(name).or_default().push(path);
        let mut above = directory;
        while !above.is_empty() && directories.insert(above) {
            above = split(above).0;
        }
    }
    let mut found = Vec::new();
    for (phase, one) in plan.phases.iter().enumerate() {
        for (index, output) in one.outputs.iter().enumerate() {
            let (directory, name) = split(output);
            let stem = name.split('.').next().unwrap_or_default().to_lowercase();
            let plain = !name.is_empty() && !is_glob(output);
            if !plain || COMMON.contains(&stem.as_str()) || directory.is_empty() || directories.contains(directory) {
                continue;
            }
            if let Some([there]) = named.get(name).map(Vec::as_slice) {
                found.push(Guess { at: (phase, index), output, there });
            }
        }
    }
    found
}

/// Directory and name of a path; the directory of a name alone is empty.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
#[path = "guessed_test.rs"]
mod tests;
