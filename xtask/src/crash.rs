//! `cargo xtask crash`: kills the host at many random moments of real jobs, and at every append and effect of
//! one; the same tests that CI runs with fewer.
//!
//! Must not know what a job is: the test in `crates/helix/tests/crash.rs` does.

use crate::workspace;

/// How long to go on.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often to kill
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u32,
    /// Decides all moments; a failure names the one to repeat
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Builds what the test starts, and runs it.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    workspace::run(workspace::cargo().args(["build", "--package", "helix", "--package", "helix-testkit"]))?;
    let mut command = workspace::cargo();
    command.args(["test", "--package", "helix", "--package", "helix-testkit", "--test", "crash", "--", "--nocapture"]);
    command.env("HELIX_CRASH_KILLS", options.rounds.to_string());
    if let Some(seed) = options.seed {
        command.env("HELIX_CRASH_SEED", seed.to_string());
    }
    workspace::run(&mut command)?;
    let mut places = workspace::cargo();
    places.args([
        "test",
        "--package",
        "helix",
        "--package",
        "helix-testkit",
        "--test",
        "crash_points",
        "--",
        "--nocapture",
    ]);
    places.env("HELIX_CRASH_STRIDE", "1");
    workspace::run(&mut places)
}
