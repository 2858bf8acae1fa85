#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn of(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let survey = survey(directory.path());
    let tests = survey.tests.into_iter().map(|tests| tests.command);
    tests.chain(survey.checks.into_iter().map(|check| format!("{}: {}", check.kind.gate(), check.command))).collect()
}

const PROJECT: (&str, &str) = ("pyproject.toml", "[project]\nname = \"bill\"\n");
const MEMBER: (&str, &str) = ("packages/a/package.json", "{\"name\": \"a\", \"scripts\": {\"test\": \"node --test\"}}");

#[test]
fn a_flat_layout_of_setuptools_is_known() {
    let of = |files: &[(&str, &str)]| {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = directory.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        packages_found_by_itself(directory.path())
    };
    let (flat, package) =
        (("pyproject.toml", "[build-system]\nrequires = [\"setuptools\"]\n"), ("bill/__init__.py", ""));
    assert_eq!(of(&[flat, package, ("tests/__init__.py", ""), ("app/__init__.py", "")]), ["app", "bill"]);
    assert_eq!(of(&[("setup.py", "setup(name='bill')"), package]), ["bill"]);
    let named =
        ("pyproject.toml", "[build-system]\nrequires = [\"setuptools\"]\n[tool.setuptools]\npackages = [\"bill\"]\n");
    assert!(of(&[named, package]).is_empty());
    assert!(of(&[("setup.py", "setup(packages=['bill'])"), package]).is_empty());
    assert!(of(&[flat, ("src/bill/__init__.py", "")]).is_empty());
    assert!(of(&[("pyproject.toml", "[build-system]\nrequires = [\"hatchling\"]\n"), package]).is_empty());
}

