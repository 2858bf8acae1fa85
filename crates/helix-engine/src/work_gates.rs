//! The gates of phases on the work as it stands in a work tree, for the agent or the person who is at it: the runner and the reports
//! are those of jobs.
//!
//! Must not record anything: no answer of it is evidence. Nothing is written to the repository or the work tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_agents::supervisor::Watching;
use helix_agents::{Sandbox, Supervisor, SupervisorConfig};
use helix_core::ids::{CommitId, JobId, PhaseId, RunId};
use helix_core::said::Words;
use helix_gates::{Claims, GateCheckouts, GateContext, WorkOf, run_gate};
use helix_git::{GitEnvironment, GitError, Repository, WorkCopy, Workspaces};
use helix_job::{Active, AdrText, Committed, GateReport, JobSpec, PhaseProgress, PlannedBy};
use helix_language::recorded;
use helix_plan::{GateSpec, Phase};
use helix_process::bounded::read_bytes;
use helix_process::{RUN_DIR_VARIABLE, RunSeal, ToolEnvironment, WITHIN_RUN_VARIABLE};
use helix_store::kept_key;
use helix_workspace::{Preparations, Workspace};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;
use crate::evidence::JobEvidence;

/// Largest file with the task of an agent, in bytes.
const LARGEST_TASK: u64 = 64 << 20;

/// Gates, and what their answers are measured against.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkTask {
    phases: Vec<Phase>,
    plan_adr: Option<String>,
    adr: Option<AdrText>,
    /// Where the job started; the commit on which the work tree stands where there is none.
    origin: Option<CommitId>,
    /// Where the phase started; the same.
    base: Option<CommitId>,
    gate_files: BTreeMap<String, String>,
    claims: Claims,
    #[serde(default)]
    venv: Option<String>,
    /// How checkouts are prepared, and where that is kept.
    #[serde(default)]
    prepared: Option<(Option<PathBuf>, Arc<Workspace>)>,
}

/// What came of a phase's gates.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PhaseGates {
    /// Which phase.
    pub phase: PhaseId,
    /// Answers of the gates that were made, in their order.
    pub gates: Vec<GateReport>,
    /// Gates that are not made before the work is done, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A gate that is not made on work that is not done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Its name; `verify` for the phase's verifier.
    pub gate: String,
    /// Why.
    #[serde(serialize_with = "helix_language::english::one::serialize")]
    #[schemars(with = "String")]
    pub why: Words,
}

/// Where it is kept what the commands of gates gave on which tree, below a state directory.
pub(crate) fn baselines_of(state: &Path) -> PathBuf {
    state.join("cache/tests")
}

/// Where the task of a run's agent lies; `agent_files` are the run's.
fn task_file(agent_files: &Path) -> PathBuf {
    agent_files.join("gates.json")
}

impl WorkTask {
    /// The gates of a phase whose agent starts at `base`.
    pub(crate) fn of_attempt(spec: &JobSpec, phase: &Phase, base: &CommitId) -> Self {
        Self::new(spec, vec![phase.clone()], Some(base.clone()), Claims::of_phase(&spec.plan, phase))
    }

    fn new(spec: &JobSpec, phases: Vec<Phase>, base: Option<CommitId>, claims: Claims) -> Self {
        Self {
            phases,
            plan_adr: spec.plan.adr.clone(),
            adr: spec.adr.clone(),
            origin: Some(spec.repo.base.clone()),
            base,
            gate_files: spec.gate_files.clone(),
            claims,
            venv: spec.venv.clone(),
            prepared: None,
        }
    }

    /// Leaves it for the agent of a run.
    ///
    /// # Errors
    /// The state directory cannot be written.
    pub(crate) async fn leave(&self, agent_files: &Path) -> std::io::Result<()> {
        tokio::fs::create_dir_all(agent_files).await?;
        tokio::fs::write(task_file(agent_files), serde_json::to_vec(self)?).await
    }

