//! Finds places in files near the line that names the cause.
//!
//! Must not know which tool wrote them.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading::Prepared;

/// Lines looked at on each side of the cause.
const AROUND: usize = 12;
const MOST: usize = 5;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ownership {
    /// The project's own.
    Project,
    /// A dependency's or the runtime's.
    Foreign,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The path as it was written.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, if it was written.
    pub column: Option<u32>,
    /// Whose file it is.
    pub ownership: Ownership,
}

/// Reads places.
#[derive(Debug)]
pub(super) struct Locator {
    forms: [Regex; 4],
}

impl Locator {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            forms: [
                // Python: File "a.py", line 3; `<string>` is no file.
                Regex::new(r#"File "([^"<][^"]*)", line (\d+)()"#)?,
                // Most others: a.rs:3:4, C:\x\a.ts:3:4, file:///a.mjs:3
                Regex::new(
                    r"(?:^|[\s('`\x22])(?:file://)?((?:[A-Za-z]:)?[^\s:()'`\x22]*\w\.[A-Za-z]\w{0,7}):(\d{1,7})(?::(\d{1,6}))?",
                )?,
                // TypeScript: a.ts(3,4)
                Regex::new(
                    r"(?:^|[\s('`\x22])((?:[A-Za-z]:)?[^\s:()'`\x22]*\w\.[A-Za-z]\w{0,7})\((\d{1,7}),(\d{1,6})\)",
                )?,
                // PHP, Perl, gnuplot: in a.php on line 3, at a.pl line 3, "a.gp" line 3
                Regex::new(
                    r"(?:^|[\s('`\x22])([^\s:()'`\x22]*\w\.[A-Za-z]\w{0,7})[\x22']? (?:on )?line (\d{1,7})\b()",
                )?,
            ],
        })
    }

    /// Places of the cause's line, then of its neighbours, nearest first; the project's own before others.
    pub(super) fn near(&self, lines: &[Prepared<'_>], cause: Option<usize>) -> Vec<Location> {
        let Some(cause) = cause else { return Vec::new() };
        let mut found: Vec<Location> = Vec::new();
        let neighbours = (1..=AROUND).flat_map(|step| [cause.checked_add(step), cause.checked_sub(step)]).flatten();
        for at in std::iter::once(cause).chain(neighbours) {
            let Some(line) = lines.get(at) else { continue };
            // A JSON record stands for a text that names its place; the record itself is looked at as well.
            let texts = [line.text.as_str(), if line.text.is_empty() { line.line.raw.as_str() } else { "" }];
            for location in texts.iter().filter(|text| text.len() < 4_096).flat_map(|text| self.read(text)) {
                if !found.contains(&location) {
                    found.push(location);
                }
            }
            if found.len() >= MOST * 3 {
                break;
            }
        }
        found.sort_by_key(|location| location.ownership == Ownership::Foreign);
        found.truncate(MOST);
        found
    }

    fn read(&self, text: &str) -> Vec<Location> {
        let all = self.forms.iter().flat_map(|form| form.captures_iter(text));
        let read = all.filter_map(|captures| {
            let path = captures.get(1)?.as_str();
            // `[a.cfg:3]` is a bracket before a path, `[id].tsx` is a path.
            let path = path.strip_prefix('[').filter(|inside| !inside.contains(']')).unwrap_or(path);
            let number = |group| captures.get(group).and_then(|group| group.as_str().parse::<u32>().ok());
            Some(Location { path: path.to_owned(), line: number(2)?, column: number(3), ownership: ownership(path) })
        });
        read.collect()
    }
}

/// Whose file a path names, by the conventions of the ecosystems.
pub(super) fn ownership(path: &str) -> Ownership {
    const FOREIGN: &[&str] = &[
        "site-packages",
        "node_modules",
        "/lib/python",
        "node:",
        "/rustc/",
        ".cargo/registry",
        "/usr/lib",
        "/usr/include",
        "/usr/local/go/",
        "/go/pkg/mod",
        "dist-packages",
        ".pyenv",
    ];
    if FOREIGN.iter().any(|part| path.contains(part)) { Ownership::Foreign } else { Ownership::Project }
}

#[cfg(test)]
#[path = "location_test.rs"]
mod tests;
