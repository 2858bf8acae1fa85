//! Git processes that outlive the host that started them.
//!
//! Must not kill them: git that is killed half-way through leaves locks and half a work tree behind, perhaps the user's.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Names the state directory whose host started a git process.
pub(crate) const OWNER: &str = "HELIX_GIT_STATE";
/// Between two looks. They are nobody's children any more, so that their end cannot be awaited.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until no git process of a former host of this state directory is left, so that nothing that a new one does meets
/// half of what the old one began. Returns how many are left when the time is over.
pub fn wait_for_leftovers(state: &Path, limit: Duration) -> usize {
    let mut wanted = OWNER.as_bytes().to_vec();
    wanted.push(b'=');
    wanted.extend_from_slice(state.as_os_str().as_bytes());
    let start = Instant::now();
    loop {
        let seen = helix_process::marked(&wanted);
        let left = seen.alive.into_iter().filter(|pid| !is_child(*pid)).count();
        if (left == 0 && !seen.changing) || start.elapsed() > limit {
            return left;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Whether this process itself started it: then it is no leftover but an engine's own, and ends with that.
fn is_child(pid: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name in parentheses may hold anything: the parent is the second word after the last of them.
    let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
    parent == Some(rustix::process::getpid().as_raw_nonzero().get())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says where it fails by panicking")]
mod tests {
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
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL)
            .unwrap();
        assert_eq!(wait_for_leftovers(state.path(), Duration::from_secs(60)), 0);
    }
}
