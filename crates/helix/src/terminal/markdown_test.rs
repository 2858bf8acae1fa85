use super::*;

fn shown(text: &str, width: usize) -> String {
    rendered(text, Language::English, Look::Plain, width)
}

#[test]
fn blocks_are_shown_as_what_they_are() {
    let text = "# Title\n\nSome *words* and `code`\nin **one** paragraph.\n\n- one\n- two\n  1. inner\n\n> quoted\n\n```sh\nls  -l\n```\n\n- [x] done\n- [ ] open\n";
    let wanted = "Title\n\nSome words and code in one paragraph.\n\n• one\n• two\n  1. inner\n\n│ quoted\n\n    ls  -l\n\n☑ done\n☐ open\n";
    assert_eq!(shown(text, 60), wanted);
}

#[test]
fn blocks_of_a_kind_are_named_in_the_readers_language() {
    let text = "> [!CAUTION]\n> **Helix:** Nein.\n";
    assert_eq!(rendered(text, Language::German, Look::Plain, 60), "┃ Achtung\n┃ Helix: Nein.\n");
    // In colour, which no text of an agent has.
    assert!(rendered(text, Language::English, Look::Colour, 60).starts_with("\u{1b}[33m┃ "));
    assert_eq!(shown(text, 60), "┃ Caution\n┃ Helix: Nein.\n");
}

#[test]
fn lines_are_wrapped_at_words_and_hang_below_their_mark() {
    assert_eq!(shown("- one two three four five six seven", 20), "• one two three four\n  five six seven\n");
    // Wide letters take two columns.
    assert_eq!(shown("日本語日本語 日本語日本語", 20), "日本語日本語\n日本語日本語\n");
}

#[test]
fn tables_have_columns_where_there_is_room() {
    let table = "| you want | you get |\n|---|---|\n| a | a long answer |\n";
    assert_eq!(shown(table, 60), "you want │ you get\n─────────┼──────────────\na        │ a long answer\n");
    assert_eq!(shown(table, 20), "• you want: a\n  you get: a long\n  answer\n");
}

#[test]
fn links_say_where_they_lead_and_comments_are_not_shown() {
    assert_eq!(shown("See [the docs](docs/a.md) <!-- STEP: what -->", 60), "See the docs (docs/a.md)\n");
    assert_eq!(shown("<!-- STEP: what -->\n", 60), "");
}

/// Neither letters nor entities of an agent's text steer the terminal.
#[test]
fn nothing_steers_the_terminal() {
    let text = "a\u{1b}[2Jb &#27;[8m hidden\n\n    code \u{1b}]0;title\u{7}\n\n[x](&#27;[31m)\n\n```\n\u{9b}31m\n```\n";
    for look in [Look::Plain, Look::Colour] {
        let shown = rendered(text, Language::English, look, 60);
        let codes = shown.matches('\u{1b}').count();
        let own = shown.matches("\u{1b}[0m").count() * 2;
        assert_eq!(codes, own, "{shown:?}");
        assert!(!shown.contains("\u{1b}[8m") && !shown.contains("\u{1b}[2J") && !shown.contains('\u{9b}'), "{shown:?}");
    }
}

#[test]
fn a_block_is_shown_when_it_is_whole() {
    let mut blocks = Blocks::default();
    assert_eq!(blocks.push("First par"), None);
    assert_eq!(blocks.push("agraph.\n\nSec"), Some("First paragraph.\n\n".into()));
    assert_eq!(blocks.push("ond\n\n```\nin a\n\nfence\n"), Some("Second\n\n".into()));
    assert_eq!(blocks.push("```\n\nlast"), Some("```\nin a\n\nfence\n```\n\n".into()));
    assert_eq!(blocks.rest(), Some("last".into()));
    assert_eq!(blocks.rest(), None);
}
