use super::*;
use crate::code::bound;

/// The names that stand for something else where a test file's text becomes another.
fn found(path: &str, others: &[(&str, &str)], before: &str, now: &str) -> Vec<String> {
    found_where(false, path, others, before, now)
}

/// The same, where the runner may take back all spies by itself.
fn found_where(restores: bool, path: &str, others: &[(&str, &str)], before: &str, now: &str) -> Vec<String> {
    let code = |path: &str| Code::of_path(path).expect("a source");
    let all: BTreeMap<&str, &str> = others.iter().copied().chain([(path, now)]).collect();
    let has = |path: &str| match path.ends_with('/') {
        true => all.keys().any(|known| known.starts_with(path)),
        false => all.contains_key(path),
    };
    let mut read = |path: &str| Ok(all.get(path).map(|text| Arc::new((bound(code(path), text), (*text).to_owned()))));
    let mut modules = Modules { was: &has, is: &has, read: &mut read, restores, go_on: &|| Ok(()) };
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

#[test]
fn a_new_test_may_have_names_of_its_own() {
    let py = "from src.prices import total\n\ndef test_sum():\n    assert total([1, 2]) == 3\n";
    let patch = "@patch('src.prices.total')\n";
    let fixture = "@pytest.fixture\ndef free(monkeypatch):\n    monkeypatch.setattr('src.prices.total', len)\n";
    for more in [
        format!("{patch}def test_new(total):\n    pass\n"),
        format!("{patch}class TestNew:\n    def test_new(self, total):\n        pass\n"),
        "class New:\n    def setUp(self):\n        patch('src.prices.total')\n\n    def test_new(self): pass\n".into(),
        "def test_new(monkeypatch):\n    def free():\n        monkeypatch.setattr(prices, 'total', len)\n    free()\n".into(),
        "def test_new():\n    def total(a): return 3\n    assert total([]) == 3\n".into(),
        "def test_new():\n    from src.wrap import total\n    assert total([]) == 3\n".into(),
        "def test_new():\n    total = 0\n    def add(n):\n        nonlocal total\n        total = n\n    add(1)\n".into(),
        format!("{fixture}\ndef test_new(free): pass\n\ndef test_other(free): pass\n"),
        "def test_new():\n    p = patch('src.prices.total')\n    p.start()\n    p.stop()\n".into(),
        "def test_new(self):\n    p = patch('src.prices.total')\n    p.start()\n    self.addCleanup(patch.stopall)\n".into(),
        "def test_new():\n    (p := patch('src.prices.total')).start()\n    p.stop()\n".into(),
        "def test_new():\n    p, q = patch('src.prices.total'), patch('src.prices.more')\n    p.start()\n    p.stop()\n    q.stop()\n".into(),
        "def test_new(self):\n    for p in [patch('src.prices.total')]:\n        p.start()\n        self.addCleanup(p.stop)\n".into(),
        "def test_new(self):\n    all = [patch('src.prices.total')]\n    for p in all:\n        p.start()\n        self.addCleanup(p.stop)\n".into(),
        "def test_new():\n    p = patch('src.prices.total')\n    with p as m:\n        pass\n".into(),
        "def test_new():\n    with patch('src.prices.total') as m, patch('src.prices.more'):\n        pass\n".into(),
        "def test_new():\n    with ExitStack() as stack:\n        stack.enter_context(patch('src.prices.total'))\n".into(),
        "class TestNew:\n    def setUp(self):\n        self.m = self.enterContext(patch('src.prices.total'))\n\n    def test_new(self): pass\n".into(),
        "def test_new(mocker):\n    m = mocker.patch('src.prices.total')\n    mocker.patch('src.prices.total')\n".into(),
        "def test_new():\n    with MonkeyPatch.context() as mp:\n        mp.setattr(prices, 'total', len)\n".into(),
    ] {
        let now = format!("from src import prices\n{py}\n{more}");
        assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &now), [""; 0], "{now}");
    }
    for more in [
        "class New:\n    def setUp(self):\n        prices.total = len\n".to_owned(),
        "def setup_module():\n    prices.total = len\n".to_owned(),
        fixture.replace("fixture", "fixture(autouse=True)"),
        format!("{fixture}pytestmark = pytest.mark.usefixtures('free')\n\ndef test_new(free): pass\n"),
        // What is assigned stays for the tests that follow, and so does a patch that is started.
        "def test_new():\n    prices.total = len\n".to_owned(),
        "def test_new():\n    patch('src.prices.total').start()\n".to_owned(),
        "def test_new():\n    patch('src.prices.total'). start()\n".to_owned(),
        "def test_new():\n    p = patch('src.prices.total')\n    p.start()\n".to_owned(),
        "def test_new():\n    (p := patch('src.prices.total')).start()\n".to_owned(),
        "def test_new():\n    p, q = patch('src.prices.total'), patch('src.prices.more')\n    p.start()\n    q.start()\n    q.stop()\n".to_owned(),
        "def test_new():\n    patch('src.prices.total').__enter__()\n".to_owned(),
        "def test_new():\n    p = patch('src.prices.total')\n    with p: pass\n    p.start()\n".to_owned(),
        "def test_new():\n    for p in [patch('src.prices.total')]:\n        p.start()\n".to_owned(),
        "def test_new():\n    [patch('src.prices.total')][0].start()\n".to_owned(),
        "def test_new():\n    begin(patch('src.prices.total'))\n".to_owned(),
        "def test_new():\n    ExitStack().enter_context(patch('src.prices.total'))\n".to_owned(),
        "def test_new(keep=ExitStack()):\n    keep.enter_context(patch('src.prices.total'))\n".to_owned(),
        "def test_new():\n    MonkeyPatch().setattr(prices, 'total', len)\n".to_owned(),
        "class TestNew:\n    def test_new(self):\n        self.mp = MonkeyPatch()\n        self.mp.setattr(prices, 'total', len)\n".to_owned(),
        "def test_new(mp):\n    mp = MonkeyPatch()\n    mp.setattr(prices, 'total', len)\n".to_owned(),
        "def test_new():\n    with nullcontext(MonkeyPatch()) as mp:\n        mp.setattr(prices, 'total', len)\n".to_owned(),
        "def test_new(session_mocker):\n    session_mocker.patch('src.prices.total')\n".to_owned(),
        "class New:\n    def enter(self, p): p.start()\n\n    def test_new(self):\n        self.enter(patch('src.prices.total'))\n".to_owned(),
        "def test_new():\n    m = MockerFixture(None)\n    m.patch('src.prices.total')\n".to_owned(),
        fixture.replace("fixture", "fixture(scope='session')") + "\ndef test_new(free): pass\n",
        "def test_new():\n    global total\n    match len:\n        case _ as total: pass\n".to_owned(),
        "def test_new():\n    setattr(prices, 'total', lambda a: 3)\n".to_owned(),
        format!("{fixture}\ndef test_new(free): pass\n\n@pytest.fixture\ndef other(free): pass\n"),
        fixture.replace("fixture", "fixture(name='client')"),
        "class New:\n    prices.total = len\n    def test_new(self): pass\n".to_owned(),
        "def setup_module():\n    def test(): pass\n    monkeypatch.setattr(prices, 'total', len)\n".to_owned(),
        "def setup_module():\n    global total\n    from src.wrap import total\n".to_owned(),
        "def setup_module():\n    global total\n    def total(a): return 3\n".to_owned(),
        "def test_new():\n    global total\n    total += Other()\n".to_owned(),
        "def test_new():\n    global total\n    match len:\n        case total: pass\n".to_owned(),
        "class New:\n    global total\n    total = len\n".to_owned(),
        "def test_new():\n    prices.total, other = len, 1\n".to_owned(),
    ] {
        let now = format!("from src import prices\n{py}\n{more}");
        assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &now), ["total"], "{now}");
    }
    let again = "def test_new():\n    global total\n    del total\n    from src.prices import total\n";
    assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &format!("{py}\n{again}")), [""; 0]);
    let takes = format!("{fixture}{}", py.replace("test_sum()", "test_sum(free)"));
    assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &takes), ["total"]);
    assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &py.replace("def", &format!("{patch}def"))), ["total"]);
    // A test that is called otherwise, or lies in a group, is not new.
    let renamed = py.replace("test_sum():", "test_sums():\n    def total(a): return 3");
    assert_eq!(found("tests/test_prices.py", &PRODUCT, py, &renamed), ["total"]);
    let grouped = "from src.prices import total\n\nclass TestA:\n    @patch('src.prices.total')\n    def test_b(self):\n        assert total([1, 2]) == 3\n";
    assert_eq!(found("tests/test_prices.py", &PRODUCT, py, grouped), ["total"]);
    let js = "const { total } = require('../src/prices.js');\ntest('sum', () => { expect(total([1])).toBe(3); });\n";
    let own = format!("const sum = (all) => {{ const total = all.length; return total; }};\n{js}");
    let prices = [("src/prices.js", "exports.total = (p) => 1;\n")];
    assert_eq!(found("test/a.test.js", &prices, js, &own), [""; 0]);
    let inner = format!("const sum = () => {{ let total = 1; const add = () => {{ total = 3; }}; add(); }};\n{js}");
    assert_eq!(found("test/a.test.js", &prices, js, &inner), [""; 0]);
    let outer = format!("{}const init = () => {{ total = () => 3; }};\ninit();\n", js.replace("const {", "let {"));
    assert_eq!(found("test/a.test.js", &prices, js, &outer), ["total"]);
    let sum = |body: &str| format!("{}test('new', () => {{ {body} }});\n", js.replace("const {", "let {"));
    for own in [
        "const pay = (total) => { total = total ?? 0; return total; };",
        "const pay = total => { total = 0; };",
        "for (let total of all) { total = f(total); }",
        "try { f(); } catch (total) { total = 1; }",
        "const add = () => { total = 3; }; let total; add();",
        "if (all) { var total = 1; } total = 2;",
        "let { a: total } = all; [total] = [1];",
    ] {
        assert_eq!(found("test/a.test.js", &prices, js, &sum(own)), [""; 0], "{own}");
    }
    for files in [
        "[total] = [() => 3];",
        "({ total } = fake);",
        "total &&= () => 3;",
        "for (total of [() => 3]) { break; }",
        "{ let total = 1; } total = () => 3;",
        "const pay = (total) => 0; total = () => 3;",
        "switch (0) { case 1: let total; } total = () => 3;",
    ] {
        assert_eq!(found("test/a.test.js", &prices, js, &sum(files)), ["total"], "{files}");
    }
    let spies =
        "import * as prices from '../src/prices.js';\ntest('sum', () => { expect(prices.total([1])).toBe(3); });\n";
    for (spy, expected) in [
        ("jest.spyOn(prices, 'total').mockReturnValue(3);", &["total"][..]),
        ("mock.method(prices, 'total', () => 3);", &["total"]),
        ("jest.spyOn(prices, 'total'); // mockRestore()", &["total"]),
        ("const spy = jest.spyOn(prices, 'total'); spy.mockRestore();", &[]),
    ] {
        let now = format!("{spies}test('new', () => {{ {spy} }});\n");
        assert_eq!(found("test/a.test.js", &prices, spies, &now), expected, "{spy}");
    }
    for (spy, expected) in [
        ("jest.spyOn(prices, 'total').mockReturnValue(3);", &[][..]),
        ("vi.spyOn(prices, 'total').mockReturnValue(3);", &[]),
        ("mock.method(prices, 'total', () => 'vi.spyOn');", &["total"]),
        ("prices.total = vi.spyOn(prices, 'total');", &["total"]),
    ] {
        let now = format!("{spies}test('new', () => {{ {spy} }});\n");
        assert_eq!(found_where(true, "test/a.test.js", &prices, spies, &now), expected, "{spy}");
    }
    let first = format!("{spies}vi.spyOn(prices, 'total').mockReturnValue(3);\n");
    assert_eq!(found_where(true, "test/a.test.js", &prices, spies, &first), ["total"]);
    // A title may have what stands between names.
    let titled = spies.replace("'sum'", "'a::sum'");
    let replaced = titled.replace("=> { expect", "=> { vi.spyOn(prices, 'total').mockReturnValue(3); expect")
        + "spy.mockRestore();";
    assert_eq!(found("test/a.test.js", &prices, &titled, &replaced), ["total"]);
    let other = format!("{titled}test('a::new', () => {{ vi.spyOn(prices, 'total').mockRestore(); }});\n");
    assert_eq!(found("test/a.test.js", &prices, &titled, &other), [""; 0]);
    let group = js.replace("test('sum'", "describe('all', () => { const total = (p) => 3; it('adds'") + "});\n";
    assert_eq!(found("test/a.test.js", &prices, js, &group), ["total"]);
    let check = js.replace("expect(total(", "expect(check(");
    assert_eq!(found("test/a.test.js", &prices, js, &format!("const check = (p) => 3;\n{check}")), ["total"]);
}