#[test]
fn tests_and_checks_are_those_of_the_ecosystem() {
    let react = "{\"scripts\": {\"build\": \"tsc -b && vite build\", \"lint\": \"oxlint\"}, \"devDependencies\": {\"typescript\": \"~7\"}}";
    let untyped = "{\"scripts\": {\"build\": \"vite build\", \"test\": \"vitest\"}, \"devDependencies\": {\"typescript\": \"~7\"}}";
    let svelte = "{\"scripts\": {\"check\": \"svelte-check\"}, \"devDependencies\": {\"typescript\": \"~7\"}}";
    for (files, expected) in [
        (&[("Cargo.toml", "[package]\nname = \"a\"\n")][..], &["cargo test"][..]),
        (&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n[package]\n")], &["cargo test --workspace"]),
        (&[("pom.xml", "<project/>")], &["mvn -B -ntp test"]),
        (&[("settings.gradle.kts", "")], &["build_pass: gradle --no-daemon --console=plain build"]),
        (&[("Gemfile", "gem 'rspec'")], &["bundle exec rspec"]),
        (&[("Gemfile", ""), ("spec/a_spec.rb", "")], &["bundle exec rspec"]),
        (&[("Gemfile", ""), ("Rakefile", ""), ("test/a_test.rb", "")], &["bundle exec rake test"]),
        (&[("Gemfile", "gem 'jekyll'")], &[]),
        (&[("composer.json", "{\"require-dev\": {\"phpunit/phpunit\": \"^9\"}}")], &["php vendor/bin/phpunit"]),
        (&[("composer.json", "{}")], &[]),
        (&[("manage.py", "from django.core import x")], &["python3 manage.py test"]),
        (&[("manage.py", "from django.core import x"), ("pytest.ini", "[pytest]")], &["python3 -m pytest -q"]),
        (&[("pyproject.toml", "[project]")], &["python3 -m unittest discover -s tests"]),
        (
            &[("package.json", react), ("tsconfig.json", "{}")],
            &["lint_pass: npm run lint --silent", "build_pass: npm run build --silent"],
        ),
        (
            &[("package.json", untyped), ("tsconfig.json", "{}")],
            &["npm test --silent", "lint_pass: npx --no-install tsc --noEmit", "build_pass: npm run build --silent"],
        ),
        (&[("package.json", svelte), ("tsconfig.json", "{}"), ("bun.lock", "")], &["lint_pass: bun run check"]),
        (&[("package.json", "{\"workspaces\": [\"packages/*\"]}"), MEMBER], &["npm test --workspaces --if-present"]),
        (
            &[("package.json", "{\"workspaces\": {\"packages\": [\"packages/a\"]}}"), MEMBER],
            &["npm test --workspaces --if-present"],
        ),
        (
            &[
                ("package.json", "{}"),
                ("pnpm-workspace.yaml", "# all\npackages: [ \"packages/*\" ] # of them\n"),
                MEMBER,
            ],
            &["pnpm -r --workspace-concurrency=1 test"],
        ),
        (&[("pyproject.toml", "[tool.ruff]\nline-length = 120\n")], &[]),
        (&[("setup.cfg", "[flake8]\n"), ("requirements.txt", "mkdocs\n")], &[]),
        (&[("requirements.txt", "flask\n"), ("app.py", "")], &["python3 -m unittest discover -s tests"]),
        (&[("setup.cfg", "[metadata]")], &["python3 -m unittest discover -s tests"]),
        (&[PROJECT, ("tests/unit/test_a.py", "import unittest")], &["python3 -m unittest discover -s tests/unit"]),
        (
            &[PROJECT, ("tests/unit/test_a.py", "import unittest"), ("tests/slow/test_b.py", "import unittest")],
            &["python3 -m pytest -q"],
        ),
        (
            &[PROJECT, ("a/__init__.py", ""), ("a/tests/__init__.py", ""), ("a/tests/test_a.py", "import unittest")],
            &["python3 -m unittest discover"],
        ),
        (
            &[PROJECT, ("tests/test_a.py", "import unittest"), ("examples/a/test_b.py", "")],
            &["python3 -m unittest discover -s tests"],
        ),
        (&[PROJECT, ("a/tests/test_a.py", "def test_a(): pass")], &["python3 -m pytest -q"]),
        (&[PROJECT, ("a b/test_a.py", "import unittest")], &["python3 -m unittest discover -s 'a b'"]),
        // What a project of another language has somewhere makes no project of Python of it.
        (&[("tools/a/test_a.py", "import unittest"), ("tests/fixtures/test_a.py", "")], &[]),
        (&[("env/pyvenv.cfg", ""), ("env/lib/test_a.py", ""), (".tox/test_a.py", ""), ("build/test_a.py", "")], &[]),
        // Nothing above the repository is looked into.
        (&[("package.json", "{\"workspaces\": [\"../*\", \"/etc/*\"]}")], &[]),
        (&[("package.json", "not JSON")], &[]),
    ] {
        assert_eq!(of(files), expected, "{files:?}");
    }
}

/// However many patterns there are, and however often they name the same.
#[test]
fn a_workspace_is_looked_into_up_to_a_bound() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    for number in 0..150 {
        std::fs::create_dir_all(directory.path().join(format!("packages/p{number}"))).unwrap();
    }
    let looked_at = |patterns: Vec<&str>| {
        let manifest = serde_json::json!({ "workspaces": patterns }).to_string();
        std::fs::write(directory.path().join("package.json"), manifest).unwrap();
        Package::read(directory.path()).unwrap().directories().len()
    };
    assert_eq!(looked_at(vec!["packages/*"; 4]), 200);
    assert_eq!(looked_at(vec!["packages/p1"; 400]), 200);
    assert_eq!(looked_at([vec!["empty/*"; 200], vec!["packages/*"]].concat()), 0);
    assert_eq!(looked_at(vec!["empty/*", "packages/*", "!packages/p2"]), 150);
}

#[test]
fn a_script_that_changes_files_checks_nothing() {
    let lints = |script: &str| of(&[("package.json", &format!("{{\"scripts\": {{\"lint\": \"{script}\"}}}}"))]);
    for script in ["eslint . --fix", "prettier --write . && eslint .", "eslint --fix=true ."] {
        assert!(lints(script).is_empty(), "{script}");
    }
    for script in ["eslint . --fix-dry-run", "eslint .", "oxlint --fixture"] {
        assert_eq!(lints(script), ["lint_pass: npm run lint --silent"], "{script}");
    }
}

#[test]
fn types_are_checked_where_nothing_else_does_it_and_the_compiler_has_files() {
    let guesses = |build: &str, settings: &str| {
        let package =
            format!("{{\"scripts\": {{\"build\": \"{build}\"}}, \"devDependencies\": {{\"typescript\": \"5\"}}}}");
        of(&[("package.json", &package), ("tsconfig.json", settings)]).iter().any(|one| one.contains("tsc --noEmit"))
    };
    for build in ["tsc-alias", "vite build --tsconfig a.json", "next build-info"] {
        assert!(guesses(build, "{}"), "{build}");
    }
    for build in ["tsc&&vite build", "./node_modules/.bin/tsc -b", "vue-tsc --build && vite build", "next build"] {
        assert!(!guesses(build, "{}"), "{build}");
    }
    let refers =
        "{ // of Vite\n  \"files\": [ // none\n  ],\n  \"references\": [{ \"path\": \"./tsconfig.app.json\" }] }";
    assert!(!guesses("vite build", refers));
}
