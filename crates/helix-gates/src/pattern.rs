//! Paths and globs of plans, matched against paths of a commit.
//!
//! Must not know the disk: a path exists when the commit has it.

use globset::{GlobBuilder, GlobMatcher};

/// A path, a directory or a glob. `*` does not match `/`, `**` does.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl Pattern {
    /// Reads a pattern. One that is no valid glob is taken literally, as file names with brackets are.
    pub fn new(text: &str) -> Self {
        let text = text.trim().trim_start_matches("./").trim_end_matches('/').to_owned();
        let glob = GlobBuilder::new(&text).literal_separator(true).build().ok().map(|glob| glob.compile_matcher());
        Self { text, glob }
    }

    pub fn all(texts: &[String]) -> Vec<Self> {
        texts.iter().map(|text| Self::new(text)).collect()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when the path is what the pattern names, or lies in the directory that it names.
    pub fn matches(&self, path: &str) -> bool {
        path == self.text
            || path.strip_prefix(self.text.as_str()).is_some_and(|rest| rest.starts_with('/'))
            || self.glob.as_ref().is_some_and(|glob| glob.is_match(path))
    }
}

/// The path that a relative one means beside a file; `None` where it leads above the root.
pub(crate) fn beside(file: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.rsplit_once('/').map(|(parent, _)| parent.split('/').collect()).unwrap_or_default();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
#[path = "pattern_test.rs"]
mod tests;