#[test]
fn that_of_which_a_method_is_called_is_called_by_no_name() {
    let rust = "use shop::Cart;\n#[test]\nfn sum() {\n    let cart = Cart::new();\n    assert_eq!(cart.total(), 3);\n    assert_eq!(Cart::new().rest(), 3);\n}\n";
    let now = format!("{rust}fn cart() -> Cart {{ Cart::new() }}\nfn rest() -> u8 {{ 3 }}\n");
    assert_eq!(found("tests/sum.rs", &[("Cargo.toml", "")], rust, &now), [""; 0]);
    let go = "package a\nfunc TestA(t *testing.T) {\n\tcart := New()\n\tassert.Equal(t, 3, cart.Total())\n}\n";
    assert_eq!(found("a_test.go", &[], go, &format!("{go}func cart() Cart {{ return New() }}\n")), [""; 0]);
    let sets = "use shop::total;\n#[test]\nfn sum() {\n    assert_eq!(total(1), 3);\n}\n";
    let others = [("Cargo.toml", ""), ("src/lib.rs", "pub fn total() {}\n")];
    let with = |line: &str| sets.replace("    assert", &format!("    {line}\n    assert"));
    for line in ["cart.total = 3;", "let total = total(1);", "let Some(total) = other else { return };"] {
        assert_eq!(found("tests/sum.rs", &others, sets, &with(line)), [""; 0], "{line}");
    }
    for line in ["let total = fake;", "let total = fakes::total;", "let total = |a| 3;"] {
        assert_eq!(found("tests/sum.rs", &others, sets, &with(line)), ["total"], "{line}");
    }
}

