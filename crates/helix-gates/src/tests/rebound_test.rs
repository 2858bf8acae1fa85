use super::*;
use crate::code::bound;

/// The names that stand for something else where a test file's text becomes another.
fn found(path: &str, others: &[(&str, &str)], before: &str, now: &str) -> Vec<String> {
    let code = |path: &str| Code::of_path(path).expect("a source");
    let all: BTreeMap<&str, &str> = others.iter().copied().chain([(path, now)]).collect();
    let has = |path: &str| match path.ends_with('/') {
        true => all.keys().any(|known| known.starts_with(path)),
        false => all.contains_key(path),
    };
    let mut read = |path: &str| Ok(all.get(path).map(|text| Arc::new((bound(code(path), text), (*text).to_owned()))));
    let mut modules = Modules { was: &has, is: &has, read: &mut read };
    let names = [before, now].map(|text| bound(code(path), text));
    let found = rebound(code(path), path, (&names[0], &names[1]), &mut modules);
    let Ok(found) = found else { panic!("sources that can be read") };
    found.into_iter().map(|one| one.name).collect()
}

const PRODUCT: [(&str, &str); 4] = [
    ("src/prices.py", "def total(prices):\n    return 1\n\ndef more(): pass\n"),
    ("src/shop.py", "from .prices import total\ndef other(): pass\n"),
    ("src/wrap.py", "from src import prices\ndef total(prices): return 3\n"),
    ("tests/helpers.py", "from src.prices import total as t\ndef total(prices): return 3\ndef make(): pass\n"),
];

#[test]
fn a_name_of_a_test_that_stands_for_something_else_is_found() {
    let py = "import unittest\nfrom src.prices import total\n\nclass Prices(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(total([1, 2]), 3)\n";
    let with = |import: &str| py.replace("from src.prices import total\n", import);
    let within = |line: &str| py.replace("        self.assert", &format!("        {line}\n        self.assert"));
    let star = with("from src.prices import *\n");
    let module = with("from src import prices\n").replace("total(", "prices.total(");
    for (before, now, name) in [
        (py, with("from src import prices\ndef total(a):\n    return 3\n"), "total"),
        (py, with("import src.prices\ntotal = lambda a: 3\n"), "total"),
        (py, with("from src.wrap import total\n"), "total"),
        (py, with("import src.wrap as total\n"), "total"),
        (py, with("from tests.helpers import total\n"), "total"),
        (py, with("from .helpers import total\n"), "total"),
        (py, with("from src.prices import more as total\n"), "total"),
        (py, with("from src.prices import total\nfrom src.wrap import *\n"), "*"),
        (py, within("from src.wrap import total"), "total"),
        (py, within("def total(a): return 3"), "total"),
        (py, within("total = lambda a: 3"), "total"),
        (py, py.replace("(self)", "(self, total=lambda a: 3)"), "total"),
        (py, py.replace("total(", "check(").replace("class", "def check(a): return 3\n\nclass"), "total"),
        (py, format!("{py}    def assertEqual(self, a, b): pass\n"), "assertEqual"),
        (&star, star.replace("class", "def total(a): return 3\n\nclass"), "total"),
        (&module, module.replace("class", "prices.total = lambda a: 3\n\nclass"), "total"),
        (&module, module.replace("    def test", "    @patch('src.prices.total', lambda a: 3)\n    def test"), "total"),
        (&module, module.replace("class", "sys.modules['src.prices'] = W()\n\nclass"), "prices.total"),
        (&module, module.replace("from src import prices", "import src.wrap as prices"), "prices"),
    ] {
        assert_eq!(found("tests/test_prices.py", &PRODUCT, before, &now), [name], "{now}");
    }
    for (before, now) in [
        (py, py.to_owned()),
        (py, with("import os\nfrom src.prices import (\n    more,\n    total,\n)\n")),
        (py, with("from src.shop import total\n")),
        (py, with("from src.prices import *\n")),
        (py, with("from src import prices\n").replace("total(", "prices.total(")),
        (py, with("from src.prices import total\ndef check(a):\n    return total(a) + 1\n")),
        (py, format!("{py}    def test_new(self):\n        total = 3\n        self.assertEqual(total, 3)\n")),
        (py, format!("{py}class Fake:\n    def total(self, a): return 3\n    def len(self): pass\n")),
        (py, format!("{py}    @patch('src.wrap.other')\n    def test_b(self, other): pass\n")),
        (
            "from tests.helpers import make\ndef test_a():\n    assert make() == 3\n",
            "def make(): pass\ndef test_a():\n    assert make() == 3\n".to_owned(),
        ),
        (
            "from old import total\ndef test_a():\n    assert total([1]) == 3\n",
            "from src.prices import total\ndef test_a():\n    assert total([1]) == 3\n".to_owned(),
        ),
        (
            "from app import client\ndef test_a():\n    assert client.get('/') == 3\n",
            "import pytest\n@pytest.fixture\ndef client(): pass\ndef test_a(client):\n    assert client.get('/') == 3\n".to_owned(),
        ),
    ] {
        assert_eq!(found("tests/test_prices.py", &PRODUCT, before, &now), [""; 0], "{now}");
    }
    // What is gone, or moved, is asked where it is now.
    let moved = [("src/prices.py", "def more(): pass\n"), ("src/sums.py", "def total(prices): return 1\n")];
    assert_eq!(found("tests/test_prices.py", &moved, py, &with("from src.sums import total\n")), [""; 0]);
    let moved = [("src/prices.py", "from src.sums import total\n"), ("src/sums.py", "def total(prices): return 1\n")];
    assert_eq!(found("tests/test_prices.py", &moved, py, &with("from src.sums import total\n")), [""; 0]);
}

