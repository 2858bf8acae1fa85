use super::*;

fn all(source: &str) -> BTreeSet<u32> {
    (1..=u32::try_from(source.lines().count()).unwrap()).collect()
}

#[test]
fn code_that_looks_for_a_test_runner_sees_none() {
    let cases = [
        (Code::Python, "x = 'unittest' in sys.modules\n", format!("x = \"{NO_NAME}\" in {PYTHON_MODULES}\n")),
        (Code::Python, "x = os.environ.get('C' + 'I')\n", format!("x = {PYTHON_VARIABLES}.get('C' + 'I')\n")),
        (Code::Python, "x = os.getenv(\"CI\")\n", format!("x = os.getenv(\"{NO_NAME}\")\n")),
        (Code::Python, "c = sys._getframe(1)\n", "c = None\n".to_owned()),
        (
            Code::JavaScript,
            "exports.a = process.env.NODE_TEST_CONTEXT ? 1 : 2;\n",
            "exports.a = undefined ? 1 : 2;\n".to_owned(),
        ),
        (
            Code::Rust,
            "pub fn a() -> u8 { if cfg!(debug_assertions) { 1 } else { 2 } }\n",
            "pub fn a() -> u8 { if false { 1 } else { 2 } }\n".to_owned(),
        ),
        (
            Code::Rust,
            "#[cfg(test)]\nfn a() -> u8 { 1 }\n#[cfg(not(test))]\nfn a() -> u8 { 2 }\n",
            "#[cfg(any())]\nfn a() -> u8 { 1 }\n#[cfg(not(any()))]\nfn a() -> u8 { 2 }\n".to_owned(),
        ),
        (
            Code::Rust,
            "#[cfg_attr( test, path = \"a test.rs\")]\n#[cfg_attr(not(test), path = \"b.rs\")]\nmod a;\n",
            "#[cfg_attr( any(), path = \"a test.rs\")]\n#[cfg_attr(not(any()), path = \"b.rs\")]\nmod a;\n".to_owned(),
        ),
        (
            Code::Rust,
            "#[cfg(all(test, feature = \"test\"))]\nmod a;\n#[cfg(not(all(test, feature = \"test\")))]\nmod a;\n",
            "#[cfg(all(any(), feature = \"test\"))]\nmod a;\n#[cfg(not(all(any(), feature = \"test\")))]\nmod a;\n"
                .to_owned(),
        ),
        (
            Code::Rust,
            "pub fn a() -> bool { cfg!(any(test, unix)) }\n",
            "pub fn a() -> bool { cfg!(any(any(),unix)) }\n".to_owned(),
        ),
    ];
    for (code, source, expected) in cases {
        assert_eq!(blinded(code, source, &all(source), true).map(|blinded| blinded.source), Some(expected), "{source}");
    }
    let honest = [
        (Code::Python, "sys.modules['a'] = b\nos.environ['CI2'] = '1'\nimport unittest\n"),
        (Code::Python, "print('a test', x.modules)\n"),
        (Code::JavaScript, "const a = process.env.HOME; b.stack.push(1);\n"),
        (
            Code::Rust,
            "#[cfg(test)]\nmod tests { fn a() { cfg!(debug_assertions); } }\nfn b() { env!(\"CARGO_PKG_VERSION\"); }\n",
        ),
    ];
    for (code, source) in honest {
        assert!(blinded(code, source, &all(source), false).is_none(), "{source}");
    }
    assert!(blinded(Code::Python, "x = 'pytest' in sys.modules\n", &BTreeSet::new(), true).is_none());
    // What is there for tests alone may be needed by them.
    let helper = "pub use slow::*;\n#[cfg(test)]\npub use fast::sub;\n#[cfg_attr(test, derive(Debug))]\nstruct A;\n#[cfg(test)]\nmod b;\n";
    assert!(blinded(Code::Rust, helper, &all(helper), true).is_none());
    let without = helper.replacen("cfg(test)", "cfg(any())", 1).replace("cfg_attr(test", "cfg_attr(any()");
    assert_eq!(blinded(Code::Rust, helper, &all(helper), false).map(|blinded| blinded.source), Some(without));
}