#[test]
fn a_module_may_hand_on_a_thing_as_a_whole_or_by_its_name() {
    let others = [
        ("src/total.js", "export function total(p) { return 1; }\nexport function other() {}\n"),
        ("src/whole.js", "module.exports = total;\nmodule.exports.other = fake;\nfunction total(p) { return 1; }\n"),
        ("src/first.js", "export default function total(p) { return 1; }\nexport { total };\n"),
        ("src/two.js", "export function total(p) { return 1; }\nexport default function fake(p) { return 3; }\n"),
        ("src/fake.js", "export default function total(p) { return 3; }\nexport { total };\n"),
        ("src/both.js", "function total(p) { return 1; }\nexport { total, total as default };\n"),
        (
            "src/later.js",
            "export function total(p) { return 1; }\nconst totalFake = () => 3;\nexport default totalFake;\n",
        ),
        ("src/said.js", "export const total = (p) => 1;\n// module.exports = {\nexport default wrap(total);\n"),
        ("src/waits.js", "async function total(p) { return 1; }\nmodule.exports={ total };\n"),
    ];
    let test = |import: &str| format!("{import}\ntest('sum', () => {{ expect(total([1, 2])).toBe(3); }});\n");
    let found = |before: &str, now: &str| found("test/a.test.js", &others, &test(before), &test(now));
    for (before, now) in [
        ("import total from '../src/total';", "import { total } from '../src/total';"),
        // It has no default any more.
        ("import total from '../src/total';", "import { other as total } from '../src/total';"),
        ("import total from '../src/total';", "import { total } from '../src/first';"),
        ("import total from '../src/first';", "import { total } from '../src/first';"),
        ("const total = require('../src/whole');", "const { total } = require('../src/whole');"),
        ("const total = require('../src/whole');", "import total from '../src/whole';"),
        ("import { total } from '../src/both';", "import total from '../src/both';"),
        ("const { total } = require('../src/waits');", "const total = require('../src/waits').total;"),
    ] {
        assert_eq!(found(before, now), [""; 0], "{before} {now}");
    }
    for (before, now) in [
        ("import total from '../src/first';", "import total from '../src/fake';"),
        ("import total from '../src/first';", "import { total } from '../src/fake';"),
        ("const total = require('../src/whole');", "const total = require('../src/fake');"),
        ("const total = require('../src/whole');", "const total = require('../src/whole').other;"),
        ("import { total } from '../src/two';", "import total from '../src/two';"),
        ("import { total } from '../src/later';", "import total from '../src/later';"),
        ("import { total } from '../src/said';", "import total from '../src/said';"),
    ] {
        assert_eq!(found(before, now), ["total"], "{before} {now}");
    }
}

