//! Which files are decisions.

use super::*;

#[test]
fn a_file_is_a_decision_by_its_place_and_below_that_by_its_name() {
    for path in ["adr/use-csv.md", "docs/decisions/0001-use-csv.md", "docs/decisions/api/0001-use-csv.md", "own/b.md"] {
        assert!(is_adr(path, Some("own")), "{path}");
    }
    for path in ["adr/README.md", "docs/decisions/api/notes.md", "docs/0001-use-csv.md", "own/api/b.md"] {
        assert!(!is_adr(path, Some("own")), "{path}");
    }
}
