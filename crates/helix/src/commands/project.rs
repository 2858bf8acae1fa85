//! `helix project create`: makes a project as the Consultant does, through the host's own tool.

use clap::Subcommand;
use serde_json::json;

use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
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

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let Action::Create { name, adr, plan } = action;
    let absolute = |path: std::path::PathBuf| context.path(path);
    let arguments = json!({ "name": name, "adr": adr.map(absolute), "plan": plan.map(absolute) });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    context.block_on(async {
        let reached = context.reach().await?;
        let answer = reached.client().tool("project_create", arguments).await;
        reached.stop().await?;
        let answer = answer?;
        context.terminal.answer(&answer.data, &answer.text())?;
        Ok(Exit::Success)
    })
}