#[test]
fn imports_of_go_without_a_name_are_no_names() {
    let go = "package a_test\nimport (\n\t_ \"m/drivers\"\n\t. \"m/shop\"\n)\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 3, Total(1))\n}\n";
    let others = ["drivers", "shop", "other"].map(|name| (format!("{name}/a.go"), "package a"));
    let others = others.each_ref().map(|(path, text)| (path.as_str(), *text));
    for more in ["_ \"m/other\"", ". \"m/other\""] {
        let now = go.replace("import (", &format!("import (\n\t{more}"));
        assert_eq!(found("a_test.go", &others, go, &now), [""; 0], "{now}");
    }
    assert_eq!(found("a_test.go", &others, go, &go.replace("m/shop", "m/other")), ["*"]);
}

#[test]
fn modules_that_take_all_of_each_other_are_read_once() {
    let all = |of: &str| format!("from .{of} import *\n").repeat(2_000);
    let (a, b, c) = (all("b"), all("c"), all("prices"));
    let prices = format!("globals()['total'] = len\n{}", all("a"));
    let others = [("src/prices.py", &*prices), ("src/a.py", &*a), ("src/b.py", &*b), ("src/c.py", &*c)];
    let py = "from src.prices import total\n\ndef test_sum():\n    assert total([1, 2]) == 3\n";
    assert_eq!(found("tests/test_a.py", &others, py, &py.replace("src.prices", "src.a")), [""; 0]);
    assert_eq!(found("tests/test_a.py", &others, py, &format!("{py}\ndef total(a): return 3\n")), ["total"]);
}