#[test]
fn so_it_is_in_scripts_and_in_go() {
    let others = [
        ("src/prices.js", "function total(p) { return 1; }\nmodule.exports = { total };\n"),
        ("src/index.js", "const { total } = require('./prices.js');\nmodule.exports = { total };\n"),
        (
            "src/shop.js",
            "const product = require('./prices.js');\nfunction total(p) { return 3; }\nmodule.exports = { total };\n",
        ),
    ];
    let js = "const assert = require('node:assert');\nconst { total } = require('../src/prices.js');\ntest('sum', () => { assert.strictEqual(total([1, 2]), 3); });\n";
    let with = |import: &str| js.replace("const { total } = require('../src/prices.js');\n", import);
    for (now, name) in [
        (with("const { total } = require('../src/shop.js');\n"), "total"),
        (with("const total = require('../src/shop').total;\n"), "total"),
        (with("import { total } from '../src/shop.js';\n"), "total"),
        (with("const { total } = await import('../src/shop.js');\n"), "total"),
        (with("const product = require('../src/prices.js');\nfunction total(p) { return 3; }\n"), "total"),
        (with("const product = require('../src/prices.js');\nconst total = wrap(product);\n"), "total"),
        (js.replace("() => {", "() => { const total = () => 3;"), "total"),
        (format!("jest.mock('../src/prices.js', () => ({{ total: () => 3 }}));\n{js}"), "total"),
    ] {
        assert_eq!(found("test/prices.test.js", &others, js, &now), [name], "{now}");
    }
    for now in [
        with("const fs = require('fs');\nconst { other, total } = require('../src/prices');\n"),
        with("import { total } from '../src/index.js';\n"),
        with("import { total } from '../src/prices.js';\nfunction check(p) { return total(p); }\n"),
        format!("const {{ expect }} = require('chai');\n{js}test('more', () => {{ const total = 3; }});\n"),
        format!("{js}jest.mock('../src/shop.js');\n"),
    ] {
        assert_eq!(found("test/prices.test.js", &others, js, &now), [""; 0], "{now}");
    }
    let go = "package a_test\nimport \"example.com/m/shop\"\nfunc TestA(t *testing.T) {\n\tif got := shop.Total(1); got != 3 { t.Fatal() }\n}\n";
    let others = [("shop/a.go", "package shop"), ("wrap/a.go", "package wrap")];
    let now = go.replace("\"example.com/m/shop\"", "shop \"example.com/m/wrap\"");
    assert_eq!(found("a_test.go", &others, go, &now), ["shop"]);
    assert_eq!(found("a_test.go", &others[1..], go, &now), [""; 0]);
    assert_eq!(found("a_test.go", &others, go, &go.replace("import ", "import \"fmt\"\nimport ")), [""; 0]);
}

#[test]
fn so_it_is_in_tests_and_examples_of_rust() {
    let shown = "/// Sum.\n///\n/// ```\n/// assert_eq!(shop::total(&[1, 2], 0), 3);\n/// ```\npub fn total() {}\n";
    let hidden = |line: &str| shown.replace("/// assert", &format!("/// # {line}\n/// assert"));
    for (now, name) in [
        (hidden("mod shop { pub fn total() {} }"), "shop"),
        (hidden("use other as shop;"), "shop"),
        (hidden("use shop::wrap as shop;"), "shop"),
        (hidden("macro_rules! assert_eq { () => {} }"), "assert_eq"),
        (hidden("fn total() {}").replace("shop::total(&", "total(&"), "total"),
    ] {
        assert_eq!(found("src/lib.rs", &[("Cargo.toml", "")], shown, &now), [name], "{now}");
    }
    for now in [
        hidden("use shop::total;").replace("shop::total(&", "total(&"),
        hidden("fn main() {}"),
        hidden("use pretty_assertions::assert_eq;"),
        hidden("let total = 3;"),
        format!("{shown}impl A {{ pub fn total() {{}} }}\n"),
    ] {
        assert_eq!(found("src/lib.rs", &[("Cargo.toml", "")], shown, &now), [""; 0], "{now}");
    }
    let inner = "pub fn total() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn sum() {\n        assert_eq!(total(1), 3);\n    }\n}\n";
    let own = inner.replace("    #[test]", "    fn total(a: u8) -> u8 { 3 }\n    #[test]");
    assert_eq!(found("src/lib.rs", &[], inner, &own), ["total"]);
    assert_eq!(found("src/lib.rs", &[], inner, &own.replace("pub fn total() {}\n", "")), [""; 0]);
    assert_eq!(
        found("src/lib.rs", &[], inner, &inner.replace("fn sum() {", "fn sum() {\n let total = total(1);")),
        [""; 0]
    );
    let outer = "use shop::total;\n#[test]\nfn sum() {\n    assert_eq!(total(1), 3);\n}\n";
    let others = [
        ("Cargo.toml", ""),
        ("src/lib.rs", "pub use crate::prices::total;\nmod prices;\nmod wrap;\n"),
        ("src/prices.rs", "pub fn total() {}\n"),
        ("src/wrap.rs", "pub fn total() {}\n"),
    ];
    let with = |import: &str| outer.replace("use shop::total;", import);
    for now in ["use shop::wrap::total;", "fn total(a: u8) -> u8 { 3 }", "use shop::wrap as total;"] {
        assert_eq!(found("tests/sum.rs", &others, outer, &with(now)), ["total"], "{now}");
    }
    for now in ["use shop::prices::total;", "use shop::{prices, total};", "use shop::prices::{self, total};"] {
        assert_eq!(found("tests/sum.rs", &others, outer, &with(now)), [""; 0], "{now}");
    }
}
