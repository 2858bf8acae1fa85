//! Files that are replaced whole.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[test]
fn a_private_file_is_replaced_whatever_was_left_beside_it_and_a_link_is_not_followed() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, other) = (scratch.path().join("key"), scratch.path().join("other"));
    // As a killed process of the same number leaves them, or an agent puts them there.
    for number in 0..200 {
        fs::write(scratch.path().join(format!("key.{}.{number}.tmp", std::process::id())), "left").unwrap();
    }
    fs::write(&other, "other").unwrap();
    symlink(&other, &file).unwrap();
    replace_private(&file, b"new").unwrap();
    assert_eq!((fs::read(&file).unwrap(), fs::read(&other).unwrap()), (b"new".to_vec(), b"other".to_vec()));
    let found = fs::symlink_metadata(&file).unwrap();
    assert!(found.is_file() && found.permissions().mode() & 0o777 == PRIVATE);
}
