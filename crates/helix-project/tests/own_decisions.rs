//! Helix's own decisions keep Helix's own rules.

use std::path::Path;

use helix_adr::{Standing, check_as};
use helix_project::adr_files::AdrDirectory;

#[test]
fn the_projects_own_adrs_are_valid_and_numbered_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let directory = AdrDirectory::open(&root).unwrap();
    assert!(directory.adrs().len() >= 4, "the decisions are there");
    assert_eq!(directory.known().collisions(), Default::default());
    for adr in directory.adrs() {
        let problems = check_as(adr, &directory, Standing::Decision);
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(text.is_empty(), "{}", text.join("\n"));
    }
    assert_eq!(std::fs::read_to_string(root.join("adr/INDEX.md")).unwrap(), directory.index(), "run `helix adr index`");
}
