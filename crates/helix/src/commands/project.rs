//! `helix project create`: makes a project as the Consultant does, through the host's own tool.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;
use crate::host::{Reached, reach};
use crate::terminal::Reading;

/// Arguments of `helix project`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a repository with an ADR and a plan
    Create {
        /// Name: lower-case letters, digits and `-`
        name: String,
        /// Draft of the ADR
        #[arg(long, value_name = "DRAFT")]
        adr: Option<std::path::PathBuf>,
        /// Draft of the plan
        #[arg(long, value_name = "DRAFT")]
        plan: Option<std::path::PathBuf>,
    },
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    let Action::Create { name, adr, plan } = arguments.action;
    let absolute = |path: std::path::PathBuf| context.environment.directory.join(path);
    let arguments = json!({ "name": name, "adr": adr.map(absolute), "plan": plan.map(absolute) });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    context.block_on(async {
        let reached = reach(&context.environment, context.settings()?).await?;
        let answer = reached.client().tool("project_create", arguments).await;
        if let Reached::Own(host, _) = reached {
            host.stop().await?;
        }
        let answer = answer?;
        match context.terminal.reading {
            Reading::Programs => context.terminal.json(&answer.data)?,
            Reading::People => context.terminal.data(&answer.text())?,
        }
        Ok(Exit::Success)
    })
}
