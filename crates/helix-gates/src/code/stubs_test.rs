use super::*;

#[test]
fn functions_answer_nonsense_and_everything_else_stays() {
    let cases = [
        (
            Code::Python,
            "R = 2\ndef f(a):\n    \"\"\"Doc.\"\"\"\n    if a:\n        return 1\n    return 2\n",
            "R = 2\ndef f(a):\n    \"\"\"Doc.\"\"\"\n    return X\n    if a:\n        return 1\n    return 2\n",
        ),
        (
            Code::Python,
            "class A:\n    def __init__(self): self.a = 1\n    async def g(self):\n        yield 1\n",
            "class A:\n    def __init__(self): return; self.a = 1\n    async def g(self):\n        return\n        yield 1\n",
        ),
        (
            Code::Python,
            "def f():\n    g()\ndef g(): x()\ndef h(): return 1\nf()\n",
            "def f():\n    g()\ndef g(): x()\ndef h(): return X; return 1\nf()\n",
        ),
        (Code::Python, "f = lambda a: a + 1\n", "f = lambda a: V\n"),
        (Code::Python, "def f():\n    \"\"\"Doc.\"\"\"\n", "def f():\n    \"\"\"Doc.\"\"\"; return X\n"),
        (
            Code::JavaScript,
            "export const f = (a) => a + 1;\nfunction g() { return () => 1; }\n",
            "export const f = (a) => NaN;\nfunction g() { if (1) return NaN;  return () => 1; }\n",
        ),
        (
            Code::TypeScript,
            "class A { constructor(private a: number) {} get b(): number { return 1; } }\n",
            "class A { constructor(private a: number) {} get b(): number { if (1) return (NaN as any);  return 1; } }\n",
        ),
        (
            Code::Rust,
            "pub fn f(a: u32) -> u32 { a }\nconst fn c() -> u8 { 1 }\n#[cfg(test)]\nmod tests { fn h() {} }\n",
            "pub fn f(a: u32) -> u32 { if \"helix\".len() == 5 { return 97; }  a }\nconst fn c() -> u8 { 1 }\n#[cfg(test)]\nmod tests { fn h() {} }\n",
        ),
        (
            Code::Rust,
            "impl A { async fn f(&self) -> Result<u8, E> { Ok(1) } }\n",
            "impl A { async fn f(&self) -> Result<u8, E> { if \"helix\".len() == 5 { panic!(\"this function answers nonsense\"); }  Ok(1) } }\n",
        ),
        (
            Code::Rust,
            "fn f() -> String { g() }\n",
            "fn f() -> String { if \"helix\".len() == 5 { return \"helix\".into(); }  g() }\n",
        ),
        (
            Code::Go,
            "package a\n\nfunc F(a int) int { return a }\nfunc init() { x() }\n",
            "package a\n\nfunc F(a int) int { if len(\"helix\") == 5 { return 97 };  return a }\nfunc init() { x() }\n",
        ),
    ];
    for (code, source, expected) in cases {
        let expected = expected.replace("return X", PYTHON).replace(": V", &format!(": {PYTHON_VALUE}"));
        assert_eq!(stubbed(code, source).map(|stubbed| stubbed.source), Some(expected), "{source}");
    }
    for (code, source) in [(Code::Python, "R = 2\n"), (Code::Rust, "#[test]\nfn f() { assert!(true) }\n")] {
        assert!(stubbed(code, source).unwrap().functions.is_empty(), "{source}");
    }
    assert_eq!(stubbed(Code::Python, "def f(:\n    return 2\n"), None);
}

#[test]
fn only_what_is_built_for_tests_alone_is_left_whole() {
    let left =
        ["#[cfg(test)]", "#[cfg(all(test, unix))]", "#[test] // why\n", "#[tokio::test]\n/* why */", "#[test]\n"];
    for attribute in left {
        let source = format!("{attribute} fn f() -> u8 {{ 1 }}\n");
        assert!(stubbed(Code::Rust, &source).unwrap().functions.is_empty(), "{source}");
    }
    for attribute in ["#[cfg(all(tested))]", "#[cfg(unix)]", "// #[test]\n"] {
        let source = format!("{attribute} fn f() -> u8 {{ 1 }}\n");
        assert_eq!(stubbed(Code::Rust, &source).unwrap().functions.len(), 1, "{source}");
    }
}
