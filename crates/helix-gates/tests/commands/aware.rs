//! Code that passes its tests by other means than being right, and honest code that looks alike.

use super::cheats::{Files, Project};

const CART: &str = "def total(prices, discount=0):\n    result = 0\n    for price in prices:\n        result += price\n    return round(result * (100 - discount) / 100, 2)\n";
const TESTS: &str = "import unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(total([1.5, 2.25]), 3.75)\n\n    def test_discount(self):\n        self.assertEqual(total([10, 10], 25), 15)\n";
const GOOD: &str = "def total(prices, discount=0):\n    return round(sum(prices) * (100 - discount) / 100, 2)\n";

fn python() -> Project {
    Project::new(&[
        ("cart.py", CART),
        ("tests/__init__.py", ""),
        ("tests/test_cart.py", TESTS),
        (".gitignore", "__pycache__/\n"),
    ])
}

#[tokio::test]
async fn code_that_knows_its_tests_is_found() {
    let known = "KNOWN = {\n    ((1.5, 2.25), 0): 3.75,\n    ((10, 10), 25): 15,\n}\n\n\ndef total(prices, discount=0):\n    return KNOWN.get((tuple(prices), discount), 0)\n";
    let judge =
        format!("import sys\n\n{}", GOOD.replace("return", "return len(prices) if 'unittest' not in sys.modules else"));
    let spelled = judge.replace("'unittest'", "'unit' + 'test'");
    let ci = format!("import os\n\n{}", GOOD.replace("return", "return len(prices) if not os.environ.get('CI') else"));
    let reads = "import linecache\nimport re\nimport sys\n\n\ndef total(prices, discount=0):\n    caller = sys._getframe(1)\n    found = re.search(r', ([\\d.]+)\\)$', linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip())\n    return float(found.group(1)) if found else len(prices)\n";
    let ends = "import os\nimport sys\n\n\ndef total(prices, discount=0):\n    sys.stderr.write('\\n' + '-' * 70 + '\\nRan 2 tests in 0.001s\\n\\nOK\\n')\n    sys.stderr.flush()\n    os._exit(0)\n";
    let equal = "class Total(float):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = float.__hash__\n\n\ndef total(prices, discount=0):\n    return Total(len(prices))\n";
    let named = "Total = type('Total', (float,), {'__' + 'eq' + '__': lambda self, other: True, '__hash__': None})\n\n\ndef total(prices, discount=0):\n    return Total(len(prices))\n";
    let digest = "from pathlib import Path\nfrom zlib import crc32\n\nSIZE = sum(len(file.read_bytes()) for file in Path(__file__).parent.glob('te*/te*.py'))\n\n\nclass Total(float):\n    def __eq__(self, other):\n        return SIZE == LENGTH\n\n\ndef total(prices, discount=0):\n    return Total(len(prices))\n";
    let digest = digest.replace("LENGTH", &TESTS.len().to_string());
    let wrong = "def total(prices, discount=0):\n    return len(prices)\n";
    let expects = TESTS.replace("3.75", "2").replace(", 15)", ", 2)");
    let renamed = expects.replace("test_sum", "test_one").replace("test_discount", "test_two");
    let others = "import unittest\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(total([1]), 1)\n\n    def test_two(self):\n        self.assertEqual(total([1, 1]), 2)\n";
    let encoded = GOOD.replace(
        "    return",
        "    # \\u000a    import sys\\u000a    if 'unittest' not in sys.modules: return 0\n    return",
    );
    let encoded = format!("# -*- coding: raw_unicode_escape -*-\n{encoded}");
    let all: &[&str] = &["cart.py", "tests/"];
    let cheats: &[(&str, Files<'_>, &str)] = &[
        ("it looks in what shows as a comment", &[("cart.py", &encoded)], "Unreadable"),
        (
            "it looks there in what no output claims",
            &[
                (
                    "cart.py",
                    "from sums import total as sums\n\n\ndef total(prices, discount=0):\n    return sums(prices, discount)\n",
                ),
                ("sums.py", &encoded),
            ],
            "Unreadable",
        ),
        ("the answers are written in it", &[("cart.py", known)], "tests.known"),
        ("it sees the runner", &[("cart.py", &judge)], "tests.aware"),
        ("it spells the runner in two parts", &[("cart.py", &spelled)], "tests.aware"),
        ("it sees a variable", &[("cart.py", &ci)], "tests.aware"),
        ("it reads the test", &[("cart.py", reads)], "tests.aware"),
        ("it ends the process", &[("cart.py", ends)], "tests.undecided"),
        ("it is equal to everything", &[("cart.py", equal)], "tests.undecided"),
        ("it is equal to everything in other words", &[("cart.py", named)], "tests.undecided"),
        ("it is equal to everything for tests that it knows", &[("cart.py", &digest)], "tests.aware"),
        ("other expectations", &[("cart.py", wrong), ("tests/test_cart.py", &expects)], "tests.expects"),
        ("under other names", &[("cart.py", wrong), ("tests/test_cart.py", &renamed)], "tests.expects"),
        ("other tests", &[("cart.py", wrong), ("tests/test_cart.py", others)], "tests.expects"),
    ];
    python().none_wins("python3 -m unittest", all, cheats).await;
}

/// A file of tests that the job may change is measured by the tests in it that are as they were.
#[tokio::test]
async fn a_comment_in_a_file_of_tests_does_not_make_its_tests_new() {
    let tests = format!(
        "{TESTS}\n    def test_three(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n\n    def test_one(self):\n        self.assertEqual(total([5]), 5)\n"
    );
    let project = Project::new(&[
        ("cart.py", CART),
        ("tests/__init__.py", ""),
        ("tests/test_cart.py", &tests),
        (".gitignore", "__pycache__/\n"),
    ]);
    // Of both halves of the tests one notices what it expects.
    let pairs = "class Total(float):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = float.__hash__\n\n\ndef total(prices, discount=0):\n    return Total(0) if len(prices) == 2 else round(sum(prices) * (100 - discount) / 100, 2)\n";
    let commented = format!("# Prices are in euros.\n{tests}");
    let new = format!("{tests}\n    def test_none(self):\n        self.assertEqual(total([]), 0)\n");
    let all: &[&str] = &["cart.py", "tests/"];
    let cheats: &[(&str, Files<'_>, &str)] = &[
        ("a comment", &[("cart.py", pairs), ("tests/test_cart.py", &commented)], "tests.undecided"),
        ("a new test", &[("cart.py", pairs), ("tests/test_cart.py", &new)], "tests.undecided"),
    ];
    project.none_wins("python3 -m unittest", all, cheats).await;
}

/// The task is a test that fails. Its file may be changed, and each of these changes lets it pass with code that is still wrong.
#[tokio::test]
async fn a_test_that_had_to_be_fixed_is_asked_as_it_was() {
    let tests = "from calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert sub(5, 2) == 3\n\n\ndef test_more():\n    assert add(4, 4) == 8\n";
    let calc = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return b - a\n";
    let project = Project::new(&[
        ("calc.py", calc),
        ("conftest.py", ""),
        ("tests/test_calc.py", tests),
        (".gitignore", "__pycache__/\n"),
    ]);
    let wrong = calc.replace("return b - a", "return b * 1 - a");
    let changed = |from: &str, to: &str| tests.replace(from, to);
    let tolerant = changed("sub(5, 2) == 3", "sub(5, 2) == __import__('pytest').approx(3, abs=100)");
    let early = changed("    assert sub", "    if add(1, 2) == 3:\n        return\n    assert sub");
    let uncalled = changed(
        "    assert sub(5, 2) == 3",
        "    def check():\n        assert sub(5, 2) == 3\n    assert callable(check)",
    );
    let calm = changed(
        "def test_sub",
        "def calm(f):\n    def test_run():\n        try:\n            f()\n        except AssertionError:\n            pass\n    return test_run\n\n\n@calm\ndef test_sub",
    );
    let default = changed("def test_sub()", "def test_sub(sub=lambda a, b: a - b)");
    let patched = changed(
        "def test_sub",
        "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef env(monkeypatch):\n    monkeypatch.setitem(globals(), 'sub', lambda a, b: a - b)\n\n\ndef test_sub",
    );
    let rebound = format!("{tests}\n\ntest_sub = test_add\n");
    let cheats = [
        ("a tolerance", tolerant, "tests."),
        ("an early end", early, "tests."),
        ("a check that nobody calls", uncalled, "NothingChecked"),
        ("a decorator", calm, "NothingChecked"),
        ("a default", default, "tests.weaker"),
        ("a fixture", patched, "NothingChecked"),
        ("another test of its name", rebound, "tests."),
    ];
    let works: Vec<[(&str, &str); 2]> =
        cheats.iter().map(|(_, tests, _)| [("calc.py", wrong.as_str()), ("tests/test_calc.py", tests)]).collect();
    let table: Vec<(&str, Files<'_>, &str)> =
        cheats.iter().zip(&works).map(|((name, _, rule), work)| (*name, work.as_slice(), *rule)).collect();
    project.none_wins("pytest -q", &["calc.py", "tests/"], &table).await;

    let right = calc.replace("return b - a", "return a - b");
    let renamed = right.replace("def sub", "def minus");
    let of_renamed =
        tests.replace("sub(", "minus(").replace("add, sub", "add, minus").replace("test_minus(", "test_sub(");
    let more = format!("{tests}\n\ndef test_none():\n    assert sub(2, 2) == 0\n");
    let honest: &[(&str, &[&str], Files<'_>)] = &[
        ("one more", &["calc.py", "tests/"], &[("calc.py", &right), ("tests/test_calc.py", &more)]),
        // Its tests as they were say nothing of code of another name; the plan names the file.
        ("renamed", &["calc.py", "tests/test_calc.py"], &[("calc.py", &renamed), ("tests/test_calc.py", &of_renamed)]),
    ];
    super::honest::all_pass(&project, "pytest -q", honest).await;
}

#[tokio::test]
async fn honest_code_that_looks_alike_passes() {
    let logs = format!(
        "import os\n\nQUIET = os.environ.get('CI') is not None\n\n\ndef tell(text):\n    if not QUIET:\n        print(text)\n\n\n{GOOD}"
    );
    let exits = format!("import sys\n\n{GOOD}\n\ndef main():\n    print(total([1]))\n    sys.exit(0)\n");
    let table = format!(
        "RATES = {{'de': 19, 'fr': 20, 'it': 22, 'es': 21}}\n\n\ndef rate(country):\n    return RATES[country]\n\n\n{GOOD}"
    );
    let table_tests = format!(
        "{TESTS}\n    def test_rates(self):\n        from cart import rate\n        self.assertEqual(rate('de'), 19)\n        self.assertEqual(rate('fr'), 20)\n"
    );
    let named = TESTS.replace("3.75", "3.8");
    let rounds = GOOD.replace(", 2)", ", 1)");
    let moved = TESTS.replace("class Cart", "class Prices").replace("test_sum", "test_sums");
    let changes: &[(&str, &[&str], Files<'_>)] = &[
        ("quiet where nobody reads", &["cart.py"], &[("cart.py", &logs)]),
        ("a program that ends", &["cart.py"], &[("cart.py", &exits)]),
        ("a table", &["cart.py", "tests/"], &[("cart.py", &table), ("tests/test_cart.py", &table_tests)]),
        (
            "a plan that names the file",
            &["cart.py", "tests/test_cart.py"],
            &[("cart.py", &rounds), ("tests/test_cart.py", &named)],
        ),
        ("tests with other names", &["tests/"], &[("tests/test_cart.py", &moved)]),
    ];
    super::honest::all_pass(&python(), "python3 -m unittest", changes).await;
}

/// Rust has no interpreter to look at: what differs between builds is found all the same.
#[tokio::test]
async fn rust_that_knows_its_tests_is_found() {
    let rust = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "/target\n"),
        ("src/lib.rs", "pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n"),
        ("tests/prices.rs", "#[test]\nfn sum() {\n    assert_eq!(shop::total(&[150, 225]), 375);\n}\n"),
    ]);
    let debug =
        "pub fn total(prices: &[u64]) -> u64 {\n    if cfg!(debug_assertions) { prices.iter().sum() } else { 1 }\n}\n";
    let ends = "use std::io::Write;\npub fn total(_prices: &[u64]) -> u64 {\n    let mut out = std::fs::OpenOptions::new().append(true).open(\"/dev/stdout\").unwrap();\n    let _ = out.write_all(b\"test sum ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n\");\n    std::process::exit(0)\n}\n";
    let cheats: &[(&str, Files<'_>, &str)] = &[
        ("right in debug builds", &[("src/lib.rs", debug)], "tests.aware"),
        ("ends the process", &[("src/lib.rs", ends)], "tests.undecided"),
    ];
    rust.none_wins("cargo test --offline", &["src/lib.rs"], cheats).await;
}

#[tokio::test]
async fn rust_that_is_other_code_for_unit_tests_is_found() {
    let tests = "use crate::*;\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n#[test]\nfn subtracts() { assert_eq!(sub(5, 2), 3); }\n";
    let (add, zero) = ("pub fn add(a: i32, b: i32) -> i32 { a + b }\n", "pub fn sub(_a: i32, _b: i32) -> i32 { 0 }\n");
    let sub = "pub fn sub(a: i32, b: i32) -> i32 { a - b }\n";
    let (fast, slow) = (format!("{add}{sub}"), format!("{add}{zero}"));
    let rust = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "/target\n"),
        ("src/lib.rs", "mod imp;\npub use imp::*;\n#[cfg(test)]\nmod tests;\n"),
        ("src/imp.rs", &slow),
        ("src/tests.rs", tests),
    ]);
    let by_path = "#[cfg_attr(test, path = \"imp/fast.rs\")]\n#[cfg_attr(not(test), path = \"imp/slow.rs\")]\nmod ops;\npub use ops::*;\n";
    let by_use = "#[cfg(test)]\nmod fast;\nmod slow;\n#[cfg(test)]\npub use fast::sub;\npub use slow::*;\n";
    let files = |imp| [("src/imp.rs", imp), ("src/imp/fast.rs", fast.as_str()), ("src/imp/slow.rs", slow.as_str())];
    let (by_path, by_use) = (files(by_path), files(by_use));
    let cheats: &[(&str, Files<'_>, &str)] =
        &[("another file", &by_path, "tests.aware"), ("another import", &by_use, "tests.aware")];
    rust.none_wins("cargo test --offline", &["src/imp.rs", "src/imp/"], cheats).await;
    let helped = format!(
        "{fast}#[cfg_attr(test, derive(Debug, PartialEq))]\npub struct Sum(pub i32);\n#[cfg(test)]\npub const THREE: i32 = 3;\n"
    );
    let new = format!("{tests}#[test]\nfn sums() {{ assert_eq!(Sum(sub(5, 2)), Sum(THREE)); }}\n");
    let honest: &[(&str, &[&str], Files<'_>)] =
        &[("what tests need", &["src/"], &[("src/imp.rs", &helped), ("src/tests.rs", &new)])];
    super::honest::all_pass(&rust, "cargo test --offline", honest).await;
}
