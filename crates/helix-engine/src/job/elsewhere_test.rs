use super::*;

#[test]
fn only_a_plain_file_of_a_bounded_length_names_state_directories() {
    let directory = tempfile::tempdir().unwrap();
    let (path, own) = (directory.path().join(FILE), Entry { state: "/s".into(), project: "/p".into() });
    assert_eq!(entries(&path).unwrap(), []);
    drop(enter(&path, &own).unwrap().unwrap());
    assert_eq!(entries(&path).unwrap(), std::slice::from_ref(&own));
    std::fs::write(&path, vec![b'\n'; usize::try_from(LONGEST).unwrap() + 1]).unwrap();
    assert!(entries(&path).unwrap_err().to_string().contains("longer than"));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(entries(&path).is_err() && enter(&path, &own).is_err());
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(entries(&path).is_err() && enter(&path, &own).is_err());
}
