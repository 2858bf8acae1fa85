//! `helix prompt`: the Consultant's standing instructions, to be read and replaced.

use std::path::PathBuf;

use clap::Subcommand;
use helix_engine::{BUILT_IN_PROMPT, ConsultantPrompt, prompt_inputs};
use helix_language::say;
use serde_json::json;

use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::files::read_text;
use crate::terminal::Meaning;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print the built-in template
    Show,
    /// Check your own template
    Check {
        /// The template
        file: PathBuf,
    },
}

pub(crate) fn run(context: &Context, action: &Action) -> Ended {
    match action {
        Action::Show => {
            let value = json!({ "template": BUILT_IN_PROMPT, "inputs": prompt_inputs() });
            context.terminal.answer(&value, BUILT_IN_PROMPT.trim_end())
        }
        Action::Check { file } => {
            let text = read_text(&context.path(file))?;
            let problems = ConsultantPrompt::parse(file, &text).err().unwrap_or_default();
            let valid = problems.is_empty();
            let word = context.terminal.paint(Meaning::Good, &say!(context.terminal.language, "valid"));
            let good = valid.then(|| format!("{}: {word}", file.display()));
            context.terminal.answer(&json!({ "valid": valid, "diagnostics": problems }), &good.unwrap_or_default())?;
            context.terminal.say_diagnostics(&problems, &text);
            Ok(if valid { Exit::Success } else { Exit::No })
        }
    }
}
