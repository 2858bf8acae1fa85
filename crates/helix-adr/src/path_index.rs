//! Finds by a path what is known under paths and globs that may meet it.
//!
//! Must not know a disk. A look-up costs the depth of a path and what lies at it, never a walk over everything.

use std::collections::BTreeMap;

/// Values by the path without wildcards that they are known under: of a glob the directory before the first one.
#[derive(Debug, Clone)]
pub(super) struct PathIndex<T>(BTreeMap<String, Vec<T>>);

impl<T> Default for PathIndex<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> PathIndex<T> {
    pub(super) fn insert(&mut self, path: &str, value: T) {
        self.0.entry(anchor(path).to_owned()).or_default().push(value);
    }

    /// What may meet a path: known at it, at a directory above it, or below it, since nothing here tells whether it is a
    /// directory.
    pub(super) fn near(&self, path: &str) -> impl Iterator<Item = &T> {
        let own = anchor(path);
        let above = std::iter::successors(Some(own), |directory| match *directory {
            "" => None,
            _ => Some(directory.rsplit_once('/').map_or("", |(parent, _)| parent)),
        });
        let below = if own.is_empty() { String::new() } else { format!("{own}/") };
        let inside = self.0.range(below.clone()..).take_while(move |(key, _)| key.starts_with(&below));
        // What is known at the root itself was found above.
        let inside = inside.filter(|(key, _)| !key.is_empty()).map(|(_, values)| values);
        above.filter_map(|directory| self.0.get(directory)).chain(inside).flatten()
    }
}

/// The part of a path that has no wildcard, up to a slash.
fn anchor(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.find(['*', '?', '[', '{']) {
        Some(at) => path[..at].rsplit_once('/').map_or("", |(directory, _)| directory),
        None => path,
    }
}
