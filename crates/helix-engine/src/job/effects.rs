//! Carries effects out: worktrees, agent runs, commits, gates. Each returns the event that says what came of it.
//!
//! Must not know what follows from an event: that is `decide`'s business.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use helix_agents::{AgentAsk, Keeping, Limit, McpAccess, SessionRef, Shell, ToolAccess};
use helix_core::agent_event::AgentEvent;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{AgentSessionId, CommitId, JobId, PhaseId, RunId};
use helix_failure::memory::Work;
use helix_job::{
    Active, Attempt, Conflict, Effect, JobEvent, JobSpec, JobState, PhaseProgress, PhaseState, Stage, Tip,
};
use helix_plan::Phase;
use helix_store::StateDir;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::base::{base_of, conflict_event, marked_base, unresolved};
use crate::activity::Activity;
use crate::admission::{Admission, Owner, Permit, Ticket, Urgency};
use crate::agent_run::{AgentRunner, Entry, Listener, RunError, RunLimits};
use crate::failures::FailureService;
use crate::mutex::lock;
use crate::prompt;
use crate::services::Services;
use helix_gates::GateCheckouts;
use helix_git::{AttemptKey, GitEnvironment, GitError, MergeConflict, Workspaces};

/// Tools of Helix itself that a phase's agent may use.
const PHASE_MCP_TOOLS: [&str; 4] = ["ask_user", "adr_check", "plan_check", "similar_failures"];
/// Most of each side of a conflict that an agent is shown in its prompt, in bytes.
const SIDE_SHOWN: usize = 30 << 10;

/// Carries out the effects of all jobs of an engine.
#[derive(Clone)]
pub(crate) struct EffectRunner {
    shared: Arc<Shared>,
}

/// What the effects of all jobs work with, named once by the engine.
pub(crate) struct EffectServices {
    pub(crate) host: Arc<Services>,
    /// Who may run the command of a gate now.
    pub(crate) gate_places: Admission,
    pub(crate) activity: broadcast::Sender<Activity>,
    pub(crate) git: GitEnvironment,
    /// Has what is known about earlier failures, for prompts.
    pub(crate) failures: FailureService,
}

/// What came of an effect.
#[derive(Default)]
pub(crate) struct EffectOutcome {
    /// The answer, which is recorded.
    pub(crate) event: Option<JobEvent>,
    /// The place in which the attempt that has started runs its agent.
    pub(crate) place: Option<Permit>,
}

struct Shared {
    services: EffectServices,
    /// One set of long-lived git processes for each repository.
    workspaces: Mutex<HashMap<PathBuf, Workspaces>>,
    /// Cancelled for runs that are to stop.
    stops: Mutex<HashMap<RunId, CancellationToken>>,
    /// Who is using which job's clean checkout.
    checkouts: GateCheckouts,
    /// Deliveries that this host has begun and not yet carried out.
    deliveries: Mutex<HashSet<String>>,
    /// Who is landing in which repository: results of one host land one after the other.
    landings: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

impl EffectRunner {
    pub(crate) fn new(services: EffectServices) -> Self {
        Self {
            shared: Arc::new(Shared {
                services,
                workspaces: Mutex::default(),
                stops: Mutex::default(),
                checkouts: GateCheckouts::default(),
                deliveries: Mutex::default(),
                landings: Mutex::default(),
            }),
        }
    }

    /// What waits until an attempt may begin; `None` for effects that need nobody's leave. Until then nothing is made for the
    /// attempt, and nothing of it runs.
    pub(crate) fn admission(
        &self,
        job: &JobId,
        effect: &Effect,
    ) -> Option<impl Future<Output = Option<Permit>> + Send + use<>> {
        let Effect::StartAttempt { phase, attempt, .. } = effect else { return None };
        let urgency = if *attempt == 1 { Urgency::Begin } else { Urgency::Continue };
        let ticket = Ticket { owner: Owner::Job(job.clone()), phase: Some(phase.clone()), urgency };
        let entering = self.runner().admission().enter(ticket);
        Some(async move { entering.await.ok() })
    }

    /// Places of the agents of a job that a former host may have left at work, by the keys of the effects that go on with them.
    pub(crate) fn occupied(&self, job: &JobId, state: &JobState) -> HashMap<String, Permit> {
        let running = |progress: &PhaseProgress| match progress.state {
            PhaseState::Working { stage: Stage::Agent } => {
                let run = Effect::RunAgent { phase: progress.id.clone(), attempt: progress.attempts.len() as u32 };
                Some((run.key(), self.runner().admission().occupy(Owner::Job(job.clone()))))
            }
            _ => None,
        };
        state.active().into_iter().flat_map(|active| &active.phases).filter_map(running).collect()
    }

