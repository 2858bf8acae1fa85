use super::*;

#[test]
fn every_spelling_of_the_git_directory_is_known() {
    let kept = [
        ".git",
        ".GIT/config",
        "a/.Git",
        "git~1/x",
        "GIT~1",
        ".git ",
        ".git...",
        ".git::$INDEX_ALLOCATION",
        ".g\u{200c}it/hooks",
        "a\\.git\\config",
    ];
    for name in kept {
        assert!(!is_storable(name.as_bytes()), "{name:?}");
    }
    for name in [".gitignore", ".github/x", "git", "a.git", ".gitmodules", "git~2", "back\\slash"] {
        assert!(is_storable(name.as_bytes()), "{name:?}");
    }
}

#[test]
fn a_link_stays_in_the_tree_or_does_not() {
    for (link, target) in [("a", "b"), ("d/a", "../b"), ("d/e/a", "../../b/./c"), ("a", "d/../b"), ("a", ".")] {
        assert!(stays_inside(link, target), "{link} -> {target}");
    }
    for (link, target) in
        [("a", "/etc/passwd"), ("a", "../b"), ("d/a", "../../b"), ("d/a", "x/../../../d"), ("a", ".git/config")]
    {
        assert!(!stays_inside(link, target), "{link} -> {target}");
    }
}

#[test]
fn names_are_compared_as_other_systems_do() {
    assert_eq!(folded("SRC/A.txt"), "src/a.txt");
    assert_eq!(folded("caf\u{e9}"), folded("cafe\u{301}"));
    assert_eq!(folded("\u{c9}t\u{e9}"), folded("e\u{301}te\u{301}"));
    assert_ne!(folded("a"), folded("b"));
    assert_eq!(parts("a/b/c").collect::<Vec<_>>(), ["a", "a/b", "a/b/c"]);
}
