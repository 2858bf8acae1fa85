use super::*;

#[test]
fn patterns_name_files_directories_and_globs() {
    let cases = [
        ("src/a.py", "src/a.py", true),
        ("./src/", "src/deep/a.py", true),
        ("src", "src2/a.py", false),
        ("src/*.py", "src/a.py", true),
        ("src/*.py", "src/deep/a.py", false),
        ("src/**/*.py", "src/deep/a.py", true),
        ("**/*.py", "a.py", true),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", true),
        ("{a,b}.md", "b.md", true),
    ];
    for (pattern, path, expected) in cases {
        assert_eq!(Pattern::new(pattern).matches(path), expected, "{pattern} {path}");
    }
}
