//! `cargo xtask crash`: kills the host at many random moments of real jobs, and at every append and effect of others, and lets agents
//! fail in every way in every place; the same tests that CI runs with fewer.
//!
//! Must not know what a job is: the tests in `crates/helix/tests` do.

use crate::workspace;

/// How long to go on.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often to kill at random moments
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u32,
    /// Decides all random moments; a failure names the one to repeat
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only one of the three
    #[arg(long, value_enum, value_name = "PART")]
    only: Option<Part>,
}

/// What there is to be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Kills at random moments.
    Moments,
    /// Deaths at every append and around every effect.
    Places,
    /// Faults of agents in every place where one works.
    Faults,
}

impl Part {
    /// The module of the tests that prove it.
    fn tests(self) -> &'static str {
        match self {
            Self::Moments => "crash::",
            Self::Places => "crash_points::",
            Self::Faults => "faults::",
        }
    }
}

/// Builds what the tests start, and runs them.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    workspace::run(workspace::cargo().args(["build", "--package", "helix", "--package", "helix-testkit"]))?;
    for part in [Part::Moments, Part::Places, Part::Faults] {
        if options.only.is_some_and(|only| only != part) {
            continue;
        }
        let mut command = workspace::cargo();
        command.args(["test", "--package", "helix", "--package", "helix-testkit", "--test", "all"]);
        command.args(["--", part.tests(), "--nocapture", "--test-threads=1"]);
        match part {
            Part::Moments => {
                command.env("HELIX_CRASH_KILLS", options.rounds.to_string());
                if let Some(seed) = options.seed {
                    command.env("HELIX_CRASH_SEED", seed.to_string());
                }
            }
            Part::Places => {
                command.env("HELIX_CRASH_STRIDE", "1").env("HELIX_CRASH_DEATHS", "1");
            }
            Part::Faults => {
                command.env("HELIX_FAULTS", "all");
            }
        }
        workspace::run(&mut command)?;
    }
    Ok(())
}
