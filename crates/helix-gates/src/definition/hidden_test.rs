use super::*;

#[test]
fn files_are_hidden_as_git_hides_them() {
    let by_place = [
        ("", "# x\n*.log\n/a.py\nbuild/\ndoc/*.txt\n*.gen\n!keep.gen\nsrc/**/old\n\\#b\n"),
        ("sub/", "b.py\n!c.log\n"),
    ];
    let by_place = by_place.map(|(place, text)| (place.to_owned(), rules(text)));
    let ignored = Ignored { name: ".gitignore", by_place: BTreeMap::from(by_place) };
    let cases = [
        ("x/y.log", Some((".gitignore", 2))),
        ("a.py", Some((".gitignore", 3))),
        ("x/a.py", None),
        ("x/build/c.py", Some((".gitignore", 4))),
        ("build", None),
        ("doc/a.txt", Some((".gitignore", 5))),
        ("doc/x/a.txt", None),
        ("a.gen", Some((".gitignore", 6))),
        ("keep.gen", None),
        ("src/x/y/old/z.py", Some((".gitignore", 8))),
        ("#b", Some((".gitignore", 9))),
        ("b.py", None),
        ("sub/x/b.py", Some(("sub/.gitignore", 1))),
        ("sub/c.log", None),
        ("sub/d.log", Some((".gitignore", 2))),
    ];
    for (path, expected) in cases {
        let expected = expected.map(|(by, line)| (by.to_owned(), line));
        assert_eq!(ignored.hides(path), expected, "{path}");
    }
}

#[test]
fn a_file_of_more_lines_than_are_read_hides_all() {
    assert_eq!(rules(&"a.py\n".repeat(MOST_LINES)).len(), MOST_LINES);
    let rules = rules(&"a.py\n".repeat(MOST_LINES + 1));
    let ignored = Ignored { name: ".gitignore", by_place: BTreeMap::from([(String::new(), rules)]) };
    assert!(ignored.hides("b.py").is_some());
}
