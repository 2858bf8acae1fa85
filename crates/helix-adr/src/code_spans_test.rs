//! Code spans, hostile ones included.

use super::*;

fn codes(text: &str) -> Vec<&str> {
    let inner = segments(text).into_iter().filter_map(|segment| match segment {
        Segment::Code { inner, .. } => Some(&text[inner]),
        Segment::Text(_) => None,
    });
    inner.collect()
}

#[test]
fn spans_close_with_as_many_backticks_as_they_open_with() {
    assert_eq!(codes("a `b` c ``d ` e`` f"), ["b", "d ` e"]);
    assert_eq!(codes(r"\`no` and `yes`"), ["and"], "an escaped backtick opens nothing");
    assert_eq!(codes("`open"), Vec::<&str>::new());
    assert_eq!(codes("`` ` ``"), ["`"]);
    let hostile: String = (1..2000).map(|length| format!("{} ", "`".repeat(length % 60 + 1))).collect();
    assert!(segments(&hostile).len() < 5000);
}
