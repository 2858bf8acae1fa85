//! Carries effects out: worktrees, agent runs, commits, gates. Each returns the event that says what came of it.
//!
//! Must not know what follows from an event: that is `decide`'s business.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use helix_agents::{AgentAsk, Keeping, Limit, McpAccess, SessionRef, ToolAccess, Walls};
use helix_core::agent_event::AgentEvent;
use helix_core::finding::Fault;
use helix_core::ids::{AgentSessionId, CommitId, JobId, PhaseId, RunId};
use helix_failure::memory::Work;
use helix_job::{
    Active, Attempt, AttemptStart, Committed, Conflict, Effect, JobEvent, JobSpec, JobState, PhaseProgress, PhaseState,
    RunEnded, Stage, Tip, Wait,
};
use helix_plan::Phase;
use helix_store::StateDir;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::base::{conflict_event, unresolved};
use super::checks::PreflightResult;
use super::target::{Claims, claim_name};
use crate::activity::Activity;
use crate::admission::{Admission, Owner, Permit, Ticket, Urgency};
use crate::agent_run::{AgentRunner, Entry, Listener, RunError, RunLimits, RunReport};
use crate::failures::FailureService;
use crate::mutex::lock;
use crate::prompt;
use crate::services::{SavePlace, Services};
use crate::work_gates::WorkTask;
use helix_gates::GateCheckouts;
use helix_git::{AttemptKey, GitEnvironment, GitError, Workspaces};
use helix_process::Prepared;
use helix_workspace::Preparations;

/// Tools of Helix itself that a phase's agent may use.
pub(crate) const PHASE_MCP_TOOLS: [&str; 5] = ["ask_user", "adr_check", "plan_check", "similar_failures", "skill_read"];
/// Events that a reader of the live activity may be behind before it misses some.
const ACTIVITY_BUFFER: usize = 4_096;
/// Most of each side of a conflict that an agent is shown in its prompt, in bytes.
const SIDE_SHOWN: usize = 30 << 10;

/// Carries out what the loop decides. The futures own all that they need of the job's state.
pub(crate) trait Effects {
    /// What waits until an attempt may begin; `None` for effects that need nobody's leave. Until then nothing is made for the
    /// attempt, and nothing of it runs.
    fn admission(
        &self,
        job: &JobId,
        effect: &Effect,
    ) -> Option<impl Future<Output = Option<Permit>> + Send + use<Self> + 'static>;

    /// Carries an effect out, with its attempt's permit if it has one, until `cancel` says that it is no longer wanted.
    fn carry_out(
        &self,
        job: JobId,
        effect: Effect,
        state: &JobState,
        cancel: CancellationToken,
        permit: Option<Permit>,
    ) -> impl Future<Output = EffectOutcome> + Send + use<Self> + 'static;

    /// What this event says was begun is not on record: it does not fit what has happened meanwhile.
    fn not_begun(&self, job: &JobId, event: &JobEvent);

    /// Removes what a job that is over has left; nothing of it is under way any more.
    fn clean_up(&self, job: &JobId, state: &JobState) -> impl Future<Output = ()> + Send;
}

/// Carries out the effects of all jobs of an engine.
#[derive(Clone)]
pub(crate) struct EffectRunner {
    pub(crate) shared: Arc<EffectServices>,
}

/// What came of an effect.
#[derive(Default)]
pub(crate) struct EffectOutcome {
    /// The answer, which is recorded.
    pub(crate) event: Option<JobEvent>,
    /// The place in which the attempt that has started runs its agent.
    pub(crate) place: Option<Permit>,
}

