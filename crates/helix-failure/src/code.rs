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
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_and_other_words_are_not() {
        for (line, code) in [
            ("error[E0308]: mismatched types", Some("E0308")),
            ("src/a.ts(3,4): error TS2322: Type 'x'", Some("TS2322")),
            ("npm error code ERESOLVE", Some("ERESOLVE")),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", Some("ECONNREFUSED")),
            ("TypeError [ERR_INVALID_ARG_TYPE]: The", Some("ERR_INVALID_ARG_TYPE")),
            ("SQLSTATE[23505]: Unique violation", Some("23505")),
            ("ORA-00942: table or view does not exist", Some("ORA-00942")),
            ("ERROR: relation does not exist", None),
            ("commit deadbeef12 is bad", None),
            ("assertion failed", None),
        ] {
            assert_eq!(tool_code(line), code, "{line}");
        }
    }
}
