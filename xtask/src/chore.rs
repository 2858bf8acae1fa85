//! The list of chores. Must not know how any of them is done: each has a file of its own.

use crate::{alarms, attack, bench, crash, e2e, package, record_claude, setup, size, test, tidy};

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
    /// Counts the lines of product code, by crate and topic
    Size(size::Options),
    /// Measures what Helix costs, beside the bare work
    Bench(bench::Options),
    /// Kills the host at random moments of real jobs, 100 times unless told otherwise
    Crash(crash::Options),
    /// Attacks Helix as an agent, a test, a repository or another user would, and says what held
    Attack(attack::Options),
    /// Judges honest commits of real repositories and says how many are called dishonest
    Alarms(alarms::Options),
    /// Makes what people install without a compiler: archives, packages for npm, Python and Debian
    Package(package::Options),
    /// Makes fresh recordings of the real Claude Code CLI
    RecordClaude(record_claude::Options),
    /// Installs Open WebUI into .test-tools/ (0.8 GB), for `e2e`
    Openwebui(setup::Options),
    /// Drives Open WebUI in a browser, with Helix and the real agent CLI behind it
    E2e(e2e::Options),
}

impl Chore {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match self {
            Self::Setup(options) => setup::run(options),
            Self::Test(options) => test::run(options),
            Self::Tidy => tidy::run(),
            Self::Size(options) => size::run(options),
            Self::Bench(options) => bench::run(options),
            Self::Crash(options) => crash::run(options),
            Self::Attack(options) => attack::run(options),
            Self::Alarms(options) => alarms::run(options),
            Self::Package(options) => package::run(options),
            Self::RecordClaude(options) => record_claude::run(options),
            Self::Openwebui(options) => setup::run_open_webui(options),
            Self::E2e(options) => e2e::run(options),
        }
    }
}
