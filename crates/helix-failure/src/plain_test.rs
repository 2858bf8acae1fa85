use super::*;

#[test]
fn sequences_go_and_text_stays() {
    assert_eq!(plain_text("\u{1b}[31;1merror\u{1b}(B\u{1b}[m: \u{1b}]0;title\u{7}x\u{1b}"), "error: x");
    assert_eq!(plain_text("ä → 错"), "ä → 错");
}
