//! The supervisor: starts runs through keepers, follows them, stops them, and settles those whose keeper died.
//!
//! Must not know dialects, and keeps no truth of its own: everything is in the run directories, so that another
//! supervisor, in this process or the next, sees the same.

mod abandoned;
mod handle;
mod housekeeping;
mod liveness;
mod spawn;
mod stopping;
mod watching;

use async_recursion::async_recursion as boxed;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use helix_core::ids::RunId;

pub use self::handle::RunHandle;
pub use self::housekeeping::SweepReport;
pub use self::stopping::Stopping;

pub(crate) use self::handle::RunShared;
use self::watching::Hub;
use crate::invocation::RunRequest;
use crate::run_dir::{RunDir, RunDirError, RunSeal, RunState, name, needed, publish, set_aside};
use crate::sandbox::Sandbox;

/// Where runs live and how a keeper is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorConfig {
    /// Directory of all run directories; created if it is missing.
    pub runs_dir: PathBuf,
    /// Program of the keeper, as an absolute path (a bare name makes spawning slow), usually Helix itself.
    pub keeper: PathBuf,
    /// What comes before the run directory, such as `keeper`.
    pub keeper_args: Vec<String>,
    /// How changes in run directories are noticed.
    pub watching: Watching,
    /// What the machine's owner says of the walls of all runs.
    pub sandbox: Sandbox,
    /// By what run directories are known to be a host's.
    pub seal: RunSeal,
}

/// How changes in run directories are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watching {
    /// By inotify, one instance for all runs; by looking ten times a second, with a warning, where it cannot be had.
    #[default]
    Inotify,
    /// By looking again each time this much has passed.
    Timed(Duration),
}

/// How often a start is tried again when keepers die before they have claimed the run.
const MAX_ROUNDS: usize = 5;

/// Says why a run could not be started. That an agent cannot be executed is no such error: the run then ends as
/// `Ending::NotStarted`.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The run directory cannot be written or read.
    #[error("cannot prepare run {run}")]
    Prepare {
        run: RunId,
        /// Which file, and why.
        source: RunDirError,
    },
    /// The keeper's program cannot be executed.
    #[error("cannot execute the keeper {} of run {run}", program.display())]
    Keeper { run: RunId, program: PathBuf, source: std::io::Error },
    /// The keeper gave up or said nothing.
    #[error("the keeper of run {run} failed: {said}")]
    KeeperFailed {
        run: RunId,
        /// Its own words, or how it ended.
        said: String,
    },
    /// The run exists and cannot be followed.
    #[error("run {run} cannot be followed")]
    Attach { run: RunId, source: RunDirError },
}

/// Starts and follows runs. Cheap to clone; when the last clone and the last handle are gone, so are all its tasks.
#[derive(Debug, Clone)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: SupervisorConfig,
    hub: Arc<Hub>,
    /// Runs that somebody holds a handle of, so that all share one watch.
    followed: Mutex<HashMap<RunId, Weak<RunShared>>>,
}

impl Supervisor {
    /// Opens the directory of runs. Has to be called inside a Tokio runtime.
    ///
    /// # Errors
    /// [`RunDirError`] if the directory can be neither found nor made.
    pub fn new(mut config: SupervisorConfig) -> Result<Self, RunDirError> {
        let made = std::fs::create_dir_all(&config.runs_dir).and_then(|()| config.runs_dir.canonicalize());
        config.runs_dir = made.map_err(RunDirError::io("use the directory of runs", &config.runs_dir))?;
        let hub = Hub::open(config.watching);
        Ok(Self { inner: Arc::new(Inner { config, hub, followed: Mutex::new(HashMap::new()) }) })
    }