pub(crate) struct EffectServices {
    pub(super) host: Arc<Services>,
    /// Who may run the command of a gate now.
    pub(crate) gate_places: Admission,
    pub(crate) activity: broadcast::Sender<Activity>,
    pub(crate) git: GitEnvironment,
    /// Has what is known about earlier failures, for prompts.
    pub(crate) failures: FailureService,
    /// One set of long-lived git processes for each repository.
    pub(super) workspaces: Mutex<HashMap<PathBuf, Workspaces>>,
    /// Cancelled for runs that are to stop.
    stops: Mutex<HashMap<RunId, CancellationToken>>,
    /// Who is using which job's clean checkout.
    pub(super) checkouts: GateCheckouts,
    /// What work places have besides the files of their commit.
    pub(super) preparations: Preparations,
    /// Whose targets this host changes.
    pub(super) claims: Mutex<Claims>,
    /// Jobs that are not over and that this host does not carry on.
    pub(super) left_alone: Mutex<HashSet<JobId>>,
    /// What phases wait for whose target another one changes, or whose job has its preflight.
    pub(super) waits: Mutex<HashMap<(JobId, PhaseId), Wait>>,
    /// What came of the preflight of jobs that are not over; whoever has it locked is at it.
    pub(super) preflights: Mutex<HashMap<JobId, PreflightResult>>,
    /// Who is landing in which repository: results of one host land one after the other.
    landings: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

impl Effects for EffectRunner {
    fn admission(
        &self,
        job: &JobId,
        effect: &Effect,
    ) -> Option<impl Future<Output = Option<Permit>> + Send + use<> + 'static> {
        let Effect::StartAttempt { phase, attempt, .. } = effect else { return None };
        let urgency = if *attempt == 1 { Urgency::Begin } else { Urgency::Continue };
        let ticket = Ticket { owner: Owner::Job(job.clone()), phase: Some(phase.clone()), urgency };
        let entering = self.runner().admission().enter(ticket);
        Some(async move { entering.await.ok() })
    }

    fn carry_out(
        &self,
        job: JobId,
        effect: Effect,
        state: &JobState,
        cancel: CancellationToken,
        permit: Option<Permit>,
    ) -> impl Future<Output = EffectOutcome> + Send + use<> {
        let active = state.active().cloned();
        let this = self.clone();
        async move {
            let Some(active) = active else { return EffectOutcome::default() };
            let starts = matches!(effect, Effect::StartAttempt { .. });
            let (kept, used) = if starts { (permit, None) } else { (None, permit) };
            let Some(event) = this.answer(&job, &active, effect, cancel, used).await else {
                return EffectOutcome::default();
            };
            let place = kept.filter(|_| matches!(event, JobEvent::AttemptStarted(_)));
            EffectOutcome { event: Some(event), place }
        }
    }

    fn not_begun(&self, job: &JobId, event: &JobEvent) {
        match event {
            JobEvent::DeliveryBegun { phase, attempt, gate, .. } => {
                self.give_back(&claim_name(&RunId::for_attempt(job, phase, *attempt), *gate, 0));
            }
            JobEvent::RollbackBegun { phase, step } => {
                self.give_back(&claim_name(&RunId::for_attempt(job, phase, step.attempt), step.gate, step.round));
            }
            _ => {}
        }
    }

    async fn clean_up(&self, job: &JobId, state: &JobState) {
        self.forget_claims(job);
        self.forget_preflight(job);
        self.remove_worktrees(job, state).await;
    }
}

impl EffectRunner {
    pub(crate) fn new(
        host: Arc<Services>,
        gate_places: Admission,
        git: GitEnvironment,
        failures: FailureService,
    ) -> Self {
        let supervisor = host.runner.supervisor().clone();
        let preparations = Preparations::new(host.state.root(), supervisor.clone());
        let checkouts = GateCheckouts::new(supervisor, host.closing.clone(), preparations.clone());
        Self {
            shared: Arc::new(EffectServices {
                host,
                gate_places,
                activity: broadcast::Sender::new(ACTIVITY_BUFFER),
                git,
                failures,
                workspaces: Mutex::default(),
                stops: Mutex::default(),
                checkouts,
                preparations,
                claims: Mutex::default(),
                left_alone: Mutex::default(),
                waits: Mutex::default(),
                preflights: Mutex::default(),
                landings: Mutex::default(),
            }),
        }
    }

