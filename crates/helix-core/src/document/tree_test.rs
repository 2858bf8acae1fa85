use super::*;

fn tree(text: &str) -> Node {
    read(text, Limits::default()).unwrap().unwrap()
}

fn entry<'a>(node: &'a Node, key: &str) -> &'a Entry {
    node.get(key).unwrap()
}

#[test]
fn ranges_are_those_of_the_source() {
    let text = "größe: 3\nlist:\n  - 'a b'\n  - {k: v}\nnext: x\n";
    let root = tree(text);
    assert_eq!(&text[entry(&root, "größe").key_range.clone()], "größe");
    assert_eq!(&text[entry(&root, "größe").value.range.clone()], "3");
    let Value::Sequence(items) = &entry(&root, "list").value.value else { panic!() };
    assert_eq!(&text[items[0].range.clone()], "'a b'");
    assert_eq!(&text[items[1].range.clone()], "{k: v}");
    assert_eq!(&text[entry(&root, "list").value.range.clone()], "- 'a b'\n  - {k: v}");
}

#[test]
fn merge_keys_yield_to_what_is_written_out() {
    let root = tree("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
    let used = &entry(&root, "use").value;
    assert_eq!(entry(used, "x").value.as_number(), Some("1"));
    assert_eq!(entry(used, "y").value.as_number(), Some("3"));
}

#[test]
fn bombs_stop_at_the_limit() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let previous = level - 1;
        let list = vec![format!("*a{previous}"); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let problem = |text: &str| read(text, Limits::default()).unwrap_err().kind;
    assert!(matches!(problem(&text), ReadErrorKind::TooMuch { .. }));
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(500_000), vec!["*a"; 100].join(", "));
    assert!(matches!(problem(&long), ReadErrorKind::TooMuch { .. }));
    assert!(matches!(problem("a: &a [*a]\n"), ReadErrorKind::BadAlias(_)));
    assert!(matches!(problem(&"[".repeat(100_000)), ReadErrorKind::Syntax(_)));
}

#[test]
fn numbers_and_words_are_told_apart() {
    let cases = [("3", true), ("-1.5e3", true), (".inf", true), ("0x1f", true), ("010", true), ("1.2.3", false)];
    for (text, number) in cases.into_iter().chain([("90s", false), ("inf", false), ("nan", false), ("'3'", false)]) {
        assert_eq!(tree(&format!("k: {text}")).get("k").unwrap().value.as_number().is_some(), number, "{text}");
    }
}
