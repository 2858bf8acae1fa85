//! A place of its own for a test: home, state, agent configuration and an environment that names nothing else.
//!
//! Must not know which commands are run in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Project, ProjectError};
use crate::scratch::Scratch;

/// Says why a sandbox cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("sandbox directory {} cannot be made", path.display())]
pub struct SandboxError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// Temporary directories and an explicit environment; everything is removed with it.
#[derive(Debug)]
pub struct Sandbox {
    root: Scratch,
    environment: BTreeMap<String, String>,
}

impl Sandbox {
    /// Makes the directories. The environment has no secrets and no configuration of the machine.
    ///
    /// # Errors
    /// [`SandboxError`].
    pub fn new() -> Result<Self, SandboxError> {
        let root = Scratch::new().map_err(|source| SandboxError { path: std::env::temp_dir(), source })?;
        let mut sandbox = Self { root, environment: BTreeMap::new() };
        for path in [sandbox.home(), sandbox.claude_config(), sandbox.state(), sandbox.temporary()] {
            std::fs::create_dir_all(&path).map_err(|source| SandboxError { path, source })?;
        }
        let text = |path: PathBuf| path.display().to_string();
        let fixed = [
            ("HOME", text(sandbox.home())),
            ("CLAUDE_CONFIG_DIR", text(sandbox.claude_config())),
            ("XDG_STATE_HOME", text(sandbox.home().join(".local/state"))),
            ("XDG_CONFIG_HOME", text(sandbox.home().join(".config"))),
            ("XDG_CACHE_HOME", text(sandbox.home().join(".cache"))),
            ("HELIX_STATE_DIR", text(sandbox.state())),
            ("TMPDIR", text(sandbox.temporary())),
            ("GIT_AUTHOR_NAME", "Helix Test".to_owned()),
            ("GIT_AUTHOR_EMAIL", "test@example.invalid".to_owned()),
            ("GIT_COMMITTER_NAME", "Helix Test".to_owned()),
            ("GIT_COMMITTER_EMAIL", "test@example.invalid".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
        ];
        for (name, value) in fixed {
            sandbox.environment.insert(name.to_owned(), value);
        }
        // Toolchains of the gates are found where the developer has them.
        for name in ["PATH", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            if let Ok(value) = std::env::var(name) {
                sandbox.environment.insert(name.to_owned(), value);
            }
        }
        if let Ok(home) = std::env::var("HOME") {
            for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                sandbox.environment.entry(name.to_owned()).or_insert_with(|| format!("{home}/{folder}"));
            }
        }
        Ok(sandbox)
    }

    /// The root of everything.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// `CLAUDE_CONFIG_DIR`.
    pub fn claude_config(&self) -> PathBuf {
        self.path().join("claude-config")
    }

    /// The state directory for Helix.
    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// The environment for child processes.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// Adds a variable to the environment.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Points the real CLI at a scripted model, with as little traffic and waiting as possible.
    pub fn use_model(&mut self, base_url: &str) -> &mut Self {
        for (name, value) in model_environment(base_url) {
            self.set(name, value);
        }
        self
    }

    /// A command in the sandbox's home, with its environment and no other.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.environment).current_dir(self.home());
        command
    }

    /// A git repository with a small real project, committed.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn project(&self, name: &str, project: Project) -> Result<PathBuf, ProjectError> {
        let directory = self.path().join(name);
        project.create(&directory, &self.environment)?;
        Ok(directory)
    }
}

/// The key of everything that a test starts: no secret.
pub const TEST_KEY: &str = "test-key";

/// Variables that make the real CLI talk to a scripted model only.
pub fn model_environment(base_url: &str) -> [(&'static str, String); 9] {
    [
        ("ANTHROPIC_BASE_URL", base_url.to_owned()),
        ("ANTHROPIC_API_KEY", TEST_KEY.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("NO_PROXY", "127.0.0.1".to_owned()),
    ]
}
