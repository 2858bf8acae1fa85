#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

#[test]
fn only_a_pointer_as_the_specification_has_it_is_one() {
    let digest = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    let of = |version: &str, oid: &str, size: &str| {
        Pointer::parse(format!("version {version}\noid {oid}\nsize {size}\n").as_bytes(), "b10b")
    };
    let v1 = "https://git-lfs.github.com/spec/v1";
    assert_eq!(
        of(v1, &format!("sha256:{digest}"), "12"),
        Some(Pointer { digest: digest.into(), size: 12, object: "b10b".into() })
    );
    assert_eq!(of(v1, &format!("sha256:{digest}"), "12").unwrap().path(), format!("4d/7a/{digest}"));
    let traversal = format!("sha256:../../../../{}", &digest[12..]);
    for (version, oid, size) in [
        ("https://example.com/v1", format!("sha256:{digest}"), "12"),
        (v1, "sha256:4d7a".into(), "12"),
        (v1, traversal, "12"),
        (v1, format!("sha256:{}", digest.to_uppercase()), "12"),
        (v1, format!("sha256:{digest}"), "-1"),
        (v1, format!("sha256:{digest}"), "99999999999999999999999"),
        (v1, format!("md5:{digest}"), "12"),
    ] {
        assert_eq!(of(version, &oid, size), None, "{version} {oid} {size}");
    }
    assert_eq!(Pointer::parse(b"version \xff\n", "b10b"), None);
    assert_eq!(Pointer::parse(b"", "b10b"), None);
}
