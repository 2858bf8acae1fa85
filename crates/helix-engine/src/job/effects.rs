//! Carries effects out: worktrees, agent runs, commits, gates. Each returns the event that says what came of it.
//!
//! Must not know what follows from an event: that is `decide`'s business.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use helix_agents::{AgentAsk, SessionRef, ToolRules};
use helix_core::agent_event::AgentEvent;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{AgentSessionId, CommitId, JobId, PhaseId, RunId};
use helix_core::job::{Active, Effect, JobEvent, JobSpec, JobState, Tip, Try};
use helix_core::plan::Phase;
use helix_store::StateDir;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::agent_run::{AgentRunner, Listener, RunError, RunLimits, writing_below};
use crate::command::ToolEnvironment;
use crate::engine::Activity;
use crate::gates::GateCheckouts;
use crate::git::{AttemptKey, CommitText, GitEnvironment, GitError, Merged, Repository, Workspaces};
use crate::prompt;

/// Tools that a phase's agent may use without asking, in the Claude dialect's words, besides changing files in its own
/// worktree. Everything else is denied: a resumed session remembers paths of the former try's worktree, and what it wrote
/// there would be lost.
const PHASE_TOOLS: [&str; 8] = ["Bash", "Read", "Glob", "Grep", "LS", "Task", "Agent", "TodoWrite"];

/// Carries out the effects of all jobs of an engine.
#[derive(Clone)]
pub(crate) struct Carrier {
    shared: Arc<Shared>,
}

struct Shared {
    state: StateDir,
    runner: AgentRunner,
    default_agent: String,
    activity: broadcast::Sender<Activity>,
    git: GitEnvironment,
    /// One set of long-lived git processes for each repository.
    workspaces: Mutex<HashMap<PathBuf, Workspaces>>,
    /// Cancelled for runs that are to stop.
    stops: Mutex<HashMap<RunId, CancellationToken>>,
    /// Who is using which job's clean checkout.
    checkouts: GateCheckouts,
}

