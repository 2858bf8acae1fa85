#![allow(clippy::unwrap_used, reason = "a test says where it fails by panicking")]

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn what_works_in_the_users_tree_is_left_to_finish_and_everything_else_is_killed() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("slow-git");
    std::fs::write(&program, "#!/bin/sh\ncd \"$2\"\nuntil [ -e go ]; do sleep 0.02; done\ntouch \"$3\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let git = GitEnvironment::from_process().with_program(&program);
    let call = |name: &str| git.call(place.path(), [name]).limit(Duration::from_millis(200));
    let killed = call("killed").run().unwrap_err();
    assert!(matches!(killed, GitError::TimedOut { .. }), "{killed}");
    let left = call("finished").in_users_tree().run().unwrap_err();
    assert!(matches!(left, GitError::StillRunning { .. }), "{left}");
    std::fs::write(place.path().join("go"), "").unwrap();
    let start = Instant::now();
    while !place.path().join("finished").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "it was killed");
        // It is nobody's to wait for any more.
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!place.path().join("killed").exists());
}
