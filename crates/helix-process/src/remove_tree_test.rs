use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// 20,000 nested directories overflow the stack of what removes them by recursion.
#[test]
fn a_tree_of_any_depth_and_any_mode_is_removed_and_links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "").unwrap();
    let top = place.path().join("top");
    fs::create_dir(&top).unwrap();
    symlink(&outside, top.join("link")).unwrap();
    fs::create_dir(top.join("closed")).unwrap();
    fs::write(top.join("closed/file"), "").unwrap();
    symlink(&outside, top.join("closed/link")).unwrap();
    fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    let mut directory = rustix::fs::open(&top, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..20_000 {
        rustix::fs::mkdirat(&directory, "d", Mode::RWXU).unwrap();
        directory = openat(&directory, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    remove_tree(&top).unwrap();
    assert!(!top.exists());
    symlink(&outside, &top).unwrap();
    remove_tree(&top).unwrap();
    fs::write(&top, "").unwrap();
    remove_tree(&top).unwrap();
    assert!(fs::symlink_metadata(&top).is_err());
    assert!(outside.join("kept").exists());
    remove_tree(&top).unwrap();
}
