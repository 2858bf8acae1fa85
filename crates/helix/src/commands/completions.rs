//! `helix completions SHELL`: a completion script, made from the command line's definition.

use clap::Args;
use clap_complete::Shell;

use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;

/// Arguments of `helix completions`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(context: &Context, arguments: &Arguments, mut definition: clap::Command) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut definition, "helix", &mut script);
    context.terminal.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
