//! Chores of the repository: `cargo xtask setup`, `test`, `tidy` and so on.
//!
//! Must not know what Helix does; it only builds, checks and measures it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for a developer's terminal")]

mod alarms;
mod attack;
mod bench;
mod chore;
mod crash;
mod e2e;
mod package;
mod record_claude;
mod setup;
mod size;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let Err(error) = chore::Chore::parse().run() else { return ExitCode::SUCCESS };
    // Causes first, one below the other, and what to do about them last.
    let messages: Vec<String> = error.chain().map(ToString::to_string).collect();
    let (texts, hints): (Vec<_>, Vec<_>) =
        messages.iter().map(|message| message.split_once("\nhint: ").unwrap_or((message, ""))).unzip();
    eprintln!("error: {}", texts.join("\n  because: "));
    hints.iter().filter(|hint| !hint.is_empty()).for_each(|hint| eprintln!("hint: {hint}"));
    ExitCode::FAILURE
}
