use super::way;

#[test]
fn decisions_in_other_directories_are_linked_from_where_one_lies() {
    for (from, to, expected) in [
        ("adr/001-a.md", "adr/002-b.md", "002-b.md"),
        ("docs/adr/api/001-a.md", "docs/adr/002-b.md", "../002-b.md"),
        ("docs/adr/001-a.md", "docs/adr/api/v2/002-b.md", "api/v2/002-b.md"),
        ("docs/adr/api/001-a.md", "docs/adr/web/002-b.md", "../web/002-b.md"),
        ("a.md", "b.md", "b.md"),
    ] {
        assert_eq!(way(from, to), expected);
    }
}
