//! An agent's command line in a pinned version, from npm, in a directory of its own: `<tools>/<name>-<version>/<name>`.
//!
//! Must not know which agents there are, nor the user's own installation or configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{Tool, require};
use crate::workspace;

/// What is special about one agent.
pub(super) trait Package {
    const TITLE: &'static str;
    /// Name of its program.
    const PROGRAM: &'static str;
    /// Name of its package.
    const PACKAGE: &'static str;

    /// Directories below the installation, as relative paths, that may hold its native executable as `PROGRAM`: there are
    /// several where npm cannot tell platforms or C libraries apart.
    fn candidates(installed: &Installed) -> anyhow::Result<Vec<PathBuf>>;

    /// Keeps the program away from the user's own things.
    fn isolate(command: &mut Command, home: &Path);

    /// Its version in what it prints.
    fn version(printed: &str) -> &str;
}

/// A directory with npm's packages in it.
pub(super) struct Installed {
    directory: PathBuf,
}

impl Installed {
    /// What is in a directory below this one, as relative paths.
    pub(super) fn entries(&self, relative: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let absolute = self.directory.join(relative);
        let entries = std::fs::read_dir(&absolute).with_context(|| format!("cannot read {}", absolute.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", absolute.display()))?;
            found.push(relative.join(entry.file_name()));
        }
        Ok(found)
    }
}

/// One version of an agent.
pub(super) struct NpmAgent<P> {
    version: &'static str,
    installed: Installed,
    package: std::marker::PhantomData<P>,
}

impl<P: Package> NpmAgent<P> {
    pub(super) fn new(tools: &Path, version: &'static str) -> Self {
        let directory = tools.join(format!("{}-{version}", P::PROGRAM));
        Self { version, installed: Installed { directory }, package: std::marker::PhantomData }
    }

    /// What tests start: a link to the native executable inside the npm package.
    fn program(&self) -> PathBuf {
        self.installed.directory.join(P::PROGRAM)
    }

    /// Asks an executable for its version, in a home of its own so that it writes nothing into the user's.
    fn reported_version(&self, program: &Path) -> anyhow::Result<String> {
        let home = self.installed.directory.join("home");
        std::fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
        let mut command = Command::new(program);
        command.arg("--version").env("HOME", &home);
        P::isolate(&mut command, &home);
        Ok(P::version(&workspace::output(&mut command)?).to_owned())
    }

    /// The native executables that npm brought, as relative paths.
    fn executables(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut found: Vec<PathBuf> =
            P::candidates(&self.installed)?.into_iter().map(|directory| directory.join(P::PROGRAM)).collect();
        found.retain(|relative| self.installed.directory.join(relative).is_file());
        found.sort();
        Ok(found)
    }
}

impl<P: Package> Tool for NpmAgent<P> {
    fn name(&self) -> String {
        format!("{} {}", P::TITLE, self.version)
    }

    fn directory(&self) -> &Path {
        &self.installed.directory
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
        let directory = self.directory();
        require("node", "apt-get install nodejs npm")?;
        require("npm", "apt-get install npm")?;
        if directory.exists() {
            std::fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
        }
        std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let mut npm = Command::new("npm");
        npm.arg("install").arg("--prefix").arg(directory).current_dir(directory);
        // The package asks for a newer Node than Debian's, but its executable needs none at all.
        npm.args(["--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm.arg(format!("{}@{}", P::PACKAGE, self.version));
        workspace::output(&mut npm)
            .context("npm did not install it\nhint: is the registry that npm is configured for within reach?")?;

        // The package's own `bin/` depends on an install script, which may be switched off; the platform's package does not.
        let mut reasons = Vec::new();
        for candidate in self.executables()? {
            match self.reported_version(&directory.join(&candidate)) {
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
