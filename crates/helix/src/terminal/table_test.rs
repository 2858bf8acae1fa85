use super::*;

#[test]
fn columns_align_and_lines_do_not_trail() {
    let rows =
        [[("long-name".into(), None), ("ok".into(), Some(Meaning::Good))], [("b".into(), None), Cell::default()]];
    let drawn = draw(["id", "state"], rows, |_, text| text.to_owned());
    assert_eq!(drawn, "id         state\nlong-name  ok\nb");
}
