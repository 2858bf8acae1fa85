//! Finds the executables that tests start.
//!
//! Must not build or install anything: its errors say which command does.

use std::path::{Path, PathBuf};

/// Says which executable is missing and how to get it.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// An executable of this workspace was not built.
    #[error("{name} was not found next to {}; run `cargo build --workspace` first", near.display())]
    NotBuilt {
        name: String,
        /// Where it was looked for.
        near: PathBuf,
    },
    /// The real CLI is not installed for tests.
    #[error("the Claude Code CLI {version} is not at {}; run `cargo xtask setup` first", path.display())]
    NotInstalled {
        version: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The real Codex CLI is not installed for tests.
    #[error("the Codex CLI {version} is not at {}; run `cargo xtask setup` first", path.display())]
    CodexNotInstalled {
        version: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The running test does not know where it is.
    #[error("the path of the running test is not known")]
    NoExecutable(#[source] std::io::Error),
}

/// The CLI version that tests use unless they say otherwise.
pub const PINNED_CLAUDE: &str = "2.1.330";

/// The version of the Codex CLI that tests use.
pub const PINNED_CODEX: &str = "0.169.0";

/// The `helix` executable.
///
/// # Errors
/// [`LocateError::NotBuilt`].
pub fn helix_binary() -> Result<PathBuf, LocateError> {
    workspace_binary("helix")
}

/// The fake agent.
///
/// # Errors
/// [`LocateError::NotBuilt`].
pub fn fake_agent_binary() -> Result<PathBuf, LocateError> {
    workspace_binary("helix-fake-agent")
}

/// The scripted model.
///
/// # Errors
/// [`LocateError::NotBuilt`].
pub fn scripted_model_binary() -> Result<PathBuf, LocateError> {
    workspace_binary("helix-scripted-model")
}

/// An executable of this workspace: `CARGO_BIN_EXE_<name>`, else in the directory of the running test or above it.
///
/// # Errors
/// [`LocateError::NotBuilt`].
pub fn workspace_binary(name: &str) -> Result<PathBuf, LocateError> {
    if let Some(path) = std::env::var_os(format!("CARGO_BIN_EXE_{name}")) {
        return Ok(PathBuf::from(path));
    }
    let test = std::env::current_exe().map_err(LocateError::NoExecutable)?;
    // Tests lie in `target/<profile>/deps`, executables one level higher.
    for directory in test.ancestors().skip(1).take(2) {
        let candidate = directory.join(name);
        if candidate.is_file() {
            return Ok(candidate);
        }
    }
    Err(LocateError::NotBuilt { name: name.to_owned(), near: test })
}

/// The real CLI: `$HELIX_TEST_TOOLS/claude-<version>/claude`, where the directory defaults to `.test-tools` in the workspace.
///
/// # Errors
/// [`LocateError::NotInstalled`].
pub fn claude_binary(version: &str) -> Result<PathBuf, LocateError> {
    let tools =
        std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| workspace_root().join(".test-tools"), PathBuf::from);
    let path = tools.join(format!("claude-{version}")).join("claude");
    if path.is_file() { Ok(path) } else { Err(LocateError::NotInstalled { version: version.to_owned(), path }) }
}

/// The real Codex CLI: `$HELIX_TEST_TOOLS/codex-<version>/codex`, found as [`claude_binary`] is.
///
/// # Errors
/// [`LocateError::CodexNotInstalled`].
pub fn codex_binary(version: &str) -> Result<PathBuf, LocateError> {
    let tools =
        std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| workspace_root().join(".test-tools"), PathBuf::from);
    let path = tools.join(format!("codex-{version}")).join("codex");
    if path.is_file() { Ok(path) } else { Err(LocateError::CodexNotInstalled { version: version.to_owned(), path }) }
}

/// The root of the workspace that this crate was compiled in.
pub fn workspace_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}