    /// Places of the agents of a job that a former host may have left at work, by the keys of the effects that go on with them.
    pub(crate) fn occupied(&self, job: &JobId, state: &JobState) -> HashMap<String, Permit> {
        let running = |progress: &PhaseProgress| match progress.state {
            PhaseState::Working { stage: Stage::Agent } => {
                let (phase, attempt) = (progress.id.clone(), progress.attempts.len() as u32);
                let run = Effect::Work { phase, attempt, stage: Stage::Agent };
                Some((run.key(), self.runner().admission().occupy(Owner::Job(job.clone()))))
            }
            _ => None,
        };
        state.active().into_iter().flat_map(|active| &active.phases).filter_map(running).collect()
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
        let (phase, attempt, answer) = match effect {
            Effect::StartAttempt { phase, attempt, parents, after, resume, correction, grant } => {
                let begins = async {
                    self.preflight(job, active, &phase, &cancel).await?;
                    let beginning = Beginning { phase: &phase, attempt, parents, after };
                    self.begin_attempt(job, active, beginning, &cancel).await
                };
                let event = begins.await.and_then(|begins| match begins {
                    Ok((start, base)) => Ok(JobEvent::AttemptStarted(Box::new(AttemptStart {
                        run: RunId::for_attempt(job, &phase, attempt),
                        phase: phase.clone(),
                        attempt,
                        base,
                        start,
                        resume,
                        correction,
                        grant,
                    }))),
                    Err(conflict) => conflict_event(active, Some(&phase), &conflict)
                        .ok_or_else(|| Stopped::Fault(unresolved(&phase, &conflict))),
                });
                (phase, attempt, event)
            }
            Effect::Work { phase, attempt, stage } => {
                let answer = async {
                    let at = AttemptContext::find(job, active, &phase, attempt)?;
                    match stage {
                        Stage::Agent => self.run_agent(at, place).await,
                        Stage::Committing => Ok(self.commit_result(at).await?),
                        Stage::Reading => Ok(self.read_phases(at).await?),
                        Stage::Gating { gate } => self.run_gate(at, gate, &cancel).await,
                        Stage::Reviewing { gate, round } => self.run_review(at, gate, round).await,
                        Stage::Watching(step) => self.watch_health(at, step, &cancel).await,
                        Stage::RollingBack(step) => self.roll_back(at, step, &cancel).await,
                    }
                };
                let answer = answer.await;
                (phase, attempt, answer)
            }
            Effect::BeginDelivery { phase, attempt, gate } => {
                let answer = async {
                    let at = AttemptContext::find(job, active, &phase, attempt)?;
                    self.begin_delivery(at, gate, &cancel).await
                };
                let answer = answer.await;
                (phase, attempt, answer)
            }
            Effect::BeginRollback { phase, step } => {
                let answer = async {
                    let at = AttemptContext::find(job, active, &phase, step.attempt)?;
                    self.begin_rollback(at, step, &cancel).await
                };
                let answer = answer.await;
                (phase, step.attempt, answer)
            }
            Effect::Stop(effect) => {
                if let Some(run) = run_of(job, &effect) {
                    self.stop_token(&run).cancel();
                }
                return None;
            }
            Effect::Advise { phase, round } => return self.advise(job, active, &phase, round).await,
            Effect::Ask { phase, question } => return Some(JobEvent::QuestionAsked { phase, question }),
            Effect::Expire { phase, number } => return Some(JobEvent::QuestionExpired { phase, asked: number }),
            Effect::Integrate { tips } => return self.integrate(job, active, &tips, &cancel).await,
            Effect::Conclude { end } => return Some(JobEvent::JobFinished { end }),
        };
        match answer {
            Ok(event) => Some(event),
            Err(Stopped::Fault(fault)) => Some(JobEvent::AttemptFaulted { phase, attempt, fault }),
            Err(Stopped::Unwanted) => None,
        }
    }

    async fn run_agent(&self, at: AttemptContext<'_>, place: Option<Permit>) -> Result<JobEvent, Stopped> {
        let AttemptContext { job, active, phase, attempt: this } = at;
        let cwd = at.key().directory(&self.state().worktrees());
        let agent = self.agent_of(active, phase);
        let (prepared, link) = self.prepared_for(job, active, &cwd).await?.map(|it| (it.prepared, it.link)).unzip();
        let runner = self.runner_in(job, active, prepared.as_ref()).await?;
        let venv = prepared.as_ref().and_then(Prepared::venv);
        let task = WorkTask::of_attempt(&active.spec, phase, &this.begin.base).seen_from_there(link, venv);
        let mut ask = self.ask(active, phase, this, task, cwd).await?;
        limit(&runner, &agent, &mut ask);
        ask.walls = Walls { prepared, ..self.walls(active, phase).await? };
        self.tell_rules(active, &mut ask).await?;
        let run = &this.begin.run;
        let stop = self.stop_token(run);
        let deadline = this.begin.grant.seconds.map_or(phase.timeout.duration(), std::time::Duration::from_secs);
        // Without one, its place was given back: it has begun, and is to get on.
        let entry = place.map_or_else(|| Entry::Ticket(continuing(job, &phase.id)), Entry::Permit);
        let limits = RunLimits { deadline: Some(deadline.min(phase.timeout.duration())), stop: &stop, entry };
        let mut listener = self.reporter(job, &phase.id, run);
        let ran = runner.run(&agent, run, || ask, limits, &mut listener).await;
        self.forget_stop(run);
        match ran {
            Ok(report) => {
                let RunReport { facts, usage, session, duration_ms, .. } = report;
                let end = RunEnded { facts: Box::new(facts), usage, session, duration_ms };
                Ok(JobEvent::RunFinished { phase: phase.id.clone(), attempt: this.begin.attempt, end })
            }
            Err(RunError::Closing) => Err(Stopped::Unwanted),
            Err(error) => Err(run_fault(&error).into()),
        }
    }

