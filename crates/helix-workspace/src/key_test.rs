#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

#[test]
fn the_list_of_files_is_sorted_and_names_count_wherever_they_lie() {
    assert!(DECIDE.is_sorted());
    for path in ["package-lock.json", "web/app/pnpm-lock.yaml", "requirements-dev.txt", "requirements/constraints.in"] {
        assert!(decides(path), "{path}");
    }
    for path in ["src/package.ts", "notes.txt", "docs/uv.lock.md"] {
        assert!(!decides(path), "{path}");
    }
}

/// What a set-up finds in a submodule is another one at another commit.
#[test]
fn commits_of_submodules_decide() {
    let with = |kind, object: &str| {
        let entry = helix_git::TreeEntry { kind, object: object.into() };
        digest_of(&TreeListing::from([("vendor/x".to_owned(), entry)]))
    };
    assert_ne!(with(EntryKind::Submodule, "1"), with(EntryKind::Submodule, "2"));
    assert_eq!(with(EntryKind::File, "1"), with(EntryKind::File, "2"));
}

#[test]
fn parts_do_not_run_into_each_other() {
    assert_ne!(key_of(&["ab", "c"]), key_of(&["a", "bc"]));
    assert_eq!(key_of(&["a"]).len(), 16);
}
