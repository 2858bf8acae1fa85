use super::*;

#[test]
fn each_name_gives_the_command_of_its_runner() {
    for (name, own, expected) in [
        ("tests/test_a.py::test_b", "", "python3 -m pytest -q tests/test_a.py::test_b"),
        ("tests/test_a.py", "uv run pytest -q --cov=x", "uv run pytest -q tests/test_a.py"),
        (
            "tests/test_a.py::A::test_b",
            "python3 -m unittest discover -s tests",
            "python3 -m unittest -v tests.test_a.A.test_b",
        ),
        (
            "tests/test_a.py::test_b",
            "python3 -m unittest discover -s tests",
            "python3 -m unittest -v -k *.test_b tests.test_a",
        ),
        ("test_total", ".venv/bin/pytest", ".venv/bin/pytest -q -k test_total"),
        ("crates/a/tests/x.rs::deep::y", "", "cargo test --manifest-path crates/a/Cargo.toml --test x deep::y"),
        ("src/cart.rs", "", "cargo test cart::"),
        ("cart::tests::adds", "", "cargo test cart::tests::adds"),
        (
            "t/a.test.mjs > sum > adds (1+1)",
            "node --test",
            r"node --test --test-reporter=tap --test-name-pattern=adds \(1\+1\) t/a.test.mjs",
        ),
        ("t/a.test.ts::adds", "npx vitest run", "npx vitest run t/a.test.ts -t adds"),
        ("t/a.test.js::adds", "npm test", "npx --no-install jest t/a.test.js -t adds"),
        ("pkg/cart_test.go::TestAdd/one", "", "go test -v -count=1 -run ^TestAdd$/^one$ ./pkg"),
        ("cart_test.go", "", "go test -v -count=1 ."),
    ] {
        let own: Vec<String> = own.split_whitespace().map(str::to_owned).collect();
        let project = Project {
            own_command: (!own.is_empty()).then_some(own.as_slice()),
            has: &|path| matches!(path, "Cargo.toml" | "crates/a/Cargo.toml"),
            package_json: Some("{\"devDependencies\": {\"jest\": \"30\"}}"),
        };
        assert_eq!(argv(name, &project).map(|words| words.join(" ")), Ok(expected.to_owned()), "{name}");
    }
    let bare = Project { own_command: None, has: &|_| false, package_json: None };
    assert!(argv("test_total", &bare).is_err());
    assert!(argv("tests/test_a.py::--collect-only", &bare).is_err());
    assert!(argv("-x.py", &bare).is_err());
}
