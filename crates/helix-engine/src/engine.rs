//! The engine as its callers see it: jobs, conversations, and what they leave to read.
//!
//! Must not know HTTP or a terminal; both are clients of this.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use helix_agents::supervisor::Watching;
use helix_agents::{Grace, Supervisor, SupervisorConfig};
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{JobId, PhaseId, RunId, SessionId, TurnId};
use helix_job::session::SessionView;
use helix_job::{ErrorView, IllegalEvent, JobEvent, JobState, JobView, PhaseProgress, PhaseState, Recorded, Stage};
use helix_store::{
    Access, Acquire, Follower, JobFilter, JobPage, Journal, LeaseError, MAX_ROWS_PER_PAGE, SqliteJournal, StateDir,
    Stream,
};
use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admission::{Admission, Owner, Permit};
use crate::agent_run::{AgentRunner, Listener, RunError, RunTimeouts};
use crate::config::EngineConfig;
use crate::consultant::{ConsultantServices, Sessions, TurnError, TurnEvent, TurnRequest};
use crate::event_log::LogWriter;
use crate::failures::FailureService;
use crate::job::{EffectRunner, EffectServices, JobHandle, JobLog, JobLoop, LoopEnd, side_runs};
use crate::mutex::lock;
use crate::observer::Observer;
use crate::probes::Probes;
use crate::submit::{Submission, SubmitError, SubmitRequest};
use crate::tools::{Caller, Tools};
use helix_git::{GitEnvironment, wait_for_leftovers};

/// Longest time that each step of a stop may take while somebody in a chat waits for it.
const CHAT_GRACE: Duration = Duration::from_millis(700);
/// Events that a reader of the live activity may be behind before it misses some.
const ACTIVITY_BUFFER: usize = 4_096;
/// Events between a follower of the journal and its reader.
const FOLLOW_BUFFER: usize = 64;
/// How long a new host waits for git processes of a dead one.
const GIT_LEFTOVER_LIMIT: Duration = Duration::from_secs(30);
/// The state directory's lock already makes this process the only host; the lease gives its writes a fence, so that a
/// host that was suspended and replaced cannot write any more.
const HOST_LEASE: &str = "host";

/// A running engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) state: StateDir,
    pub(crate) config: EngineConfig,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) writer: LogWriter,
    pub(crate) runner: AgentRunner,
    pub(crate) gate_places: Admission,
    pub(crate) git: GitEnvironment,
    pub(crate) consultant: Arc<ConsultantServices>,
    pub(crate) probes: Probes,
    effects: EffectRunner,
    pub(crate) sessions: Sessions,
    pub(crate) jobs: Mutex<HashMap<JobId, JobHandle>>,
    /// One job at a time is taken up again: two that resume the same one would both write its next event.
    pub(crate) reopening: tokio::sync::Mutex<()>,
    pub(crate) failures: FailureService,
    /// Told when the loop of a job has ended and cleaned up.
    pub(crate) settled: tokio::sync::Notify,
    activity: broadcast::Sender<Activity>,
    pub(crate) tasks: TaskTracker,
    pub(crate) closing: CancellationToken,
}

/// Why something cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The beginning of an id fits several.
    #[error("{prefix:?} could be any of: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of those that it fits.
        candidates: Vec<String>,
    },
    /// There is no such thing.
    #[error("there is no {kind} {id:?}")]
    NotFound {
        /// What was looked for, such as `job`.
        kind: &'static str,
        id: String,
    },
    /// The job is over: nothing can be changed.
    #[error("job {id} is over ({status})")]
    Over { id: JobId, status: String },
    /// It cannot be done as things stand.
    #[error("{message}")]
    Refused { message: String },
    #[error("the journal failed")]
    Journal(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is recorded of a job cannot have happened in this order.
    #[error("the record of job {job} contradicts itself")]
    Contradiction {
        job: JobId,
        /// The first event that cannot follow.
        source: Box<IllegalEvent>,
    },
    /// Anything else of the surroundings.
    #[error("{message}")]
    Environment { message: String, hint: Option<String> },
}

/// What an agent does in a job, as it happens. Not kept: the run's record is.
#[derive(Debug, Clone)]
pub struct Activity {
    pub job: JobId,
    pub phase: PhaseId,
    pub run: RunId,
    pub event: AgentEvent,
}

