use proptest::prelude::*;

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
                Piece::Target(target) => out.push_str(&target.resolved(&format!("«{}»", target.written))),
                Piece::Picture(alt, target) => {
                    out.push_str(&format!("¡{alt}{}", target.resolved(&format!("«{}»", target.written))));
                }
            }
        }
        out
    };
    let whole = read(&[text]);
    for (at, _) in text.char_indices() {
        assert_eq!(read(&[&text[..at], &text[at..]]), whole, "cut at {at}");
    }
    let letters: Vec<&str> = text.split_inclusive(|_| true).collect();
    assert_eq!(read(&letters), whole, "letter by letter");
    whole.replace(BREAK, "·")
}

#[test]
fn targets_are_found_wherever_a_text_is_cut() {
    for (text, expected) in [
        ("See [note](note.md).", "See [note](«note.md»)."),
        ("![a](b/c.png \"A picture\") and [d]( e.md )", "¡[a](«b/c.png» \"A picture\") and [d]( «e.md» )"),
        ("[a](<my note.md>) [b](c(1).md)", "[a](<«my note.md»>) [b](«c(1).md»)"),
        ("[![a](b.png)](c.md)", "[¡[a](«b.png»)](«c.md»)"),
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
        "`<a href=\"note.md\">` and a < b, 1 <2, <-, <= and <https://example.com/a?b=c>",
        "| a<br>b | <BR/> |\nmore<br />",
        "[1]:",
        "[2]: ",
    ] {
        assert_eq!(marked(text), text);
    }
}

#[test]
fn what_would_act_becomes_words() {
    for (text, expected) in [
        ("<img src=https://e.example/x> and </p>", "<·img src=https://e.example/x> and <·/p>"),
        ("All <!-- HELIX: done --> <?php ?> <![CDATA[x]]>", "All <·!-- HELIX: done --> <·?php ?> <·!·[CDATA[x]]>"),
        ("<details type=\"tool_calls\">\n", "<·details type=\"tool_calls\">\n"),
        ("<br>\n- <br>\n[^1]: <br>", "<·br>\n- <·br>\n[^1]: <·br>"),
        ("![a](https://e.example/x.png?d=1)", "¡[a](«https://e.example/x.png?d=1»)"),
        ("![a][1] ![b] ![c](d e) ![*`c`*](d)", "!·[a][1] !·[b] !·[c](d e) !·[*`c`*](d)"),
        ("![a\n](b.png) \\![a](b.png)", "!·[a\n](«b.png») \\¡[a](«b.png»)"),
        ("[a](javascript&colon;x 'y`') [b](\njavascript:x)", "[a]·(javascript&colon;x 'y`') [b]·(\njavascript:x)"),
        ("[a]: java\\script:x`\n", "[a]·: java\\script:x`\n"),
        ("[a]:\n  javascript:x\n", "[a]·:\n  javascript:x\n"),
        // No code: what opens the span is not closed on its line, or ends in another part.
        ("`<b>\n<i>` <u>`x`", "`<·b>\n<·i>` <·u>`x`"),
        ("- ` a\n- <b> `\n\n`<b>`", "- ` a\n- <·b> `\n\n`<b>`"),
        ("[[a ` b]](u) <b> `", "[[a ` b]](u) <·b> `"),
        ("**a `` b** <b> ``", "**a `` b** <·b> ``"),
        ("$ ` $ <b> `", "$ ` $ <·b> `"),
        ("https://e.example/` <b> `", "https://e.example/` <·b> `"),
        ("a ` | <b> ` |\n--|--\n` | <b> `", "a ` | <b> ` |\n·--|--\n` | <·b> `"),
        ("> ```\n<b>\n```\n<b>", "> ```\n·<·b>\n```\n<·b>"),
        ("- [ ] ```\n  <b>\n  ```\n", "- [ ] ```\n  <·b>\n  ```\n"),
        ("$$\n```\n$$\n<b>", "$$\n```\n·$$\n<·b>"),
        ("a\n```\n<b>\n---\n<b>", "a\n```\n<b>\n·---\n<·b>"),
        ("[a]:\n```\n<b>", "[a]·:\n```\n<b>"),
        ("~`<b>`", "~`<·b>`"),
        // So deep in, words go on, and a mark of quotation is one of them.
        ("``\n    >\n``<b>``", "``\n    >\n``<·b>``"),
        ("``\n   >\n``<b>``", "``\n   >\n``<b>``"),
        // Open WebUI reads these in code, too.
        (
            "`a`\n```\n<think>\n<thinker> <code_interpreter lang=x>\n```\n◁think▷",
            "`a`\n```\n<·think>\n<thinker> <·code_interpreter lang=x>\n```\n◁·think▷",
        ),
        ("a\u{2060}b", "a\u{2060}\u{2060}b"),
    ] {
        assert_eq!(marked(text), expected.replace(BREAK, "·"));
    }
}

