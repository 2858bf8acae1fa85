//! The real Claude Code CLI in a pinned version, from npm. Must not know the user's own installation or configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{Tool, require};
use crate::workspace;

/// One version, in a directory of its own: `<tools>/claude-<version>/claude`.
pub(super) struct Claude {
    version: &'static str,
    directory: PathBuf,
}

impl Claude {
    pub(super) fn new(tools: &Path, version: &'static str) -> Self {
        Self { version, directory: tools.join(format!("claude-{version}")) }
    }

    /// What tests start: a link to the native executable inside the npm package.
    fn program(&self) -> PathBuf {
        self.directory.join("claude")
    }

    /// Asks an executable for its version, in a home of its own so that it writes nothing into the user's.
    fn reported_version(&self, program: &Path) -> anyhow::Result<String> {
        let home = self.directory.join("home");
        std::fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
        let mut command = Command::new(program);
        command.arg("--version").env("HOME", &home).env("CLAUDE_CONFIG_DIR", home.join(".claude"));
        command.env("DISABLE_AUTOUPDATER", "1");
        let said = workspace::output(&mut command)?;
        Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
    }

    /// The native executables that npm brought; there are several where it cannot tell the C libraries apart.
    fn candidates(&self) -> anyhow::Result<Vec<PathBuf>> {
        let scope = Path::new("node_modules/@anthropic-ai");
        let absolute = self.directory.join(scope);
        let entries = std::fs::read_dir(&absolute).with_context(|| format!("cannot read {}", absolute.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.with_context(|| format!("cannot read {}", absolute.display()))?.file_name();
            let relative = scope.join(&name).join("claude");
            if name.to_string_lossy().starts_with("claude-code-") && self.directory.join(&relative).is_file() {
                found.push(relative);
            }
        }
        found.sort();
        Ok(found)
    }
}

impl Tool for Claude {
    fn name(&self) -> String {
        format!("Claude Code {}", self.version)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn missing(&self) -> anyhow::Result<Option<String>> {
        let program = self.program();
        if !program.is_file() {
            return Ok(Some("not installed".into()));
        }
        Ok(match self.reported_version(&program) {
            Ok(version) if version == self.version => None,
            Ok(version) => Some(format!("says that it is version {version:?}")),
            Err(error) => Some(format!("does not run: {error:#}")),
        })
    }

    fn install(&self) -> anyhow::Result<()> {
        require("node", "apt-get install nodejs npm")?;
        require("npm", "apt-get install npm")?;
        if self.directory.exists() {
            std::fs::remove_dir_all(&self.directory)
                .with_context(|| format!("cannot remove {}", self.directory.display()))?;
        }
        std::fs::create_dir_all(&self.directory)
            .with_context(|| format!("cannot create {}", self.directory.display()))?;
        let mut npm = Command::new("npm");
        npm.arg("install").arg("--prefix").arg(&self.directory).current_dir(&self.directory);
        // The package asks for a newer Node than Debian's, but its executable needs none at all.
        npm.args(["--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm.arg(format!("@anthropic-ai/claude-code@{}", self.version));
        workspace::output(&mut npm)
            .context("npm did not install it\nhint: is the registry that npm is configured for within reach?")?;

        // The package's own `bin/` depends on an install script, which may be switched off; the platform's package does not.
        let mut reasons = Vec::new();
        for candidate in self.candidates()? {
            match self.reported_version(&self.directory.join(&candidate)) {
                Ok(version) if version == self.version => {
                    let link = self.program();
                    return std::os::unix::fs::symlink(&candidate, &link)
                        .with_context(|| format!("cannot create {}", link.display()));
                }
                Ok(version) => reasons.push(format!("{} is version {version:?}", candidate.display())),
                Err(error) => reasons.push(format!("{error:#}")),
            }
        }
        if reasons.is_empty() {
            reasons.push("npm brought none; are optional dependencies switched off (`npm config get omit`)?".into());
        }
        bail!("no executable for this machine:\n{}", reasons.join("\n"))
    }
}
