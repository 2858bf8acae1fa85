//! `cargo xtask setup`: installs what the tests need into `.test-tools/`, outside of anything that belongs to the user.
//!
//! Must not touch the user's configuration, and names no registry: npm and pip use those that they are configured for.
//! What is there and of the right version is left alone; two set-ups at the same time wait for each other.

mod claude;
mod python;

use std::fs::{File, TryLockError};
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::workspace;

/// Versions of the Claude Code CLI that the tests run: the pinned one, and the newest that a Node 20 gets by itself.
const CLAUDE_VERSIONS: [&str; 2] = ["2.1.330", "2.1.197"];

/// What to do with what is missing.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Installs nothing; fails when something is missing.
    #[arg(long)]
    check: bool,
}

/// Where the tools are: `$HELIX_TEST_TOOLS`, or `.test-tools` in the repository.
pub(crate) fn directory() -> PathBuf {
    let given = std::env::var_os("HELIX_TEST_TOOLS").map(PathBuf::from);
    // Absolute, since tests run in other directories; where that cannot be told, what was given has to do.
    given.map_or_else(|| workspace::root().join(".test-tools"), |path| std::path::absolute(&path).unwrap_or(path))
}

/// One thing that tests need.
trait Tool {
    /// Its name and version, for people.
    fn name(&self) -> String;
    /// Why it cannot be used as it is; `None` when it is complete.
    fn missing(&self) -> anyhow::Result<Option<String>>;
    /// Installs it in place of whatever is there.
    fn install(&self) -> anyhow::Result<()>;
}

/// Installs what is missing, or only says so.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    require("git", "apt-get install git")?;
    let directory = directory();
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let _lock = lock(&directory)?;

    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    for version in CLAUDE_VERSIONS {
        tools.push(Box::new(claude::Claude::new(&directory, version)));
    }
    tools.push(Box::new(python::Python::new(&directory)));

    let mut incomplete = Vec::new();
    for tool in tools {
        let name = tool.name();
        match tool.missing().with_context(|| format!("cannot examine {name}"))? {
            None => eprintln!("{name}: there"),
            Some(why) if options.check => {
                eprintln!("{name}: {why}");
                incomplete.push(name);
            }
            Some(why) => {
                eprintln!("{name}: {why}; installing");
                tool.install().with_context(|| format!("cannot install {name}"))?;
                if let Some(why) = tool.missing()? {
                    bail!("{name} was installed, and yet: {why}");
                }
                eprintln!("{name}: installed");
            }
        }
    }
    if !incomplete.is_empty() {
        bail!("missing: {}\nhint: `cargo xtask setup` installs it", incomplete.join(", "));
    }
    Ok(())
}

/// Waits for another set-up in the same directory; the kernel frees the lock however that one ends.
fn lock(directory: &std::path::Path) -> anyhow::Result<File> {
    let path = directory.join("lock");
    let open = || File::options().create(true).truncate(false).write(true).open(&path);
    let file = open().with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("waiting for another set-up to finish");
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    Ok(file)
}

/// Checks that a program is there; its absence is an error with a remedy.
fn require(program: &str, remedy: &str) -> anyhow::Result<()> {
    if !workspace::installed(program) {
        bail!("{program} is needed and is not installed\nhint: on Debian, run `{remedy}` as root");
    }
    Ok(())
}
