//! The real Claude Code CLI in a pinned version, from npm. Must not know how npm's packages are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::npm_agent::{Installed, NpmAgent, Package};

/// One version of Claude Code.
pub(super) type Claude = NpmAgent<ClaudePackage>;

/// What is special about it.
pub(super) struct ClaudePackage;

impl Package for ClaudePackage {
    const TITLE: &'static str = "Claude Code";
    const PROGRAM: &'static str = "claude";
    const PACKAGE: &'static str = "@anthropic-ai/claude-code";

    /// One for each platform: `claude-code-<platform>`.
    fn candidates(installed: &Installed) -> anyhow::Result<Vec<PathBuf>> {
        let packages = installed.entries(Path::new("node_modules/@anthropic-ai"))?;
        Ok(packages.into_iter().filter(|package| package.to_string_lossy().contains("/claude-code-")).collect())
    }

    fn isolate(command: &mut Command, home: &Path) {
        command.env("CLAUDE_CONFIG_DIR", home.join(".claude")).env("DISABLE_AUTOUPDATER", "1");
    }

    fn version(printed: &str) -> &str {
        printed.split_whitespace().next().unwrap_or_default()
    }
}
