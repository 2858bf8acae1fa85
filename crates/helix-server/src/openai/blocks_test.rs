use super::*;

/// What each line of a text is: code, words, or lost.
fn kinds(text: &str) -> String {
    let mut blocks = Blocks::default();
    let kind = |line: &str| {
        let kind = blocks.begins(line, true);
        blocks.end(line);
        match kind {
            Kind::Code => 'c',
            Kind::Words if blocks.is_lost() => 'l',
            Kind::Words => 'w',
            Kind::Lost => 'l',
            Kind::Undecided => '?',
        }
    };
    text.lines().map(kind).collect()
}

#[test]
fn code_is_known_where_every_renderer_sees_it() {
    for (text, expected) in [
        ("a\n```rust\nb\n```\nc", "wcccw"),
        ("~~~\n```\n~~~~\na", "cccw"),
        ("````\n```\n~~~~\n````\na", "ccccw"),
        ("```\n```rust\n    ```\n```\na", "ccccw"),
        ("1. a\n   ```sh\n   b\n\n   ```\nc", "wccccw"),
        ("- a\n  - b\n\n    ```\n    c\n    ```\n", "wwwccc"),
        ("- a\n    ```\n      b\n    ```\n", "wccc"),
        ("> ```\n> a\n>\n> ```\n> b", "ccccw"),
        ("> 1. a\n>    ```\n>    b\n>    ```\nc", "wcccw"),
        ("a\n\n    b\n    c\n\n    d\ne", "wwccwcw"),
        ("\ta\nb", "cw"),
        ("```a``` b\nc", "ww"),
        ("``\na", "ww"),
    ] {
        assert_eq!(kinds(text), expected, "{text:?}");
    }
}

#[test]
fn where_renderers_may_disagree_nothing_is_code_any_more() {
    for (text, expected) in [
        // The item ends, and with it its fence; some take the line in.
        ("- a\n  ```\nb\n  ```\nc", "wclll"),
        ("> ```\na\n> ```\n", "cll"),
        ("- ```\n  a\n", "ww"),
        ("a\n    ```\n    b\n", "wll"),
        ("```\n  ```\na", "ccl"),
        ("```\n```~\na", "ccl"),
        ("\ta\n- b\n\n\t```\n", "cwwl"),
        ("~~~ ~\na", "ll"),
        ("a\n```<b>", "wl"),
        // A formula, for those who know them.
        ("$$\n```\n$$\na", "wcll"),
        (":::note\n```\n:::\na", "wcll"),
        // A heading, for some.
        ("a\n```\nb\n---\nc", "wccll"),
        ("a\n\n```\nb\n---\nc", "wwcccc"),
        // Lists and footnotes indent, too.
        ("- a\n\n    b", "www"),
        ("[^1]: a\n\n    b", "www"),
        ("a\n2. b\n\n     c", "wwww"),
        ("a\n    b", "ww"),
    ] {
        assert_eq!(kinds(text), expected, "{text:?}");
    }
}
