use super::*;

fn closing(pieces: &[&str]) -> String {
    let mut text = OpenText::default();
    pieces.iter().for_each(|piece| text.push(piece));
    let closing = text.closing();
    text.push(&closing);
    assert_eq!(text.closing(), "", "what was closed stays closed: {pieces:?}");
    closing
}

#[test]
fn what_is_open_is_closed() {
    assert_eq!(closing(&["Look:\n```rust\nfn main"]), "\n```");
    assert_eq!(closing(&["~~", "~~\n```\n"]), "\n~~~~");
    assert_eq!(closing(&["- a\n  ````md\n  ```\n  b\n  ```\n"]), "\n  ````", "within its item");
    assert_eq!(closing(&["> ```\n> b"]), "\n> ```");
    assert_eq!(closing(&["so\n$", "$\nx + y"]), "\n$$");
    assert_eq!(closing(&["one ` alone $$ `` x"]), "\n$$");
}

#[test]
fn text_of_any_length_is_whole_and_an_item_of_its_own_is_open_nowhere() {
    let mut text = OpenText::default();
    let pieces = ["```\n", &"x".repeat(5 << 20), "y", "\n"];
    pieces.iter().for_each(|piece| text.push(piece));
    assert!(text.as_str() == pieces.concat() && text.closing() == "\n```");
    text.begin_item();
    assert_eq!(text.closing(), "");
    text.push("z\n~~~");
    assert_eq!(text.closing(), "\n~~~");
}

#[test]
fn what_is_not_open_is_left_alone() {
    for text in [
        "",
        "plain",
        "```\ncode\n```\nafter",
        "```\ncode\n```",
        "$$ x $$ and `code`",
        "```inline``` marks",
        "a price of $5",
        "```\n<details> $$\n```",
        "Write `$$` or `` $$ ` `` around it",
        "`a` and ` $$ `` ` $$ x $$",
        // The fence ended with its item, and the next one is closed.
        "- a\n  ````md\n```\nb\n```\n",
    ] {
        assert_eq!(closing(&[text]), "", "{text:?}");
    }
}
