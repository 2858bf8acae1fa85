//! The gates of phases on the work as it stands in a work tree, for the agent or the person who is at it: the runner and the reports
//! are those of jobs.
//!
//! Must not record anything: no answer of it is evidence. Nothing is written to the repository or the work tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_agents::supervisor::Watching;
use helix_agents::{Sandbox, Supervisor, SupervisorConfig};
use helix_core::ids::{CommitId, JobId, PhaseId, RunId};
use helix_gates::{Claims, GateCheckouts, GateContext, run_gate};
use helix_git::{GitEnvironment, WorkCopy, Workspaces};
use helix_job::{AdrText, Committed, GateReport, JobSpec};
use helix_plan::{GateSpec, Phase};
use helix_process::{RUN_DIR_VARIABLE, ToolEnvironment, WITHIN_RUN_VARIABLE};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;

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
    pub why: String,
}

/// Where the task of a run's agent lies; `agent_files` are the run's.
fn task_file(agent_files: &Path) -> PathBuf {
    agent_files.join("gates.json")
}

impl WorkTask {
    /// The gates of a phase whose agent starts at `base`.
    pub(crate) fn of_attempt(spec: &JobSpec, phase: &Phase, base: &CommitId) -> Self {
        Self {
            phases: vec![phase.clone()],
            plan_adr: spec.plan.adr.clone(),
            adr: spec.adr.clone(),
            origin: Some(spec.repo.base.clone()),
            base: Some(base.clone()),
            gate_files: spec.gate_files.clone(),
            claims: Claims::of_phase(&spec.plan, phase),
            venv: spec.venv.clone(),
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
        let text = std::fs::read(file).map_err(EngineError::environment)?;
        serde_json::from_slice(&text).map(Some).map_err(EngineError::environment)
    }

    /// The gates of all phases of a job that could be made here, for a person. Without a base, the work is what is not committed.
    pub fn of_job(spec: JobSpec, base: Option<CommitId>) -> Self {
        // What a person has done is the work of all phases.
        let claims = Claims { together: false, ..Claims::of_sum(&spec.plan) };
        Self {
            phases: spec.plan.phases,
            plan_adr: spec.plan.adr,
            adr: spec.adr,
            origin: base.clone(),
            base,
            gate_files: spec.gate_files,
            claims,
            venv: spec.venv,
        }
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
        let place = tempfile::Builder::new().prefix("helix-gates-").tempdir().map_err(EngineError::environment)?;
        let root = place.path().canonicalize().map_err(EngineError::environment)?;
        let (of, site) = (directory.to_path_buf(), root.clone());
        let base = self.base.clone();
        let looked = helix_process::spawn_blocking(move || look(&of, &site, base));
        let Looked { spaces, base, head, result } = looked.await.map_err(EngineError::environment)??;
        let keeper_args = vec!["keeper".to_owned()];
        let config = SupervisorConfig {
            runs_dir: root.join("runs"),
            keeper: helix,
            keeper_args,
            watching: Watching::default(),
            sandbox,
        };
        let supervisor = Supervisor::new(config).map_err(EngineError::environment)?;
        let checkouts = GateCheckouts::new(supervisor, CancellationToken::new());
        let random = uuid::Uuid::now_v7().as_u64_pair().1;
        let job = JobId::from_parts(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0), random);
        let mut environment = ToolEnvironment::from_process(&[]);
        if let Some(venv) = &self.venv {
            environment = environment.in_venv(venv);
        }
        if let Ok(outer) = std::env::var(RUN_DIR_VARIABLE) {
            environment = environment.with(WITHIN_RUN_VARIABLE, outer);
        }
        let mut done = Vec::new();
        for phase in &self.phases {
            let (mut gates, mut left_out) = (Vec::new(), Vec::new());
            for (index, gate) in phase.gates.iter().enumerate() {
                if let Some(why) = waits_for_the_end(gate) {
                    left_out.push(LeftOut { gate: gate.name().into(), why: why.into() });
                    continue;
                }
                let context = GateContext {
                    spaces: spaces.clone(),
                    job: job.clone(),
                    phase: phase.clone(),
                    claims: self.claims.clone(),
                    plan_adr: self.plan_adr.clone(),
                    adr: self.adr.clone(),
                    origin: self.origin.clone().unwrap_or_else(|| head.clone()),
                    base: base.clone(),
                    result: result.clone(),
                    gate_files: self.gate_files.clone(),
                    label: format!("{}.{index}", phase.id),
                    state: root.clone(),
                    environment: environment.clone(),
                    checkouts: checkouts.clone(),
                    cancel: cancel.clone(),
                };
                gates.push(run_gate(Arc::new(context), gate).await);
                if cancel.is_cancelled() {
                    return Err(EngineError::refused("interrupted"));
                }
            }
            if phase.verify.is_some() {
                let why = "an independent verifier looks at the result, once its gates have passed";
                left_out.push(LeftOut { gate: "verify".into(), why: why.into() });
            }
            done.push(PhaseGates { phase: phase.id.clone(), gates, left_out });
        }
        Ok(done)
    }
}

struct Looked {
    spaces: Workspaces,
    base: CommitId,
    head: CommitId,
    result: Committed,
}

fn look(directory: &Path, root: &Path, base: Option<CommitId>) -> Result<Looked, EngineError> {
    let place = root.join("repository");
    std::fs::create_dir_all(&place).map_err(EngineError::environment)?;
    let copy = WorkCopy::take(directory, &place, &GitEnvironment::from_process()).map_err(EngineError::environment)?;
    let WorkCopy { repository, commit, head } = copy;
    let base = base.unwrap_or_else(|| head.clone());
    let failed = EngineError::environment;
    let (old, new) =
        (repository.commit(base.as_str()).map_err(failed)?, repository.commit(commit.as_str()).map_err(failed)?);
    let changed = repository.changes(&old.tree, &new.tree).map_err(failed)?;
    let moved = old.tree != new.tree;
    let result = Committed { commit: new.id, tree: new.tree, branch: String::new(), changed, moved };
    let spaces = Workspaces::new(repository, root).map_err(EngineError::environment)?;
    Ok(Looked { spaces, base, head, result })
}

/// Why a gate is not made on work that is not done, if it is not.
fn waits_for_the_end(gate: &GateSpec) -> Option<&'static str> {
    match gate {
        GateSpec::ReviewApproved { .. } => Some("an independent reviewer looks at the result"),
        GateSpec::Approval { .. } | GateSpec::Manual { .. } => Some("a person is asked about the result"),
        GateSpec::DeploySuccess(_) | GateSpec::IntegrationPass(_) => Some("it acts outside of the repository"),
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
