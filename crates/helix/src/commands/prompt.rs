//! `helix prompt`: the Consultant's standing instructions, to be read and replaced.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use helix_engine::{BUILT_IN_PROMPT, ConsultantPrompt, prompt_inputs};
use serde_json::json;

use crate::context::Context;
use crate::error::{Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading};

/// Arguments of `helix prompt`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the built-in template
    Show,
    /// Check your own template
    Check {
        /// The template
        file: PathBuf,
    },
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    match &arguments.action {
        Action::Show => {
            match context.terminal.reading {
                Reading::Programs => {
                    context.terminal.json(&json!({ "template": BUILT_IN_PROMPT, "inputs": prompt_inputs() }))?;
                }
                Reading::People => context.terminal.data(BUILT_IN_PROMPT.trim_end())?,
            }
            Ok(Exit::Success)
        }
        Action::Check { file } => {
            let path = context.environment.directory.join(file);
            let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            let problems = ConsultantPrompt::parse(file, &text).err().unwrap_or_default();
            match context.terminal.reading {
                Reading::Programs => {
                    context.terminal.json(&json!({ "valid": problems.is_empty(), "diagnostics": problems }))?;
                }
                Reading::People if problems.is_empty() => {
                    let good = context.terminal.paint(Meaning::Good, "valid");
                    context.terminal.data(&format!("{}: {good}", file.display()))?;
                }
                Reading::People => context.terminal.say_diagnostics(&problems, &text),
            }
            Ok(if problems.is_empty() { Exit::Success } else { Exit::Usage })
        }
    }
}
