use super::*;

#[test]
fn a_log_of_two_byte_characters_is_read() {
    let mut collector = LogCollector::new(Stream::Stdout);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    collector.push(&[0xff, 0xfe]);
    collector.push(&wide("error TS2304: x\r\nnext\r\n"));
    let log = collector.finish();
    let lines: Vec<&str> = log.lines.iter().map(|line| line.raw.as_str()).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["error TS2304: x", "next"]);
}
