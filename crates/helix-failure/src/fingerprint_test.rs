use super::*;

#[test]
fn every_mask_compiles() {
    assert_eq!(MASKS.len(), 10);
}

#[test]
fn what_varies_goes_and_what_tells_stays() {
    let same = |left: &str, right: &str| assert_eq!(normalise(left), normalise(right));
    same("error at /home/user/b.rs:3:4 in 12ms", "error at /srv/x/y.rs:30:1 in 7ms");
    same("2026-01-01T00:00:00Z req_abcdef123 failed", "2026-02-03T10:20:30.5+01:00 req_zzzzzz999 failed");
    same(r"C:\a\b.ts: no", r"D:\c\d\e.ts: no");
    same("commit deadbeef12 is bad", "commit 0123abcd99 is bad");
    assert_ne!(normalise("cannot find `parse`"), normalise("cannot find `print`"));
}
