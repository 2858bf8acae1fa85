//! The first try in repositories as their ecosystems' own generators make them, cut down by hand: `helix init`, then `helix do` with the
//! gates that it wrote, on the real agent CLI. The agent's first work is wrong and refused by them, its second passes; nobody edits what
//! `init` wrote. Nothing comes from a network: packages are small ones made here, installed by their real installers.

pub(crate) mod corner;
mod kept;
mod unready;

use std::path::Path;

use corner::{Corner, UNITTEST, Work, lacks, needs};

const PYTHON_IGNORED: &str = "__pycache__/\n.venv/\n";

/// `npm create vite -- --template vanilla-ts`, then `npm install`: no test, but a build that checks types.
#[test]
fn a_vite_project_in_typescript() {
    let corner = Corner::new(&[
        (".gitignore", "node_modules\ndist\n"),
        ("index.html", "<div id=\"app\"></div>\n<script type=\"module\" src=\"/src/main.ts\"></script>\n"),
        ("src/main.ts", "document.title = \"app\";\n"),
        ("tsconfig.json", "{ \"compilerOptions\": { \"noEmit\": true, \"strict\": true }, \"include\": [\"src\"] }\n"),
        (
            "package.json",
            "{ \"name\": \"app\", \"private\": true, \"version\": \"0.0.0\", \"type\": \"module\", \"scripts\": { \"dev\": \"vite\", \
             \"build\": \"tsc && vite build\", \"preview\": \"vite preview\" } }\n",
        ),
    ]);
    corner.node_package("typescript", "tsc", TSC);
    corner.node_package("vite", "vite", "require('fs').mkdirSync('dist', { recursive: true });");
    corner.npm(&["install", "-D", "./vendor/typescript-1.0.0.tgz", "./vendor/vite-1.0.0.tgz"]);
    corner.first_try(&Work {
        path: "src/total.ts",
        wrong: "export const total: number = \"six\";\n",
        right: "export const total: number = 6;\n",
        refused_by: "build_pass",
        gates: &["build_pass: npm run build --silent"],
        ..Work::default()
    });
}

/// A compiler that knows one mistake: a text where a number is declared.
const TSC: &str = "const fs = require('fs'); let bad = 0;\n\
    for (const file of fs.readdirSync('src').filter((name) => name.endsWith('.ts')))\n\
      if (/: number = \"/.test(fs.readFileSync(`src/${file}`, 'utf8'))) {\n\
        console.log(`src/${file}(1,14): error TS2322: Type 'string' is not assignable to type 'number'.`); bad = 2;\n\
      }\n\
    process.exit(bad);\n";

/// `npx create-next-app --skip-install`: no lock file yet, and a linter.
#[test]
fn a_next_project_that_nobody_has_installed_yet() {
    let corner = Corner::new(&[
        (".gitignore", "/node_modules\n/.next/\n"),
        ("app/page.tsx", "export default function Home() {\n  return null;\n}\n"),
        (
            "package.json",
            "{ \"name\": \"site\", \"version\": \"0.1.0\", \"private\": true, \"scripts\": { \"dev\": \"next dev\", \"build\": \"next build\", \
             \"start\": \"next start\", \"lint\": \"eslint\" }, \"dependencies\": { \"next\": \"file:vendor/next-1.0.0.tgz\" }, \
             \"devDependencies\": { \"eslint\": \"file:vendor/eslint-1.0.0.tgz\" } }\n",
        ),
    ]);
    corner.node_package("next", "next", "require('fs').mkdirSync('.next', { recursive: true });");
    corner.node_package(
        "eslint",
        "eslint",
        "if (/\\bvar\\b/.test(require('fs').readFileSync('app/total.js', 'utf8'))) { console.log('no-var'); process.exit(1); }",
    );
    corner.write("app/total.js", "export const total = 5;\n");
    corner.first_try(&Work {
        path: "app/total.js",
        wrong: "export var total = 6;\n",
        right: "export const total = 6;\n",
        refused_by: "lint_pass",
        gates: &["lint_pass: npm run lint --silent", "build_pass: npm run build --silent"],
        ..Work::default()
    });
}

