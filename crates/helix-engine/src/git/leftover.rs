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
    let mut clean = 0;
    loop {
        let left = crate::command::marked(&wanted).len();
        // Two looks in a row: a process that is just being executed shows no environment for an instant.
        clean = if left == 0 { clean + 1 } else { 0 };
        if clean == 2 || start.elapsed() > limit {
            return left;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
