//! Open WebUI in a pinned version, without what it needs for models of its own: 0.8 GB instead of 7.3 GB.
//!
//! Must not know how it is configured and driven; that is `cargo xtask e2e`'s.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{Tool, python};
use crate::workspace;

/// The package with its version.
const PACKAGE: &str = "open-webui==0.12.4";

/// Versions of Python that it runs on, the second one exclusive (by its own metadata).
const PYTHON: [(u32, u32); 2] = [(3, 11), (3, 13)];

/// Names of the browser on Debian and elsewhere.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// A virtual environment at `<tools>/open-webui`.
pub(super) struct OpenWebUi {
    directory: PathBuf,
}

impl OpenWebUi {
    pub(super) fn new(tools: &Path) -> Self {
        Self { directory: tools.join("open-webui") }
    }

    fn interpreter(&self) -> PathBuf {
        self.directory.join("bin/python")
    }

    /// Written last, so that its presence means a complete installation.
    fn stamp(&self) -> PathBuf {
        self.directory.join("complete")
    }

    /// What the stamp says. The place is part of it, since the scripts of a virtual environment contain its path.
    fn wanted(&self) -> String {
        format!("{}\n{PACKAGE}\n", self.directory.display())
    }

    /// What its environment prints.
    fn python(&self, program: &str) -> anyhow::Result<String> {
        workspace::output(Command::new(self.interpreter()).args(["-c", program]))
    }
}

impl Tool for OpenWebUi {
    fn name(&self) -> String {
        PACKAGE.replace("==", " ")
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn missing(&self) -> anyhow::Result<Option<String>> {
        Ok(match std::fs::read_to_string(self.stamp()) {
            Err(_) => Some("not installed".into()),
            Ok(found) if found != self.wanted() => Some("another version, or installed at another place".into()),
            // The interpreter is a link to the system's, which may be gone since.
            Ok(_) => self.python("import fastapi, uvicorn").err().map(|error| format!("does not run: {error:#}")),
        })
    }

    fn install(&self) -> anyhow::Result<()> {
        let pip = python::create(&self.directory)?;
        let found = self.python("import sys; print(sys.version_info[0], sys.version_info[1])")?;
        let version: Vec<u32> = found.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        let [from, below] = PYTHON;
        if !matches!(*version, [major, minor] if (from..below).contains(&(major, minor))) {
            bail!(
                "Open WebUI does not run on Python {}\nhint: put a python3 of version {}.{} or {}.{} first in PATH",
                found.trim().replace(' ', "."),
                from.0,
                from.1,
                below.0,
                below.1 - 1
            );
        }
        let remedy = "pip did not install it\nhint: is the index that pip is configured for within reach?";
        let mut package = pip.install(&self.interpreter());
        workspace::output(package.args(["--no-deps", PACKAGE])).context(remedy)?;
        // The project's own list, which comes with the package, for installations that use services of others.
        let site = self.python("import sysconfig; print(sysconfig.get_path('purelib'))")?;
        let list = Path::new(site.trim()).join("requirements-slim.txt");
        if !list.is_file() {
            bail!("{PACKAGE} came without {}\nhint: choose a version that has it", list.display());
        }
        let mut requirements = pip.install(&self.interpreter());
        workspace::output(requirements.arg("--requirement").arg(&list)).context(remedy)?;
        self.python("import fastapi, uvicorn").context("what it needs cannot be imported")?;
        std::fs::write(self.stamp(), self.wanted()).with_context(|| format!("cannot write {}", self.stamp().display()))
    }
}

/// The system's browser, or the one that `HELIX_CHROMIUM` names.
pub(super) fn browser() -> anyhow::Result<PathBuf> {
    if let Some(given) = std::env::var_os("HELIX_CHROMIUM").map(PathBuf::from) {
        if !given.is_file() {
            bail!("HELIX_CHROMIUM names {}, which is no file\nhint: name a Chromium, or leave it out", given.display());
        }
        return Ok(given);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = BROWSERS.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.into_iter().find(|path| path.is_file()).context(
        "Chromium is needed and is not installed\nhint: on Debian, run `apt-get install chromium` as root (0.4 GB); or name one with HELIX_CHROMIUM",
    )
}

/// What a browser says of itself, after it was found to start.
pub(super) fn browser_version(browser: &Path) -> anyhow::Result<String> {
    let said = workspace::output(Command::new(browser).arg("--version"))
        .context("the browser does not start\nhint: name another one with HELIX_CHROMIUM")?;
    Ok(said.trim().to_owned())
}
