use super::*;

#[test]
fn tests_can_be_made_to_expect_something_else() {
    let all = |code, source: &str| expecting_else(source, &expecting(code, source));
    for (code, source, other) in [
        (Code::Python, "assert f(3) == 3\n    assert g() == 'a'", "assert f(3) == 4\n    assert g() == 'other a'"),
        (Code::Python, "assert h() is True\n    assert h() is None", "assert h() is False\n    assert h() is 9"),
        (Code::Python, "assert f(3) > g(2)\n    assert 'a' in g()", "assert f(3) > g(2)\n    assert 'other a' in g()"),
        (Code::Python, "same(f(3), cents(4))\n    wait(x, 3)", "same(f(3), cents(5))\n    wait(x, 3)"),
        (Code::Python, "t.assertEqual(cents(f()), cents(3), 'why')", "t.assertEqual(cents(f()), cents(4), 'why')"),
        (Code::Python, "assert f(3, 0x10)\n    assert f() == 0x10", "assert f(3, 0x10)\n    assert f() == 0x10"),
        (Code::Rust, "assert_eq!(f(), 3.5);", "assert_eq!(f(), 3.6);"),
        (Code::Rust, "assert_eq!(f(), None); assert_eq!(c(), 'a')", "assert_eq!(f(), None); assert_eq!(c(), 'a')"),
        (Code::JavaScript, "expect(f(1)).toBe(3); same(f(1), [3])", "expect(f(1)).toBe(4); same(f(1), [4])"),
    ] {
        let within = |body: &str| match code {
            Code::Python => format!("class A:\n  def test_a(self):\n    {body}\n"),
            Code::Rust => format!("#[test]\nfn a() {{\n    {body}\n}}\n"),
            _ => format!("it('adds one', () => {{ {body} }})\n"),
        };
        assert_eq!(all(code, &within(source)), within(other));
    }
    assert!(expecting(Code::Rust, "fn a() { f() }\n").is_empty());
    let names = |code, source: &str| expecting(code, source).into_iter().map(|one| one.test).collect::<Vec<_>>();
    let two = "class A:\n  def test_a(self):\n    assert f() == 3\n  def test_b(self):\n    assert f() == x\n  def test_c(self):\n    assert f() == 4\n";
    assert_eq!(names(Code::Python, two), ["test_a", "test_c"]);
    let certain = |body: &str| expecting(Code::Python, &format!("def test_a():\n    {body}\n"))[0].is_certain;
    assert!(certain("assert f() == 3") && !certain("save(f(), 'text')"));
    let exact = |code, source: &str| expecting(code, source)[0].is_exact;
    let python = |body: &str| exact(Code::Python, &format!("@slow\ndef test_a():\n    {body}\n"));
    assert!(python("x = f()\n    assert x == 3") && exact(Code::Rust, "#[test]\nfn a() { assert_eq!(f(), 3); }"));
    assert!(exact(Code::JavaScript, "it('adds', async () => { expect(await f()).toBe(3) })"));
    for body in ["if f:\n      assert f() == 3", "def g():\n      assert f() == 3", "save(f(), 'text')"] {
        assert!(!python(body), "{body}");
    }
    assert!(!exact(Code::Python, "@mark.parametrize('a, b', [(f(1), 3)])\ndef test_a(a, b):\n    assert a == b\n"));
    assert!(!exact(Code::JavaScript, "it('adds', () => { all.forEach(one => expect(f(one)).toBe(3)) })"));
    assert_eq!(names(Code::JavaScript, "test(\"adds one\", () => { assert.equal(f(), 3) })\n"), ["adds one"]);
}
