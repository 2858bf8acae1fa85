use super::*;

/// The text with every target in double angle quotes, however it is cut into pieces.
fn marked(text: &str) -> String {
    let read = |pieces: &[&str]| {
        let mut scan = LinkScan::default();
        let mut out = String::new();
        let mut found: Vec<Piece> = pieces.iter().flat_map(|piece| scan.push(piece)).collect();
        found.extend(scan.rest());
        for piece in found {
            match piece {
                Piece::Text(text) => out.push_str(&text),
                Piece::Target(target) => out.push_str(&format!("«{target}»")),
            }
        }
        out
    };
    let whole = read(&[text]);
    for (at, _) in text.char_indices() {
        assert_eq!(read(&[&text[..at], &text[at..]]), whole, "cut at {at}");
    }
    whole
}

#[test]
fn targets_are_found_wherever_a_text_is_cut() {
    for (text, expected) in [
        ("See [note](note.md).", "See [note](«note.md»)."),
        ("![a](b/c.png \"A picture\") and [d]( e.md )", "![a](«b/c.png» \"A picture\") and [d]( «e.md» )"),
        ("[a](<my note.md>) [b](c(1).md)", "[a](<«my note.md»>) [b](«c(1).md»)"),
        ("[![a](b.png)](c.md)", "[![a](«b.png»)](«c.md»)"),
        ("- one\n    - [nested](n.md)\n", "- one\n    - [nested](«n.md»)\n"),
        ("> ```\n> [a](b)\n> ```\n> [c](d.md)", "> ```\n> [a](b)\n> ```\n> [c](«d.md»)"),
        ("`code` [a](b.md) ``x ` y`` [c](d.md)", "`code` [a](«b.md») ``x ` y`` [c](«d.md»)"),
        ("paragraph\n    that goes on [a](b.md)", "paragraph\n    that goes on [a](«b.md»)"),
        ("one ` alone\n\n[a](b.md)", "one ` alone\n\n[a](«b.md»)"),
        ("[a](it's.md)", "[a](«it's.md»)"),
        ("[a](«ä».md)", "[a](««ä».md»)"),
        ("See [the note][1].\n\n[1]: note.md", "See [the note][1].\n\n[1]: «note.md»"),
        (
            "[note]\n\n[note]: <my note.md> 'Mine'\n[b]:c.md\nd",
            "[note]\n\n[note]: <«my note.md»> 'Mine'\n[b]:«c.md»\nd",
        ),
        ("> [a]: b.md \"B\"\n", "> [a]: «b.md» \"B\"\n"),
        ("<a class=\"x\" href=\"note.md\">a</a>", "<a class=\"x\" href=\"«note.md»\">a</a>"),
        ("One <IMG alt='' src = 'b/c.png'/> two", "One <IMG alt='' src = '«b/c.png»'/> two"),
    ] {
        assert_eq!(marked(text), expected);
    }
}

#[test]
fn code_and_what_is_no_link_are_left_alone() {
    for text in [
        "```md\n[note](note.md)\n```\n",
        "~~~ [a](b.md)\n[c](d.md)\n~~~",
        "`[note](note.md)` and ``[a](b.md) ` ``",
        "text\n\n    [note](note.md)\n    [note](note.md)\n",
        "\t[note](note.md)",
        "call(note.md) and x](note.md) and \\[a](b.md) and [a\\](b.md)",
        "[a] (b.md) [a](b\nc.md)",
        "a span `over\n[two](lines.md)` lines",
        "[open](note.md",
        "[^1]: note.md\n[a] [b]: c.md\nsee [a]: b",
        "`[1]: note.md`\n\n    [1]: note.md\n\n```\n[1]: note.md\n<a href=\"b\">\n```",
        "`<a href=\"note.md\">` and href=\"b.md\" and <b href=\"c.md\"> and <a>href=\"d.md\"",
        "<a href=\"open.md",
        "[1]:\n[2]: ",
    ] {
        assert_eq!(marked(text), text);
    }
}

#[test]
fn what_waits_is_bounded() {
    let mut scan = LinkScan::default();
    assert_eq!(scan.push("see [a"), [Piece::Text("see [a".into())], "nothing waits before the target");
    assert_eq!(scan.push("](b"), [Piece::Text("](".into())]);
    let long = "x".repeat(LONGEST);
    assert_eq!(scan.push(&long), [Piece::Text(format!("b{long}"))]);
    assert_eq!(scan.rest(), []);
}
