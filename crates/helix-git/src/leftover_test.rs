#![allow(clippy::unwrap_used, reason = "a test says where it fails by panicking")]

use super::*;

#[test]
fn what_a_dead_host_left_is_waited_for_and_what_lives_here_is_not() {
    let state = tempfile::tempdir().unwrap();
    let mut own = std::process::Command::new("sleep").arg("60").env(OWNER, state.path()).spawn().unwrap();
    assert_eq!(wait_for_leftovers(state.path(), Duration::from_secs(60)), 0);
    own.kill().unwrap();
    own.wait().unwrap();

    // The shell ends at once, so that what it started is nobody's child here.
    let orphan = std::process::Command::new("sh")
        .args(["-c", "sleep 60 >&- 2>&- & echo $!"])
        .env(OWNER, state.path())
        .output()
        .unwrap();
    assert_eq!(wait_for_leftovers(state.path(), Duration::from_millis(50)), 1);
    let pid: i32 = String::from_utf8_lossy(&orphan.stdout).trim().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    assert_eq!(wait_for_leftovers(state.path(), Duration::from_secs(60)), 0);
}