    async fn ask(
        &self,
        active: &Active,
        phase: &Phase,
        this: &Attempt,
        task: WorkTask,
        cwd: PathBuf,
    ) -> Result<AgentAsk, Fault> {
        let (spec, begin) = (&active.spec, &this.begin);
        let progress = active.progress(&phase.id);
        let (session, prompt) = match (&begin.resume, &begin.correction) {
            (Some(session), Some(correction)) => {
                (SessionRef::Resume(session.clone()), prompt::correction(phase, correction, &cwd.to_string_lossy()))
            }
            (resume, correction) => {
                let session = match resume {
                    Some(session) => SessionRef::Resume(session.clone()),
                    None => SessionRef::New(new_session()?),
                };
                let attempts = progress.map(|progress| progress.attempts.as_slice()).unwrap_or_default();
                (session, prompt::phase(spec, phase, attempts, correction.as_ref()))
            }
        };
        let mut prompt = prompt.map_err(|error| environment(&error))?;
        if let Some(history) = self.history(&begin.run, begin.attempt).await {
            prompt.push_str(&history);
        }
        if let Some(conflict) = active.conflict(&phase.id).filter(|_| begin.resume.is_none()) {
            prompt.push_str(&self.both_sides(active, conflict).await?);
        }
        // What the agent saves is checked within its turn, by the same rules as its result.
        let hook = self.shared.host.save_hook(SavePlace::Project(&cwd));
        let files = self.runner().agent_files(&begin.run);
        task.leave(&files).await.map_err(|error| environment(&error))?;
        let mut ask = AgentAsk::new(prompt, session, cwd, files);
        ask.after_write = Some(hook);
        ask.ask_person = Some(self.shared.host.ask_hook());
        ask.model = progress.and_then(|progress| progress.model.clone()).or_else(|| phase.model.clone());
        ask.max_turns = begin.grant.turns.or(phase.max_turns);
        ask.budget_usd = begin.grant.usd.or(phase.budget_usd);
        ask.schema = phase.generates_phases.as_ref().map(helix_plan::fragment::schema);
        ask.mcp = self.shared.host.tool_server(&begin.run).into_iter().collect();
        let tools = || Some(PHASE_MCP_TOOLS.map(str::to_owned).to_vec());
        // Only its own worktree may change: a resumed session remembers paths of the attempt before, and what it wrote there
        // would be lost.
        ask.tools = ToolAccess {
            task_list: true,
            sub_agents: true,
            write_below: vec![ask.cwd.clone()],
            shell: true,
            mcp: ask.mcp.iter().map(|server| McpAccess { server: server.name.clone(), tools: tools() }).collect(),
            ..ToolAccess::read_only()
        };
        ask.label = Some(phase.id.to_string());
        ask.take = Some(begin.attempt);
        Ok(ask)
    }

    /// What is known by now about the failure of the attempt before this one, as data.
    async fn history(&self, run: &RunId, attempt: u32) -> Option<String> {
        let (job, phase) = run.job_and_phase()?;
        let before = attempt.checked_sub(1).filter(|before| *before > 0)?;
        match self.shared.failures.reports().take_prompt(&Work::phase_of(&job, Some(&phase)), before).await {
            Ok(text) => text.map(|text| format!("\n{text}\n")),
            Err(error) => {
                tracing::warn!(%run, %error, "the agent is not told about its last failure");
                None
            }
        }
    }

    pub(super) fn state(&self) -> &StateDir {
        &self.shared.host.state
    }

    pub(super) fn stop_token(&self, run: &RunId) -> CancellationToken {
        lock(&self.shared.stops).entry(run.clone()).or_default().clone()
    }

    pub(super) fn forget_stop(&self, run: &RunId) {
        lock(&self.shared.stops).remove(run);
    }

    pub(super) fn runner(&self) -> &AgentRunner {
        &self.shared.host.runner
    }

