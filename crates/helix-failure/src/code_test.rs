use super::*;

#[test]
fn codes_are_found_and_other_words_are_not() {
    for (line, code) in [
        ("error[E0308]: mismatched types", Some("E0308")),
        ("src/a.ts(3,4): error TS2322: Type 'x'", Some("TS2322")),
        ("npm error code ERESOLVE", Some("ERESOLVE")),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", Some("ECONNREFUSED")),
        ("TypeError [ERR_INVALID_ARG_TYPE]: The", Some("ERR_INVALID_ARG_TYPE")),
        ("SQLSTATE[23505]: Unique violation", Some("23505")),
        ("ORA-00942: table or view does not exist", Some("ORA-00942")),
        ("ERROR: relation does not exist", None),
        ("commit deadbeef12 is bad", None),
        ("assertion failed", None),
    ] {
        assert_eq!(tool_code(line), code, "{line}");
    }
}
