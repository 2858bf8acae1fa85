//! The two commands that Helix runs itself, once per agent run: they come before any thread, runtime or parser.
//!
//! Must not do anything that costs time at start; what they do is in `helix-agents`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs `keeper` and `replay-agent`; `None` for everything else.
pub(crate) fn dispatch(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.nth(1)?;
    match command.to_str()? {
        "keeper" => {
            let directory = arguments.next()?;
            Some(helix_agents::keeper_main(Path::new(&directory)))
        }
        "replay-agent" => {
            // Paths that are not UTF-8 cannot come from configuration, which is UTF-8.
            let arguments: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
            Some(helix_agents::replay_main(&arguments))
        }
        _ => None,
    }
}
