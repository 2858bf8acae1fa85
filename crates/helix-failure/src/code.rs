//! Finds the code by which a tool names a failure, such as `E0308`, `TS2322`, `ERESOLVE` or `SQLSTATE 23505`.
//!
//! Must not know what a code means.

use std::sync::LazyLock;

use regex::Regex;

/// Codes of tools, by their form. All are anchored at word ends; a hexadecimal id or a test's name is none.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // Compilers, linters, databases: one to six capitals and three to six digits.
        r"\b(?:SQLSTATE[ =:\[]*([0-9A-Z]{5})\b|([A-Z]{1,6}-?\d{3,6})\b|",
        // The operating system and npm: E and capitals.
        r"\b(E[A-Z]{4,}|ERR_[A-Z][A-Z_]+)\b)"
    ))
    .ok()
});

/// The first code in a line.
pub fn tool_code(line: &str) -> Option<&str> {
    // `ERROR` and its like say that something failed, not what.
    const WORDS: [&str; 4] = ["ERROR", "ERRORS", "EXCEPTION", "EXPECTED"];
    let found = CODE.as_ref()?.captures_iter(line).filter_map(|found| found.iter().skip(1).flatten().next());
    found.map(|code| code.as_str()).find(|code| !WORDS.contains(code))
}

#[cfg(test)]
#[path = "code_test.rs"]
mod tests;
