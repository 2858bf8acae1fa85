//! Every code of this crate has a page in `docs/errors/`, and every page a code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn codes_and_pages_match() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let pages: BTreeSet<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|code| code.starts_with("HX03"))
        .collect();
    let codes: BTreeSet<String> = helix_store::codes::ALL.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(codes, pages);
    for code in &codes {
        let text = std::fs::read_to_string(directory.join(format!("{code}.md"))).unwrap();
        assert!(text.starts_with(&format!("# {code}: ")), "{code}: the title names the code");
        assert!(text.contains("\n\n## Remedy\n\n"), "{code}: no remedy");
    }
}