    /// Tells listeners what a run does.
    pub(super) fn reporter(&self, job: &JobId, phase: &PhaseId, run: &RunId) -> Reporter {
        let (job, phase, run) = (job.clone(), phase.clone(), run.clone());
        Reporter { job, phase, run, activity: self.shared.activity.clone(), structured: None }
    }

    /// Waits until nobody else lands in the repository.
    pub(crate) async fn landing(&self, spec: &JobSpec) -> tokio::sync::OwnedMutexGuard<()> {
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

/// Tells what a run does, and keeps its structured answer.
pub(super) struct Reporter {
    job: JobId,
    phase: PhaseId,
    run: RunId,
    activity: broadcast::Sender<Activity>,
    pub(super) structured: Option<Value>,
}

impl Listener for Reporter {
    async fn hear(&mut self, event: AgentEvent) {
        if let AgentEvent::Finished { structured, .. } = &event {
            self.structured.clone_from(structured);
        }
        // Nobody listening is the normal case.
        if self.activity.receiver_count() > 0 {
            let (job, phase, run) = (self.job.clone(), self.phase.clone(), self.run.clone());
            drop(self.activity.send(Activity { job, phase, run, event }));
        }
    }
}

/// Why an effect has no answer of its own.
pub(super) enum Stopped {
    /// Something around it failed.
    Fault(Fault),
    /// It is no longer wanted, or this host is closing.
    Unwanted,
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// An attempt that is to begin.
pub(super) struct Beginning<'a> {
    pub(super) phase: &'a PhaseId,
    pub(super) attempt: u32,
    pub(super) parents: Vec<Tip>,
    pub(super) after: Option<(CommitId, CommitId)>,
}

/// A try that an effect works on, in the job as it was when that was decided.
#[derive(Clone, Copy)]
pub(super) struct AttemptContext<'a> {
    pub(super) job: &'a JobId,
    pub(super) active: &'a Active,
    pub(super) phase: &'a Phase,
    pub(super) attempt: &'a Attempt,
}

impl<'a> AttemptContext<'a> {
    fn find(job: &'a JobId, active: &'a Active, id: &PhaseId, number: u32) -> Result<Self, Fault> {
        let attempts = active.progress(id).map(|progress| progress.attempts.as_slice()).unwrap_or_default();
        let attempt = attempts.iter().find(|one| one.begin.attempt == number);
        let attempt = attempt.ok_or_else(|| internal(format!("phase {id} has no attempt {number}")))?;
        Ok(Self { job, active, phase: phase_of(active, id)?, attempt })
    }

    /// Names the attempt's worktree and branch.
    pub(super) fn key(&self) -> AttemptKey {
        AttemptKey { job: self.job.clone(), phase: self.phase.id.clone(), attempt: self.attempt.begin.attempt }
    }

    /// What is checked.
    pub(super) fn result(&self) -> Result<&'a Committed, Fault> {
        self.attempt.result.as_ref().ok_or_else(|| internal(format!("{} has no result", self.attempt.begin.run)))
    }
}

/// The run that an effect carries out.
fn run_of(job: &JobId, effect: &Effect) -> Option<RunId> {
    match effect {
        Effect::Work { phase, attempt, stage: Stage::Agent } => Some(RunId::for_attempt(job, phase, *attempt)),
        Effect::Work { phase, attempt, stage: Stage::Reviewing { gate, round } } => {
            Some(RunId::for_review(job, phase, *attempt, *gate, *round))
        }
        Effect::Advise { phase, round } => Some(RunId::for_advice(job, phase, *round)),
        _ => None,
    }
}

/// A place in the line for what has begun and is to get on.
pub(super) fn continuing(job: &JobId, phase: &PhaseId) -> Ticket {
    Ticket { owner: Owner::Job(job.clone()), phase: Some(phase.clone()), urgency: Urgency::Continue }
}

pub(super) fn phase_of<'a>(active: &'a Active, id: &PhaseId) -> Result<&'a Phase, Fault> {
    active.spec.plan.phase(id).ok_or_else(|| internal(format!("the plan has no phase {id}")))
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
    match helix_process::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(internal(error.to_string())),
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

/// A fault of the environment, with all causes in one line.
pub(crate) fn environment(error: &dyn std::error::Error) -> Fault {
    Fault::environment(helix_core::error_chain(error))
}

fn internal(message: String) -> Fault {
    Fault::environment(message).hint("this is a bug in Helix: please report it")
}

pub(super) fn new_session() -> Result<AgentSessionId, Fault> {
    AgentSessionId::new(uuid::Uuid::now_v7().to_string()).map_err(|error| environment(&error))
}
