#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;

use super::*;

const OWN: &str = "HELIX_SHUT_IN";

/// In a process of its own: what is shut in stays so.
#[test]
fn who_is_shut_in_reaches_nothing() {
    if let Some(file) = std::env::var_os(OWN) {
        shut_in(MEMORY).unwrap();
        let file = Path::new(&file);
        assert!(std::fs::read(file).is_err() && std::fs::write(file, "").is_err(), "a file was opened");
        assert!(TcpListener::bind("127.0.0.1:0").is_err(), "a socket was made");
        assert!(Command::new("/bin/true").status().is_err(), "a program was started");
        if landlock::version().abi() > 0 {
            assert!(std::fs::remove_file(file).is_err(), "a file was removed");
        }
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "tryout::tests::who_is_shut_in_reaches_nothing", "--nocapture"]).env(OWN, &file);
    let ended = again.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}