    /// The task of the agent that works in a directory, if Helix has started one there as this run.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn of_agent(directory: &Path, run: &str) -> Result<Option<Self>, EngineError> {
        let Ok(run) = RunId::new(run) else { return Ok(None) };
        // Worktrees lie in the state directory, as the files of runs do.
        let files = directory.ancestors().map(|above| task_file(&above.join("agent-files").join(run.as_str())));
        let Some(file) = files.into_iter().find(|file| file.is_file()) else { return Ok(None) };
        let text = read_bytes(&file, LARGEST_TASK).map_err(EngineError::environment)?;
        serde_json::from_slice(&text).map(Some).map_err(EngineError::environment)
    }

    /// The gates of all phases of a job that could be made here, for a person. Without a base, the work is what is not committed.
    pub fn of_job(spec: &JobSpec, base: Option<CommitId>) -> Self {
        // What a person has done is the work of all phases.
        let claims = Claims { of: WorkOf::Phase, ..Claims::of_sum(&spec.plan) };
        Self { origin: base.clone(), ..Self::new(spec, spec.plan.phases.clone(), base, claims) }
    }

    /// The same in checkouts that are prepared as those of jobs with this state directory.
    #[must_use]
    pub fn prepared(self, state: PathBuf, workspace: Workspace) -> Self {
        Self { prepared: Some((Some(state), Arc::new(workspace))), ..self }
    }

    /// The same for an agent, which has nothing of the host's: its checkouts find in its work place what that was given.
    #[must_use]
    pub(crate) fn seen_from_there(self, link: Option<Workspace>, venv: Option<String>) -> Self {
        let venv = venv.or(self.venv);
        Self { prepared: link.map(|link| (None, Arc::new(link))), venv, ..self }
    }

    /// The same for these phases alone; all where none is named.
    ///
    /// # Errors
    /// A phase that is not among them, and those that are.
    pub fn only(mut self, ids: &[PhaseId]) -> Result<Self, (PhaseId, Vec<PhaseId>)> {
        let known = || self.phases.iter().map(|phase| phase.id.clone());
        if let Some(unknown) = ids.iter().find(|id| known().all(|known| known != **id)) {
            return Err((unknown.clone(), known().collect()));
        }
        self.phases.retain(|phase| ids.is_empty() || ids.contains(&phase.id));
        Ok(self)
    }

    /// Runs the gates on the work tree that a directory lies in.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: the work cannot be looked at.
    pub async fn run(
        self,
        directory: &Path,
        helix: PathBuf,
        sandbox: Sandbox,
        cancel: &CancellationToken,
    ) -> Result<Vec<PhaseGates>, EngineError> {
        let scratch = Scratch::new()?;
        let (of, site) = (directory.to_path_buf(), scratch.root.clone());
        let base = self.base.clone();
        let looked = helix_process::spawn_blocking(move || look(&of, &site, base));
        let looked = looked.await.map_err(EngineError::environment)??;
        self.judge(looked, &scratch, helix, sandbox, cancel, |_, _| true).await
    }

    /// Runs those of the gates that are wanted, by phase and index.
    async fn judge(
        self,
        looked: Looked,
        scratch: &Scratch,
        helix: PathBuf,
        sandbox: Sandbox,
        cancel: &CancellationToken,
        wanted: impl Fn(&Phase, usize) -> bool + Send + Sync,
    ) -> Result<Vec<PhaseGates>, EngineError> {
        let runner = self.runner(looked, scratch, helix, sandbox, cancel)?;
        let mut done = Vec::new();
        for phase in &runner.task.phases {
            let (mut gates, mut left_out) = (Vec::new(), Vec::new());
            for (index, gate) in phase.gates.iter().enumerate().filter(|(index, _)| wanted(phase, *index)) {
                match waits_for_the_end(gate) {
                    Some(why) => left_out.push(LeftOut { gate: gate.name().into(), why }),
                    None => gates.push(runner.run(phase, index, &runner.result).await?),
                }
            }
            if phase.verify.is_some() {
                left_out.push(LeftOut { gate: "verify".into(), why: recorded!("left-out-verifier") });
            }
            done.push(PhaseGates { phase: phase.id.clone(), gates, left_out });
        }
        Ok(done)
    }

    /// Where it began, if that is known.
    pub(crate) fn base(&self) -> Option<&CommitId> {
        self.base.as_ref()
    }

    /// Makes ready to run the gates on results.
    pub(crate) fn runner(
        self,
        looked: Looked,
        scratch: &Scratch,
        helix: PathBuf,
        sandbox: Sandbox,
        cancel: &CancellationToken,
    ) -> Result<GateRunner, EngineError> {
        let root = scratch.root.clone();
        let Looked { spaces, base, head, result, users_tree } = looked;
        let keeper_args = vec!["keeper".to_owned()];
        let config = SupervisorConfig {
            runs_dir: root.join("runs"),
            keeper: helix,
            keeper_args,
            watching: Watching::default(),
            sandbox,
            seal: RunSeal::new(kept_key(&root.join("run.key")).map_err(EngineError::environment)?),
        };
        let supervisor = Supervisor::new(config).map_err(EngineError::environment)?;
        let kept = self.prepared.as_ref().and_then(|(state, _)| state.as_deref()).unwrap_or(&root);
        let preparations = Preparations::new(kept, supervisor.clone());
        let checkouts = GateCheckouts::new(supervisor, CancellationToken::new(), preparations);
        let random = uuid::Uuid::now_v7().as_u64_pair().1;
        let job = JobId::from_parts(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0), random);
        let mut environment = ToolEnvironment::from_process(&[]);
        if let Some(venv) = &self.venv {
            environment = environment.in_venv(venv);
        }
        let variables = self.prepared.iter().flat_map(|(_, workspace)| &workspace.env);
        for (name, value) in variables {
            environment = environment.with(name, value);
        }
        if let Ok(outer) = std::env::var(RUN_DIR_VARIABLE) {
            environment = environment.with(WITHIN_RUN_VARIABLE, outer);
            // What is set in the work place is so in checkouts of it; the ports of its services are known there alone.
            let variables = self.prepared.iter().flat_map(|(_, workspace)| workspace.env.keys());
            for (name, value) in variables.filter_map(|name| Some((name, std::env::var(name).ok()?))) {
                environment = environment.with(name, value);
            }
        }
        let cancel = cancel.clone();
        Ok(GateRunner { task: self, spaces, base, head, result, users_tree, job, root, environment, checkouts, cancel })
    }
}

