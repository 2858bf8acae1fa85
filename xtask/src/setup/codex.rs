//! The real Codex CLI in a pinned version, from npm: 404 MB on disk, about 45 s. Must not know how npm's packages are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::npm_agent::{Installed, NpmAgent, Package};

/// One version of Codex.
pub(super) type Codex = NpmAgent<CodexPackage>;

/// What is special about it.
pub(super) struct CodexPackage;

impl Package for CodexPackage {
    const TITLE: &'static str = "Codex";
    const PROGRAM: &'static str = "codex";
    const PACKAGE: &'static str = "@openai/codex";

    /// One for each platform: `codex-<platform>/vendor/<target>/bin`.
    fn candidates(installed: &Installed) -> anyhow::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for package in installed.entries(Path::new("node_modules/@openai"))? {
            if package.to_string_lossy().contains("/codex-") {
                found.extend(installed.entries(&package.join("vendor"))?.into_iter().map(|target| target.join("bin")));
            }
        }
        Ok(found)
    }

    fn isolate(command: &mut Command, home: &Path) {
        command.env("CODEX_HOME", home.join(".codex"));
    }

    fn version(printed: &str) -> &str {
        printed.split_whitespace().last().unwrap_or_default()
    }
}
