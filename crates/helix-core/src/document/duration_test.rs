use super::*;

#[test]
fn durations_read_and_write() {
    for (text, milliseconds) in
        [("30m", 1_800_000), ("2h", 7_200_000), ("1h30m", 5_400_000), ("1h1s", 3_601_000), ("1s500ms", 1500), ("0s", 0)]
    {
        let duration = Duration::from_millis(milliseconds);
        assert_eq!(parse_duration(text), Ok(duration), "{text}");
        assert_eq!(format_duration(duration), text);
    }
    assert_eq!(format_duration(Duration::from_secs(90)), "1m30s");
}

#[test]
fn everything_else_is_an_error_with_a_remedy() {
    for text in ["600", "1.5", ""] {
        assert!(parse_duration(text).is_err(), "{text}");
    }
    assert_eq!(parse_duration("600").unwrap_err().remedy, "write 600s for seconds or 600m for minutes");
    for text in ["30 m", "5min", "m", "30m1h", "1m1m", "-5m", "1.5h", "5m ", "ä"] {
        assert_eq!(parse_duration(text).unwrap_err().to_string(), format!("{text:?} is not a duration"));
    }
    for text in ["9999999999999999999999h", "2000000h"] {
        assert_eq!(parse_duration(text).unwrap_err().to_string(), format!("the duration {text} is too long"));
    }
}