/// A monorepo with npm's workspaces, whose root has no script of its own.
#[test]
fn a_monorepo_with_npm_workspaces() {
    let package = |name: &str| {
        format!("{{ \"name\": \"{name}\", \"version\": \"1.0.0\", \"scripts\": {{ \"test\": \"node --test\" }} }}\n")
    };
    let corner = Corner::new(&[
        (".gitignore", "node_modules/\n"),
        ("package.json", "{ \"name\": \"all\", \"private\": true, \"workspaces\": [\"packages/*\"] }\n"),
        ("packages/sum/package.json", &package("sum")),
        ("packages/sum/index.js", "exports.sum = (prices) => prices.reduce((all, one) => all + one, 0);\n"),
        ("packages/shop/package.json", &package("shop")),
        (
            "packages/sum/sum.test.js",
            "const { sum } = require('./index.js');\nrequire('node:test').test('sum', () => require('node:assert').equal(sum([1, 2]), 3));\n",
        ),
    ]);
    corner.npm(&["install"]);
    corner.first_try(&Work {
        path: "packages/shop/total.js",
        wrong: "exports.total = (prices) => require('sum').sum(prices) + 1;\n",
        right: "exports.total = (prices) => require('sum').sum(prices);\n",
        test: (
            "packages/shop/total.test.js",
            "const { total } = require('./total.js');\nrequire('node:test').test('total', () => require('node:assert').equal(total([2, 4]), 6));\n",
        ),
        refused_by: "tests_pass",
        gates: &["tests_pass: npm test --workspaces --if-present"],
        passed: 2,
    });
}

/// `uv init`, and a first test.
#[test]
fn a_project_of_uv() {
    if !needs("a_project_of_uv", &["uv"]) {
        return;
    }
    let corner = Corner::new(&[
        (".gitignore", PYTHON_IGNORED),
        (
            "pyproject.toml",
            "[project]\nname = \"bill\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = []\n",
        ),
        (
            "uv.lock",
            "version = 1\nrequires-python = \">=3.9\"\n\n[[package]]\nname = \"bill\"\nversion = \"0.1.0\"\nsource = { virtual = \".\" }\n",
        ),
        ("main.py", "def main():\n    print(\"Hello from bill!\")\n"),
        (
            "tests/test_main.py",
            "import unittest\n\nfrom main import main\n\n\nclass Main(unittest.TestCase):\n    def test_main(self):\n        self.assertIsNone(main())\n",
        ),
    ]);
    corner.first_try(&Work {
        refused_by: "tests_pass",
        gates: &["tests_pass: python3 -m unittest discover -s tests"],
        passed: 2,
        ..UNITTEST
    });
}

/// `poetry new --src` with pytest, where Poetry is not installed: no `.gitignore`, and the package lies in `src`.
#[test]
fn a_package_in_src_of_poetry() {
    // Where it is, it asks the network.
    if !lacks("a_package_in_src_of_poetry", "poetry") {
        return;
    }
    let corner = Corner::new(&[
        (
            "pyproject.toml",
            "[project]\nname = \"bill\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\n]\n\n[tool.poetry]\n\
             packages = [{include = \"bill\", from = \"src\"}]\n\n[build-system]\nrequires = [\"poetry-core>=2.0.0,<3.0.0\"]\n\
             build-backend = \"poetry.core.masonry.api\"\n\n[dependency-groups]\ndev = [\"pytest (>=8)\"]\n",
        ),
        ("README.md", ""),
        ("src/bill/__init__.py", ""),
        ("tests/__init__.py", ""),
    ]);
    corner.first_try(&Work {
        path: "src/bill/total.py",
        wrong: "def total(prices):\n    return sum(prices) + 1\n",
        right: "def total(prices):\n    return sum(prices)\n",
        test: (
            "tests/test_total.py",
            "from bill.total import total\n\n\ndef test_total():\n    assert total([2, 4]) == 6\n",
        ),
        refused_by: "tests_pass",
        gates: &["tests_pass: python3 -m pytest -q"],
        passed: 1,
    });
    let changed = corner.git(&["show", "--name-only", "--format=", "-m", "--first-parent", "HEAD"]);
    assert!(!changed.contains("pycache") && !changed.contains(".pytest_cache"), "{changed}");
}

/// `django-admin startproject`, with its `requirements.txt` and no `.gitignore`.
#[test]
fn a_project_of_django() {
    let corner = Corner::new(&[
        (
            "manage.py",
            "import os\nimport sys\n\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')\nfrom django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n",
        ),
        ("site1/__init__.py", ""),
        ("site1/settings.py", "INSTALLED_APPS = ['polls']\n"),
        ("polls/__init__.py", ""),
        ("polls/tests.py", "from django.test import TestCase\n\n# Create your tests here.\n"),
        ("requirements.txt", "--no-index\n--find-links vendor\nDjango==5.2\n"),
    ]);
    // What it does of the real one: finds `test*.py` and runs them.
    corner.wheel(
        "Django",
        "5.2",
        &[
            ("django/__init__.py", ""),
            ("django/test.py", "from unittest import TestCase\n"),
            ("django/core/__init__.py", ""),
            (
                "django/core/management.py",
                "def execute_from_command_line(argv):\n    import unittest\n    assert argv[1] == 'test'\n    unittest.main(module=None, argv=['manage.py', 'discover', '-p', 'test*.py'])\n",
            ),
        ],
    );
    corner.first_try(&Work {
        path: "polls/total.py",
        wrong: "def total(prices):\n    return sum(prices) + 1\n",
        right: "def total(prices):\n    return sum(prices)\n",
        test: (
            "polls/test_total.py",
            "from django.test import TestCase\n\nfrom polls.total import total\n\n\nclass Total(TestCase):\n    def test_total(self):\n        self.assertEqual(total([2, 4]), 6)\n",
        ),
        refused_by: "tests_pass",
        gates: &["tests_pass: python3 manage.py test"],
        passed: 1,
    });
}

