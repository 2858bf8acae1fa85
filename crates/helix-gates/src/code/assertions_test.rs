use super::*;
use crate::code::said_of_test;

static NOWHERE: Helpers = Helpers::new();

fn alone(source: &str) -> Version<'_> {
    Version { source, elsewhere: &NOWHERE }
}

fn found(code: Code, before: &str, now: &str) -> Vec<(String, bool)> {
    let found = weakened(code, true, alone(before), alone(now));
    found.into_iter().map(|weak| (said_of_test(&weak.said), weak.plain)).collect()
}

#[test]
fn every_pattern_is_one() {
    for pattern in [&PYTESTMARK, &CHECKS, &PYTHON_CALLS, &SCRIPT_CALLS, &WEAK, &NAMES, &STRINGS, &ALWAYS, &OFF] {
        assert_ne!(pattern.as_str(), "$^");
    }
}

#[test]
fn tests_that_assert_less_are_found() {
    let python = |body: &str| format!("import pytest\n\nclass TestA:\n    def test_a(self):\n        x = f()\n{body}");
    let base = python("        assert x == 3\n        assert x.y == 4\n");
    let script = |body: &str| format!("describe('s', () => {{ it('adds', () => {{ {body} }}); }});\n");
    let node = script("expect(f()).toBe(3); assert.strictEqual(g(), 4);");
    let rust = |body: &str| format!("#[cfg(test)]\nmod tests {{\n{body}\n}}\n");
    let good = rust("#[test]\nfn a() { assert_eq!(f(), 3); }");
    let go = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{ {body} }}\n");
    let cases: &[(Code, &str, String, &str)] = &[
        (Code::Python, &base, python("        assert True\n        assert x\n"), "instead"),
        (Code::Python, &base, python("        assert True\n"), "cannot be false"),
        (Code::Python, &base, python("        pass\n"), "asserts nothing"),
        (Code::Python, &base, format!("# coding: utf-7\n{base}"), "cannot be parsed"),
        (Code::Python, &base, python("        assert x is not None\n        assert x.y == 4\n"), "asks less"),
        (Code::Python, &base, python("        assert x == 3 or True\n        assert x.y == 4\n"), "cannot be false"),
        (Code::Python, &base, python("        assert (x == 3, 'm')\n        assert x.y == 4\n"), "cannot be false"),
        (Code::Python, &base, python("        assert x == x\n        assert x.y == 4\n"), "cannot be false"),
        (
            Code::Python,
            &base,
            python(
                "        try:\n            assert x == 3\n            assert x.y == 4\n        except AssertionError:\n            pass\n",
            ),
            "catches",
        ),
        (
            Code::Python,
            &base,
            python("        with suppress(Exception):\n            assert x == 3\n        assert x.y == 4\n"),
            "catches",
        ),
        (Code::Python, &base, base.replace("    def test", "    @pytest.mark.skip\n    def test"), "skipped"),
        (
            Code::Python,
            &base,
            base.replace("    def test", "    @pytest.mark.xfail(strict=False)\n    def test"),
            "skipped",
        ),
        (
            Code::Python,
            &base,
            base.replace("import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n"),
            "skipped",
        ),
        (Code::Python, &base, base.replace("x = f()", "pytest.skip('x')"), "skipped"),
        (
            Code::Python,
            &base,
            base.replace("test_a", "test_b").replace("== 3", "").split("        assert").next().unwrap().to_owned(),
            "is new and asserts nothing",
        ),
        (
            Code::Python,
            &base,
            python(
                "        try:\n            f\n        except ValueError:\n            pass\n        else:\n            raise KeyError(x)\n",
            ),
            "asserts nothing",
        ),
        (Code::JavaScript, &node, script("expect(true).toBe(true); assert.ok(1);"), "cannot be false"),
        (Code::JavaScript, &node, script("expect(f()).toBeDefined(); assert.ok(g());"), "asks less"),
        (
            Code::JavaScript,
            &node,
            script("try { expect(f()).toBe(3); assert.strictEqual(g(), 4); } catch {}"),
            "catches",
        ),
        (Code::JavaScript, &node, node.replace("it(", "it.skip("), "skipped"),
        (Code::JavaScript, &node, node.replace("describe(", "describe.skip("), "skipped"),
        (Code::JavaScript, &node, node.replace("'adds', ", "'adds', { skip: true }, "), "skipped"),
        (Code::TypeScript, &node, script("f();"), "asserts nothing"),
        (Code::Rust, &good, rust("#[test]\n#[ignore]\nfn a() { assert_eq!(f(), 3); }"), "skipped"),
        (Code::Rust, &good, rust("#[test]\nfn a() { assert!(true); }"), "cannot be false"),
        (Code::Rust, &good, rust("#[test]\nfn a() { assert!(f() > 0); }"), "asks less"),
        (Code::Rust, &good, rust("#[test]\nfn a() { f(); }"), "asserts nothing"),
        (Code::Rust, &good, rust("#[cfg(test)]\nfn a() { assert_eq!(f(), 3); }"), "does not run"),
        (Code::Rust, &good, format!("{good}#[test]\nfn b() {{ f(); }}"), "is new and asserts nothing"),
        (Code::Go, &go("if f() != 3 { t.Errorf(\"no\") }"), go("f()"), "asserts nothing"),
        (
            Code::Go,
            &go("if f() != 3 { t.Errorf(\"no\") }"),
            go("t.Skip(); if f() != 3 { t.Errorf(\"no\") }"),
            "skipped",
        ),
    ];
    for (code, before, now, expected) in cases {
        let expected = if *expected == "instead" { "cannot be false" } else { expected };
        let found = found(*code, before, now);
        assert!(found.iter().any(|(how, plain)| how.contains(expected) && *plain), "{expected}: {found:?}\n{now}");
    }
    assert_eq!(
        found(Code::Python, &base, &python("        assert x.y == 4\n")),
        [("TestA::test_a has fewer assertions".into(), false)]
    );
}

