//! `helix failures`: explains logs, and shows, searches and keeps what is remembered of failures.
//!
//! Must not know SQL: the memory is read through its own interface, with or without a running host.

mod explain;
mod keep;
mod memory;

use std::path::PathBuf;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Ended;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Explain a log: the cause of its failure, and what to do
    Explain(explain::Explain),
    /// List remembered failures, last seen first
    List(memory::List),
    /// Show a remembered failure: where it was seen, what fixed it, what was suggested
    Show {
        /// Failure id, or a unique prefix
        id: String,
    },
    /// Search remembered failures by words; the last word may be a prefix
    Search {
        /// The words
        #[arg(required = true)]
        text: Vec<String>,
        /// Maximum number
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: u16,
    },
    /// Show statistics: how many failures, how well suggestions work
    Stats,
    /// Forget a failure, or only its fixes
    Forget {
        /// Failure id, or a unique prefix
        id: String,
        /// Forget only its fixes, because they were wrong
        #[arg(long)]
        fixes: bool,
    },
    /// Export the memory as JSON Lines
    Export {
        /// Where to; `-` writes to standard output [default: -]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Import what `export` wrote; known failures stay as they are
    Import {
        /// Where from; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    match action {
        Action::Explain(explain) => explain::run(context, &explain),
        Action::List(list) => context.block_on(memory::list(context, list)),
        Action::Show { id } => context.block_on(memory::show(context, &id)),
        Action::Search { text, limit } => context.block_on(memory::search(context, &text.join(" "), limit.into())),
        Action::Stats => context.block_on(memory::stats(context)),
        Action::Forget { id, fixes } => context.block_on(keep::forget(context, &id, fixes)),
        Action::Export { file } => context.block_on(keep::export(context, file.as_deref())),
        Action::Import { file } => context.block_on(keep::import(context, &file)),
    }
}
