use super::*;

#[test]
fn versions_are_found_in_what_programs_print() {
    let version = |major, minor, patch| Some(Version { major, minor, patch });
    assert_eq!(Version::first_in("2.1.330 (Claude Code)\n"), version(2, 1, 330));
    assert_eq!(Version::first_in("helix 0.1.0"), version(0, 1, 0));
    assert_eq!(Version::first_in("codex-cli v1.2.3-beta.4"), version(1, 2, 3));
    for none in ["", "one", "1.2", "1.2.3.4", "99999999999.1.1"] {
        assert_eq!(Version::first_in(none), None, "{none}");
    }
}
