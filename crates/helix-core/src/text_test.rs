use super::*;

#[test]
fn figures_read_well() {
    let durations = [0.0, 0.44, 9.99, 59.6, 185.0, 7800.0].map(duration);
    assert_eq!(durations, ["0.0 s", "0.4 s", "10 s", "1 min 00 s", "3 min 05 s", "2 h 10 min"]);
    assert_eq!([0.0, 0.0123, 1.5].map(money), ["$0.00", "$0.0123", "$1.50"]);
    assert_eq!(one_line("a\n  b\u{1b}[31m c", 5), "a b[…");
    let told = "the gate failed: run `helix jobs resume j1 --budget 5`";
    assert_eq!((one_line(told, 30).as_str(), one_line(told, 99).as_str()), ("the gate failed: run…", told));
    assert_eq!((clip("abc", 3).as_str(), clip("abcd", 3).as_str()), ("abc", "ab…"));
    assert_eq!([count(1, "file"), count(0, "day"), count(2, "entry")], ["1 file", "0 days", "2 entries"]);
}

#[test]
fn nothing_but_colours_reaches_a_terminal() {
    let painted = "\u{1b}[31;1mred\u{1b}[0m\n\tok";
    assert_eq!(coloured(painted), painted);
    for hostile in [
        "a\u{1b}[2Jb",
        "a\u{1b}]0;owned\u{7}b",
        "a\u{9b}2Jb",
        "a\rb",
        "a\u{202e}b",
        "a\u{2028}b",
        "a\u{1b}",
        "\u{1b}[31",
        "\u{1b}[1\u{1b}[2Jm",
    ] {
        let shown = coloured(hostile);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\r', '\u{2028}', '\u{202e}']), "{hostile:?}: {shown:?}");
    }
    assert_eq!(coloured("\u{1b}[32mgood\u{1b}[2J\u{1b}[0m"), "\u{1b}[32mgood[2J\u{1b}[0m");
    assert_eq!(plain("a\u{1b}[31m\u{202e}b\n"), "a[31mb\n");
}

#[test]
fn what_deceives_is_written_out() {
    assert_eq!(visible("a\u{202e}b\u{200b}c\u{1}d"), "a<U+202E>b<U+200B>c d");
}