#[test]
fn honest_changes_of_tests_are_no_weakening() {
    let base = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 3)\n        self.assertTrue(g())\n";
    let honest = [
        base.replace("3", "4"),
        base.replace("self.assertEqual(f(), 3)", "self.assertEqual(f(1), [3, 4])\n        self.assertIn(3, f())"),
        base.replace("self.assertEqual(f(), 3)", "check_sum(f())"),
        base.replace("self.assertTrue(g())", "self.assertEqual(g(), 1)"),
        base.replace("self.assertEqual(f(), 3)", "self.three(f())")
            + "    def three(self, x):\n        self.assertEqual(x, 3)\n",
        base.to_owned() + "    def test_d(self):\n        if not f():\n            raise AssertionError('no')\n",
        base.to_owned()
            + "    def test_b(self):\n        f()\n    def test_c(self):\n        self.assertEqual(f(2), 3)\n",
        base.replace("self.assertEqual(f(), 3)", "with self.assertRaises(ValueError):\n            f()"),
        base.replace("self.assertEqual(f(), 3)", "self.error()")
            + "    def error(self):\n        try:\n            f()\n        except ValueError as e:\n            return e\n        else:\n            raise KeyError(3)\n",
        base.replace(
            "self.assertEqual(f(), 3)",
            "try:\n            f()\n        except ValueError:\n            pass\n        self.assertEqual(f(), 3)",
        ),
    ];
    for now in honest {
        assert_eq!(found(Code::Python, base, &now), [], "{now}");
    }
    let node = "test('a', () => { expect(f()).toBe(3); expect(h()).toEqual({a: 1}); });\n";
    for now in [
        node.replace("3", "4"),
        node.replace("toBe(3)", "toStrictEqual([3])"),
        node.replace("toBe(3)", "resolves.toBe(3)"),
    ] {
        assert_eq!(found(Code::JavaScript, node, &now), [], "{now}");
    }
}

#[test]
fn what_a_function_of_another_file_asserts_counts_where_a_test_of_go_hands_itself_to_it() {
    let go = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{ {body} }}\n");
    let (before, now) = (go("if f() != 3 { t.Errorf(\"no\") }"), go("three(t, f())"));
    let weak = |now: &str, helper: &str| {
        let elsewhere = helpers(Code::Go, &format!("package a\n\nfunc three(t *testing.T, x int) {{ {helper} }}\n"));
        weakened(Code::Go, true, alone(&before), Version { source: now, elsewhere: &elsewhere }).len()
    };
    assert_eq!(weak(&now, "if x != 3 { t.Fatal(x) }"), 0);
    assert_eq!(weak(&now, "t.Log(x)"), 1);
    for other in ["three(f())", "a.three(t, f())", "four(t, f())"] {
        assert_eq!(weak(&go(other), "if x != 3 { t.Fatal(x) }"), 1, "{other}");
    }
    let python =
        "def check_three(x):\n    assert x == 3\n\ndef check_three(x):\n    pass\n\ndef test_a():\n    assert f()\n";
    assert_eq!(helpers(Code::Python, python), Helpers::from([("check_three".to_owned(), false)]));
}

/// What is built for tests alone is no test.
#[test]
fn a_new_function_that_helps_tests_of_rust_need_not_assert() {
    let before = "#[cfg(test)]\nmod tests {\n#[test]\nfn a() { assert_eq!(f(), 3); }\n}\n";
    let now = format!("{before}#[cfg(test)]\nfn three() -> u8 {{ 3 }}\n");
    assert_eq!(weakened(Code::Rust, false, alone(before), alone(&now)), []);
}

