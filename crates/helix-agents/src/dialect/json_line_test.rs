use super::*;

fn text(line: &str) -> Option<String> {
    match JsonLine::read(line.as_bytes()) {
        JsonLine::Object(object) => Some(object["t"].as_str().unwrap().to_owned()),
        JsonLine::Blank | JsonLine::Other => None,
    }
}

#[test]
fn lone_surrogates_do_not_cost_the_record() {
    assert_eq!(text(r#"{"t":"a\ud83d"}"#).as_deref(), Some("a\u{fffd}"));
    assert_eq!(text(r#"{"t":"\ude00b\ud83d\u0041"}"#).as_deref(), Some("\u{fffd}b\u{fffd}A"));
    assert_eq!(text(r#"{"t":"\ud83d\ude00 \ud83d"}"#).as_deref(), Some("\u{1f600} \u{fffd}"));
    assert_eq!(text(r#"{"t":"\\ud83d \ud83d\\"}"#).as_deref(), Some("\\ud83d \u{fffd}\\"));
}

#[test]
fn what_is_no_whole_object_is_none() {
    for line in [&b"{\"t\":\"\\ud83d"[..], b"[]", b"1", b"{", b"\xff", b"{\"t\":\"\0\"}", b"{}x", b"null"] {
        assert!(matches!(JsonLine::read(line), JsonLine::Other), "{line:?}");
    }
    assert!(matches!(JsonLine::read(b" \r\n"), JsonLine::Blank));
    assert!(matches!(JsonLine::read(b"\xef\xbb\xbf{}\r\n"), JsonLine::Object(_)));
}