/// A task with all that its gates need to run.
pub(crate) struct GateRunner {
    task: WorkTask,
    spaces: Workspaces,
    base: CommitId,
    head: CommitId,
    result: Committed,
    users_tree: PathBuf,
    job: JobId,
    root: PathBuf,
    environment: ToolEnvironment,
    checkouts: GateCheckouts,
    cancel: CancellationToken,
}

impl GateRunner {
    /// What a gate of a phase looks at.
    pub(crate) fn context(&self, phase: &Phase, index: usize, result: &Committed) -> GateContext {
        GateContext {
            spaces: self.spaces.clone(),
            job: self.job.clone(),
            phase: phase.clone(),
            claims: self.task.claims.clone(),
            plan_adr: self.task.plan_adr.clone(),
            adr: self.task.adr.clone(),
            origin: self.task.origin.clone().unwrap_or_else(|| self.head.clone()),
            base: self.base.clone(),
            result: result.clone(),
            gate_files: self.task.gate_files.clone(),
            label: format!("{}.{index}", phase.id),
            state: self.root.clone(),
            baselines: baselines_of(&self.root),
            users_tree: self.users_tree.clone(),
            environment: self.environment.clone(),
            workspace: self.task.prepared.as_ref().map(|(_, workspace)| Arc::clone(workspace)).unwrap_or_default(),
            checkouts: self.checkouts.clone(),
            cancel: self.cancel.clone(),
        }
    }

    async fn run(&self, phase: &Phase, index: usize, result: &Committed) -> Result<GateReport, EngineError> {
        let Some(gate) = phase.gates.get(index) else { return Err(EngineError::refused("there is no such gate")) };
        let report = run_gate(Arc::new(self.context(phase, index, result)), gate).await;
        match self.cancel.is_cancelled() {
            true => Err(EngineError::refused("interrupted")),
            false => Ok(report),
        }
    }

    /// The commit that is looked at.
    pub(crate) fn result(&self) -> &Committed {
        &self.result
    }

    /// What the first phase's gates look at, of the result as it is.
    pub(crate) fn of_result(&self) -> Option<GateContext> {
        self.task.phases.first().map(|phase| self.context(phase, 0, &self.result))
    }

