//! `cargo xtask setup`: installs what the tests need into `.test-tools/`, outside of anything that belongs to the user.
//!
//! Must not touch the user's configuration, and names no registry: npm and pip use those that they are configured for.
//! What is there and of the right version is left alone; two set-ups at the same time wait for each other.

mod claude;
mod codex;
mod javascript;
mod npm_agent;
mod open_webui;
mod python;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};

use crate::workspace;

/// Versions of the Claude Code CLI that the tests run: the pinned one, and the newest that a Node 20 gets by itself.
const CLAUDE_VERSIONS: [&str; 2] = ["2.1.330", "2.1.197"];

/// Version of the Codex CLI that the tests run.
const CODEX_VERSION: &str = "0.169.0";

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
    fn directory(&self) -> &Path;
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
    tools.push(Box::new(codex::Codex::new(&directory, CODEX_VERSION)));
    tools.push(Box::new(python::Python::new(&directory)));
    tools.push(Box::new(javascript::JavaScript::client(&directory)));
    complete(&tools, options, "cargo xtask setup")
}

/// Installs Open WebUI and what handles it in a browser, or only says what is missing. The browser itself is the system's.
pub(crate) fn run_open_webui(options: &Options) -> anyhow::Result<()> {
    let directory = directory();
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let _lock = lock(&directory)?;
    let browser = open_webui::browser()?;
    eprintln!("{}: there", open_webui::browser_version(&browser)?);
    let tools: [Box<dyn Tool>; 2] =
        [Box::new(open_webui::OpenWebUi::new(&directory)), Box::new(javascript::JavaScript::browser(&directory))];
    complete(&tools, options, "cargo xtask openwebui")
}

/// Installs what handles a browser, if it is not there.
pub(crate) fn install_browser() -> anyhow::Result<()> {
    let directory = directory();
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let _lock = lock(&directory)?;
    let tools: [Box<dyn Tool>; 1] = [Box::new(javascript::JavaScript::browser(&directory))];
    complete(&tools, &Options::default(), "cargo xtask e2e")
}

/// The browser that handles Open WebUI.
pub(crate) fn browser() -> anyhow::Result<PathBuf> {
    open_webui::browser()
}

/// Installs what is missing of these, or only says so; `remedy` is the command that does.
fn complete(tools: &[Box<dyn Tool>], options: &Options, remedy: &str) -> anyhow::Result<()> {
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
                let started = Instant::now();
                tool.install().with_context(|| format!("cannot install {name}"))?;
                if let Some(why) = tool.missing()? {
                    bail!("{name} was installed, and yet: {why}");
                }
                let (seconds, megabytes) = (started.elapsed().as_secs(), size(tool.directory())? / 1_000_000);
                eprintln!("{name}: installed in {seconds} s, {megabytes} MB");
            }
        }
    }
    if !incomplete.is_empty() {
        bail!("missing: {}\nhint: `{remedy}` installs it", incomplete.join(", "));
    }
    Ok(())
}

/// How many bytes a directory's files take; links count for nothing.
fn size(directory: &Path) -> anyhow::Result<u64> {
    let mut total = 0;
    let entries = std::fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.metadata()?;
        total += if kind.is_dir() { size(&entry.path())? } else { kind.len() };
    }
    Ok(total)
}

/// Waits for another set-up in the same directory; the kernel frees the lock however that one ends.
fn lock(directory: &Path) -> anyhow::Result<File> {
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
