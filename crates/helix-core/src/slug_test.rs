use super::slug;

#[test]
fn names_are_short_plain_and_say_the_same() {
    for (text, name) in [
        ("Übung: Größe & Maß", "uebung-groesse-mass"),
        ("Don’t  panic!", "dont-panic"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語", ""),
        ("--", ""),
        ("CSV export", "csv-export"),
    ] {
        assert_eq!(slug(text, 60), name);
    }
    assert_eq!(slug("abc def", 4), "abc", "no half word's dash");
    assert_eq!(slug("abcß", 4), "abcs", "never longer");
}
