use super::*;

#[test]
fn the_script_behind_a_command_is_found() {
    let cases: [(&str, &[&str]); 10] = [
        ("./scripts/test.sh --fast", &["scripts/test.sh"]),
        ("bash -e ci/run", &["ci/run"]),
        ("sh -c 'x y'", &[]),
        ("python3 tools/check.py src", &["tools/check.py"]),
        ("python -m pytest tests", &[]),
        ("env python -u tools/a.py", &["tools/a.py"]),
        ("node --test tests/a.test.js", &[]),
        ("pytest -q tests/test_a.py", &["pytest"]),
        ("make test", &["GNUmakefile", "makefile", "Makefile"]),
        ("cargo test", &["cargo"]),
    ];
    for (command, expected) in cases {
        assert_eq!(script_candidates(&split_words(command).unwrap()), expected, "{command}");
    }
}
