//! `helix project create`: makes a project as the Consultant does, through the host's own tool.

use std::path::PathBuf;

use clap::Subcommand;
use helix_language::say;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, codes};
use crate::terminal::shell_word;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Create a repository with an ADR and a plan
    Create {
        /// Name: lower-case letters, digits and `-`
        name: String,
        /// Draft of the ADR
        #[arg(long, value_name = "DRAFT")]
        adr: Option<PathBuf>,
        /// Draft of the plan
        #[arg(long, value_name = "DRAFT")]
        plan: Option<PathBuf>,
    },
}

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let Action::Create { name, adr, plan } = action;
    let absolute = |path: PathBuf| context.path(path);
    let arguments = json!({ "name": name, "adr": adr.map(absolute), "plan": plan.map(absolute) });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    context.block_on(context.with_host(async |reached| {
        let directory = &context.environment.directory;
        let answer = reached.client().call_tool("project_create", arguments, directory).await?;
        let texts: Vec<&str> = answer.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        let text = texts.join("\n");
        if answer.is_error == Some(true) {
            return Err(CommandError::usage(codes::HOST_REFUSED, text).hint("nothing was changed"));
        }
        let made = |key| answer.structured_content.as_ref().and_then(|made| made.get(key)?.as_str());
        let language = context.terminal.language;
        let said = made("project").map_or(text, |place| say!(language, "project-created", place = place));
        let exit = context.terminal.answer(&answer.structured_content, &said)?;
        if let (Some(project), Some(plan)) = (made("project"), made("plan")) {
            let step = format!("cd {} && helix run {}", shell_word(project), shell_word(plan));
            context.terminal.note(&say!(language, "next-step", step = step));
        }
        Ok(exit)
    }))
}
