//! `cargo xtask test`: everything that has to hold before a change is accepted, cheapest first.
//!
//! Must not know single tests; it stops at the first section that fails.

use std::time::Instant;

use crate::{setup, tidy, workspace};

/// What to leave out or pass on.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leaves out formatting, lints and the house rules.
    #[arg(long)]
    fast: bool,
    /// Passed on to `cargo test --workspace`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs all sections.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    section("set-up", || setup::run(&setup::Options::default()))?;
    if !options.fast {
        section("formatting", || workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])))?;
        section("lints", || {
            let rest = ["--workspace", "--all-targets", "--", "--deny", "warnings"];
            workspace::run(workspace::cargo().arg("clippy").args(rest))
        })?;
        section("house rules", tidy::run)?;
        section("licences and advisories", deny)?;
    }
    // Tests start the executables of other packages, which `cargo test` alone does not build.
    section("build", || workspace::run(workspace::cargo().args(["build", "--workspace", "--all-targets"])))?;
    section("tests", || {
        let mut command = workspace::cargo();
        command.args(["test", "--workspace"]).args(&options.rest);
        workspace::run(command.env("HELIX_TEST_TOOLS", setup::directory()))
    })?;
    eprintln!("\neverything passed");
    Ok(())
}

/// Runs one section under a header, and says how long it took.
fn section(name: &str, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    eprintln!("\n=== {name}");
    let started = Instant::now();
    let result = work();
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        Ok(()) => eprintln!("=== {name}: passed in {seconds:.1} s"),
        Err(_) => eprintln!("=== {name}: FAILED after {seconds:.1} s"),
    }
    result
}

/// Needs the network for the list of advisories, and a tool that not everybody has.
fn deny() -> anyhow::Result<()> {
    if !workspace::installed("cargo-deny") {
        eprintln!("left out: cargo-deny is not installed (`cargo install cargo-deny` gets it)");
        return Ok(());
    }
    workspace::run(workspace::cargo().args(["deny", "--workspace", "check"]))
}