impl Carrier {
    pub(crate) fn new(
        state: StateDir,
        runner: AgentRunner,
        default_agent: String,
        activity: broadcast::Sender<Activity>,
        git: GitEnvironment,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                state,
                runner,
                default_agent,
                activity,
                git,
                workspaces: Mutex::default(),
                stops: Mutex::default(),
                checkouts: GateCheckouts::default(),
            }),
        }
    }

    /// The future that carries an effect out. It owns all that it needs of the job's state.
    pub(crate) fn carry_out(
        &self,
        job: JobId,
        effect: Effect,
        state: &JobState,
        cancel: CancellationToken,
    ) -> impl Future<Output = Option<JobEvent>> + Send + use<> {
        let active = state.active().cloned();
        let this = self.clone();
        async move {
            let active = active?;
            match effect {
                Effect::StartAttempt { phase, attempt, parents, after, resume, correction } => {
                    let faulted = |fault| JobEvent::AttemptFaulted { phase: phase.clone(), attempt, fault };
                    Some(match this.start_attempt(&job, &active, &phase, attempt, parents, after).await {
                        Ok((base, start)) => JobEvent::AttemptStarted {
                            run: RunId::for_attempt(&job, &phase, attempt),
                            phase,
                            attempt,
                            base,
                            start,
                            resume,
                            correction,
                        },
                        Err(fault) => faulted(fault),
                    })
                }
                Effect::RunAgent { phase, attempt } => this.run_agent(&job, &active, &phase, attempt).await,
                Effect::StopAgent { phase, attempt } => {
                    this.stop_token(&RunId::for_attempt(&job, &phase, attempt)).cancel();
                    None
                }
                Effect::CommitResult { phase, attempt } => {
                    Some(this.commit_result(&job, &active, &phase, attempt).await)
                }
                Effect::RunGate { phase, attempt, gate } => {
                    this.run_gate(&job, &active, &phase, attempt, gate, cancel).await
                }
                Effect::Integrate { tips } => this.integrate(&job, &active, tips, cancel).await,
                Effect::Conclude { end } => Some(JobEvent::JobFinished { end }),
            }
        }
    }

    /// Removes the worktrees of a job that is over; its branches stay.
    pub(crate) async fn clean_up(&self, state: &JobState) {
        let Some(active) = state.active() else { return };
        let runs = active.phases.iter().flat_map(|progress| &progress.tries).map(|one| &one.run);
        let job =
            runs.clone().next().and_then(|run| run.as_str().split_once('.')).and_then(|(job, _)| JobId::new(job).ok());
        let Some(job) = job else { return };
        let spaces = match self.workspaces(&active.spec).await {
            Ok(spaces) => spaces,
            Err(error) => return tracing::warn!(%job, message = error.message, "worktrees are left"),
        };
        let removed = blocking({
            let job = job.clone();
            move || spaces.remove_job(&job)
        });
        if let Err(error) = removed.await {
            tracing::warn!(%job, message = error.message, "worktrees are left");
        }
    }

    async fn start_attempt(
        &self,
        job: &JobId,
        active: &Active,
        phase: &PhaseId,
        attempt: u32,
        parents: Vec<Tip>,
        after: Option<(CommitId, CommitId)>,
    ) -> Result<(CommitId, CommitId), Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let key = AttemptKey { job: job.clone(), phase: phase.clone(), attempt };
        let (origin, inputs) = (active.spec.repo.base.clone(), phase_of(active, phase)?.inputs.clone());
        let phase = phase.clone();
        blocking_fault(move || {
            let (start, base) = match after {
                Some((start, base)) => (start, base),
                None => {
                    let base = base_of(spaces.repository(), &phase, &parents, origin)?;
                    (base.clone(), base)
                }
            };
            super::inputs::check_inputs(spaces.repository(), &base, &inputs)?;
            spaces.prepare_attempt(&key, &start).map_err(|error| error.fault())?;
            Ok((base, start))
        })
        .await
    }

    async fn run_agent(&self, job: &JobId, active: &Active, id: &PhaseId, attempt: u32) -> Option<JobEvent> {
        let faulted = |fault| Some(JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault });
        let (phase, this) = match (phase_of(active, id), try_of(active, id, attempt)) {
            (Ok(phase), Ok(this)) => (phase, this),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        let cwd = AttemptKey { job: job.clone(), phase: id.clone(), attempt }.directory(&self.shared.state.worktrees());
        let ask = match self.ask(&active.spec, phase, this, cwd) {
            Ok(ask) => ask,
            Err(fault) => return faulted(fault),
        };
        let agent = phase.agent.clone().unwrap_or_else(|| self.shared.default_agent.clone());
        let stop = self.stop_token(&this.run);
        let limits = RunLimits { deadline: Some(phase.timeout.duration()), stop: &stop };
        let mut listener = Reporter {
            job: job.clone(),
            phase: id.clone(),
            run: this.run.clone(),
            activity: self.shared.activity.clone(),
        };
        let result = self.shared.runner.run(&agent, &this.run, || ask, limits, &mut listener).await;
        match result {
            Ok(report) => {
                lock(&self.shared.stops).remove(&this.run);
                Some(JobEvent::RunFinished {
                    phase: id.clone(),
                    attempt,
                    facts: Box::new(report.facts),
                    usage: report.usage,
                    session: report.session,
                    duration_ms: report.duration_ms,
                })
            }
            Err(RunError::Closing) => None,
            Err(error) => faulted(run_fault(&error)),
        }
    }

    fn ask(&self, spec: &JobSpec, phase: &Phase, this: &Try, cwd: PathBuf) -> Result<AgentAsk, Fault> {
        let (session, prompt) = match (&this.resume, &this.correction) {
            (Some(session), Some(correction)) => {
                (SessionRef::Resume(session.clone()), prompt::correction(phase, correction, &cwd.to_string_lossy()))
            }
            (resume, correction) => {
                let session = match resume {
                    Some(session) => SessionRef::Resume(session.clone()),
                    None => SessionRef::New(new_session()?),
                };
                (session, prompt::phase(spec, phase, correction.as_ref()))
            }
        };
        let prompt = prompt.map_err(|error| environment(&error))?;
        let writes = writing_below(&cwd.to_string_lossy());
        let mut ask = AgentAsk::new(prompt, session, cwd, self.shared.runner.agent_files(&this.run));
        ask.model = phase.model.clone();
        ask.max_turns = phase.max_turns;
        ask.budget_usd = phase.budget_usd;
        ask.tools =
            ToolRules { allow: PHASE_TOOLS.map(str::to_owned).into_iter().chain(writes).collect(), deny: Vec::new() };
        ask.label = Some(phase.id.to_string());
        ask.take = Some(this.number);
        Ok(ask)
    }

    async fn commit_result(&self, job: &JobId, active: &Active, id: &PhaseId, attempt: u32) -> JobEvent {
        match self.try_commit(job, active, id, attempt).await {
            Ok(result) => JobEvent::ResultCommitted { phase: id.clone(), attempt, result },
            Err(fault) => JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault },
        }
    }

    async fn try_commit(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        attempt: u32,
    ) -> Result<helix_core::job::Committed, Fault> {
        let (phase, this) = (phase_of(active, id)?, try_of(active, id, attempt)?);
        let spaces = self.workspaces(&active.spec).await?;
        let key = AttemptKey { job: job.clone(), phase: id.clone(), attempt };
        let text = CommitText { subject: format!("{}: {}", id, one_line(&phase.name)), body: String::new() };
        let (base, start) = (this.base.clone(), this.start.clone());
        let made = blocking(move || spaces.commit_attempt(&key, &base, &start, &text)).await?;
        for repair in &made.repairs {
            tracing::warn!(%job, phase = %id, attempt, %repair, "mended what the agent left");
        }
        Ok(made.committed)
    }

    /// The worktrees of a job's repository.
    pub(super) async fn workspaces(&self, spec: &JobSpec) -> Result<Workspaces, Fault> {
        let path = PathBuf::from(&spec.repo.path);
        if let Some(known) = lock(&self.shared.workspaces).get(&path) {
            return Ok(known.clone());
        }
        let (environment, root) = (self.shared.git.clone(), self.shared.state.worktrees());
        let spaces = blocking_fault({
            let path = path.clone();
            move || {
                let repository = Repository::open(&path, environment).map_err(|error| Fault {
                    kind: FaultKind::Environment,
                    message: error.to_string(),
                    hint: error.hint(),
                })?;
                Workspaces::new(repository, &root).map_err(|error| error.fault())
            }
        })
        .await?;
        Ok(lock(&self.shared.workspaces).entry(path).or_insert(spaces).clone())
    }

    pub(super) fn state(&self) -> &StateDir {
        &self.shared.state
    }

    pub(super) fn checkouts(&self) -> &GateCheckouts {
        &self.shared.checkouts
    }

    /// The environment of gates' commands: what the phase's agent gets of the surroundings, without its secrets [28].
    pub(super) fn tool_environment(&self, phase: &Phase) -> ToolEnvironment {
        let agent = phase.agent.as_deref().unwrap_or(&self.shared.default_agent);
        let path = self.shared.runner.profile(agent).ok().and_then(|profile| profile.env.get("PATH").cloned());
        let environment = ToolEnvironment::from_process(&[]);
        match path {
            Some(path) => environment.with("PATH", path),
            None => environment,
        }
    }

    fn stop_token(&self, run: &RunId) -> CancellationToken {
        lock(&self.shared.stops).entry(run.clone()).or_default().clone()
    }
}