    /// The future that carries an effect out, in its attempt's place if that has one. It owns all that it needs of the job's
    /// state.
    pub(crate) fn carry_out(
        &self,
        job: JobId,
        effect: Effect,
        state: &JobState,
        cancel: CancellationToken,
        place: Option<Permit>,
    ) -> impl Future<Output = EffectOutcome> + Send + use<> {
        let active = state.active().cloned();
        let this = self.clone();
        async move {
            let Some(active) = active else { return EffectOutcome::default() };
            let starts = matches!(effect, Effect::StartAttempt { .. });
            let (kept, used) = if starts { (place, None) } else { (None, place) };
            let Some(event) = this.answer(&job, &active, effect, cancel, used).await else {
                return EffectOutcome::default();
            };
            let place = kept.filter(|_| matches!(event, JobEvent::AttemptStarted { .. }));
            EffectOutcome { event: Some(event), place }
        }
    }

    /// The event that says what came of an effect.
    async fn answer(
        &self,
        job: &JobId,
        active: &Active,
        effect: Effect,
        cancel: CancellationToken,
        place: Option<Permit>,
    ) -> Option<JobEvent> {
        let this = self;
        match effect {
            Effect::StartAttempt { phase, attempt, parents, after, resume, correction, grant } => {
                let faulted = |fault| JobEvent::AttemptFaulted { phase: phase.clone(), attempt, fault };
                Some(match this.start_attempt(job, active, &phase, attempt, parents, after).await {
                    Ok(Start::At { base, start }) => JobEvent::AttemptStarted {
                        run: RunId::for_attempt(job, &phase, attempt),
                        phase,
                        attempt,
                        base,
                        start,
                        resume,
                        correction,
                        grant,
                    },
                    Ok(Start::Conflict(conflict)) => match conflict_event(active, Some(&phase), &conflict) {
                        Some(event) => event,
                        None => faulted(unresolved(&phase, &conflict)),
                    },
                    Err(fault) => faulted(fault),
                })
            }
            Effect::RunAgent { phase, attempt } => this.run_agent(job, active, &phase, attempt, place).await,
            Effect::StopAgent { phase, attempt } => {
                this.stop_token(&RunId::for_attempt(job, &phase, attempt)).cancel();
                None
            }
            Effect::CommitResult { phase, attempt } => Some(this.commit_result(job, active, &phase, attempt).await),
            Effect::BeginDelivery { phase, attempt, gate } => {
                this.begin_delivery(job, active, &phase, attempt, gate, &cancel).await
            }
            Effect::RunGate { phase, attempt, gate } => this.run_gate(job, active, &phase, attempt, gate, cancel).await,
            Effect::ReadPhases { phase, attempt } => Some(this.read_phases(job, active, &phase, attempt).await),
            Effect::RunReview { phase, attempt, gate, round } => {
                this.run_review(job, active, &phase, attempt, gate, round).await
            }
            Effect::StopReview { phase, attempt, gate, round } => {
                this.stop_token(&RunId::for_review(job, &phase, attempt, gate, round)).cancel();
                None
            }
            Effect::Advise { phase, round } => this.advise(job, active, &phase, round).await,
            Effect::StopAdvice { phase, round } => {
                this.stop_token(&RunId::for_advice(job, &phase, round)).cancel();
                None
            }
            Effect::Ask { phase, question } => Some(JobEvent::QuestionAsked { phase, question }),
            Effect::Expire { phase, number } => Some(JobEvent::QuestionExpired { phase, asked: number }),
            Effect::Integrate { tips } => this.integrate(job, active, tips, cancel).await,
            Effect::Conclude { end } => Some(JobEvent::JobFinished { end }),
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
    ) -> Result<Start, Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let key = AttemptKey { job: job.clone(), phase: phase.clone(), attempt };
        let (origin, inputs) = (active.spec.repo.base.clone(), phase_of(active, phase)?.inputs.clone());
        let (phase, resolves) = (phase.clone(), active.conflict(phase).cloned());
        blocking_fault(move || {
            let (start, base) = match (after, resolves) {
                (Some((start, base)), _) => (start, base),
                (None, Some(conflict)) => {
                    let base = marked_base(spaces.repository(), &conflict, &parents)?;
                    (base.clone(), base)
                }
                (None, None) => match base_of(spaces.repository(), &phase, &parents, origin)? {
                    Ok(base) => (base.clone(), base),
                    Err(conflict) => return Ok(Start::Conflict(conflict)),
                },
            };
            super::inputs::check_inputs(spaces.repository(), &base, &inputs)?;
            spaces.prepare_attempt(&key, &start).map_err(|error| error.fault())?;
            Ok(Start::At { base, start })
        })
        .await
    }

