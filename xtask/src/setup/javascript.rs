//! Node projects with packages that tests use: `openai` as a client of the API in another language, `playwright-core` to handle a browser,
//! `axe-core` to find in it what keeps people from using a page.
//!
//! Must not know the user's own packages: everything goes into a directory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{Tool, require};
use crate::workspace;

/// A project with its packages.
pub(super) struct JavaScript {
    directory: PathBuf,
    /// With their versions: the newest that run on Debian's Node 20, with blanks between them.
    packages: &'static str,
    /// A program that shows that the package can be used.
    proof: &'static str,
}

impl JavaScript {
    /// A client of the API, at `<tools>/javascript`.
    pub(super) fn client(tools: &Path) -> Self {
        let proof = "import OpenAI from 'openai'; new OpenAI({apiKey: 'x'})";
        Self { directory: tools.join("javascript"), packages: "openai@6.30.1", proof }
    }

    /// What handles a browser, without a browser of its own, at `<tools>/browser`.
    pub(super) fn browser(tools: &Path) -> Self {
        let proof = "import { chromium } from 'playwright-core'; chromium.name()";
        Self { directory: tools.join("browser"), packages: "playwright-core@1.65.1 axe-core@4.14.1", proof }
    }

    /// Written last, so that its presence means a complete installation.
    fn stamp(&self) -> PathBuf {
        self.directory.join("complete")
    }

    fn imports(&self) -> anyhow::Result<String> {
        let mut node = Command::new("node");
        node.current_dir(&self.directory).args(["--input-type=module", "-e", self.proof]);
        workspace::output(&mut node)
    }
}

impl Tool for JavaScript {
    fn name(&self) -> String {
        format!("JavaScript with {}", self.packages)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn missing(&self) -> anyhow::Result<Option<String>> {
        Ok(match std::fs::read_to_string(self.stamp()) {
            Err(_) => Some("not installed".into()),
            Ok(found) if found != self.packages => Some("another version".into()),
            Ok(_) => self.imports().err().map(|error| format!("does not run: {error:#}")),
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
        npm.args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).args(self.packages.split(' '));
        workspace::output(&mut npm)
            .context("npm did not install it\nhint: is the registry that npm is configured for within reach?")?;
        if let Err(error) = self.imports() {
            bail!("the package cannot be imported: {error:#}");
        }
        std::fs::write(self.stamp(), self.packages).with_context(|| format!("cannot write {}", self.stamp().display()))
    }
}