/// Python runs the last one of a name.
#[test]
fn a_second_test_of_a_name_does_not_hide_behind_the_first() {
    let before = "def test_a():\n    assert f() == 1\n";
    let weak = weakened(Code::Python, true, alone(before), alone(&format!("{before}\ndef test_a():\n    f()\n")));
    assert_eq!(weak.len(), 1, "{weak:?}");
    assert_eq!(weakened(Code::Python, true, alone(before), alone(&format!("{before}\n{before}"))), []);
}

/// An assertion asks the same in every form, and a test stays the same in another group.
#[test]
fn what_is_only_written_otherwise_is_no_weakening() {
    let of_class = |name: &str, more: &str| {
        format!(
            "class {name}:\n    def test_a(self):\n        f(1)\n    def test_b(self):\n        assert f() == 3\n{more}"
        )
    };
    let script = |body: &str| format!("test('a', () => {{ {body} }});\n");
    let rust = "#[test]\nfn a() { assert_eq!(f(), 3); }\n";
    let go = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{ {body} }}\n");
    let python = |body: &str| format!("def test_a():\n    {body}\n");
    let same: &[(Code, String, String)] = &[
        (Code::Python, of_class("TestA", ""), of_class("TestB", "")),
        (
            Code::Python,
            of_class("TestA", ""),
            of_class("TestB", "    def test_c(self):\n        f(2)\n    def test_d(self):\n        assert f(2) == 4\n"),
        ),
        (Code::Python, python("assert fields(A()) == 3"), python("assert fields(A()) is fields(A)")),
        (Code::Python, python("assert f() == 3"), python("assert f() is None")),
        (Code::Python, python("self.assertIn('a', f())"), python("assert 'a' in f()")),
        (Code::JavaScript, script("expect(f()).not.toMatch('a')"), script("assert(!f().includes('a'))")),
        (Code::JavaScript, script("expect(f()).not.toBeUndefined()"), script("assert.notEqual(f(), undefined)")),
        (Code::JavaScript, script("expect(f()).toMatch('a')"), script("assert(f().includes('a'))")),
        (Code::Rust, rust.into(), format!("{rust}#[test]\n#[should_panic]\nfn b() {{ f(); }}\n")),
        (Code::Rust, rust.into(), format!("{rust}#[test]\nfn b() {{ it::assert_equal(f(), [3]); }}\n")),
        (Code::Rust, rust.into(), rust.replace("assert_eq", "span_eq")),
        (Code::Go, go("assert.Equal(t, 3, f())"), go("is := assert.New(t); is.Equal(3, f())")),
    ];
    for (code, before, now) in same {
        assert_eq!(found(*code, before, now), [], "{now}");
    }
    let three = python("assert f(1, 2) == 3");
    let less: &[(Code, String, String, &str)] = &[
        (
            Code::Python,
            of_class("TestA", ""),
            of_class("TestB", "").replace("assert f() == 3", "f()"),
            "asserts nothing any more",
        ),
        (Code::Python, of_class("TestA", ""), of_class("TestB", "").replace("== 3", "is not None"), "asks less"),
        (Code::Python, three.clone(), python("assert f(1, 2) is f(1, 2)"), "cannot be false"),
        (Code::Python, three.clone(), python("assert f(1, 2) == f(1, 2)"), "cannot be false"),
        (Code::Python, three.clone(), python("assert type(f(1, 2)) is int"), "asks less"),
        (Code::Python, three.clone(), python("assert f(1, 2) is not None"), "asks less"),
        (Code::Python, python("assert f() is None"), python("assert not f()"), "asks less"),
        (Code::Python, three.clone(), python("assert f(1, 2), 'it is three'"), "asks less"),
        (Code::Python, three.clone(), python("assert f(1, 2) in (3, 4)"), "asks less"),
        (Code::Python, three.clone(), python("self.assertIn(f(1, 2), (3, 4))"), "asks less"),
        (Code::Python, three, python("self.assertRegex(f(1, 2), '.*')"), "asks less"),
        (Code::JavaScript, script("expect(f()).toBe(3)"), script("expect(f()).not.toBe(4)"), "asks less"),
        (Code::JavaScript, script("expect(f()).toBe(3)"), script("expect(f()).resolves.not.toBe(4)"), "asks less"),
        (Code::JavaScript, script("expect(f()).toBe(3)"), script("expect(f())"), "asserts nothing any more"),
        (Code::JavaScript, script("expect(f()).toBe(3)"), script("expect(f()).toBe;"), "asserts nothing any more"),
        (
            Code::JavaScript,
            script("expect(f()).toBe(3)"),
            script("expect.assertions(0); expect(f()).to.be.true"),
            "asks less",
        ),
        (Code::JavaScript, script("expect(f()).to.be.null"), script("expect(f()).to.not.be.null"), "asks less"),
        (Code::JavaScript, script("expect(f()).toEqual([3])"), script("expect(f()).toContain(3)"), "asks less"),
        (Code::Rust, rust.into(), rust.replace("fn a", "#[should_panic]\nfn a").replace('3', "4"), "skipped"),
        (
            Code::Rust,
            format!("{rust}#[test]\n#[should_panic]\nfn b() {{ f(); }}\n"),
            format!("{rust}#[test]\nfn b() {{ f(); }}\n"),
            "asserts nothing any more",
        ),
        (
            Code::Rust,
            rust.into(),
            "fn assert_it(x: u8) {}\n#[test]\nfn a() { assert_it(f()); }\n".into(),
            "asserts nothing any more",
        ),
        (
            Code::Go,
            go("is := assert.New(t); is.Equal(3, f())"),
            go("is := assert.New(t); f()"),
            "asserts nothing any more",
        ),
        (
            Code::Go,
            go("is := assert.New(t); is.Equal(3, f())"),
            go("is := require.New(t); is.NotNil(f())"),
            "asks less",
        ),
        (
            Code::Go,
            go("assert.Equal(t, 3, f())"),
            go("is := mine.New(t); is.Equal(3, f())"),
            "asserts nothing any more",
        ),
    ];
    for (code, before, now, expected) in less {
        let found = found(*code, before, now);
        assert!(found.iter().any(|(how, plain)| how.contains(expected) && *plain), "{expected}: {found:?}\n{now}");
    }
}