#[test]
fn only_pages_and_files_are_links() {
    for (text, expected) in [
        ("[a](gone.md 'A') [b](javascript:x)", "[a]·(gone.md 'A') [b]·(javascript:x)"),
        ("[a](<b>) ![c](d.png) [e](<#f>)", "[a]·(<·b>) !·[c]·(d.png) [e]·(<·#f>)"),
        ("See [1].\n\n[1]: gone.md", "See [1].\n\n[1]·: gone.md"),
    ] {
        assert_eq!(harmless(text), expected.replace('·', &BREAK.to_string()));
        for is_github in [false, true] {
            let page = page(&harmless(text), is_github);
            assert!(!page.contains("<a "), "{text} became {page}");
        }
    }
    // Where a link leads is read as words where it is none.
    for text in [
        "[a](<![x](https://e.example/p.png?d=1)>)",
        "[r]\n\n[r]: <![x](https://e.example/p.png)>",
        "[x [a](<b](javascript:alert(1)//>)",
    ] {
        let page = page(&harmless(text), true);
        assert!(!page.contains("<img") && !page.contains("href=\"javascript:"), "{text} became {page}");
    }
    for text in ["[a](https://e.example/x)", "[a](#below)", "[1]: mailto:a@e.example"] {
        assert_eq!(harmless(text), text);
    }
    let note = "a[^1]\n\n[^1]: Note: A&B\n";
    assert!(page(&harmless(note), true).contains("footnotes"), "{}", harmless(note));
}

#[test]
fn code_stays_as_it_is() {
    for text in [
        "```html\n<img src=https://e.example/x>\n![a](https://e.example)\n```\n",
        "1. Do:\n   ```html\n   <b>\n\n     <i>\n   ```\n2. <-",
        "> ~~~~\n> <b>\n> ~~~\n> ~~~~\n",
        "Use `Vec<String>`, ``a ` <b>`` and `cat <a | b`.",
        "| `Vec<T>` | `<b>` |\n| --- | --- |\n| `Vec<T>` | `<b>` |",
        "a\n\n    <b>\n\t<i>\n",
        "```\r\n<b>\r\n```\r\n",
    ] {
        assert_eq!(marked(text), text);
    }
}

#[test]
fn what_waits_is_bounded() {
    let mut scan = LinkScan::default();
    assert_eq!(scan.push("Words flow, "), [Piece::Text("Words flow, ".into())]);
    assert_eq!(scan.push("see [a"), [Piece::Text("see [a".into())], "nothing waits before the target");
    assert_eq!(scan.push("](b"), [Piece::Text("]".into())]);
    let long = "x".repeat(LONGEST);
    assert_eq!(scan.push(&long), [Piece::Text(format!("(b{long}"))]);
    for (opening, more) in
        [("`", "x"), ("![", "x"), ("<https://", "x"), ("a\n```", "x"), ("a\n[", "x"), ("[a](", " "), ("[a]: ", " ")]
    {
        let mut scan = LinkScan::default();
        scan.push(opening);
        for _ in 0..40 {
            scan.push(&more.repeat(100));
            assert!(scan.buffer.len() <= 2 * LONGEST, "{opening}");
        }
    }
}

#[test]
fn the_time_grows_with_the_text_and_not_faster() {
    let processor_time =
        || std::time::Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap();
    let spent = |length: usize| {
        let before = processor_time();
        for piece in ["`", "``a", "[", "](", "<", "![a](", "~", "\\", "> ", "[a]:", "`a`|", "\n"] {
            harmless(&piece.repeat(length));
        }
        processor_time() - before
    };
    let (short, long) = (spent(1 << 16), spent(1 << 19));
    // Eight times as much, where quadratic work takes 64 times as long.
    assert!(long < short * 24, "{short:?}, then {long:?}");
}

/// Texts of what matters to renderers.
fn hostile() -> impl Strategy<Value = Vec<String>> {
    let pieces = [
        "<img src=https://e.example/x>",
        "![a](https://e.example/x.png)",
        "![a][r]",
        "![r]",
        "[r]: https://e.example/y.png\n",
        "<!-- x -->",
        "<details>",
        "<br>",
        "`",
        "``",
        "```",
        "````",
        "~~~",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "  ",
        "    ",
        "\t",
        " ",
        "a",
        "b c",
        "|",
        "\n--|--\n",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "]",
        "(",
        ")",
        "](",
        "\\",
        "\"",
        "'",
        ":",
        "$",
        "$$",
        "https://e.example/",
        "<https://e.example>",
        "\r\n",
        "\r",
        "#",
        "=",
        "---",
        "&lt;",
        "ä",
        "\u{2060}",
        "[^1]",
        "[^1]: ",
        "<",
        "!",
        "[a](",
        "[a](<",
        ">)",
        "javascript:x",
        "2. ",
        ">",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 0..40)
}

/// The page that a renderer makes which lets HTML pass.
fn page(text: &str, is_github: bool) -> String {
    let mut options = comrak::Options::default();
    options.render.r#unsafe = true;
    if is_github {
        let with = &mut options.extension;
        (with.table, with.strikethrough, with.autolink, with.tasklist, with.footnotes) = (true, true, true, true, true);
    }
    comrak::markdown_to_html(text, &options)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_acts_wherever_a_text_is_cut(pieces in hostile()) {
        let text = pieces.concat();
        let whole = harmless(&text);
        let mut scan = LinkScan::default();
        let mut cut: Vec<Piece> = pieces.iter().flat_map(|piece| scan.push(piece)).collect();
        cut.extend(scan.rest());
        prop_assert_eq!(plain(cut), whole.as_str());
        let mut scan = LinkScan::default();
        let mut cut: Vec<Piece> = text.chars().flat_map(|letter| scan.push(letter.encode_utf8(&mut [0; 4]))).collect();
        cut.extend(scan.rest());
        prop_assert_eq!(plain(cut), whole.as_str());
        for is_github in [false, true] {
            let page = page(&whole, is_github);
            for acts in ["<img", "<!--", "<details", "href=\"javascript:"] {
                prop_assert!(!page.contains(acts), "{:?} became {:?}: {}", text, whole, page);
            }
        }
        if !text.contains(BREAK) {
            prop_assert_eq!(restored(&whole), text);
        }
    }
}
