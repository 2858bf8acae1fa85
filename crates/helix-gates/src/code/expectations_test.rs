use super::*;
use crate::code::said_of_test;

fn found(code: Code, before: &str, now: &str) -> Vec<String> {
    let file = |source: &str| [TestFile { path: "t".into(), code, source: source.to_owned() }];
    other_answers(&file(before), &file(now)).into_iter().map(|one| said_of_test(&one.said)).collect()
}

#[test]
fn other_answers_to_the_same_questions_are_found() {
    let unit =
        "class A(T):\n    def test_a(self):\n        self.assertEqual(total([1, 2]), 3)\n        self.assertTrue(x)\n";
    let py = "def test_a():\n    result = total([1, 2])\n    assert result == 3\n";
    let cases = "@pytest.mark.parametrize('a, b', [(25, 15), (50, 10)])\ndef test_a(a, b):\n    assert f(a) == b\n";
    let wider = cases.replace(", (50, 10)", "");
    let node = "test('a', () => assert.strictEqual(total([1]), 3));\nit('b', () => { expect(f(1)).toBe('x'); });\n";
    let rust = "#[test]\nfn a() {\n    assert_eq!(total(&[1, 2], \"a,b\"), 3, \"why\");\n}\n";
    let shown = "# Shop\n\n    >>> total([1,\n    ... 2])\n3\n    >>> more()\n\nText\n";
    let go = "package a\nfunc TestA(t *testing.T) {\n\tif got := F(1); got != 3 { t.Fatal() }\n}\n";
    let wrong: &[(Code, &str, String, &str)] = &[
        (Code::Python, unit, unit.replace("), 3", "), 2"), "A::test_a expects `2` now, and expected `3`"),
        (
            Code::Python,
            unit,
            unit.replace("), 3", "), 2").replace("test_a", "test_b"),
            "A::test_b expects `2` now, and expected `3`",
        ),
        (
            Code::Python,
            unit,
            "class A(T):\n    def test_b(self):\n        self.assertEqual(total([2]), 1)\n".into(),
            "A::test_a is gone, and no test asks what it asked",
        ),
        (Code::Python, py, py.replace("== 3", "== 2"), "test_a expects `2` now, and expected `3`"),
        (
            Code::Python,
            py,
            py.replace("3", "approx(3, abs=99)"),
            "test_a expects `approx(3,abs=99)` now, and expected `3`",
        ),
        (Code::Python, cases, cases.replace("15", "10"), "test_a expects `10` now, and expected `15`"),
        (
            Code::Python,
            cases,
            cases.replace("(25, 15)", "(51, 10)"),
            "test_a no longer asks 25, where it expected `15`",
        ),
        (
            Code::Python,
            &wider,
            wider.replace("'a, b', [(25, 15)]", "'a, c, b', [(25, 9, 10)]"),
            "test_a no longer asks 25, where it expected `15`",
        ),
        (
            Code::Python,
            &wider,
            wider.replace("'a, b', [(25, 15)]", "'c, a, b', [(25, 51, 15)]"),
            "test_a no longer asks 25, where it expected `15`",
        ),
        (
            Code::Python,
            &wider,
            wider.replace("'a, b', [(25, 15)]", "'a, c, b', [(25, 10, 15)]").replace("== b", "== c"),
            "test_a no longer asks 25, where it expected `15`",
        ),
        (
            Code::Python,
            &wider,
            wider.replace("'a, b', [(25, 15)]", "'a, b, c', [(25, 15, 10)]").replace("== b", "== c"),
            "test_a no longer asks 25, where it expected `15`",
        ),
        (
            Code::Python,
            "def test_a():\n    assert f() == '\\\\x4A'\n",
            "def test_a():\n    assert f() == '\\\\x4a'\n".into(),
            "test_a expects `\"\\\\x4a\"` now, and expected `\"\\\\x4A\"`",
        ),
        (
            Code::Python,
            "def test_a():\n    assert f() == ('a',)\n",
            "def test_a():\n    assert f() == ('a')\n".into(),
            "test_a expects `\"a\"` now, and expected `(\"a\",)`",
        ),
        (
            Code::Python,
            "def test_a():\n    assert f() == \"a ('b')\"\n",
            "def test_a():\n    assert (f() == \"a 'b'\")\n".into(),
            "test_a expects `\"a'b'\"` now, and expected `\"a('b')\"`",
        ),
        (Code::JavaScript, node, node.replace(", 3", ", 1"), "'a' expects `1` now, and expected `3`"),
        (Code::JavaScript, node, node.replace("'x'", "'y'"), "'b' expects `\"y\"` now, and expected `\"x\"`"),
        (Code::Rust, rust, rust.replace(" 3,", " 2,"), "a expects `2` now, and expected `3`"),
        (Code::Go, go, go.replace("!= 3", "!= 2"), "TestA expects `2` now, and expected `3`"),
        (
            Code::Python,
            "def test_a():\n    assert f() == 'a'\n",
            "def test_a():\n    assert f() == \"a,\"\n".into(),
            "test_a expects `\"a,\"` now, and expected `\"a\"`",
        ),
        (
            Code::Python,
            "def test_a():\n    assert f() == b'a'\n    assert g() == Rb'\\d'\n",
            "def test_a():\n    assert f() == b'b'\n    assert g() == Rb'\\d'\n".into(),
            "test_a expects `b\"b\"` now, and expected `b\"a\"`",
        ),
        (
            Code::Rust,
            "#[test]\nfn a() {\n    assert_eq!(f(), br#\"a\"#);\n}\n",
            "#[test]\nfn a() {\n    assert_eq!(f(), br#\"b\"#);\n}\n".into(),
            "a expects `br#\"b\"#` now, and expected `br#\"a\"#`",
        ),
        (
            Code::Rust,
            "#[test]\nfn a() {\n    assert_eq!(f(), 'a');\n}\n",
            "#[test]\nfn a() {\n    assert_eq!(f(), \"a\");\n}\n".into(),
            "a expects `\"a\"` now, and expected `'a'`",
        ),
        (
            Code::Python,
            ">>> f()\n{'a': 1}\n",
            ">>> f()\n{\"a\": 1}\n".into(),
            "examples expects `{\"a\":1}` now, and expected `{'a':1}`",
        ),
        (
            Code::Rust,
            "/// Adds.\n///\n/// ```\n/// # use a::f;\n/// assert_eq!(f(1), 2);\n/// ```\npub fn f() {}\n/// ```text\n/// assert_eq!(f(2), 2);\n/// ```\nfn g() {}\n",
            "/// Adds.\n///\n/// ```\n/// # use a::f;\n/// assert_eq!(f(1), 3);\n/// ```\npub fn f() {}\n/// ```text\n/// assert_eq!(f(2), 3);\n/// ```\nfn g() {}\n".into(),
            "examples expects `3` now, and expected `2`",
        ),
        (Code::Python, shown, shown.replace("\n3", "\n2"), "examples expects `2` now, and expected `3`"),
    ];
    for (code, before, now, expected) in wrong {
        assert_eq!(found(*code, before, now), [*expected], "{now}");
        assert_eq!(found(*code, before, before), [""; 0]);
    }
    let honest = [
        (unit, "def test_a():\n    assert total([1, 2]) == 3\n".to_owned()),
        (unit, unit.replace("total([1, 2]), 3", "total([1, 3]), 4")),
        (unit, format!("{unit}        self.assertEqual(total([1, 2]), 4)\n")),
        (py, py.replace("[1, 2]", "[2, 2]").replace("== 3", "== 4")),
        (py, py.replace("== 3", "== pytest.approx(3)")),
        (
            "def test_a():\n    assert ('a' 'b',) == f().args\n",
            "def test_a():\n    assert (\n        (\n            'a'\n            'b'\n        ),\n    ) == f().args\n".to_owned(),
        ),
        (
            "def test_a():\n    assert list(actual) == [2]\n",
            "def test_b():\n    assert list(actual) == [3]\n".to_owned(),
        ),
        (cases, cases.replace("(50, 10)", "(50, 10), (60, 8)")),
        (
            cases,
            cases
                .replace("'a, b', [(25, 15), (50, 10)]", "['a', 'c', 'b'], [(25, True, 15), (25, None, 0), (50, 1, 10)]")
                .replace("a, b)", "a, c, b)")
                .replace("f(a)", "f(a, c)"),
        ),
        (
            cases,
            cases
                .replace("'a, b', [(25, 15), (50, 10)]", "'a, b, c', [(25, 15, -1), (50, 10, 1)]")
                .replace("a, b)", "a, b, c)")
                + "    assert g(a) == c\n",
        ),
        (
            "def test_a():\n    assert f('\\U0001F600\\xAB') == u'\\U0001F600\\xAB\\\\\\uFFFD'\n",
            "def test_a():\n    assert f('\\U0001f600\\xab') == '\\U0001f600\\xab\\\\\\ufffd'\n".to_owned(),
        ),
        (
            "def test_a():\n    assert f('a', [1, 2]) == [u'b', '\\n']\n",
            "def test_a():\n    assert f(\"a\", [\n        1,\n        2,\n    ]) == [\n        \"b\",\n        \"\\n\",\n    ]\n".to_owned(),
        ),
    ];
    for (before, now) in honest {
        assert_eq!(found(Code::Python, before, &now), [""; 0], "{now}");
    }
}

