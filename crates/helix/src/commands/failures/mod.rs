//! `helix failures`: explains logs, and shows, searches and keeps what is remembered of failures.
//!
//! Must not know SQL: the memory is read through its own interface, with or without a running host.

mod explain;
mod figures;
mod keep;
mod look;
mod memory;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::Context;
use crate::error::Ended;

/// Arguments of `helix failures`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Names the cause of a failure from its log, and what to do
    Explain(explain::Explain),
    /// Lists what is remembered of failures, the latest seen first
    List(look::List),
    /// Shows all that is remembered of one failure: where it was seen, what fixed it, what was suggested
    Show {
        /// Its id, or a beginning of it that fits only one
        id: String,
    },
    /// Finds failures by words of their messages; the last word may be a beginning
    Search {
        /// The words
        #[arg(required = true)]
        text: Vec<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: u16,
    },
    /// Shows how much is remembered, how well suggestions work, and what the memory is worth
    Stats,
    /// Forgets a failure, or only what is said to have fixed it
    Forget {
        /// Its id, or a beginning of it that fits only one
        id: String,
        /// Forgets only its fixes: they were wrong
        #[arg(long)]
        fixes: bool,
    },
    /// Writes all that is remembered, one JSON object a line
    Export {
        /// Where to; `-` writes to standard output [default: -]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Takes in what `export` wrote; what is known already stays as it is
    Import {
        /// Where from; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    match &arguments.action {
        Action::Explain(explain) => explain::run(context, explain),
        Action::List(list) => context.block_on(look::list(context, list)),
        Action::Show { id } => context.block_on(look::show(context, id)),
        Action::Search { text, limit } => context.block_on(look::search(context, &text.join(" "), (*limit).into())),
        Action::Stats => context.block_on(figures::stats(context)),
        Action::Forget { id, fixes } => {
            let what = if *fixes { keep::What::Fixes } else { keep::What::Everything };
            context.block_on(keep::forget(context, id, what))
        }
        Action::Export { file } => context.block_on(keep::export(context, file.as_deref())),
        Action::Import { file } => context.block_on(keep::import(context, file)),
    }
}
