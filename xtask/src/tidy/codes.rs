//! Error codes and their pages: every `HXnnnn` in the source has `docs/errors/HXnnnn.md`, and every page is of a code in use.
//!
//! Must not know what a code means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::{Breach, SourceFile};

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bHX\d{4}\b").ok());
const PAGES: &str = "docs/errors/";

/// Compares the codes with the pages.
pub(super) fn check(files: &[SourceFile]) -> Vec<Breach> {
    let mut used: BTreeMap<&str, String> = BTreeMap::new();
    let mut pages = BTreeSet::new();
    for file in files {
        if let Some(code) = file.path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md")) {
            if CODE.as_ref().is_some_and(|regex| regex.is_match(code)) {
                pages.insert(code);
            }
        } else if file.path.starts_with("crates/") && file.path.contains("/src/") && file.path.ends_with(".rs") {
            for (number, line) in file.text.lines().enumerate() {
                for code in CODE.iter().flat_map(|regex| regex.find_iter(line)) {
                    used.entry(code.as_str()).or_insert_with(|| format!("{}:{}", file.path, number + 1));
                }
            }
        }
    }
    let without_page = used.iter().filter(|(code, _)| !pages.contains(*code));
    let without_page =
        without_page.map(|(code, place)| Breach::new(place, format!("{code} has no page {PAGES}{code}.md")));
    let without_use = pages.iter().filter(|code| !used.contains_key(*code));
    let without_use =
        without_use.map(|code| Breach::new(format!("{PAGES}{code}.md"), format!("{code} is not used by any crate")));
    without_page.chain(without_use).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn codes_and_pages_must_match() {
        let files = [
            file("crates/a/src/lib.rs", "\nconst A: &str = \"HX0001\";\nconst B: &str = \"HX0002\";"),
            file("crates/a/tests/a.rs", "HX9999 is no code of ours"),
            file("docs/errors/HX0001.md", ""),
            file("docs/errors/HX0003.md", ""),
            file("docs/errors/README.md", ""),
        ];
        let places: Vec<_> = check(&files).into_iter().map(|breach| breach.place).collect();
        assert_eq!(places, ["crates/a/src/lib.rs:3", "docs/errors/HX0003.md"]);
    }
}
