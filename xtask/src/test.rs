//! `cargo xtask test`: everything that has to hold before a change is accepted, cheapest first.
//!
//! Must not know single tests. It stops at the first section that fails, and names every section that it skipped.

use std::time::Instant;

use crate::{setup, size, tidy, workspace};

/// What to leave out or pass on.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leaves out formatting, lints and the project rules.
    #[arg(long)]
    fast: bool,
    /// Passed on to `cargo test --workspace`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// How a section ended that did not fail.
enum Ended {
    Passed,
    /// Nothing was checked, and why.
    Skipped(&'static str),
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut skipped = Vec::new();
    let mut section = |name: &'static str, work: &dyn Fn() -> anyhow::Result<Ended>| -> anyhow::Result<()> {
        if let Ended::Skipped(why) = timed(name, work)? {
            skipped.push(format!("{name} ({why})"));
        }
        Ok(())
    };
    section("set-up", &|| setup::run(&setup::Options::default()).map(passed))?;
    if !options.fast {
        section("formatting", &|| workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])).map(passed))?;
        section("lints", &|| {
            let rest = ["--workspace", "--all-targets", "--", "--deny", "warnings"];
            workspace::run(workspace::cargo().arg("clippy").args(rest)).map(passed)
        })?;
        section("project rules", &|| tidy::run().map(passed))?;
        section("size", &|| size::run(&size::Options::of_crates()).map(passed))?;
        section("licences and advisories", &deny)?;
    }
    // Tests start the executables of other packages, which `cargo test` alone does not build.
    let build = ["build", "--workspace", "--all-targets"];
    section("build", &|| workspace::run(workspace::cargo().args(build)).map(passed))?;
    section("tests", &|| {
        let mut command = workspace::cargo();
        command.args(["test", "--workspace"]).args(&options.rest);
        workspace::run(command.env("HELIX_TEST_TOOLS", setup::directory())).map(passed)
    })?;
    match skipped.as_slice() {
        [] => eprintln!("\neverything passed"),
        some => eprintln!("\neverything else passed; skipped: {}", some.join(", ")),
    }
    Ok(())
}

fn passed((): ()) -> Ended {
    Ended::Passed
}

/// Runs one section under a header, and says how it ended and how long it took.
fn timed(name: &str, work: &dyn Fn() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
    eprintln!("\n=== {name}");
    let started = Instant::now();
    let result = work();
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        Ok(Ended::Passed) => eprintln!("=== {name}: passed in {seconds:.1} s"),
        Ok(Ended::Skipped(why)) => eprintln!("=== {name}: skipped, {why}"),
        Err(_) => eprintln!("=== {name}: FAILED after {seconds:.1} s"),
    }
    result
}

/// Needs the network for the list of advisories, and a tool whose build takes longer than all other checks together.
fn deny() -> anyhow::Result<Ended> {
    if !workspace::installed("cargo-deny") {
        return Ok(Ended::Skipped("cargo-deny is not installed; `cargo install cargo-deny` gets it"));
    }
    workspace::run(workspace::cargo().args(["deny", "--workspace", "check"])).map(passed)
}
