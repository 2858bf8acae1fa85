use super::*;

#[test]
fn line_breaks_in_data_cannot_end_a_frame() {
    let mut out = Vec::new();
    numbered(&mut out, 7, "text", &"a\r\n\ndata: {\"event\":1}\u{2028}");
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "id: 7\nevent: text\ndata: \"a\\r\\n\\ndata: {\\\"event\\\":1}\u{2028}\"\n\n"
    );
}

#[test]
fn what_cannot_be_written_leaves_no_half_frame() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("broken"))
        }
    }
    let mut out = Vec::from(HEARTBEAT);
    named(&mut out, "text", &Broken);
    assert_eq!(out, HEARTBEAT);
}
