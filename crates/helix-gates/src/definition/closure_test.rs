use std::ffi::OsString;

use helix_git::GitEnvironment;

use super::super::names::readers;
use super::*;

const FILES: &[(&str, &str)] = &[
    ("ci/test.sh", "set -e\n. ci/lib.sh\npython3 tools/check.py src\n"),
    ("ci/lib.sh", "echo lib\n"),
    ("tools/check.py", "import rules\nimport json\n"),
    ("tools/rules.py", "x = 1\n"),
    ("Makefile", "include build.mk\ntest: src/a.c\n\tpytest -p plug.in tests/test_a.py\n"),
    ("build.mk", "X = 1\n"),
    ("src/a.c", "int a;\n"),
    ("src/a.py", "x = 1\n"),
    ("conftest.py", "pytest_plugins = ['helpers.db']\n"),
    (".rspec", "--require spec_helper\n"),
    ("spec/spec_helper.rb", "\n"),
    ("composer.json", "{}\n"),
    ("phpunit.xml", "<phpunit/>\n"),
    ("tests/bootstrap.php", "<?php\n"),
    ("helpers/db.py", "x = 1\n"),
    ("plug/in.py", "x = 1\n"),
    ("pytest.ini", "[pytest]\naddopts = -p own\n"),
    ("own.py", "x = 1\n"),
    ("tests/test_a.py", "def test_a(): pass\n"),
    ("tests/conftest.py", "x = 1\n"),
    ("web/package.json", "{\"scripts\": {\"test\": \"node run.js\"}}"),
    ("web/run.js", "require('./part')\n"),
    ("web/part.js", "x\n"),
    ("web/jest.config.js", "x\n"),
    ("unittest/__init__.py", "def main(): pass\n"),
    ("app/json.py", "x = 1\n"),
    ("app/__init__.py", ""),
    ("link.sh", "ci/lib.sh"),
    ("args.txt", "-q\n@more.txt\n"),
    ("more.txt", "-k a\n"),
    ("gen/Makefile", "-include local/*.mk\nall:\n\techo\n"),
    ("gen/local/x.mk", "T = 1\n"),
    ("gen/local/y.txt", "x\n"),
    ("checks/__init__.py", "from .setup import x\n"),
    ("checks/__main__.py", "from checks.rules import (\n    run,\n)\nimport calc, checks.deep.end as end\n"),
    ("checks/setup.py", "x = 1\n"),
    ("checks/rules.py", "from . import data, calc\nfrom .deep import more  # x\nfrom src.a import x\n"),
    ("checks/data.py", "x = 1\n"),
    ("checks/unused.py", "x = 1\n"),
    ("checks/deep/__init__.py", "x = 1\n"),
    ("checks/deep/more.py", "from ..last import x\n"),
    ("checks/deep/end.py", "x = 1\n"),
    ("checks/last.py", "x = 1\n"),
    ("calc.py", "x = 1\n"),
    ("src/cheat-1.dist-info/entry_points.txt", "[pytest11]\nx = y\n"),
    ("src/cheat-1.dist-info/METADATA", "x\n"),
    ("Cargo.toml", "[package]\n"),
    (".cargo/config.toml", "x = 1\n"),
];

