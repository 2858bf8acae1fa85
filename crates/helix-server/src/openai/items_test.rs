use super::*;

#[test]
fn parts_are_counted_as_open_webui_does() {
    let mut parts = Parts::default();
    assert_eq!(parts.reasoning(), None);
    parts.reasoning();
    parts.text();
    parts.text();
    assert_eq!((parts.item(), parts.item()), (2, 3), "reasoning 0, text 1");
    parts.text();
    assert_eq!(parts.reasoning(), None, "joins the first");
    assert_eq!(parts.item(), 5);
}

#[test]
fn reasoning_after_text_is_put_before_it() {
    let mut parts = Parts::default();
    assert_eq!(parts.item(), 0);
    parts.text();
    assert_eq!(parts.reasoning(), Some(1));
    assert_eq!(parts.item(), 3);
}

#[test]
fn a_name_ends_no_attribute() {
    let call = function_call("id", "Run grep -c \"</details>\" a && b", &json!({}));
    assert_eq!(call["name"], "Run grep -c \u{201d}\u{2039}/details\u{203a}\u{201d} a \u{ff06}\u{ff06} b");
}