impl Engine {
    /// Opens the engine on a state directory that this process holds: folds the journal, re-attaches to living runs,
    /// seals lost ones, and carries every unfinished job on.
    ///
    /// # Errors
    /// [`EngineError::Journal`] and [`EngineError::Environment`].
    pub async fn open(state: StateDir, config: EngineConfig) -> Result<Self, EngineError> {
        let journal = SqliteJournal::open(&state.database(), Access::ReadWrite).await;
        let journal: Arc<dyn Journal> = Arc::new(journal.map_err(journal_error)?);
        let wish = Acquire {
            name: HOST_LEASE.into(),
            owner: format!("pid {}", std::process::id()),
            ttl: Duration::from_millis(1),
            now: Timestamp::now(),
        };
        let lease = match journal.acquire(wish.clone()).await {
            // This process holds the state directory's lock: whoever has the lease is no more, and the clock was set back since.
            Err(LeaseError::Held { expires_at, .. }) => journal.acquire(Acquire { now: expires_at, ..wish }).await,
            other => other,
        };
        let fence = lease.map_err(journal_error)?.fence;
        let (keeper, keeper_args) = match config.keeper.split_first() {
            Some((program, args)) => (program.into(), args.to_vec()),
            None => (config.helix.clone(), vec!["keeper".to_owned()]),
        };
        let supervisor = Supervisor::new(SupervisorConfig {
            runs_dir: state.runs(),
            keeper,
            keeper_args,
            watching: Watching::default(),
        });
        let runner = AgentRunner::new(
            supervisor.map_err(environment_error)?,
            state.runs(),
            config.agents.clone(),
            Admission::to_agents(&config.admission),
        )
        .with_timeouts(config.timeouts);
        let (activity, _) = broadcast::channel(ACTIVITY_BUFFER);
        let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
        let writer = LogWriter { journal: Arc::clone(&journal), fence, crash: config.crash.clone() };
        let git = config.git.clone().owned_by(state.root());
        let failures = FailureService::new(state.root(), config.failures);
        let consultant = Arc::new(ConsultantServices {
            runner: runner.clone().with_timeouts(in_a_chat(config.timeouts)),
            writer: writer.clone(),
            config: config.consultant.clone(),
            projects: config.projects.clone(),
            config_dir: config.config_dir.clone(),
            helix: config.helix.clone(),
            tools: config.tools.clone(),
            closing: closing.clone(),
        });
        let gate_places = Admission::to_gates(&config.admission);
        let effects = EffectRunner::new(EffectServices {
            state: state.clone(),
            runner: runner.clone(),
            gate_places: gate_places.clone(),
            activity: activity.clone(),
            git: git.clone(),
            tools: config.tools.clone(),
            helix: config.helix.clone(),
            failures: failures.clone(),
        });
        tasks.spawn(runner.admission().clone().watch_memory(closing.clone()));
        let sessions = Sessions::new(Arc::clone(&consultant), state.sessions(), tasks.clone());
        let jobs = Mutex::default();
        let inner = Inner {
            state,
            config,
            journal,
            writer,
            runner,
            gate_places,
            git,
            consultant,
            probes: Probes::default(),
            effects,
            sessions,
            jobs,
            reopening: tokio::sync::Mutex::default(),
            settled: tokio::sync::Notify::new(),
            failures,
            activity,
            tasks,
            closing,
        };
        let engine = Self { inner: Arc::new(inner) };
        engine.recover().await?;
        engine.inner.tasks.spawn(engine.failure_observer().run());
        engine.inner.tasks.spawn(engine.clone().keep_conversations_few());
        Ok(engine)
    }

    fn failure_observer(&self) -> Observer {
        let inner = &self.inner;
        let engine = self.clone();
        Observer {
            journal: Arc::clone(&inner.journal),
            state: inner.state.clone(),
            failures: inner.failures.clone(),
            effects: inner.effects.clone(),
            consultant: Arc::clone(&inner.consultant),
            runner: inner.runner.clone(),
            validators: inner.config.consultant.enforcement.validators.iter().map(|one| one.word()).collect(),
            running: Box::new(move |job| lock(&engine.inner.jobs).get(job).cloned()),
            closing: inner.closing.clone(),
        }
    }

