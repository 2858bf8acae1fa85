//! Which globs can name the same file, and which texts are paths of the repository.

use super::*;

fn overlap(left: &str, right: &str) -> bool {
    let (left, right) = (Pattern::parse(left).unwrap(), Pattern::parse(right).unwrap());
    let mut budget = 1_000_000;
    let one = left.overlaps(&right, &mut budget).unwrap();
    assert_eq!(one, right.overlaps(&left, &mut budget).unwrap(), "overlap must be symmetric");
    one
}

#[test]
fn overlap_is_decided_from_the_patterns() {
    for (left, right) in [
        ("a.py", "a.py"),
        ("src/*.py", "src/a.py"),
        ("src/**", "src/x/y.py"),
        ("**/a.py", "a.py"),
        ("src/**/a.py", "src/a.py"),
        ("src/**/a.py", "src/x/y/a.py"),
        ("src/", "src/a.py"),
        ("src", "src/a.py"),
        ("src", "src/*.py"),
        ("src/", "src/*.py"),
        ("a*c", "*bc"),
        ("{a,b}.py", "b.py"),
        ("[a-c].py", "[c-e].py"),
        ("x?z", "xyz"),
        ("**", "anything/at/all"),
    ] {
        assert!(overlap(left, right), "{left} and {right}");
    }
    for (left, right) in [
        ("a.py", "b.py"),
        ("src/*.py", "src/a.rs"),
        ("src/*.py", "docs/*.py"),
        ("src", "srcs/a.py"),
        ("[a-c].py", "[d-e].py"),
        ("x?z", "x/z"),
        ("src/*", "src/x/y.py"),
        ("**/*.py", "README.md"),
        ("a*c", "b*c"),
        ("{a,b}.py", "c.py"),
        ("src/**/a.py", "src/a.rs"),
    ] {
        assert!(!overlap(left, right), "{left} and {right}");
    }
}

#[test]
fn a_budget_that_runs_out_is_not_an_answer() {
    let (left, right) = (Pattern::parse("a*b*c").unwrap(), Pattern::parse("*d*e*").unwrap());
    assert_eq!(left.overlaps(&right, &mut 3), None);
}

#[test]
fn paths_stay_in_the_working_tree() {
    for (text, plain) in [("./a//b", "a/b"), ("src/", "src/"), ("a..b", "a..b"), ("ü/ö.py", "ü/ö.py")] {
        assert_eq!(normal_path(text).as_deref(), Ok(plain));
    }
    for (text, error) in [
        ("", "is empty"),
        ("  ", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("C:/x", "is absolute"),
        ("a/../../b", "leaves the repository with `..`"),
        ("..", "leaves the repository with `..`"),
        (".", "names the whole repository"),
        ("~/x", "begins with `~`"),
        ("a\\b", "contains a backslash"),
        ("a\0", "contains a control character"),
        (" a", "begins or ends with a space"),
        (".git/config", "is in `.git`"),
        ("a[", "glob is not closed"),
        ("{a,b", "glob is not closed"),
    ] {
        assert!(normal_path(text).unwrap_err().to_string().ends_with(error), "{text:?}");
    }
}
