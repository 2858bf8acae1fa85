//! Git processes that outlive the host that started them.
//!
//! Must not kill them: git that is killed half-way through leaves locks and half a work tree behind, perhaps the user's.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use helix_process::marked;

/// Names the state directory whose host started a git process.
pub(crate) const OWNER: &str = "HELIX_GIT_STATE";
/// Between two looks. They are nobody's children any more, so that their end cannot be awaited.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until no git process of a former host of this state directory is left, so that nothing that a new one does meets
/// half of what the old one began. Returns how many are left when the time is over.
pub fn wait_for_leftovers(state: &Path, limit: Duration) -> usize {
    let start = Instant::now();
    loop {
        // One that this process itself started is no leftover but an engine's own, and ends with that.
        let left = marked(OWNER, state.as_os_str().as_bytes()).map(|seen| {
            let left = seen.alive.into_iter().filter(|process| !process.is_child()).count();
            (left, seen.changing)
        });
        match left {
            Ok((left, changing)) if (left > 0 || changing) && start.elapsed() <= limit => {}
            Ok((left, _)) => return left,
            Err(error) => {
                tracing::error!(%error, "cannot look for git processes of an earlier host");
                return 0;
            }
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
#[path = "leftover_test.rs"]
mod tests;
