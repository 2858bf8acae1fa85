//! `cargo xtask test`: everything that has to hold before a change is accepted, cheapest first.
//!
//! Must not know single tests. It stops at the first section that fails, and names every section that it skipped.

mod binaries;

use std::process::{Command, Output, Stdio};
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use anyhow::{Context, anyhow, bail, ensure};

use crate::{package, setup, size, tidy, workspace};

/// What to leave out or pass on.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leaves out formatting, lints and the project rules.
    #[arg(long)]
    fast: bool,
    /// Passed on to `cargo test --workspace`, which then runs the tests.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// How a section ended that did not fail.
enum Ended {
    Passed,
    /// Nothing was checked, and why.
    Skipped(&'static str),
}

/// The sections so far.
#[derive(Default)]
struct Sections {
    skipped: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    // It waits for the network while the lints need the processors, and is never left half done.
    std::thread::scope(|scope| {
        let mut set_up = Some(scope.spawn(set_up));
        let result = sections(options, || set_up.take().map_or(Ok(()), shown));
        // A section before it has failed; what the set-up says is worth knowing as well.
        if let Some(Err(error)) = set_up.take().map(shown) {
            eprintln!("\nset-up: {error:#}");
        }
        result
    })
}

fn sections(options: &Options, set_up: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut sections = Sections::default();
    if !options.fast {
        sections
            .run("formatting", || workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])).map(passed))?;
        sections.run("lints", || {
            let rest = ["--workspace", "--all-targets", "--", "--deny", "warnings"];
            workspace::run(workspace::cargo().arg("clippy").args(rest)).map(passed)
        })?;
        sections.run("project rules", || tidy::run().map(passed))?;
        sections.run("size", || size::run(&size::Options::of_crates()).map(passed))?;
        sections.run("licences and advisories", deny)?;
    }
    sections.run("set-up", || set_up().map(passed))?;
    // The whole workspace even if few tests are asked for: they start the executables of other packages.
    let build = ["test", "--workspace", "--no-run"];
    sections.run("build", || workspace::run(workspace::cargo().args(build)).map(passed))?;
    if options.rest.is_empty() {
        sections.run("packages", || package::run(&package::Options::of_debug_build()).map(passed))?;
        sections.run("documentation tests", documentation)?;
        sections.run("tests", || binaries::run().map(passed))?;
    } else {
        sections.run("tests", || workspace::run(&mut test(&options.rest)).map(passed))?;
    }
    match sections.skipped.as_slice() {
        [] => eprintln!("\neverything passed"),
        some => eprintln!("\neverything else passed; skipped: {}", some.join(", ")),
    }
    Ok(())
}

impl Sections {
    fn run(&mut self, name: &str, work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<()> {
        if let Ended::Skipped(why) = timed(name, work)? {
            self.skipped.push(format!("{name} ({why})"));
        }
        Ok(())
    }
}

/// `cargo xtask setup`, whose words are shown when it has ended.
fn set_up() -> anyhow::Result<Output> {
    let own = std::env::current_exe().context("cannot tell which program this is")?;
    Command::new(own).arg("setup").stdin(Stdio::null()).output().context("cannot start the set-up")
}

/// Waits for the set-up and shows its words.
fn shown(set_up: ScopedJoinHandle<'_, anyhow::Result<Output>>) -> anyhow::Result<()> {
    let output = set_up.join().map_err(|_| anyhow!("the set-up panicked"))??;
    eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "`cargo xtask setup` failed ({})", output.status);
    Ok(())
}

fn test(rest: &[String]) -> Command {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace"]).args(rest).env("HELIX_TEST_TOOLS", setup::directory());
    command
}

/// The examples in the documentation. Cargo reports on each crate; only crates that have any are worth a line.
fn documentation() -> anyhow::Result<Ended> {
    let output = test(&["--doc".into()]).output().context("cannot run cargo")?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        eprint!("{report}{}", String::from_utf8_lossy(&output.stderr));
        bail!("`cargo test --doc` failed ({})", output.status);
    }
    let results: Vec<_> = report
        .lines()
        .filter(|line| line.starts_with("test result: ") && !line.contains(" 0 passed; 0 failed; 0 ignored;"))
        .collect();
    for result in &results {
        println!("{result}");
    }
    Ok(if results.is_empty() { Ended::Skipped("there are none") } else { Ended::Passed })
}

fn passed((): ()) -> Ended {
    Ended::Passed
}

/// Runs one section under a header, and says how it ended and how long it took.
fn timed(name: &str, work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
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
