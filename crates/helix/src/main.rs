//! The `helix` program: the terminal's side of Helix.
//!
//! Must not know SQL or how agents are spoken to; every command talks to the host over HTTP or to the libraries.

mod agent_log;
mod arguments;
mod cli;
mod client;
mod code_host;
mod commands;
mod config;
mod context;
mod early;
mod editor;
mod environment;
mod error;
mod files;
mod host;
mod offline;
mod question;
mod runtime;
mod socket;
mod terminal;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Keepers and replayed agents are started for every run: they must not wait for anything the commands need.
    match early::dispatch(std::env::args_os()) {
        Some(code) => code,
        None => ExitCode::from(u8::from(cli::main())),
    }
}
