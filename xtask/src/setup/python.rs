//! A Python with the packages that tests use: pytest as a gate's command, `openai` as a client of the API, `mcp` as one of the tools,
//! setuptools for packages that are installed as editable, uv to try a wheel of Helix.
//!
//! Must not know the system's own packages: everything goes into a virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{Tool, require};
use crate::workspace;

/// Packages with their versions; what these need in turn is resolved by pip.
const PACKAGES: [&str; 5] = ["pytest==9.2.0", "openai==3.54.0", "mcp==2.3.0", "setuptools==79.0.1", "uv==0.13.9"];

/// A virtual environment at `<tools>/python`.
pub(super) struct Python {
    directory: PathBuf,
}

impl Python {
    pub(super) fn new(tools: &Path) -> Self {
        Self { directory: tools.join("python") }
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
        format!("{}\n{}\n", self.directory.display(), PACKAGES.join("\n"))
    }
}

/// What a Python needs to make environments, as Debian calls it.
const VENV_PACKAGE: &str = "python3-venv";

/// Installs Python with its `venv` from the system's packages where that is possible without asking anybody: as root on a
/// Debian. Elsewhere what is missing is named by what comes next.
fn complete_system() -> anyhow::Result<()> {
    let there = workspace::output(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_ok();
    let root = workspace::output(Command::new("id").arg("-u")).is_ok_and(|said| said.trim() == "0");
    if there || !root || workspace::output(Command::new("apt-get").arg("--version")).is_err() {
        return Ok(());
    }
    eprintln!("{VENV_PACKAGE}: installing the system's package");
    for arguments in [&["update", "-q"][..], &["install", "-q", "-y", "--no-install-recommends", VENV_PACKAGE]] {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        workspace::output(&mut apt).with_context(|| format!("cannot install {VENV_PACKAGE}"))?;
    }
    Ok(())
}

/// Creates an environment with its own pip, or else without one.
pub(super) fn create(directory: &Path) -> anyhow::Result<Pip> {
    complete_system()?;
    require("python3", "apt-get install python3 python3-venv")?;
    remove(directory)?;
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(directory);
    let Err(first) = workspace::output(&mut venv) else { return Ok(Pip::Inside) };
    // Debian's python3 comes without `ensurepip`, which is in python3-venv. A pip outside can serve it as well.
    remove(directory)?;
    let mut virtualenv = Command::new("python3");
    virtualenv.args(["-m", "virtualenv"]).arg(directory);
    if workspace::output(&mut virtualenv).is_ok() {
        return Ok(Pip::Inside);
    }
    remove(directory)?;
    let mut bare = Command::new("python3");
    bare.args(["-m", "venv", "--without-pip"]).arg(directory);
    let pip = workspace::output(Command::new("python3").args(["-m", "pip", "--version"]));
    if pip.is_ok() && workspace::output(&mut bare).is_ok() {
        return Ok(Pip::Outside);
    }
    Err(first).context(
        "python3 cannot create a virtual environment\nhint: on Debian, run `apt-get install python3-venv` as root",
    )
}

/// Which pip installs into the environment.
pub(super) enum Pip {
    Inside,
    /// The one of the python3 that it was made with.
    Outside,
}

impl Pip {
    /// `pip install` into the environment of this interpreter; what to install is still missing.
    pub(super) fn install(&self, interpreter: &Path) -> Command {
        let mut command = match self {
            Self::Inside => {
                let mut command = Command::new(interpreter);
                command.args(["-m", "pip"]);
                command
            }
            Self::Outside => {
                let mut command = Command::new("python3");
                command.args(["-m", "pip", "--python"]).arg(interpreter);
                command
            }
        };
        command.args(["install", "--quiet", "--disable-pip-version-check"]);
        command
    }
}

impl Tool for Python {
    fn name(&self) -> String {
        format!("Python with {}", PACKAGES.join(" and "))
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn missing(&self) -> anyhow::Result<Option<String>> {
        Ok(match std::fs::read_to_string(self.stamp()) {
            Err(_) => Some("not installed".into()),
            Ok(found) if found != self.wanted() => Some("other versions, or installed at another place".into()),
            // The interpreter is a link to the system's, which may be gone since.
            Ok(_) => {
                let check = workspace::output(Command::new(self.interpreter()).args(["-c", "import pytest"]));
                check.err().map(|error| format!("does not run: {error:#}"))
            }
        })
    }

    fn install(&self) -> anyhow::Result<()> {
        let mut install = create(&self.directory)?.install(&self.interpreter());
        install.args(PACKAGES);
        workspace::output(&mut install)
            .context("pip did not install them\nhint: is the index that pip is configured for within reach?")?;
        let check = workspace::output(Command::new(self.interpreter()).args(["-c", "import mcp, openai, pytest"]));
        if let Err(error) = check {
            bail!("the packages cannot be imported: {error:#}");
        }
        std::fs::write(self.stamp(), self.wanted()).with_context(|| format!("cannot write {}", self.stamp().display()))
    }
}

fn remove(directory: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