#[test]
fn answers_that_stand_in_the_code_are_found() {
    let tests = "def test_a():\n    assert total([1.5, 2.25]) == 3.75\n    assert total([10, 10], 25) == 15\n";
    let asked = asked(Code::Python, tests);
    let lines = |source: &str| {
        let all = (1..=source.lines().count() as u32).collect();
        known_answers(Code::Python, source, &all, &asked).into_keys().collect::<Vec<_>>()
    };
    let table = "KNOWN = {\n  ((1.5, 2.25), 0): 3.75,\n  ((10, 10), 25): 15,\n  ((), 0): 0,\n}\n";
    assert_eq!(lines(table), [2, 3]);
    assert_eq!(lines("KNOWN = {((1.5, 2.25), 0): 3.75, ((10, 10), 25): 15}\n"), [1]);
    let branches = "def total(prices, discount=0):\n    if prices == [1.5, 2.25]:\n        return 3.75\n    if prices == [10, 10] and discount == 25:\n        return 15\n";
    assert_eq!(lines(branches), [2, 4]);
    assert_eq!(
        lines(
            "RATES = {'a': 10, 'b': 25}\ndef total(prices, discount=0):\n    return sum(prices) if discount != 25 else 15\n"
        ),
        [0; 0]
    );
}

#[test]
fn examples_of_documentation_are_those_that_run() {
    let asked = |source: &str| {
        let all = asked(Code::Rust, source).into_iter();
        all.map(|one| (one.line, one.question, one.expected)).collect::<Vec<_>>()
    };
    let one = |line| vec![(line, "f(1)".to_owned(), "2".to_owned())];
    for (source, line) in [
        ("//! ```\n//! # use a::f;\n//! #\n//! assert_eq!(f(1), 2);\n//! ```\n", 4),
        ("mod a {\n    /// ```rust, edition2021\n    /// assert_eq!(f(1), 2);\n    /// ```\n    fn f() {}\n}\n", 3),
        ("/**\n * ```\n * assert_eq!(f(1), 2);\n * ```\n */\nfn f() {}\n", 3),
        ("/// ```\n/// let a = r#\"a\n/// b\"#;\n/// assert_eq!(f(1), 2);\n/// ```\nfn f() {}\n", 4),
        ("/// ~~~\n/// ```\n/// assert_eq!(f(1), 2);\n/// ~~~\nfn f() {}\n", 3),
        ("/// ````text\n/// ```\n/// ````\n/// ```\n/// assert_eq!(f(1), 2);\n/// ```\nfn f() {}\n", 5),
    ] {
        assert_eq!(asked(source), one(line), "{source}");
    }
    for source in [
        "#[doc = \"```\"]\n#[doc = \"assert_eq!(f(1), 2);\"]\n#[doc = \"```\"]\nfn f() {}\n",
        "#![doc = r#\"```\nassert_eq!(f(1), 2);\n```\"#]\n",
        "#[doc = \"```\\nassert_eq!(f(1), 2);\\n```\"]\nfn f() {}\n",
    ] {
        let found = asked(source);
        assert!(matches!(&found[..], [(_, question, expected)] if question == "f(1)" && expected == "2"), "{source}");
    }
    let document = super::super::as_documentation("# Guide\n\n```\nassert_eq!(f(1), 2);\n```\n");
    assert_eq!(asked(&document), one(4));
    assert_eq!(super::super::included("#![doc = include_str!(\"../docs/a.md\")]"), ["../docs/a.md"]);
    for source in [
        "const A: &str = r#\"\n/// ```\n/// assert_eq!(f(1), 2);\n/// ```\n\"#;\n",
        "/*\n/// ```\n/// assert_eq!(f(1), 2);\n/// ```\n*/\n",
        "/// ```should_panic\n/// assert_eq!(f(1), 2);\n/// ```\nfn f() {}\n",
        "/// ```no_run\n/// assert_eq!(f(1), 2);\n/// ```\nfn f() {}\n",
        "/// ```\n/// /// ```\n/// /// assert_eq!(f(1), 2);\n/// /// ```\n/// fn f() {}\n/// ```\nfn f() {}\n",
    ] {
        assert_eq!(asked(source), [], "{source}");
    }
}
