//! A running host as its callers see it: jobs, sessions, projects, reports, and the Consultant who answers.
//!
//! Must not know HTTP or a terminal; both are clients of this.

use async_recursion::async_recursion as boxed;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helix_agents::supervisor::Watching;
use helix_agents::{Supervisor, SupervisorConfig};
use helix_core::ids::RunId;
use helix_job::{How, Person};
use helix_process::{RunDir, RunSeal, give_memory_back, spawn_blocking};
use helix_runs::secret::RunTokens;
use helix_store::{Access, Journal, Key, SqliteJournal, StateDir, Subscription, kept_key};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admission::Admission;
use crate::agent_run::AgentRunner;
use crate::config::EngineConfig;
use crate::consultant::Consultant;
use crate::error::EngineError;
use crate::event_log::LogWriter;
use crate::failures::FailureService;
use crate::job::EffectRunner;
use crate::jobs::Jobs;
use crate::keys::Keys;
use crate::logins::Logins;
use crate::observer::Observer;
use crate::projects::Projects;
use crate::reports::Reports;
use crate::services::Services;
use crate::sessions::Sessions;

/// The state directory's lock already makes this process the only host; the fence keeps a host that was suspended and replaced from
/// writing.
const HOST_FENCE: &str = "host";
/// From something recorded until memory is given back: a conversation is let go a minute after its last turn.
const MEMORY_PAUSE: Duration = Duration::from_secs(70);

/// A running engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    services: Arc<Services>,
    jobs: Arc<Jobs>,
    consultant: Arc<Consultant>,
    sessions: Arc<Sessions>,
    projects: Arc<Projects>,
    reports: Arc<Reports>,
    keys: Arc<Keys>,
    logins: Arc<Logins>,
}

impl Engine {
    /// Opens the engine on a state directory that this process holds: folds the journal, re-attaches to living runs,
    /// seals lost ones, and carries every unfinished job on.
    ///
    /// # Errors
    /// [`EngineError::Journal`] and [`EngineError::Environment`].
    #[boxed]
    pub async fn open(state: StateDir, config: EngineConfig) -> Result<Self, EngineError> {
        let config = Arc::new(config);
        let writer = open_journal(&state, &config).await?;
        let run_key = kept_key(&state.root().join("run.key")).map_err(EngineError::environment)?;
        let runner = agent_runner(&state, &config, run_key)?;
        let crash = config.crash.clone();
        let git = config.git.clone().owned_by(state.root()).telling(move |step| crash.pass(|| step));
        let failures = FailureService::new(state.root(), config.failures);
        let link_key = kept_key(&state.root().join("link.key")).map_err(EngineError::environment)?;
        let tokens = RunTokens::new(run_key);
        let keys = Arc::new(Keys::open(state.root())?);
        let logins = Arc::new(Logins::open(state.root(), Arc::clone(&keys))?);
        let services = Arc::new(Services {
            state,
            writer,
            runner,
            helix: config.helix.clone(),
            tools: config.tools.clone(),
            tokens,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        });
        let projects = Arc::new(Projects::new(Arc::clone(&config), git.clone()));
        let reports =
            Arc::new(Reports { services: Arc::clone(&services), failures: failures.clone(), git: git.clone() });
        let gate_places = Admission::to_gates(&config.admission);
        let effects = EffectRunner::new(Arc::clone(&services), gate_places, git, failures.clone());
        let jobs = Jobs::new(Arc::clone(&services), Arc::clone(&config), Arc::clone(&projects), effects);
        let jobs = Arc::new(jobs);
        let consultant = Consultant::new(
            Arc::clone(&services),
            config.consultant.clone(),
            config.projects.clone(),
            config.roots.clone(),
            config.config_dir.clone(),
        );
        let consultant = Arc::new(consultant);
        let sessions = Arc::new(Sessions {
            services: Arc::clone(&services),
            config: config.consultant.clone(),
            consultant: Arc::clone(&consultant),
            jobs: Arc::clone(&jobs),
            link_key,
        });
        services.tasks.spawn(services.runner.admission().clone().watch_memory(services.closing.clone()));
        jobs.recover(consultant.open_runs().await.map_err(EngineError::journal)?).await?;
        consultant.recover().await.map_err(EngineError::journal)?;
        let observer = Observer {
            services: Arc::clone(&services),
            jobs: Arc::clone(&jobs),
            failures,
            validators: config.consultant.enforcement.validators.iter().map(|one| one.word()).collect(),
        };
        services.tasks.spawn(observer.run());
        services.tasks.spawn(Arc::clone(&sessions).keep_few());
        let tidy = async || spawn_blocking(give_memory_back).await.is_ok();
        let changes = services.journal().subscribe();
        services.tasks.spawn(services.closing.clone().run_until_cancelled_owned(tidy_after(
            changes,
            MEMORY_PAUSE,
            tidy,
        )));
        Ok(Self { services, jobs, consultant, sessions, projects, reports, keys, logins })
    }

