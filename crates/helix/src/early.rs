//! The commands that Helix runs itself, for agent runs and templates: they come before any thread, runtime or parser.
//!
//! Must not do anything that costs time at start; what they do is in `helix-agents`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use helix_engine::READ_SOURCES;
use helix_engine::consultant::TRY_TEMPLATE;
use helix_process::WITH_SERVICES;

/// Runs `keeper`, `replay-agent`, `acp-agent`, `try-template`, `read-sources` and `with-services`; `None` for everything else.
pub(crate) fn dispatch(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.nth(1)?;
    match command.to_str()? {
        "keeper" => {
            let directory = arguments.next()?;
            Some(helix_agents::keeper_main(Path::new(&directory), Some(helix_server::serve_gateway)))
        }
        READ_SOURCES => Some(helix_engine::read_sources_main()),
        WITH_SERVICES => Some(helix_workspace::services_main(arguments)),
        TRY_TEMPLATE => Some(helix_engine::consultant::try_template_main()),
        "replay-agent" => {
            // Paths that are not UTF-8 cannot come from configuration, which is UTF-8.
            let arguments: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
            Some(helix_agents::replay_main(&arguments))
        }
        "acp-agent" => {
            let arguments: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
            Some(helix_agents::acp_main(&arguments))
        }
        _ => None,
    }
}
