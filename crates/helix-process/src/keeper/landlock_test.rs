use helix_language::RECORD;

use super::*;

fn why(version: Version, wall: Wall) -> String {
    RECORD.words(&version.missing(wall).unwrap().why)
}

#[test]
fn what_an_older_kernel_lacks_is_named_with_the_kernel_that_has_it() {
    let old = Version::Abi(4);
    assert_eq!((old.missing(Wall::Files), old.missing(Wall::Network)), (None, None));
    assert!(why(old, Wall::Signals).contains("Linux 6.12"));
    assert!(why(Version::None(libc::ENOSYS), Wall::Files).contains("5.13"));
    assert!(why(Version::None(libc::EOPNOTSUPP), Wall::Files).contains("lsm="));
    assert_eq!(Version::Abi(6).missing_for_all(), None);
    assert!(old.missing_for_all().is_some());
}

#[test]
fn a_link_that_was_put_in_the_place_of_a_directory_opens_nothing() {
    let version @ Version::Abi(_) = version() else { return };
    let home = tempfile::tempdir().unwrap();
    let top = home.path().canonicalize().unwrap();
    for name in ["chosen", "other"] {
        std::fs::create_dir(top.join(name)).unwrap();
        std::fs::write(top.join(name).join("file"), name).unwrap();
    }
    let reads = |place: &str, file: &str| {
        let (place, file) = (top.join(place), top.join(file));
        // The rules hold for this thread alone.
        let restricted = std::thread::spawn(move || {
            let ruleset = Ruleset::new(version, None).unwrap();
            ruleset.open_without_links(&place, May::Read).unwrap();
            rustix::thread::set_no_new_privs(true).unwrap();
            ruleset.restrict_self().unwrap();
            std::fs::read_to_string(file).is_ok()
        });
        restricted.join().unwrap()
    };
    assert!(reads("chosen", "chosen/file"));
    std::fs::remove_dir_all(top.join("chosen")).unwrap();
    std::os::unix::fs::symlink("other", top.join("chosen")).unwrap();
    assert!(!reads("chosen", "other/file"));
    assert!(!reads("missing", "other/file"));
}