    /// Ends all loops. Agents go on under their keepers; the next engine re-attaches to them.
    #[boxed]
    pub async fn close(&self) {
        self.services.closing.cancel();
        self.services.tasks.close();
        self.services.tasks.wait().await;
    }

    /// Whether it is being closed: what ends now goes on elsewhere.
    pub fn is_closing(&self) -> bool {
        self.services.closing.is_cancelled()
    }

    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Sessions and their turns, as they are recorded.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Who answers in sessions.
    pub fn consultant(&self) -> &Consultant {
        &self.consultant
    }

    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// The keys of people and chat clients.
    pub fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// Who is logged in with a browser.
    pub fn logins(&self) -> &Arc<Logins> {
        &self.logins
    }

    /// The person whose host this is, authenticated so.
    pub fn owner(&self, how: How) -> Person {
        Person::new(&self.projects.config.owner, how)
    }

    /// The directories of runs: whatever stands within one of them is no person.
    pub fn runs(&self) -> PathBuf {
        self.services.state.runs()
    }

    /// The state directory, links resolved: what lies there is Helix's own, or of one session or job.
    pub(crate) fn state_directory(&self) -> &Path {
        self.services.state.root()
    }

    /// The run that a token was made for, whether it still works or not; `None` if it is no run's.
    pub fn run_of_token(&self, token: &str) -> Option<RunId> {
        self.services.tokens.run(token)
    }

    /// Whether the agent of a run is at work: its token opens nothing any more once it has ended.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn is_at_work(&self, run: &RunId) -> Result<bool, EngineError> {
        let directory = RunDir::at(self.services.runner.run_dir(run));
        let has_ended = helix_process::spawn_blocking(move || directory.has_ended().unwrap_or(true));
        if has_ended.await.map_err(EngineError::environment)? {
            return Ok(false);
        }
        if let Some((session, turn)) = run.session_and_turn() {
            let view = self.services.journal().session(session).await?;
            return Ok(view.is_some_and(|view| view.running().is_some_and(|running| running.id == turn)));
        }
        self.jobs.is_at_work(run).await
    }

    /// What is known of jobs and failures: evidence, differences, and the memory.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }
}

/// Opens the journal for writing, with a fence against hosts that were here before.
async fn open_journal(state: &StateDir, config: &EngineConfig) -> Result<LogWriter, EngineError> {
    let journal = SqliteJournal::open(&state.database(), Access::ReadWrite).await;
    let journal: Arc<dyn Journal> = Arc::new(journal.map_err(EngineError::journal)?);
    let fence = journal.take_over(HOST_FENCE.into()).await.map_err(EngineError::journal)?;
    Ok(LogWriter { journal, fence, crash: config.crash.clone() })
}

fn agent_runner(state: &StateDir, config: &EngineConfig, key: Key) -> Result<AgentRunner, EngineError> {
    let (runs_dir, keeper, keeper_args) = (state.runs(), config.helix.clone(), vec!["keeper".to_owned()]);
    let (watching, sandbox) = (Watching::default(), config.sandbox.clone());
    let seal = RunSeal::new(key);
    let supervisor = SupervisorConfig { runs_dir, keeper, keeper_args, watching, sandbox, seal };
    let supervisor = Supervisor::new(supervisor).map_err(EngineError::environment)?;
    let admission = Admission::to_agents(&config.admission);
    Ok(AgentRunner::new(supervisor, state.runs(), config.agents.clone(), admission)
        .with_timeouts(config.timeouts)
        .with_programs(config.helix.parent()))
}

/// Tidies a while after something was recorded, once conversations that were let go are gone from memory; until that fails.
async fn tidy_after(mut changes: Subscription, pause: Duration, tidy: impl AsyncFn() -> bool) {
    while changes.recv().await != Err(RecvError::Closed) {
        // What else was recorded by now is tidied up with it.
        changes = changes.resubscribe();
        tokio::time::sleep(pause).await;
        if !tidy().await {
            return;
        }
    }
}

#[cfg(test)]
#[path = "engine_test.rs"]
mod tests;