    /// Folds every unfinished job and carries it on; removes what no job needs any more.
    async fn recover(&self) -> Result<(), EngineError> {
        let inner = &self.inner;
        // Commands of gates are not kept by keepers: what a dead host left of them is ended before any gate runs again.
        // Its git processes are let finish: half of what they began is worse than waiting for it.
        let root = inner.state.root().to_path_buf();
        let swept = tokio::task::spawn_blocking(move || {
            (helix_process::sweep_orphans(&root), wait_for_leftovers(&root, GIT_LEFTOVER_LIMIT))
        });
        let (ended, left) = swept.await.map_err(environment_error)?;
        if ended > 0 {
            tracing::info!(ended, "ended processes of gates that a former host had started");
        }
        if left > 0 {
            tracing::warn!(left, "git processes of a former host do not end; going on beside them");
        }
        let (mut living, mut states) = (BTreeSet::new(), Vec::new());
        for view in self.all_jobs(JobFilter::unfinished()).await? {
            living.insert(view.id.clone());
            let events = helix_store::job_events(inner.journal.as_ref(), &view.id, 0).await.map_err(journal_error)?;
            match JobState::fold(&events) {
                Ok(state) => {
                    tracing::info!(job = %view.id, events = events.len(), "carrying on");
                    states.push((view.id, state));
                }
                Err(error) => {
                    tracing::error!(job = %view.id, %error, "this job's record contradicts itself; it is left alone")
                }
            }
        }
        let mut runs: Vec<RunId> = states.iter().flat_map(|(_, state)| open_runs(state)).collect();
        runs.extend(states.iter().flat_map(|(id, state)| open_side_runs(id, state)));
        runs.extend(inner.sessions.open_runs().await.map_err(journal_error)?);
        match inner.runner.sweep(&runs).await {
            Ok(report) => tracing::debug!(?report, "swept runs that nobody keeps"),
            Err(error) => tracing::warn!(%error, "runs that nobody keeps may be left"),
        }
        // Before anybody can go on with a job: what is resumed in a moment must not find its worktree half deleted.
        self.set_worktrees_aside(living).await;
        // All of them before any begins: who comes first must not take the place of an agent that lives.
        let places: Vec<_> = states.iter().map(|(id, state)| inner.effects.occupied(id, state)).collect();
        for ((id, state), places) in states.into_iter().zip(places) {
            self.start_loop_in(places, id, state);
        }
        inner.sessions.recover().await.map_err(journal_error)
    }

