//! The hook by which agents hear at once what is wrong with an ADR or a plan that they save.
//!
//! Must not know how a dialect configures hooks.

use std::path::Path;
use std::time::Duration;

use helix_agents::AfterWriteHook;
use helix_project::save_check::Belongs;

/// How long an agent waits for the hook. A check takes milliseconds; ten thousand ADRs take a second.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// The hook that an agent runs after each file that it has written: `helix hook post-write`. To be put into
/// [`helix_agents::AgentAsk::after_write`] of conversations and phases alike; dialects without hooks leave it out.
pub(crate) fn save_hook(helix: &Path, belongs: Belongs<'_>) -> AfterWriteHook {
    let mut command = vec![helix.to_string_lossy().into_owned(), "hook".into(), "post-write".into()];
    if let Belongs::Project(root) = belongs {
        command.extend(["--project".into(), root.to_string_lossy().into_owned()]);
    }
    AfterWriteHook { command, timeout: HOOK_LIMIT }
}