    /// What the machine's owner says of the walls of all runs.
    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.config.sandbox
    }

    /// Starts the run, or attaches to it if it was ever started. Never runs it twice, no matter who else tries at the same
    /// time, and however often this process died in between.
    ///
    /// # Errors
    /// [`StartError`]; nothing was executed then unless it is [`StartError::Attach`].
    #[boxed]
    pub async fn start(&self, request: RunRequest) -> Result<RunHandle, StartError> {
        let run = request.run.clone();
        let runs = self.inner.config.runs_dir.clone();
        let failed = |source| StartError::Prepare { run: run.clone(), source };
        let inner = Arc::clone(&self.inner);
        let published = blocking(move || {
            let state = runs.parent().unwrap_or(&runs);
            let walls = inner.config.sandbox.around(&request, state, &inner.config.keeper);
            // Without walls a run sees the machine as it is.
            let bare = request.walls.as_ref().filter(|_| walls.is_none()).and_then(|own| own.prepared.as_ref());
            if let Some(prepared) = bare {
                prepared.copy().map_err(RunDirError::io("copy what was prepared to", &prepared.place))?;
            }
            let secrets = crate::secrets::of_run(&request.invocation.env);
            let directory = publish(&runs, &RunRequest { walls, ..request }, &secrets, &inner.config.seal)?;
            let state = directory.state()?;
            Ok((directory, state))
        });
        let (directory, mut state) = published.await.map_err(&failed)?;
        // More than one round only if a keeper of somebody else dies in the instant between lock and claim.
        for _ in 0..MAX_ROUNDS {
            let keeper = match state {
                RunState::Unclaimed => Some(spawn::keeper(&self.inner.config, &run, &directory).await?),
                RunState::Kept | RunState::Ended(_) | RunState::Abandoned => None,
            };
            match self.follow(&run, keeper).await {
                Ok(Some(handle)) => return Ok(handle),
                Ok(None) => state = RunState::Unclaimed,
                Err(source) => return Err(StartError::Attach { run, source }),
            }
        }
        Err(StartError::KeeperFailed { run, said: "keepers claim it and die, again and again".into() })
    }

    /// Whether a host has made the directory of this run.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be looked at.
    pub fn knows(&self, run: &RunId) -> Result<bool, RunDirError> {
        RunDir::for_run(&self.inner.config.runs_dir, run).is_of(run, &self.inner.config.seal)
    }

    /// Attaches to a run that was ever started, living or ended. `None` if there is no such run, or nobody claimed it:
    /// [`Self::start`] starts it then.
    ///
    /// # Errors
    /// [`RunDirError`] if its files cannot be read.
    #[boxed]
    pub async fn attach(&self, run: &RunId) -> Result<Option<RunHandle>, RunDirError> {
        self.follow(run, None).await
    }

    /// Attaches to a run that was ever started. One that was only published will never start, and
    /// one whose record a power cut has damaged is forgotten: the id is free again.
    ///
    /// # Errors
    /// [`RunDirError`] if its files cannot be read.
    #[boxed]
    pub async fn attach_or_withdraw(&self, run: &RunId) -> Result<Option<RunHandle>, RunDirError> {
        let attached = self.attach(run).await;
        if let Ok(Some(_)) = attached {
            return attached;
        }
        let (directory, damaged) = (RunDir::for_run(&self.inner.config.runs_dir, run), attached.is_err());
        let (inner, name) = (Arc::clone(&self.inner), run.clone());
        let withdrawn = blocking(move || {
            if set_aside(&directory, &name, &inner.config.seal)? {
                return Ok(true);
            }
            // The holder of the claim decides: a keeper that is on its way finds it taken. Nobody goes on with what is damaged.
            let free = directory.take_claim()? || damaged && directory.lock_holder()?.is_none();
            if free { directory.remove().map(|()| true) } else { Ok(false) }
        });
        match withdrawn.await? {
            true => Ok(None),
            false => self.attach(run).await,
        }
    }

    /// Settles what earlier hosts left: seals runs whose keeper died and ends what is left of them, stops runs that
    /// are kept but not in `live`, keeps unclaimed ones from ever starting, and removes half-made directories.
    ///
    /// # Errors
    /// [`RunDirError`] if the directory of runs cannot be listed. What fails for a single run is in the report.
    #[boxed]
    pub async fn sweep(&self, live: &[RunId]) -> Result<SweepReport, RunDirError> {
        let (inner, live) = (Arc::clone(&self.inner), live.to_vec());
        blocking(move || housekeeping::sweep(&inner.config.runs_dir, &inner.config.seal, &live)).await
    }

    async fn follow(
        &self,
        run: &RunId,
        keeper: Option<tokio::process::Child>,
    ) -> Result<Option<RunHandle>, RunDirError> {
        if let Some(shared) = self.lock_followed().get(run).and_then(Weak::upgrade) {
            return Ok(Some(RunHandle::new(shared)));
        }
        let directory = RunDir::for_run(&self.inner.config.runs_dir, run);
        let (inner, name_of_run) = (Arc::clone(&self.inner), run.clone());
        let read = blocking(move || {
            if !directory.is_of(&name_of_run, &inner.config.seal)? {
                return Ok(None);
            }
            let state = directory.state()?;
            if state == RunState::Unclaimed {
                return Ok(None);
            }
            let request = needed(&directory.file(name::REQUEST))?;
            crate::secrets::hold_those_of(&directory)?;
            if matches!(state, RunState::Kept) && directory.exists(&directory.file(name::STOP))? {
                // The host that recorded the stop may have died before the keeper was told; telling it twice does nothing.
                liveness::remind(&directory);
            }
            Ok(Some((directory, state, request)))
        });
        let Some((directory, state, request)) = read.await? else { return Ok(None) };
        let mut followed = self.lock_followed();
        if let Some(shared) = followed.get(run).and_then(Weak::upgrade) {
            return Ok(Some(RunHandle::new(shared)));
        }
        followed.retain(|_, shared| shared.strong_count() > 0);
        let shared = RunShared::follow(&self.inner.hub, directory, request, state, keeper);
        followed.insert(run.clone(), Arc::downgrade(&shared));
        Ok(Some(RunHandle::new(shared)))
    }

    fn lock_followed(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Weak<RunShared>>> {
        self.inner.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does file work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunDirError> + Send + 'static,
) -> Result<T, RunDirError> {
    match crate::spawn_blocking(work).await {
        Ok(done) => done,
        // Only a runtime that is shutting down drops such work.
        Err(error) => Err(RunDirError::Interrupted { source: error }),
    }
}
