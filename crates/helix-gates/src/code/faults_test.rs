use super::*;
use helix_language::RECORD;

#[test]
fn tests_are_made_weaker_in_each_way() {
    let source = "import x\n\ndef test_a():\n    assert f() == 1\n    assert f() == 2\n";
    let found: Vec<(u32, String)> =
        weaker(Code::Python, source).into_iter().map(|one| (one.line, RECORD.words(&one.what))).collect();
    let expected = [
        (3, "skips `def test_a():`"),
        (4, "leaves out `assert f() == 1`"),
        (5, "`assert f() == 2` becomes `assert True`"),
    ];
    assert_eq!(found, expected.map(|(line, what)| (line, what.to_owned())));
    assert_eq!(weaker(Code::Python, source)[2].text(source), source.replace("assert f() == 2", "assert True"));
    let rust = "#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n";
    assert_eq!(weaker(Code::Rust, rust).len(), 2);
    assert!(lying(Code::Rust, "pub fn f() -> u8 { 1 }\n", 3).is_some_and(|lie| lie.contains("ok. 3 passed")));
    assert!(lying(Code::Python, "x = 1\n", 3).is_some_and(|lie| lie.ends_with("_os._exit(0)\n")));
    assert_eq!(lying(Code::Python, "def (\n", 3), None);
}
