//! `helix events schema`: the JSON Schema of the journal's events.

use clap::Subcommand;
use helix_failure::event::FailureEvent;
use helix_job::session::SessionEvent;
use helix_job::{JobEvent, Recorded};

use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print the JSON Schema of events
    Schema,
}

pub(crate) fn run(context: &Context, action: &Action) -> Ended {
    match action {
        Action::Schema => {
            let schema = serde_json::json!({
                "job_event": schemars::schema_for!(Recorded<JobEvent>),
                "session_event": schemars::schema_for!(Recorded<SessionEvent>),
                "failure_event": schemars::schema_for!(FailureEvent),
            });
            context.terminal.json(&schema)?;
            Ok(Exit::Success)
        }
    }
}