/// Where a phase starts: the job's base, or its dependencies' results put together.
fn base_of(repository: &Repository, phase: &PhaseId, parents: &[Tip], origin: CommitId) -> Result<CommitId, Fault> {
    if parents.is_empty() {
        return Ok(origin);
    }
    let message = format!("Combine what {phase} builds on");
    match repository.merge_tips(parents, &message).map_err(|error| error.fault())? {
        Merged::Contained(commit) | Merged::Combined(commit) => Ok(commit.id),
        Merged::Conflict(conflict) => Err(Fault {
            kind: FaultKind::Environment,
            message: format!("{phase} cannot start: {conflict}"),
            hint: Some("let one of the two phases depend on the other, or give each its own files".into()),
        }),
    }
}

struct Reporter {
    job: JobId,
    phase: PhaseId,
    run: RunId,
    activity: broadcast::Sender<Activity>,
}

impl Listener for Reporter {
    async fn hear(&mut self, event: AgentEvent) {
        // Nobody listening is the normal case.
        if self.activity.receiver_count() > 0 {
            let (job, phase, run) = (self.job.clone(), self.phase.clone(), self.run.clone());
            drop(self.activity.send(Activity { job, phase, run, event }));
        }
    }
}

pub(super) fn phase_of<'a>(active: &'a Active, id: &PhaseId) -> Result<&'a Phase, Fault> {
    active.spec.plan.phase(id).ok_or_else(|| internal(format!("the plan has no phase {id}")))
}

pub(super) fn try_of<'a>(active: &'a Active, id: &PhaseId, attempt: u32) -> Result<&'a Try, Fault> {
    let tries = active.progress(id).map(|progress| progress.tries.as_slice()).unwrap_or_default();
    tries.iter().find(|one| one.number == attempt).ok_or_else(|| internal(format!("phase {id} has no try {attempt}")))
}

/// Runs blocking git work away from the runtime's threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, Fault> {
    blocking_fault(move || work().map_err(|error| error.fault())).await
}

pub(super) async fn blocking_fault<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(internal(format!("a task of Helix ended early: {error}"))),
    }
}

fn run_fault(error: &RunError) -> Fault {
    let hint = match error {
        RunError::UnknownAgent { .. } => "add the agent to helix.toml, or name one that is there",
        RunError::Invocation { .. } => "run `helix doctor`",
        RunError::Start { .. } | RunError::Record { .. } | RunError::Unknown { .. } => {
            "check that the state directory is writable and not full"
        }
        RunError::Closing => "start Helix again: the run goes on",
    };
    Fault { hint: Some(hint.into()), ..environment(error) }
}

/// A fault of the surroundings, with all causes in one line.
pub(crate) fn environment(error: &dyn std::error::Error) -> Fault {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        message.push_str(": ");
        message.push_str(&next.to_string());
        cause = next.source();
    }
    Fault { kind: FaultKind::Environment, message, hint: None }
}

fn internal(message: String) -> Fault {
    Fault { kind: FaultKind::Environment, message, hint: Some("this is a defect of Helix: please report it".into()) }
}

fn new_session() -> Result<AgentSessionId, Fault> {
    AgentSessionId::new(uuid::Uuid::now_v7().to_string()).map_err(|error| environment(&error))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A map of handles is whole at every step: a panic elsewhere does not make it wrong.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
