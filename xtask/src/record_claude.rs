//! `cargo xtask record-claude`: fresh recordings of the real CLI against the scripted model.
//!
//! Must not know the scenarios: they are `helix_testkit::recording`'s.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use helix_testkit::locate::{PINNED_CLAUDE, claude_binary};
use helix_testkit::recording::{Pace, all, record, write_manifest};

/// What to record, and where to put it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Version of the CLI; `cargo xtask setup` installs it.
    #[arg(long, default_value = PINNED_CLAUDE)]
    cli_version: String,
    /// The directory for the recordings; must not exist yet.
    #[arg(long, default_value = "target/recordings")]
    out: PathBuf,
    /// Only scenarios whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Leaves out what takes longer than a few seconds.
    #[arg(long)]
    quick: bool,
}

/// Records one scenario after the other; a failing one does not stop the rest, but the command fails.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let claude = claude_binary(&options.cli_version)?;
    let target = options.out.join(&options.cli_version);
    if target.exists() {
        bail!("{} exists already; remove it or choose another --out", target.display());
    }
    std::fs::create_dir_all(&target).with_context(|| target.display().to_string())?;
    let mut stderr = std::io::stderr();
    let mut rows = Vec::new();
    let mut failures = 0;
    for scenario in all() {
        let wanted = options.only.as_ref().is_none_or(|part| scenario.name.contains(part.as_str()));
        let excluded = scenario.not_for.contains(&options.cli_version.as_str());
        if !wanted || excluded || (options.quick && scenario.pace == Pace::Slow) {
            continue;
        }
        match record(&scenario, &claude, &options.cli_version, &target) {
            Ok(row) => {
                writeln!(stderr, "{:<28} exit {:>4}  {}", row.scenario, row.exit, row.verdict)?;
                for failure in &row.unforeseen {
                    writeln!(stderr, "  unforeseen: {failure}")?;
                }
                rows.push(row);
            }
            Err(error) => {
                failures += 1;
                writeln!(stderr, "error: {:#}", anyhow::Error::from(error))?;
            }
        }
    }
    write_manifest(&rows, &target).with_context(|| target.display().to_string())?;
    writeln!(std::io::stdout(), "{} recordings in {}", rows.len(), target.display())?;
    if failures > 0 {
        bail!("{failures} scenarios could not be recorded");
    }
    Ok(())
}
