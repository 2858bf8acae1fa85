//! What is made from definitions: the schema of the journal's events, completion scripts, the manual page.

use clap::Command;
use clap_complete::Shell;
use helix_failure::event::FailureEvent;
use helix_job::session::SessionEvent;
use helix_job::{JobEvent, Recorded};
use schemars::schema_for;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, codes};

pub(crate) fn events(context: &Context) -> Ended {
    context.terminal.json(&json!({
        "job_event": schema_for!(Recorded<JobEvent>),
        "session_event": schema_for!(Recorded<SessionEvent>),
        "failure_event": schema_for!(FailureEvent),
    }))
}

pub(crate) fn completions(context: &Context, shell: Shell, mut definition: Command) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "helix", &mut script);
    context.terminal.raw(&String::from_utf8_lossy(&script))
}

pub(crate) fn manual(context: &Context, definition: Command) -> Ended {
    let mut page = Vec::new();
    clap_mangen::Man::new(definition)
        .render(&mut page)
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the manual page").because(&error))?;
    context.terminal.raw(&String::from_utf8_lossy(&page))
}