#[test]
fn to_be_true_or_false_may_be_said_in_two_ways() {
    let ava = |body: &str| format!("test('a', t => {{ {body} }});\n");
    let rust = |body: &str| format!("#[test]\nfn a() {{ {body} }}\n");
    let go = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{ {body} }}\n");
    for (code, before, now) in [
        (Code::JavaScript, ava("t.is(f(), false); t.is(g(), 3);"), ava("t.false(f()); t.is(g(), 3);")),
        (Code::JavaScript, ava("assert.strictEqual(f(), true);"), ava("assert.isTrue(f());")),
        (Code::Rust, rust("assert_eq!(a.b(), false);"), rust("assert!(!a.b());")),
        (Code::Rust, rust("assert_eq!(a.b(1, 2), true, \"m\");"), rust("assert!(a.b(1,  2));")),
        (Code::Go, go("assert.Equal(t, true, f(1))"), go("assert.True(t, f(1))")),
    ] {
        assert_eq!(found(code, &before, &now), [], "{now}");
    }
    for (code, before, now) in [
        (Code::JavaScript, ava("t.is(f(), false);"), ava("t.true(f());")),
        (Code::JavaScript, ava("t.is(f(), 3);"), ava("t.true(f());")),
        (Code::JavaScript, ava("t.is(f(), true); t.is(g(), 3);"), ava("t.true(f()); t.true(g() > 2);")),
        (
            Code::JavaScript,
            ava("t.is(f(), true); t.true(f()); t.is(g(), 3);"),
            ava("t.true(f()); t.true(f()); t.true(g());"),
        ),
        (Code::JavaScript, ava("expect(f()).toBe(true);"), ava("expect(f()).toBeTruthy();")),
        (Code::Rust, rust("assert_eq!(a || b, false);"), rust("assert!(!a || b);")),
        (Code::Rust, rust("assert_eq!(a.b(), false);"), rust("assert!(a.b());")),
        (
            Code::Python,
            "def test_a():\n    assert f() == True\n".to_owned(),
            "def test_a():\n    assert f()\n".to_owned(),
        ),
        (Code::Go, go("assert.Equal(t, true, f(1))"), go("assert.True(t, f(2))")),
    ] {
        let found = found(code, &before, &now);
        assert!(found.len() == 1 && found[0].0.contains("asks less"), "{now}: {found:?}");
    }
}

#[test]
fn a_new_test_asserts_nothing_where_others_do() {
    let smoke = |name: &str| format!("#[test]\nfn {name}() {{ no_panic(f); }}\n");
    let asserts = "#[test]\nfn c() { assert_eq!(f(), 3); }\n";
    let two = format!("{}{}", smoke("a"), smoke("b"));
    assert_eq!(found(Code::Rust, &smoke("a"), &two), []);
    let now = format!("{asserts}{two}");
    let found = found(Code::Rust, &format!("{asserts}{}", smoke("a")), &now);
    assert!(found.len() == 1 && found[0].0.contains("is new and asserts nothing"), "{found:?}");
}
