use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_link_is_followed_within_the_directory_and_not_out_of_it() {
    let place = tempfile::TempDir::new().unwrap();
    let root = place.path().join("project");
    fs::create_dir_all(root.join("adr")).unwrap();
    fs::write(place.path().join("secret"), "secret").unwrap();
    fs::write(root.join("own"), "own").unwrap();
    let secret = place.path().join("secret");
    for (name, target) in [("own", Path::new("../own")), ("out", Path::new("../../secret")), ("whole", &secret)] {
        symlink(target, root.join("adr").join(name)).unwrap();
    }
    symlink(place.path(), root.join("up")).unwrap();
    let read = |path: &str| read_bytes_beneath(&root, &root.join(path), 100).map_err(|error| error.to_string());
    assert_eq!(read("adr/own").unwrap(), b"own");
    let resolved = |path: &str| open_resolved(&root, &root.join(path), OFlags::RDONLY).unwrap();
    assert_eq!(contents(resolved("adr/own").unwrap(), 100).unwrap(), b"own");
    for path in ["adr/out", "adr/whole", "up/secret", "../secret"] {
        assert!(read(path).unwrap_err().contains("leads out of"), "{path}");
        assert!(resolved(path).is_none(), "{path}, without openat2");
    }
    assert!(read_bytes_beneath(&root, &secret, 100).is_err());
    assert_eq!(read_bytes(&root.join("adr/out"), 100).unwrap(), b"secret", "what a user names is read");
}

#[test]
fn a_pipe_is_refused_without_waiting_and_a_large_file_too() {
    let place = tempfile::TempDir::new().unwrap();
    let pipe = place.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(read_bytes(&pipe, 10).unwrap_err().to_string().contains("not a file but a pipe"));
    fs::write(place.path().join("large"), [0; 11]).unwrap();
    assert_eq!(read_bytes(&place.path().join("large"), 10).unwrap_err().kind(), ErrorKind::FileTooLarge);
    for refused in
        [open_plain(Path::new("/dev/zero")), open_plain(place.path()), open_plain_beneath(place.path(), &pipe)]
    {
        assert!(refused.unwrap_err().to_string().contains("not a file"));
    }
    assert_eq!(read_bytes(Path::new("/dev/null"), 10).unwrap(), b"");
    assert!(read_text(None, &place.path().join("none"), 10).unwrap().is_none());
}

/// Whatever is sent, no more than a line may have is held; what comes after is read as ever.
#[test]
fn of_a_line_that_is_too_long_the_rest_is_dropped() {
    let sent = format!("12345\n123456\n{}\n\n1", "x".repeat(100_000));
    let mut from = std::io::BufReader::with_capacity(16, sent.as_bytes());
    let mut read = || read_line(&mut from, 5).unwrap().map(|line| line.ok());
    let texts = [Some(&b"12345"[..]), None, None, Some(b""), Some(b"1")];
    for text in texts {
        assert_eq!(read(), Some(text.map(<[u8]>::to_vec)));
    }
    assert_eq!(read(), None);
}
