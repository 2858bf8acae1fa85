//! What every command is given: the process' environment, the streams to write to, and the configuration.
//!
//! Must not know which commands there are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::client::Client;
use crate::config::{Overrides, Settings};
use crate::environment::Environment;
use crate::error::CommandError;
use crate::host::{Reached, Visit, busy_jobs, find, reach, start_in_background};
use crate::runtime;
use crate::terminal::{Terminal, shell_word};
use helix_engine::submit::chosen_venv;
use helix_store::StateDir;

/// What a command is given.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) terminal: Terminal,
    pub(crate) overrides: Overrides,
    settings: OnceLock<Settings>,
    visit: Arc<OnceLock<Visit>>,
}

impl Context {
    pub(crate) fn new(environment: Environment, terminal: Terminal, overrides: Overrides) -> Self {
        Self { environment, terminal, overrides, settings: OnceLock::new(), visit: Arc::default() }
    }

    /// The configuration; read when first asked for, since not every command needs it.
    ///
    /// # Errors
    /// Those of [`Settings::load`].
    pub(crate) fn settings(&self) -> Result<&Settings, CommandError> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let settings = Settings::load(&self.environment, &self.overrides)?;
        Ok(self.settings.get_or_init(|| settings))
    }

    /// Runs a command's asynchronous part.
    ///
    /// # Errors
    /// Those of the command, and when there are no threads for it.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
        runtime::start()?.block_on(work)
    }

    /// The running host, or one that is started in the background.
    ///
    /// # Errors
    /// When neither is possible.
    pub(crate) async fn host(&self) -> Result<Client, CommandError> {
        let settings = self.settings()?;
        if self.terminal.is_attended() && self.visit.get().is_none() {
            let state = StateDir::open(&settings.state_dir.value)?;
            match Visit::begin(&state) {
                Ok(visit) => drop(self.visit.set(visit)),
                // A host that leaves is found again, or another one is started.
                Err(error) => tracing::warn!(%error, "the host cannot be told that somebody is here"),
            }
        }
        match find(settings).await? {
            Some(client) => Ok(client),
            None => start_in_background(&self.environment, settings, self.overrides.config.as_deref()).await,
        }
    }

    /// The running host; else one in the background where a person sits at the terminal, so that the work goes on when the terminal
    /// is closed, and elsewhere this process: nothing stays behind that a program has not asked for.
    ///
    /// # Errors
    /// When neither is possible.
    pub(crate) async fn reach(&self) -> Result<Reached, CommandError> {
        match self.terminal.is_attended() {
            true => Ok(Reached::Other(self.host().await?)),
            false => reach(&self.environment, self.settings()?).await,
        }
    }

    /// Does something with a host ([`Context::reach`]). Jobs that it has begun go on in the background.
    ///
    /// # Errors
    /// Those of the work, and when neither is possible.
    pub(crate) async fn with_host<T>(
        &self,
        work: impl AsyncFnOnce(&Reached) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let reached = self.reach().await?;
        let result = work(&reached).await;
        let leaves_jobs = match &reached {
            Reached::Own(host) => !busy_jobs(&host.engine).await?.is_empty(),
            Reached::Other(_) => false,
        };
        reached.stop().await?;
        if leaves_jobs {
            self.host().await?;
        }
        result
    }

    /// The virtual environment that is active where the command was called, made absolute.
    pub(crate) fn active_venv(&self) -> Option<PathBuf> {
        self.environment.variable("VIRTUAL_ENV").map(|path| self.path(path))
    }

    /// The virtual environment that the caller has chosen: the active one, else that of the configuration.
    ///
    /// # Errors
    /// Those of [`Settings::load`].
    pub(crate) fn venv(&self) -> Result<Option<PathBuf>, CommandError> {
        let configured = self.settings()?.venv(&self.environment);
        Ok(self.active_venv().or(configured))
    }

    /// Where programs are looked for as jobs do: first in the virtual environment that the user has chosen, else that of the project.
    ///
    /// # Errors
    /// The caller has chosen one that is none; those of [`Settings::load`].
    pub(crate) fn search_path(&self, project: Option<&Path>) -> Result<String, CommandError> {
        let path = self.environment.variable("PATH").unwrap_or_default();
        let venv = chosen_venv(self.venv()?, project)?;
        Ok(venv.map_or_else(|| path.to_owned(), |venv| format!("{venv}/bin:{path}")))
    }

    /// The root of the repository that contains the working directory.
    pub(crate) fn repository(&self) -> Option<&Path> {
        self.environment.directory.ancestors().find(|above| above.join(".git").exists())
    }

    /// The same; the working directory itself where it is in none.
    pub(crate) fn project(&self) -> &Path {
        self.repository().unwrap_or(&self.environment.directory)
    }

    /// A path of the command line, made absolute.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        // Without `.` in between.
        self.environment.directory.join(path).components().collect()
    }

    /// The command that finds this state directory again from anywhere.
    pub(crate) fn helix(&self) -> String {
        let named = self.overrides.state_dir.as_ref().map(|directory| self.path(directory));
        named.map_or("helix".to_owned(), |path| format!("helix --state-dir {}", shell_word(&path.to_string_lossy())))
    }

    /// A path as the user knows it: relative where that is shorter.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.environment.directory).unwrap_or(path).display().to_string()
    }
}