#[test]
fn many_names_are_compared_without_comparing_each_with_each() {
    let py = "from src.prices import total\n\ndef test_sum():\n    assert total(1) == 3\n";
    let more = "def own(a): return 3\na.total = 3\n";
    let [mut before, mut now] = [py.to_owned(), format!("{py}{more}")].map(|text| bound(Code::Python, &text));
    let is_own = |one: &&Name| one.name == "own";
    let (asked, own, patch) =
        (before.asked[0].clone(), now.names.iter().find(is_own).unwrap().clone(), now.patches[0].clone());
    for at in 0..20_000 {
        for (all, name) in [(&mut before, "total"), (&mut now, "check")] {
            let mut asked = asked.clone();
            asked.question = format!("{name}({at})");
            all.asked.push(asked);
        }
        now.names.push(Name { name: format!("own_{at}"), ..own.clone() });
        now.patches.push(Patch { written: format!("a.total = {at}"), ..patch.clone() });
    }
    let begun = std::time::Instant::now();
    let has = |path: &str| path == "src/prices.py";
    let mut read = |_: &str| Ok(None);
    let mut modules = Modules { was: &has, is: &has, read: &mut read, restores: false, go_on: &|| Ok(()) };
    let found = rebound(Code::Python, "tests/test_a.py", (&before, &now), &mut modules);
    assert!(found.is_ok_and(|found| found.is_empty()));
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
}