    /// Ends all loops. Agents go on under their keepers; the next engine re-attaches to them.
    pub async fn close(&self) {
        self.inner.closing.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    /// Checks a plan and its surroundings and starts the job.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was changed.
    pub async fn submit(&self, request: SubmitRequest) -> Result<Submission, SubmitError> {
        crate::submit::submit(self, request).await
    }

    /// Starts the loop of a job whose first event is in the journal.
    pub(crate) fn start_loop(&self, id: JobId, state: JobState) {
        self.start_loop_in(HashMap::new(), id, state);
    }

    fn start_loop_in(&self, places: HashMap<String, Permit>, id: JobId, state: JobState) {
        let inner = &self.inner;
        let crash = inner.config.crash.clone();
        let log = JobLog::new(id.clone(), state, inner.writer.clone());
        let (job_loop, handle) = JobLoop::new(log, inner.effects.clone(), places, inner.closing.clone(), crash);
        lock(&inner.jobs).insert(id.clone(), handle);
        let engine = self.clone();
        inner.tasks.spawn(self.clone().keep_status_file(id.clone()));
        inner.tasks.spawn(async move {
            match job_loop.run().await {
                LoopEnd::Settled => drop(lock(&engine.inner.jobs).remove(&id)),
                // Its handle says why it does not go on, to whoever looks at it or wants something of it.
                LoopEnd::Broken => {}
            }
            engine.inner.settled.notify_waiters();
        });
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobView>, EngineError> {
        Ok(self.all_jobs(filter).await?.into_iter().map(|view| self.live(view)).collect())
    }

    /// Some jobs, newest first: at most `limit` (and never more than 500) of those that are older than `after`.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn job_page(
        &self,
        filter: JobFilter,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<JobPage, EngineError> {
        let page = self.inner.journal.list_jobs(filter, after, limit).await.map_err(journal_error)?;
        Ok(JobPage { jobs: page.jobs.into_iter().map(|view| self.live(view)).collect(), next: page.next })
    }

    /// A job with what it waits for at this moment and what keeps it from being recorded: neither is anywhere in its record.
    fn live(&self, mut view: JobView) -> JobView {
        if view.status.is_final() {
            return view;
        }
        if view.error.is_none() {
            view.error = lock(&self.inner.jobs).get(&view.id).and_then(|handle| handle.blocked.now());
        }
        view = view.at(Timestamp::now());
        let owner = Owner::Job(view.id.clone());
        let mut waits = self.inner.runner.admission().waiting_of(&owner);
        waits.extend(self.inner.gate_places.waiting_of(&owner));
        view.with_waits(waits.into_iter().filter_map(|(phase, wait)| Some((phase?, wait))))
    }

    async fn all_jobs(&self, filter: JobFilter) -> Result<Vec<JobView>, EngineError> {
        let (mut jobs, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.inner.journal.list_jobs(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await;
            let page = page.map_err(journal_error)?;
            jobs.extend(page.jobs);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(jobs);
            }
        }
    }

    /// A job by its id or a unique prefix of it.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Ambiguous`], [`EngineError::Journal`].
    pub async fn job(&self, id: &str) -> Result<JobView, EngineError> {
        let found = self.inner.journal.job(id.to_owned()).await.map_err(|error| match error {
            helix_store::ReadError::Ambiguous { prefix, candidates } => EngineError::Ambiguous { prefix, candidates },
            other => journal_error(other),
        })?;
        let view = found.ok_or_else(|| EngineError::NotFound { kind: "job", id: id.to_owned() })?;
        Ok(self.live(view))
    }

    /// Asks a job to stop; returns once the request is durable.
    ///
    /// # Errors
    /// [`EngineError::Over`] when there is nothing left to stop, and as for [`Engine::job`].
    pub async fn cancel(&self, id: &JobId, by: &str) -> Result<JobView, EngineError> {
        let view = self.job(id.as_str()).await?;
        let handle = lock(&self.inner.jobs).get(id).cloned();
        if let Some(broken) = handle.as_ref().and_then(JobHandle::broken) {
            return Err(refused(broken));
        }
        let asked = match handle {
            Some(handle) if !view.status.is_final() => handle.cancel(by).await,
            Some(_) | None => false,
        };
        let view = self.job(id.as_str()).await?;
        if asked {
            return Ok(view);
        }
        Err(EngineError::Over { id: id.clone(), status: view.status.word().to_owned() })
    }

    /// Events of a job after a number, first those that are there, then new ones as they are written. The stream ends
    /// after the job's last event. Any number of readers; none misses an event.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    pub async fn job_events(
        &self,
        id: &JobId,
        after: u64,
    ) -> Result<mpsc::Receiver<Result<Recorded<JobEvent>, EngineError>>, EngineError> {
        let view = self.job(id.as_str()).await?;
        let (sender, receiver) = mpsc::channel(FOLLOW_BUFFER);
        if view.status.is_final() && after >= view.last_event {
            return Ok(receiver);
        }
        let (journal, stream) = (Arc::clone(&self.inner.journal), Stream::Job(id.clone()));
        let id = id.clone();
        let closing = self.inner.closing.clone();
        self.inner.tasks.spawn(async move {
            let mut follower = Follower::new(journal.as_ref(), stream, after);
            loop {
                let next = tokio::select! {
                    next = follower.next() => next,
                    () = sender.closed() => return,
                    () = closing.cancelled() => return,
                };
                let event = match next {
                    Ok(Some(stored)) => stored.decode::<JobEvent>().map_err(journal_error),
                    Ok(None) => return,
                    Err(error) => Err(journal_error(error)),
                };
                let last = match &event {
                    Err(_) => true,
                    // A job that was resumed has events after its end.
                    Ok(Recorded { number, event: JobEvent::JobFinished { .. }, .. }) => {
                        let view = journal.job(id.to_string()).await.ok().flatten();
                        view.is_none_or(|view| view.last_event <= *number)
                    }
                    Ok(_) => false,
                };
                if sender.send(event).await.is_err() || last {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    /// What agents do in jobs, as it happens (of all jobs). A reader that is too slow misses some.
    pub fn activity(&self) -> broadcast::Receiver<Activity> {
        self.inner.activity.subscribe()
    }

    /// The events of a run, from its first; ends when the run has ended (`follow`) or at what is there now.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Environment`].
    pub async fn run_events(&self, run: &RunId, follow: Follow) -> Result<mpsc::Receiver<AgentEvent>, EngineError> {
        if !tokio::fs::try_exists(self.inner.runner.run_dir(run)).await.unwrap_or(false) {
            return Err(EngineError::NotFound { kind: "run", id: run.to_string() });
        }
        let (sender, receiver) = mpsc::channel(FOLLOW_BUFFER);
        let (runner, run, closing) = (self.inner.runner.clone(), run.clone(), self.inner.closing.clone());
        self.inner.tasks.spawn(async move {
            let mut listener = ChannelListener { sender: sender.clone() };
            let read = async {
                match follow {
                    Follow::UntilEnd => runner.follow(&run, &mut listener).await.map(|_| ()),
                    Follow::Now => runner.replay(&run, &mut listener).await,
                }
            };
            let result = tokio::select! {
                result = read => result,
                () = sender.closed() => Ok(()),
                () = closing.cancelled() => Err(RunError::Closing),
            };
            if let Err(error) = result {
                tracing::warn!(%run, %error, "a run's record cannot be read to its end");
            }
        });
        Ok(receiver)
    }

    /// Conversations, newest first.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn sessions(&self) -> Result<Vec<SessionView>, EngineError> {
        let (mut sessions, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.inner.journal.list_sessions(cursor, MAX_ROWS_PER_PAGE).await.map_err(journal_error)?;
            sessions.extend(page.sessions);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(sessions);
            }
        }
    }

    /// A conversation.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    pub async fn session(&self, id: &SessionId) -> Result<SessionView, EngineError> {
        let found = self.inner.journal.session(id.clone()).await.map_err(journal_error)?;
        let view = found.ok_or_else(|| EngineError::NotFound { kind: "session", id: id.to_string() })?;
        Ok(SessionView { blocked: self.inner.sessions.blocked(id), ..view })
    }

    /// Answers a user message: opens the session if need be, queues behind its other turns, runs the agent. The turn
    /// goes on when the receiver is dropped; [`Engine::stop_turn`] ends it.
    ///
    /// # Errors
    /// [`TurnError`] when it cannot begin.
    pub async fn turn(&self, request: TurnRequest) -> Result<mpsc::Receiver<TurnEvent>, TurnError> {
        self.inner.sessions.turn(request).await
    }

    /// Stops a turn of a session if it is running; returns whether it was. A turn that waits behind it is not touched.
    pub fn stop_turn(&self, session: &SessionId, turn: &TurnId) -> bool {
        self.inner.sessions.stop_turn(session, turn)
    }

    /// Helix's own tools, as agents and MCP clients call them.
    pub fn tools(&self, caller: Caller) -> Tools {
        Tools::new(self.clone(), caller)
    }
}

/// Timeouts for agents that somebody in a chat waits for: a stop ends a turn within two seconds.
fn in_a_chat(timeouts: RunTimeouts) -> RunTimeouts {
    let step = |step: Duration| step.min(CHAT_GRACE);
    let grace = Grace { interrupt: step(timeouts.grace.interrupt), terminate: step(timeouts.grace.terminate) };
    RunTimeouts { grace, ..timeouts }
}

/// Runs of a job whose end is not in the journal yet.
fn open_runs(state: &JobState) -> Vec<RunId> {
    let tries = state.active().into_iter().flat_map(|active| &active.phases).flat_map(|progress| &progress.attempts);
    tries.filter(|one| one.run_end.is_none() && one.fault.is_none()).map(|one| one.run.clone()).collect()
}

/// Runs of reviewers and advisers whose answer is not in the journal yet.
fn open_side_runs(job: &JobId, state: &JobState) -> Vec<RunId> {
    let Some(active) = state.active() else { return Vec::new() };
    let first = |progress: &PhaseProgress| match progress.state {
        PhaseState::Working { stage: Stage::Reviewing { gate, round } } => {
            Some(RunId::for_review(job, &progress.id, progress.attempts.len() as u32, gate, round))
        }
        PhaseState::Escalating { round, .. } => Some(RunId::for_advice(job, &progress.id, round)),
        _ => None,
    };
    active.phases.iter().filter_map(first).flat_map(|run| side_runs(&run, &active.spec.policy)).collect()
}

struct ChannelListener {
    sender: mpsc::Sender<AgentEvent>,
}

impl Listener for ChannelListener {
    async fn hear(&mut self, event: AgentEvent) {
        // A reader that has gone ends the whole task by `closed`.
        drop(self.sender.send(event).await);
    }
}

/// What cannot be done since this host cannot carry a job on.
pub(crate) fn refused(broken: ErrorView) -> EngineError {
    let hint = broken.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    EngineError::Refused { message: format!("{}{hint}", broken.message) }
}

pub(crate) fn journal_error(error: impl std::error::Error + Send + Sync + 'static) -> EngineError {
    EngineError::Journal(Box::new(error))
}

/// The state that the events of a job add up to.
pub(crate) fn folded(job: &JobId, events: &[Recorded<JobEvent>]) -> Result<JobState, EngineError> {
    JobState::fold(events).map_err(|source| EngineError::Contradiction { job: job.clone(), source: Box::new(source) })
}

pub(crate) fn environment_error(error: impl std::error::Error) -> EngineError {
    let fault = crate::job::environment(&error);
    EngineError::Environment { message: fault.message, hint: fault.hint }
}

pub(crate) fn random() -> u64 {
    uuid::Uuid::now_v7().as_u64_pair().1
}

/// Whether to wait for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    UntilEnd,
    Now,
}
