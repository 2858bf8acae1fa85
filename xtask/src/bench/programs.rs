//! The executables that are measured, built for release, and the tools beside them.
//!
//! Must not know what is measured.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::workspace;

/// Where the executables are.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds them. One call for all, so that they share their dependencies.
    pub(crate) fn build() -> anyhow::Result<Self> {
        let packages = ["helix", "helix-testkit", "helix-store", "helix-agents"];
        let mut command = workspace::cargo();
        command.args(["build", "--release", "--bins"]);
        let examples = ["append_rate", "reader_figures", "run_figures", "failure_recall", "naive_loop"];
        command.args(examples.iter().flat_map(|name| ["--example", name]));
        command.args(packages.iter().flat_map(|package| ["--package", package]));
        workspace::run(&mut command)?;
        Self::found()
    }

    /// Takes those that were built before.
    pub(crate) fn found() -> anyhow::Result<Self> {
        let mut metadata = workspace::cargo();
        metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
        let metadata: Value = serde_json::from_str(&workspace::output(&mut metadata)?)?;
        let target = metadata.get("target_directory").and_then(Value::as_str).context("cargo names no directory")?;
        Ok(Self { directory: PathBuf::from(target).join("release") })
    }

    pub(crate) fn path(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.directory.join(name);
        if !path.exists() {
            bail!("{} was not built", path.display());
        }
        Ok(path)
    }

    pub(crate) fn git(&self) -> Command {
        Command::new("git")
    }

    /// Runs an example that prints a JSON object.
    pub(crate) fn example(&self, name: &str, arguments: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(self.path(&format!("examples/{name}"))?);
        let text = workspace::output(command.args(arguments))?;
        serde_json::from_str(&text).with_context(|| format!("{name} printed something that is no JSON"))
    }
}