    async fn run_agent(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        attempt: u32,
        place: Option<Permit>,
    ) -> Option<JobEvent> {
        let faulted = |fault| Some(JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault });
        let (phase, this) = match (phase_of(active, id), attempt_of(active, id, attempt)) {
            (Ok(phase), Ok(this)) => (phase, this),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        let cwd = AttemptKey { job: job.clone(), phase: id.clone(), attempt }.directory(&self.state().worktrees());
        let agent = self.agent_of(active, phase);
        let (runner, mut ask) = match (self.runner_of(job).await, self.ask(active, phase, this, cwd).await) {
            (Ok(runner), Ok(ask)) => (runner, ask),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        limit(&runner, &agent, &mut ask);
        let stop = self.stop_token(&this.run);
        let deadline = this.grant.seconds.map_or(phase.timeout.duration(), std::time::Duration::from_secs);
        // Without one, its place was given back: it has begun, and is to get on.
        let entry = place.map_or_else(
            || {
                let owner = Owner::Job(job.clone());
                Entry::Ticket(Ticket { owner, phase: Some(id.clone()), urgency: Urgency::Continue })
            },
            Entry::Permit,
        );
        let limits = RunLimits { deadline: Some(deadline.min(phase.timeout.duration())), stop: &stop, entry };
        let mut listener =
            Reporter { job: job.clone(), phase: id.clone(), run: this.run.clone(), activity: self.activity().clone() };
        let result = runner.run(&agent, &this.run, || ask, limits, &mut listener).await;
        match result {
            Ok(report) => {
                self.forget_stop(&this.run);
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

    async fn ask(&self, active: &Active, phase: &Phase, this: &Attempt, cwd: PathBuf) -> Result<AgentAsk, Fault> {
        let spec = &active.spec;
        let progress = active.progress(&phase.id);
        let (session, prompt) = match (&this.resume, &this.correction) {
            (Some(session), Some(correction)) => {
                (SessionRef::Resume(session.clone()), prompt::correction(phase, correction, &cwd.to_string_lossy()))
            }
            (resume, correction) => {
                let session = match resume {
                    Some(session) => SessionRef::Resume(session.clone()),
                    None => SessionRef::New(new_session()?),
                };
                let tries = progress.map(|progress| progress.attempts.as_slice()).unwrap_or_default();
                (session, prompt::phase(spec, phase, tries, correction.as_ref()))
            }
        };
        let mut prompt = prompt.map_err(|error| environment(&error))?;
        if let Some(history) = self.history(&this.run, this.number).await {
            prompt.push_str(&history);
        }
        if let Some(conflict) = active.conflict(&phase.id).filter(|_| this.resume.is_none()) {
            prompt.push_str(&self.both_sides(active, conflict).await?);
        }
        // What the agent saves is checked within its turn, by the same rules as its result.
        let hook = self.shared.services.host.save_hook(Some(&cwd));
        let mut ask = AgentAsk::new(prompt, session, cwd, self.runner().agent_files(&this.run));
        ask.after_write = Some(hook);
        ask.model = progress.and_then(|progress| progress.model.clone()).or_else(|| phase.model.clone());
        ask.max_turns = this.grant.turns.or(phase.max_turns);
        ask.budget_usd = this.grant.usd.or(phase.budget_usd);
        ask.schema = phase.generates_phases.as_ref().map(helix_plan::fragment::schema);
        ask.mcp = self.shared.services.host.tool_server("X-Helix-Run", &this.run).into_iter().collect();
        let tools = || Some(PHASE_MCP_TOOLS.map(str::to_owned).to_vec());
        // Only its own worktree may change: a resumed session remembers paths of the attempt before, and what it wrote there
        // would be lost.
        ask.tools = ToolAccess {
            task_list: true,
            sub_agents: true,
            write_below: vec![ask.cwd.clone()],
            shell: Shell::All,
            mcp: ask.mcp.iter().map(|server| McpAccess { server: server.name.clone(), tools: tools() }).collect(),
            ..ToolAccess::read_only()
        };
        ask.label = Some(phase.id.to_string());
        ask.take = Some(this.number);
        Ok(ask)
    }

    /// What is known by now about the failure of the attempt before this one, as data.
    async fn history(&self, run: &RunId, attempt: u32) -> Option<String> {
        let (job, phase) = run.job_and_phase()?;
        let before = attempt.checked_sub(1).filter(|before| *before > 0)?;
        match self.failures().reports().take_prompt(&Work::phase_of(&job, Some(&phase)), before).await {
            Ok(text) => text.map(|text| format!("\n{text}\n")),
            Err(error) => {
                tracing::warn!(%run, %error, "the agent is not told about its last failure");
                None
            }
        }
    }

    pub(super) fn known_workspaces(&self) -> &Mutex<HashMap<PathBuf, Workspaces>> {
        &self.shared.workspaces
    }

    pub(crate) fn git(&self) -> &GitEnvironment {
        &self.shared.services.git
    }

    pub(super) fn state(&self) -> &StateDir {
        &self.shared.services.host.state
    }

    pub(super) fn checkouts(&self) -> &GateCheckouts {
        &self.shared.checkouts
    }

    pub(super) fn deliveries(&self) -> &Mutex<HashSet<String>> {
        &self.shared.deliveries
    }

    pub(super) fn stop_token(&self, run: &RunId) -> CancellationToken {
        lock(&self.shared.stops).entry(run.clone()).or_default().clone()
    }

    pub(super) fn forget_stop(&self, run: &RunId) {
        lock(&self.shared.stops).remove(run);
    }

    pub(super) fn runner(&self) -> &AgentRunner {
        &self.shared.services.host.runner
    }

    pub(crate) fn gate_places(&self) -> &Admission {
        &self.shared.services.gate_places
    }

    pub(crate) fn failures(&self) -> &FailureService {
        &self.shared.services.failures
    }

    pub(crate) fn activity(&self) -> &broadcast::Sender<Activity> {
        &self.shared.services.activity
    }

    /// Tells whoever listens what an agent does. Nobody listening is the normal case.
    pub(super) fn tell(&self, activity: Activity) {
        if self.activity().receiver_count() > 0 {
            drop(self.activity().send(activity));
        }
    }

    /// Waits until nobody else lands in the repository.
    pub(super) async fn landing(&self, spec: &JobSpec) -> tokio::sync::OwnedMutexGuard<()> {
        let path = PathBuf::from(&spec.repo.path);
        let turn = Arc::clone(lock(&self.shared.landings).entry(path).or_default());
        turn.lock_owned().await
    }

    /// The two sides of a conflict as differences from where the job began, for the agent that resolves it.
    async fn both_sides(&self, active: &Active, conflict: &Conflict) -> Result<String, Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let origin = active.spec.repo.base.clone();
        let mut sides = Vec::new();
        for id in &conflict.between {
            if let Some(PhaseState::Passed { result, .. }) = active.progress(id).map(|progress| &progress.state) {
                sides.push((id.clone(), result.commit.clone()));
            }
        }
        let paths = conflict.paths.clone();
        let patches = blocking(move || {
            let repository = spaces.repository();
            sides
                .into_iter()
                .map(|(id, commit)| Ok((id, repository.patch(&origin, &commit, &paths, SIDE_SHOWN)?)))
                .collect::<Result<Vec<_>, GitError>>()
        });
        Ok(prompt::both_sides(&patches.await?))
    }
}

/// Leaves out what the agent cannot keep during a run: it is kept between runs, or was refused at submit.
pub(super) fn limit(runner: &AgentRunner, agent: &str, ask: &mut AgentAsk) {
    let during = |limit| runner.keeps(agent, limit) == Keeping::DuringRuns;
    ask.max_turns = ask.max_turns.filter(|_| during(Limit::Turns));
    ask.budget_usd = ask.budget_usd.filter(|_| during(Limit::Money));
}

/// Where an attempt starts.
enum Start {
    At { base: CommitId, start: CommitId },
    Conflict(MergeConflict),
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

pub(super) fn attempt_of<'a>(active: &'a Active, id: &PhaseId, attempt: u32) -> Result<&'a Attempt, Fault> {
    let tries = active.progress(id).map(|progress| progress.attempts.as_slice()).unwrap_or_default();
    tries
        .iter()
        .find(|one| one.number == attempt)
        .ok_or_else(|| internal(format!("phase {id} has no attempt {attempt}")))
}

/// Runs blocking git work away from the runtime's threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, Fault> {
    blocking_fault(move || work().map_err(|error| error.fault())).await
}

pub(super) async fn blocking_fault<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(internal(format!("an internal task ended early: {error}"))),
    }
}

pub(super) fn run_fault(error: &RunError) -> Fault {
    let hint = match error {
        RunError::UnknownAgent { .. } => "add the agent to helix.toml, or name one that is there",
        RunError::Invocation { .. } => "run `helix doctor`",
        RunError::Start { .. } | RunError::Record { .. } | RunError::Unknown { .. } => {
            "check that the state directory is writable and not full"
        }
        RunError::Closing => "start Helix again: the run continues",
    };
    Fault { hint: Some(hint.into()), ..environment(error) }
}

/// A fault of the surroundings, with all causes in one line.
pub(crate) fn environment(error: &dyn std::error::Error) -> Fault {
    Fault { kind: FaultKind::Environment, message: helix_core::error_chain(error), hint: None }
}

fn internal(message: String) -> Fault {
    Fault { kind: FaultKind::Environment, message, hint: Some("this is a bug in Helix: please report it".into()) }
}

pub(super) fn new_session() -> Result<AgentSessionId, Fault> {
    AgentSessionId::new(uuid::Uuid::now_v7().to_string()).map_err(|error| environment(&error))
}
