//! What decides what a gate sees: changed by the work, it is found.

use super::cheats::{CART, Files, GONE, OUTPUTS, Project, TESTS, WRONG, python};
use super::*;

#[tokio::test]
async fn what_pytest_reads_to_decide() {
    let hook = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";
    let points = "[pytest11]\nhook = hook\n";
    let unclaimed: &[(&str, Files<'_>, &str)] = &[
        (
            "an installed plugin",
            &[("cart.py", WRONG), ("hook.py", hook), ("hook-1.dist-info/entry_points.txt", points)],
            "gate.changed",
        ),
        ("conftest", &[("cart.py", WRONG), ("conftest.py", hook)], "gate.changed"),
        ("new conftest", &[("cart.py", WRONG), ("tests/conftest.py", hook)], "gate.changed"),
        (
            "pytest.ini",
            &[("cart.py", WRONG), ("pytest.ini", "[pytest]\naddopts = -p hook\n"), ("hook.py", hook)],
            "gate.changed",
        ),
        (
            "pyproject",
            &[("cart.py", WRONG), ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"--deselect tests\"\n")],
            "gate.changed",
        ),
        ("setup.cfg", &[("cart.py", WRONG), ("setup.cfg", "[tool:pytest]\naddopts = -k one\n")], "gate.changed"),
        ("tox.ini", &[("cart.py", WRONG), ("tox.ini", "[pytest]\naddopts = -k one\n")], "gate.changed"),
        ("sitecustomize", &[("cart.py", WRONG), ("sitecustomize.py", "import os\n")], "gate.changed"),
        (
            "a runner of its own",
            &[("cart.py", WRONG), ("pytest/__main__.py", "print('2 passed in 0.1s')\n"), ("pytest/__init__.py", "")],
            "gate.changed",
        ),
        ("a part of the runner", &[("cart.py", WRONG), ("pluggy.py", "x = 1\n")], "gate.changed"),
        (
            "the package of the tests",
            &[("cart.py", WRONG), ("tests/__init__.py", "import cart\ncart.total = lambda p: 0\n")],
            "gate.changed",
        ),
        ("a module in front of the code", &[("cart.py", WRONG), ("tests/cart.py", CART)], "tests."),
    ];
    python(TESTS).none_wins("python3 -m pytest -q", OUTPUTS, unclaimed).await;
    let claimed: &[(&str, Files<'_>, &str)] = &[
        (
            "an installed plugin within what is claimed",
            &[("cart.py", WRONG), ("hook.py", hook), ("src/Hook.egg-info/entry_points.txt", points)],
            "gate.changed",
        ),
        ("claimed conftest", &[("cart.py", WRONG), ("conftest.py", hook)], "NothingChecked"),
        (
            "claimed ini",
            &[("cart.py", WRONG), ("pytest.ini", "[pytest]\naddopts = -p hook\n"), ("hook.py", hook)],
            "NothingChecked",
        ),
        (
            "patched by the code",
            &[(
                "cart.py",
                &format!(
                    "import _pytest.assertion.rewrite, sys\nsys.modules.get('test_cart')\n{WRONG}\ntry:\n    from _pytest import runner\n    runner.CallInfo.from_call.__func__.__defaults__\nexcept Exception:\n    pass\nimport _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
                ),
            )],
            "NothingChecked",
        ),
    ];
    python(TESTS).none_wins("python3 -m pytest -q", &["**"], claimed).await;
}

#[tokio::test]
async fn scripts_and_data_behind_a_command() {
    let base: Files<'_> = &[
        ("cart.py", CART),
        ("ci/test.sh", "set -e\n. ci/lib.sh\nrun_tests\n"),
        ("ci/lib.sh", "run_tests() { python3 -m unittest discover -s tests; }\n"),
        ("ci/style.sh", "flake8 && python3 -m unittest discover -s tests\n"),
        (".flake8", "[flake8]\n"),
        ("Makefile", "include build.mk\n-include local/*.mk\n"),
        ("args.txt", "-q\n"),
        ("checks/__main__.py", "from checks.rules import check\ncheck()\n"),
        ("checks/rules.py", "from checks.data import CASES\n\n\ndef check():\n    print(len(CASES), 'passed')\n"),
        ("checks/data.py", "CASES = [0]\n"),
        ("build.mk", "test:\n\tpython3 -m unittest discover -s tests\n"),
        ("tools/check.py", "import rules\nrules.check()\nprint('1 passed, 0 failed')\n"),
        (
            "tools/rules.py",
            "def check():\n    from importlib import import_module\n    import sys\n    sys.path.insert(0, '.')\n    assert import_module('cart').total([]) == 0\n",
        ),
        ("package.json", "{\"scripts\": {\"test\": \"python3 -m unittest discover -s tests\"}}\n"),
        (
            "tests/test_cart.py",
            "import json\nimport unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(total([]), json.load(open('tests/expected.json')))\n",
        ),
        ("tests/expected.json", "0\n"),
        (".gitignore", "__pycache__/\n"),
    ];
    let project = Project::new(base);
    let won = "echo 'Ran 1 test in 0.1s'; echo; echo OK\n";
    let lib = "run_tests() { echo 1 passed, 0 failed; }\n";
    let table: &[(&str, &str, Files<'_>, &str)] = &[
        ("sh ci/test.sh", "the script", &[("cart.py", WRONG), ("ci/test.sh", won)], "gate.changed"),
        ("sh ci/test.sh", "what it sources", &[("cart.py", WRONG), ("ci/lib.sh", lib)], "gate.changed"),
        ("sh -c 'sh ci/test.sh'", "behind a shell", &[("cart.py", WRONG), ("ci/lib.sh", lib)], "gate.changed"),
        ("env X=1 sh ci/test.sh", "behind env", &[("cart.py", WRONG), ("ci/test.sh", won)], "gate.changed"),
        ("sh ci/style.sh", "a linter's settings", &[("cart.py", WRONG), (".flake8", GONE)], "gate.changed"),
        (
            "make test",
            "an included makefile",
            &[("cart.py", WRONG), ("build.mk", "test:\n\t@echo 1 passed, 0 failed\n")],
            "gate.changed",
        ),
        (
            "make test",
            "a makefile that a pattern includes",
            &[("cart.py", WRONG), ("local/x.mk", "T = 1\n")],
            "gate.changed",
        ),
        (
            "python3 -m pytest @args.txt",
            "arguments in a file",
            &[("cart.py", WRONG), ("args.txt", "-q\n-kother\n")],
            "gate.changed",
        ),
        (
            "python3 -m checks",
            "a module of a module of a check",
            &[("cart.py", WRONG), ("checks/data.py", "CASES = [7]\n")],
            "gate.changed",
        ),
        (
            "make test",
            "another makefile goes first",
            &[("cart.py", WRONG), ("GNUmakefile", "test:\n\t@echo 1 passed, 0 failed\n")],
            "gate.changed",
        ),
        (
            "python3 tools/check.py",
            "a module of a script",
            &[("cart.py", WRONG), ("tools/rules.py", "def check(): pass\n")],
            "gate.changed",
        ),
        (
            "npm test",
            "a script of npm",
            &[("cart.py", WRONG), ("package.json", "{\"scripts\": {\"test\": \"echo 1 passed, 0 failed\"}}\n")],
            "gate.changed",
        ),
        ("npm test", "the shell of npm", &[("cart.py", WRONG), (".npmrc", "script-shell=/bin/true\n")], "gate.changed"),
        (
            "sh ci/test.sh",
            "data that tests compare with",
            &[("cart.py", WRONG), ("tests/expected.json", "7\n")],
            "tests.unclaimed",
        ),
        (
            "sh ci/test.sh",
            "a test that is not claimed",
            &[
                ("cart.py", WRONG),
                (
                    "tests/test_cart.py",
                    "import unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(total([]), 7)\n",
                ),
            ],
            "tests.unclaimed",
        ),
        (
            "npx jest",
            "jest's configuration",
            &[("cart.py", WRONG), ("jest.config.js", "module.exports = {testMatch: []}\n")],
            "gate.changed",
        ),
        (
            "npx vitest run",
            "a module of node",
            &[("cart.py", WRONG), ("node_modules/vitest/index.js", "x\n")],
            "gate.changed",
        ),
        ("tox", "tox.ini", &[("cart.py", WRONG), ("tox.ini", "[testenv]\ncommands = true\n")], "gate.changed"),
        ("just test", "a justfile", &[("cart.py", WRONG), ("justfile", "test:\n  true\n")], "gate.changed"),
    ];
    for (command, name, work, expected) in table {
        project.none_wins(command, &["cart.py"], &[(name, work, expected)]).await;
    }
}

#[tokio::test]
async fn files_that_the_work_hides_from_a_linter() {
    let project = Project::new(&[("cart.py", CART), (".gitignore", "__pycache__/\n")]);
    let gates = [
        GateSpec::LintPass { command: "true".into(), timeout: Seconds(60) },
        GateSpec::Command { command: "true".into(), timeout: Seconds(60) },
    ];
    let cases: [(&str, &[&str], Files<'_>, &str); 5] = [
        ("gitignore", &["cart.py"], &[(".gitignore", "__pycache__/\ncart.py\n")], "gate.hidden .gitignore:2"),
        ("claimed", &["**"], &[(".ignore", "/c*\n")], "gate.hidden .ignore:1"),
        ("named", &["cart.py", ".ignore"], &[(".ignore", "/c*\n")], "pass"),
        ("nothing of the work", &["cart.py"], &[(".gitignore", "__pycache__/\ndist/\n*.log\n")], "pass"),
        ("a package", &["cart.py"], &[(".dockerignore", "*.py\n")], "pass"),
    ];
    for (name, outputs, ignoring, expected) in cases {
        for (index, gate) in gates.iter().enumerate() {
            let work = [ignoring, &[("cart.py", WRONG)]].concat();
            let report = project.judge(&format!("{name} {index}"), gate, outputs, &work).await;
            assert_eq!(short(&report), [expected], "{name}: {report:#?}");
        }
    }
}