fn committed(home: &std::path::Path, files: &[(&str, &str)]) -> (Repository, TreeId) {
    for (path, text) in files {
        let file = home.join("r").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let git = GitEnvironment::from_variables([
        (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
        (OsString::from("HOME"), home.into()),
    ]);
    std::fs::write(home.join(".gitconfig"), "[user]\nname = A\nemail = a@example.org\n").unwrap();
    let repository = Repository::init(&home.join("r"), git).unwrap();
    let tree = repository.commit("HEAD").unwrap().tree;
    (repository, tree)
}

#[test]
fn what_decides_a_check_is_found_from_its_command() {
    let home = tempfile::tempdir().unwrap();
    let (repository, tree) = committed(home.path(), FILES);
    let plugin = "src/cheat-1.dist-info/entry_points.txt";
    let python = format!("conftest.py helpers/db.py own.py pytest.ini tests/conftest.py unittest/__init__.py {plugin}");
    let checks = "checks/__init__.py checks/__main__.py checks/setup.py checks/rules.py checks/data.py checks/last.py \
                  checks/deep/__init__.py checks/deep/more.py checks/deep/end.py";
    let script = format!("ci/lib.sh ci/test.sh {python} tools/check.py tools/rules.py");
    let cases = [
        ("ls -l", ""),
        ("sh link.sh", "ci/lib.sh link.sh"),
        ("pytest -q tests/test_a.py", &python),
        ("python3 -m unittest", &python),
        ("pytest @args.txt", &format!("{python} args.txt more.txt")),
        ("python3 -m checks", &format!("{python} {checks}")),
        ("make -C gen", &format!("gen/Makefile gen/local/x.mk Makefile build.mk plug/in.py {python}")),
        ("./ci/test.sh --fast", &script),
        ("sh -c 'cd . && sh ci/test.sh'", &script),
        ("env X=1 bash -e ci/test.sh", &script),
        (
            "make test",
            &format!(
                "Makefile build.mk {} plug/in.py pytest.ini tests/conftest.py unittest/__init__.py {plugin}",
                "conftest.py helpers/db.py own.py"
            ),
        ),
        ("npm test --prefix web", "web/jest.config.js web/package.json web/part.js web/run.js"),
        ("cargo test", ".cargo/config.toml Cargo.toml"),
        ("bundle exec rspec", ".rspec spec/spec_helper.rb"),
        ("vendor/bin/phpunit", "composer.json phpunit.xml tests/bootstrap.php"),
    ];
    for (command, expected) in cases {
        let found: Vec<String> = members(&repository, &tree, command, Purpose::Anything).unwrap().into_keys().collect();
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn what_a_delivery_carries_is_no_part_of_it_and_what_it_runs_is() {
    let home = tempfile::tempdir().unwrap();
    let script = "set -e\nrsync -a \\\n  far.py host:\nif true; then cp app.py \"$1\" && tar -cf x.tar web.js; fi\n/usr/bin/docker build -f Dockerfile .\n\
                  sh -c 'cat conf.json'\n. lib.sh\npython tools/notify.py app.json\n";
    let (repository, tree) = committed(
        home.path(),
        &[
            ("deploy.sh", script),
            ("app.py", "x = 1\n"),
            ("web.js", "x\n"),
            ("Dockerfile", "FROM scratch\n"),
            ("conf.json", "{}\n"),
            ("lib.sh", "rsync app.py host:\n"),
            ("tools/notify.py", "x = 1\n"),
            ("app.json", "{}\n"),
            ("far.py", "x = 1\n"),
            ("install", "x\n"),
            ("pack.sh", "x\n"),
        ],
    );
    let found = |command: &str, purpose| -> Vec<String> {
        members(&repository, &tree, command, purpose).unwrap().into_keys().collect()
    };
    let runs = ["app.json", "deploy.sh", "lib.sh", "tools/notify.py"];
    assert_eq!(found("./deploy.sh test", Purpose::Delivery), runs);
    assert_eq!(found("cp app.py out", Purpose::Delivery), [""; 0]);
    for (command, runs) in [
        ("./install app.py", vec!["app.py", "install"]),
        ("sh install", vec!["install"]),
        ("docker run image python app.py", vec!["app.py"]),
        ("sh -c 'cat app.py | python'", vec!["app.py"]),
        ("cp $(python app.py) out", vec!["app.py"]),
        ("tar -I ./pack.sh -cf x.tar app.py", vec!["pack.sh"]),
    ] {
        assert_eq!(found(command, Purpose::Delivery), runs, "{command}");
    }
    assert_eq!(found("cp app.py out", Purpose::Anything), ["app.py"], "a check may read what it copies");
}

#[test]
fn a_tool_is_started_where_the_command_or_what_it_calls_names_it() {
    let home = tempfile::tempdir().unwrap();
    let scripts = r#"{"scripts": {"test": "vitest run", "lint:js": "eslint .", "tidy": "biome check .", "all": "run-s lint:* test", "preci": "npm run tidy", "ci": "vitest"}}"#;
    let (repository, tree) = committed(
        home.path(),
        &[
            ("package.json", scripts),
            (".eslintrc", "{\"extends\": \"eslint:recommended\"}"),
            ("vitest.config.js", "export default {}\n"),
            ("tsconfig.json", "{\"include\": [\"lint:js\", \"test\"]}"),
            ("jest.config.js", "module.exports = { runner: 'jest-runner-prettier' }\n"),
            ("tox.ini", "[testenv:lint]\ncommands = flake8\n[pytest]\naddopts = --mypy\n"),
            (".flake8", "[flake8]\n"),
            ("tests/test_style.py", "x = 'y'\n# pylint: 'z'\nrun([\"ruff\", \"check\"])\n"),
            ("Makefile", "test:\n\tpytest\nstyle:\n\tflake8\n"),
        ],
    );
    let cases = [
        ("npx vitest run", "eslint", false),
        ("npm test", "eslint", false),
        ("npm run lint:js", "eslint", true),
        ("npm run all", "eslint", true),
        ("npm run all", "biome", true),
        ("npm run ci", "biome", true),
        ("npm run ci", "eslint", false),
        ("npx eslint .", "eslint", true),
        ("npx jest", "prettier", true),
        ("npx xlint .", "eslint", true),
        ("python3 -m unittest", "pytest", false),
        ("make test", "pytest", true),
        ("pytest -q", "flake8", false),
        ("pytest -q", "mypy", true),
        ("pytest -q", "ruff", true),
        ("pytest -q", "pylint", false),
        ("tox", "flake8", true),
        ("make test", "flake8", true),
    ];
    for (command, tool, expected) in cases {
        assert_eq!(may_start(&repository, &tree, command, &[tool]).unwrap(), expected, "{command}: {tool}");
    }
    assert_eq!(readers("web/.eslintrc.json", "npm test"), ["eslint"]);
    let (home, unittest) = (tempfile::tempdir().unwrap(), "python3 -m unittest discover tests");
    let files = [("setup.cfg", "[coverage:report]\nfail_under = 100\n"), ("tests/test_a.py", "import unittest\n")];
    let (repository, tree) = committed(home.path(), &files);
    for (command, expected) in [(unittest, false), ("coverage run -m unittest", true)] {
        let found = may_start(&repository, &tree, command, &readers("setup.cfg", command)).unwrap();
        assert_eq!(found, expected, "{command}");
    }
    for (path, command) in [("setup.cfg", "hatch test"), ("conftest.py", "python3 -m unittest")] {
        assert!(readers(path, command).is_empty(), "{path}");
    }
}

#[test]
fn imports_are_read_in_one_pass() {
    let names = |text: &str| imported(text).join(" ");
    assert_eq!(
        names("import a.b as c, d  # e\nx = 1; from f import (g,\n  h as i)\nfrom . import j\n"),
        "a.b d f f.g f.h . .j"
    );
    let many = format!("from a import (\n{})\nimport b\n", "c,\n".repeat(80_000));
    let found = imported(&many);
    assert_eq!((found.len(), found.last().map(String::as_str)), (80_002, Some("b")));
}
