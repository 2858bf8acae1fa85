//! The list of chores. Must not know how any of them is done: each has a file of its own.

use crate::{bench, crash, record_claude, setup, test, tidy};

/// Chores of this repository.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) enum Chore {
    /// Installs what the tests need into .test-tools/
    Setup(setup::Options),
    /// Sets up, checks and tests everything
    Test(test::Options),
    /// Checks the rules of the house: crate walls, file sizes, names, error pages, dependencies
    Tidy,
    /// Measures what Helix costs, beside the bare work
    Bench(bench::Options),
    /// Kills the host at random moments of real jobs, 100 times unless told otherwise
    Crash(crash::Options),
    /// Makes fresh recordings of the real Claude Code CLI
    RecordClaude(record_claude::Options),
}

impl Chore {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match self {
            Self::Setup(options) => setup::run(options),
            Self::Test(options) => test::run(options),
            Self::Tidy => tidy::run(),
            Self::Bench(options) => bench::run(options),
            Self::Crash(options) => crash::run(options),
            Self::RecordClaude(options) => record_claude::run(options),
        }
    }
}
