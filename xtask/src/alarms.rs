//! `cargo xtask alarms`: how often honest commits of real repositories are called dishonest.
//!
//! The judging is a test of `helix-gates`, which is ignored otherwise.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::workspace;

/// What to judge.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Repositories whose commits with sources and tests are judged [default: this one]
    #[arg(value_name = "REPOSITORY")]
    repositories: Vec<PathBuf>,
    /// Most commits of each
    #[arg(long, default_value_t = 70)]
    commits: usize,
    /// Only by what shows without a run, and only with claims by directory
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let here = [workspace::root().to_path_buf()];
    let places = if options.repositories.is_empty() { here.as_slice() } else { &options.repositories };
    let places = std::env::join_paths(places).context("a repository's path has a colon")?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).args(["test", "-p", "helix-gates", "--test", "all", "--"]);
    cargo.args(["--ignored", "--nocapture", "honest_history"]);
    if options.quick {
        cargo.env("HELIX_HISTORY_QUICK", "1");
    }
    let ran = cargo.env("HELIX_HISTORY", places).env("HELIX_HISTORY_COMMITS", options.commits.to_string()).status();
    if !ran.context("cannot start cargo")?.success() {
        bail!("the commits could not be judged");
    }
    Ok(())
}