    /// The answers of all gates on the result as it is, or of those up to the first that does not pass on another commit.
    pub(crate) async fn answers(&self, other: Option<CommitId>) -> Result<Vec<GateReport>, EngineError> {
        let result = match &other {
            None => self.result.clone(),
            Some(commit) => {
                let (spaces, base, commit) = (self.spaces.clone(), self.base.clone(), commit.clone());
                let made = move || committed(spaces.repository(), &base, &commit, String::new());
                let made = helix_process::spawn_blocking(made).await.map_err(EngineError::environment)?;
                made.map_err(EngineError::environment)?
            }
        };
        let mut found = Vec::new();
        for phase in &self.task.phases {
            for (index, _) in phase.gates.iter().enumerate().filter(|(_, gate)| waits_for_the_end(gate).is_none()) {
                found.push(self.run(phase, index, &result).await?);
                if other.is_some() && found.last().is_some_and(|gate| !gate.verdict.passed()) {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// What the plan lets a phase touch.
pub(crate) fn claims_of_phase(active: &Active, phase: &Phase) -> Claims {
    let mut claims = Claims::of_phase(&active.spec.plan, phase);
    let ancestry = active.spec.plan.ancestry();
    let mut before = ancestry.before(&phase.id).filter_map(|phase| Some((phase, active.progress(&phase.id)?)));
    claims.free_before = before.any(|(phase, progress)| changes_freely(active, phase, progress));
    let claims = named_by_plan(active, claims);
    if active.progress(&phase.id).is_some_and(is_of_agent) { claims.of_agent() } else { claims }
}

/// Whether a phase has changed something and names no outputs: it may touch all.
pub(crate) fn changes_freely(active: &Active, phase: &Phase, progress: &PhaseProgress) -> bool {
    let result = progress.last_attempt().and_then(|attempt| attempt.result.as_ref());
    // Who resolves a conflict names no outputs, and may touch nothing else all the same.
    let is_free = phase.outputs.is_empty() && active.conflict(&phase.id).is_none();
    is_free && result.is_some_and(|result| !result.changed.is_empty())
}

/// What the plan lets all phases together touch.
pub(crate) fn claims_of_sum(active: &Active) -> Claims {
    named_by_plan(active, Claims::of_sum(&active.spec.plan))
}

/// Without what phases name that an agent has added: it excuses no test and changes no gate, or agents would excuse each other.
pub(crate) fn named_by_plan(active: &Active, claims: Claims) -> Claims {
    let of_plan = active.pairs().filter(|(_, progress)| !is_of_agent(progress));
    claims.only(&of_plan.flat_map(|(phase, _)| &phase.outputs).collect())
}

fn is_of_agent(progress: &PhaseProgress) -> bool {
    progress.planned_by == PlannedBy::Agent
}

/// The gates of a job that have to pass on its integrated result, to be run once more.
pub struct Rerun {
    /// Those on results put together.
    whole: WorkTask,
    /// The phase that was validated on just this tree, if one was: all of its gates count.
    last: Option<WorkTask>,
    gates: BTreeSet<(PhaseId, usize)>,
    result: CommitId,
}

impl Rerun {
    /// `None` if the job has no integrated result.
    pub fn new(active: &Active, evidence: &JobEvidence, venv: Option<String>) -> Option<Self> {
        let done = evidence.integration.as_ref()?;
        let (spec, tree) = (&active.spec, &done.result.tree);
        let task = |phases, base: &CommitId, claims| WorkTask {
            venv: venv.clone(),
            ..WorkTask::new(spec, phases, Some(base.clone()), claims)
        };
        let last = done.validated_by.as_ref().and_then(|id| {
            let (phase, progress) = active.pairs().find(|(phase, _)| phase.id == *id)?;
            let base = &progress.last_attempt()?.begin.base;
            Some(task(vec![phase.clone()], base, claims_of_phase(active, phase)))
        });
        let gates = if last.is_some() { active.gates_to_confirm(tree) } else { active.gates_of_sum() };
        let gates = gates.into_iter().map(|(phase, index)| (phase.id.clone(), index)).collect();
        let phases = active.pairs().map(|(phase, _)| phase.clone()).collect();
        let whole = task(phases, &spec.repo.base, claims_of_sum(active));
        Some(Self { whole, last, gates, result: done.result.commit.clone() })
    }

    /// The gates that will be run, each with its phase.
    pub fn gates(&self) -> Vec<(&PhaseId, &GateSpec)> {
        let all =
            self.whole.phases.iter().flat_map(|phase| phase.gates.iter().enumerate().map(move |one| (phase, one)));
        let whole = all.filter(|(phase, (index, _))| self.gates.contains(&(phase.id.clone(), *index)));
        let last = self.last.iter().flat_map(|task| &task.phases);
        let last = last.flat_map(|phase| phase.gates.iter().map(move |gate| (&phase.id, gate)));
        let all = whole.map(|(phase, (_, gate))| (&phase.id, gate)).chain(last);
        all.filter(|(_, gate)| waits_for_the_end(gate).is_none()).collect()
    }

    /// The same in checkouts that are prepared as those of jobs with this state directory.
    #[must_use]
    pub fn prepared(self, state: &Path, workspace: &Workspace) -> Self {
        let prepare = |task: WorkTask| task.prepared(state.to_owned(), workspace.clone());
        Self { whole: prepare(self.whole), last: self.last.map(prepare), ..self }
    }

    /// Runs them on the result as a repository has it.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: the repository has not what they are about, or cannot be read.
    pub async fn run(
        self,
        directory: &Path,
        helix: PathBuf,
        sandbox: Sandbox,
        cancel: &CancellationToken,
    ) -> Result<Vec<PhaseGates>, EngineError> {
        let mut done = Vec::new();
        let gates = self.gates;
        for (task, all) in self.last.into_iter().map(|task| (task, true)).chain([(self.whole, false)]) {
            // A scratch directory of its own for each: nothing is left of the one before.
            let scratch = Scratch::new()?;
            let (of, site, result) = (directory.to_path_buf(), scratch.root.clone(), self.result.clone());
            let base = task.base.clone();
            let looked = helix_process::spawn_blocking(move || {
                let repository =
                    Repository::open(&of, GitEnvironment::from_process()).map_err(EngineError::environment)?;
                let top = repository.top().to_owned();
                looked(repository, &site, base, &result, (None, top))
            });
            let looked = looked.await.map_err(EngineError::environment)??;
            let wanted = |phase: &Phase, index: usize| all || gates.contains(&(phase.id.clone(), index));
            let ran = task.judge(looked, &scratch, helix.clone(), sandbox.clone(), cancel, wanted).await?;
            done.extend(ran.into_iter().filter(|phase| !phase.gates.is_empty() || !phase.left_out.is_empty()));
        }
        Ok(done)
    }
}

/// A directory of its own, which is removed in the end.
pub(crate) struct Scratch {
    pub(crate) root: PathBuf,
    _place: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self, EngineError> {
        let place = tempfile::Builder::new().prefix("helix-gates-").tempdir().map_err(EngineError::environment)?;
        let root = place.path().canonicalize().map_err(EngineError::environment)?;
        Ok(Self { root, _place: place })
    }
}

pub(crate) struct Looked {
    spaces: Workspaces,
    base: CommitId,
    head: CommitId,
    result: Committed,
    /// The work tree whose repository it is.
    users_tree: PathBuf,
}

fn look(directory: &Path, root: &Path, base: Option<CommitId>) -> Result<Looked, EngineError> {
    let place = root.join("repository");
    std::fs::create_dir_all(&place).map_err(EngineError::environment)?;
    let copy = WorkCopy::take(directory, &place, &GitEnvironment::from_process()).map_err(EngineError::environment)?;
    let WorkCopy { repository, commit, head, top } = copy;
    looked(repository, root, base, &commit, (Some(head), top))
}

pub(crate) fn looked(
    repository: Repository,
    root: &Path,
    base: Option<CommitId>,
    commit: &CommitId,
    (head, users_tree): (Option<CommitId>, PathBuf),
) -> Result<Looked, EngineError> {
    let head = head.unwrap_or_else(|| commit.clone());
    let base = base.unwrap_or_else(|| head.clone());
    let result = committed(&repository, &base, commit, String::new()).map_err(EngineError::environment)?;
    let spaces = Workspaces::new(repository, root).map_err(EngineError::environment)?;
    Ok(Looked { spaces, base, head, result, users_tree })
}

/// A commit as the result of work that began at another one.
pub(crate) fn committed(
    repository: &Repository,
    base: &CommitId,
    commit: &CommitId,
    branch: String,
) -> Result<Committed, GitError> {
    let (old, new) = (repository.commit(base.as_str())?, repository.commit(commit.as_str())?);
    let changed = repository.changes(&old.tree, &new.tree)?;
    Ok(Committed { moved: old.tree != new.tree, commit: new.id, tree: new.tree, branch, changed })
}

/// Why a gate is not made on work that is not done, if it is not.
fn waits_for_the_end(gate: &GateSpec) -> Option<Words> {
    match gate {
        GateSpec::ReviewApproved { .. } => Some(recorded!("left-out-reviewer")),
        GateSpec::Approval { .. } | GateSpec::Manual { .. } => Some(recorded!("left-out-person")),
        GateSpec::DeploySuccess(_) | GateSpec::IntegrationPass(_) => Some(recorded!("left-out-outside")),
        GateSpec::FilesExist { .. }
        | GateSpec::OutputsClaimed { .. }
        | GateSpec::SyntaxCheck { .. }
        | GateSpec::TestsPass(_)
        | GateSpec::Mutation(_)
        | GateSpec::LintPass { .. }
        | GateSpec::BuildPass { .. }
        | GateSpec::Command { .. }
        | GateSpec::AdrValid { .. }
        | GateSpec::AdrComplete { .. }
        | GateSpec::DocsRefsValid {}
        | GateSpec::CriteriaCovered {}
        | GateSpec::ConflictsResolved { .. } => None,
    }
}
