use super::*;

#[test]
fn words_stay_and_what_could_be_live_becomes_code() {
    assert_eq!(
        prose("add `requests` to pyproject.toml, then try again"),
        "add `requests` to pyproject.toml, then try again"
    );
    assert_eq!(prose("ask @octocat about #12"), "ask `@octocat` about `#12`");
    assert_eq!(prose("<b>x</b> [a](http://x)"), "`<b>x</b>` `[a](http://x)`");
    assert_eq!(prose("see GH-7 and deadbeef12"), "see `GH-7` and `deadbeef12`");
    assert_eq!(prose("one ` alone *x*"), "one alone `*x*`");
}

#[test]
fn a_code_span_cannot_be_left() {
    assert_eq!(code_span("a `b` c"), "``a `b` c``");
    assert_eq!(code_span("`x"), "`` `x ``");
    assert_eq!(code_span("a\nb"), "`a b`");
}
