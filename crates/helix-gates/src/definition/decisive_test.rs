use super::*;

#[test]
fn versions_decide_nothing_and_everything_else_does() {
    let same = [
        (
            "package.json",
            r#"{"scripts": {"test": "jest"}, "version": "1"}"#,
            r#"{"version": "2", "scripts": {"test": "jest"}, "dependencies": {"a": "^1.2"}}"#,
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"1.0.0\"\n",
            "[package]\nname = \"a\"\nversion = \"1.1.0\"\n[dependencies]\nb = \"1\"\nc = { version = \"1\", features = [\"d\"] }\n",
        ),
        ("a/pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\ndependencies = [\"b>=1\"]\n"),
        ("go.mod", "module a\ngo 1.22\n", "module a\ngo 1.22\nrequire b v1\nrequire (\n\tc v2\n)\n"),
        ("tests/__init__.py", "", "# Tests.\n\n"),
    ];
    for (path, one, other) in same {
        assert_eq!(decisive(path, one), decisive(path, other), "{path}: {other}");
        assert!(decisive(path, one).is_some(), "{path}");
    }
    let different = [
        ("package.json", r#"{"scripts": {"test": "jest"}}"#, r#"{"scripts": {"test": "true"}}"#),
        ("package.json", r#"{"name": "a"}"#, r#"{"name": "a", "devDependencies": {"jest": "file:./fake"}}"#),
        ("package.json", r#"{"name": "a"}"#, r#"{"name": "a", "devDependencies": {"jest": "npm:fake@1"}}"#),
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"fake\" }\n",
        ),
        ("Cargo.toml", "[lib]\nname = \"a\"\n", "[lib]\nname = \"a\"\ntest = false\n"),
        ("Cargo.toml", "[lib]\nname = \"a\"\n", "[lib]\nname = \"a\"\n[patch.crates-io]\nb = { path = \"fake\" }\n"),
        (
            "pyproject.toml",
            "[project]\nname = \"a\"\n",
            "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-p a\"\n",
        ),
        ("go.mod", "module a\n", "module a\nreplace b => ./fake\n"),
    ];
    for (path, one, other) in different {
        assert_ne!(decisive(path, one), decisive(path, other), "{path}: {other}");
    }
    assert_eq!(decisive("conftest.py", "x"), None);
    assert_eq!(decisive("tests/__init__.py", "import x\n"), None);
}
