use super::*;

#[test]
fn columns_align_and_lines_do_not_trail() {
    let rows =
        [[("long-name".into(), None), ("ok".into(), Some(Meaning::Good))], [("b".into(), None), Cell::default()]];
    let drawn = draw(["id", "state"].map(String::from), rows, |_, text| text.to_owned());
    assert_eq!(drawn, "id         state\nlong-name  ok\nb");
    let wide = draw(["id", "state"].map(String::from), [[("翻訳".into(), None), ("ok".into(), None)]], |_, text| {
        text.to_owned()
    });
    assert_eq!(wide, "id    state\n翻訳  ok");
}