/// `cargo new`, and members in it: what the root's own tests do not reach.
#[test]
fn a_workspace_of_cargo() {
    let corner = Corner::new(&[
        (".gitignore", "/target\n"),
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"core1\"]\n\n[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/main.rs", "fn main() {\n    println!(\"Hello, world!\");\n}\n"),
        ("core1/Cargo.toml", "[package]\nname = \"core1\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("core1/src/lib.rs", "pub fn total(_prices: &[u64]) -> u64 {\n    0\n}\n"),
    ]);
    corner.first_try(&Work {
        path: "core1/src/lib.rs",
        wrong: "pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum::<u64>() + 1\n}\n",
        right: "pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n",
        test: ("core1/tests/total.rs", "#[test]\nfn total() {\n    assert_eq!(core1::total(&[2, 4]), 6);\n}\n"),
        refused_by: "tests_pass",
        gates: &["tests_pass: cargo test --workspace"],
        passed: 1,
    });
}

/// `go mod init`.
#[test]
fn a_module_of_go() {
    if !needs("a_module_of_go", &["go"]) {
        return;
    }
    let corner = Corner::new(&[("go.mod", "module example.com/bill\n\ngo 1.19\n")]);
    corner.first_try(&Work {
        path: "total.go",
        wrong: "package bill\n\nfunc Total(prices []int) int {\n\treturn len(prices)\n}\n",
        right: "package bill\n\nfunc Total(prices []int) int {\n\tall := 0\n\tfor _, one := range prices {\n\t\tall += one\n\t}\n\treturn all\n}\n",
        test: (
            "total_test.go",
            "package bill\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif Total([]int{2, 4}) != 6 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n",
        ),
        refused_by: "tests_pass",
        gates: &["tests_pass: go test ./..."],
        passed: 1,
    });
}

/// A project of Spring's generator: Maven by its wrapper, which stands for Maven here: it compiles, runs, and prints as Surefire does.
#[test]
fn a_project_of_maven() {
    if !needs("a_project_of_maven", &["javac", "java"]) {
        return;
    }
    let corner = Corner::new(&[
        (
            "pom.xml",
            "<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>bill</artifactId><version>1</version></project>\n",
        ),
        ("src/main/java/com/example/App.java", "package com.example;\n\npublic class App {\n}\n"),
        ("mvnw", MVNW),
    ]);
    corner.executable("mvnw");
    corner.first_try(&Work {
        path: "src/main/java/com/example/Total.java",
        wrong: "package com.example;\n\npublic class Total {\n    public static int of(int... prices) {\n        return prices.length;\n    }\n}\n",
        right: "package com.example;\n\npublic class Total {\n    public static int of(int... prices) {\n        int all = 0;\n        for (int one : prices) {\n            all += one;\n        }\n        return all;\n    }\n}\n",
        test: (
            "src/test/java/com/example/TotalTest.java",
            "package com.example;\n\npublic class TotalTest {\n    public static void main(String[] none) {\n        if (Total.of(2, 4) != 6) {\n            throw new AssertionError(\"expected:<6> but was:<\" + Total.of(2, 4) + \">\");\n        }\n    }\n}\n",
        ),
        refused_by: "tests_pass",
        gates: &["tests_pass: ./mvnw -B -ntp test"],
        passed: 1,
    });
}

const MVNW: &str = "#!/bin/sh\n\
    case \"$*\" in *dependency:*) exit 0;; esac\n\
    mkdir -p target && javac -d target $(find src -name '*.java') || exit 1\n\
    test -d src/test || { echo '[INFO] No tests to run.'; exit 0; }\n\
    echo '[INFO]  T E S T S'; echo '[INFO] Running com.example.TotalTest'\n\
    if said=$(java -cp target com.example.TotalTest 2>&1); then\n\
      echo '[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.021 s -- in com.example.TotalTest'\n\
      printf '[INFO] \\n[INFO] Results:\\n[INFO] \\n[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\\n'\n\
    else\n\
      echo '[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s <<< FAILURE! -- in com.example.TotalTest'\n\
      echo '[ERROR] com.example.TotalTest.total -- Time elapsed: 0.01 s <<< FAILURE!'; echo \"$said\"\n\
      printf '[INFO] \\n[INFO] Results:\\n[INFO] \\n[ERROR] Failures: \\n[ERROR]   TotalTest.total:6 expected:<6>\\n[INFO] \\n[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\\n'\n\
      exit 1\n\
    fi\n";

/// Whether a file is as the agent left it.
pub(crate) fn is(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|found| found == text)
}
