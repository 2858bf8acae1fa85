use super::*;

#[test]
fn the_tool_is_found_behind_what_starts_it() {
    for (command, name) in [
        ("pytest -q", "pytest"),
        ("/usr/bin/cargo test", "cargo"),
        ("cargo nextest run", "nextest"),
        ("uv run python -m pytest -q", "pytest"),
        ("env CI=1 timeout 30 npx jest", "jest"),
        ("npx --yes vitest run", "vitest"),
        ("python3 build.py", "python3"),
        ("nice -n 5 make", "make"),
        ("npx", "npx"),
        ("", ""),
    ] {
        let argv: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        assert_eq!(tool_of(&argv), name, "{command}");
    }
    let shell = |script: &str| tool_of(&["bash".into(), "-lc".into(), script.into()]);
    assert_eq!(shell("cd app && CI=1 npm test"), "npm");
    assert_eq!(shell("  \n"), "bash");
    for script in [
        "pytest -q; exit 0",
        "pytest -q || true",
        "pytest -q 2>&1",
        "pytest -q > out.txt 2>&1; code=$?; exit $code",
        "if ! pytest -q; then echo 'it failed; see above'; exit 1; fi",
        "\"$VENV/bin/pytest\" -q; exit 0",
        "cd app && (CI=1 pytest -q | tee out.txt)",
    ] {
        assert_eq!(shell(script), "pytest", "{script}");
    }
    assert_eq!(shell("exit 3"), "bash");
}
