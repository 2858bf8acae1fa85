//! What the gates of a finished job would let through: faults are planted into a shadow of each phase's result, and the phase's gates run
//! on each.
//!
//! Must not write to the user's repository, the host's, or the journal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_recursion::async_recursion as boxed;
use helix_agents::Sandbox;
use helix_core::finding::{Finding, Verdict};
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_core::said::Words;
use helix_gates::{FaultSort, PlantedFault, planted_faults};
use helix_job::{Active, GateReport, PhaseState};
use helix_language::{ErrorView, RECORD, recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::config::WorkspaceSource;
use crate::error::EngineError;
use crate::evidence::Archive;
use crate::work_gates::{Scratch, WorkTask, looked};

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct AuditLimits {
    /// Most faults, of all phases together.
    pub faults: usize,
    /// No fault is begun after that.
    pub time: Duration,
}

/// What came of planting faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    pub job: JobId,
    pub made_at: Timestamp,
    /// All that were tried, in the order in which they were.
    pub faults: Vec<TriedFault>,
    /// How many could have been planted.
    pub possible: usize,
    /// Share of the tried ones that passed all gates, from 0 to 1.
    pub escape_rate: f64,
    /// Where the share of all possible ones lies with 95 % confidence (Wilson), if the tried ones stand for them.
    pub interval: (f64, f64),
    /// Phases in which nothing was planted, with the reason.
    pub left_out: Vec<LeftOutPhase>,
}

/// A fault, and what the gates said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedFault {
    pub phase: PhaseId,
    pub sort: FaultSort,
    pub path: String,
    /// From 1; absent where it is all over the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub planted: String,
    /// The same as words of Helix, for who reads it now.
    #[serde(skip)]
    pub planted_said: Words,
    /// The first gate that did not pass; absent: the fault escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_by: Option<String>,
    /// What that gate said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The same as words of Helix, for who reads it now.
    #[serde(skip)]
    pub gate_said: Words,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutPhase {
    pub phase: PhaseId,
    pub why: String,
    /// The same as words of Helix, for who reads it now.
    #[serde(skip)]
    pub said: Words,
}

impl LeftOutPhase {
    fn new(phase: PhaseId, said: Words) -> Self {
        Self { phase, why: RECORD.words(&said), said }
    }
}

impl Audit {
    fn new(job: JobId, faults: Vec<TriedFault>, possible: usize, left_out: Vec<LeftOutPhase>) -> Self {
        let escaped = faults.iter().filter(|fault| fault.noticed_by.is_none()).count();
        let escape_rate = if faults.is_empty() { 0.0 } else { ratio(escaped, faults.len()) };
        let interval = wilson(escaped, faults.len());
        Self { job, made_at: Timestamp::now(), faults, possible, escape_rate, interval, left_out }
    }

    pub fn escaped(&self) -> impl Iterator<Item = &TriedFault> {
        self.faults.iter().filter(|fault| fault.noticed_by.is_none())
    }
}

fn ratio(part: usize, all: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap_or(u32::MAX)) / f64::from(u32::try_from(all).unwrap_or(u32::MAX))
}

/// Wilson's interval of a share, with 95 % confidence; all of it where nothing was tried.
fn wilson(escaped: usize, tried: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    if tried == 0 {
        return (0.0, 1.0);
    }
    let (share, count) = (ratio(escaped, tried), f64::from(u32::try_from(tried).unwrap_or(u32::MAX)));
    let scale = 1.0 + Z * Z / count;
    let middle = (share + Z * Z / (2.0 * count)) / scale;
    let half = Z / scale * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// A phase's gates, and the result that they passed on.
struct Subject {
    task: WorkTask,
    phase: PhaseId,
    result: CommitId,
}

fn subjects(active: &Active) -> Vec<Subject> {
    let (spec, mut found) = (&active.spec, Vec::new());
    for (phase, progress) in active.pairs() {
        let attempt = progress.last_attempt().filter(|_| matches!(progress.state, PhaseState::Passed { .. }));
        let Some((base, result)) = attempt.and_then(|one| Some((&one.begin.base, one.result.as_ref()?))) else {
            continue;
        };
        let task = WorkTask::of_attempt(spec, phase, base);
        found.push(Subject { task, phase: phase.id.clone(), result: result.commit.clone() });
    }
    found
}

impl Archive<'_> {
    /// Plants faults into a shadow of a job's results and runs the gates of their phases on each; `each` is told of every fault.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`]; [`EngineError::Environment`]: no phase has a result that its gates pass on here,
    /// the repository is gone, or the walls are missing.
    #[boxed]
    pub async fn audit(
        &self,
        id: &str,
        limits: AuditLimits,
        (helix, sandbox, workspaces): (PathBuf, Sandbox, WorkspaceSource),
        cancel: &CancellationToken,
        each: &(dyn Fn(&TriedFault) + Send + Sync),
    ) -> Result<Audit, EngineError> {
        let begun = Instant::now();
        let reading = self.read(id, |job, _, active, repository| Ok((job.clone(), subjects(active), repository)));
        let (job, subjects, hosted) = reading.await?;
        let top = hosted.user().top().to_owned();
        let workspace = helix_process::spawn_blocking(move || workspaces.workspace(&top));
        let workspace = workspace.await.map_err(EngineError::environment)?;
        let workspace = workspace.map_err(|(message, hint)| EngineError::refused(format!("{message}: {hint}")))?;
        let (mut tried, mut possible, mut left_out) = (Vec::new(), 0, Vec::new());
        let count = subjects.len();
        for (index, Subject { task, phase, result }) in subjects.into_iter().enumerate() {
            let task = task.prepared(self.state_dir.to_path_buf(), workspace.clone());
            let scratch = Scratch::new()?;
            let (of, site, base) = (hosted.clone(), scratch.root.clone(), task.base().cloned());
            let shadow = helix_process::spawn_blocking(move || {
                let repository = of.shadow(&site.join("repository")).map_err(EngineError::environment)?;
                looked(repository, &site, base, &result, (None, of.user().top().to_owned()))
            });
            let shadow = shadow.await.map_err(EngineError::environment)??;
            let runner = task.runner(shadow, &scratch, helix.clone(), sandbox.clone(), cancel)?;
            let clean = runner.answers(None).await?;
            if let Some(gate) = clean.iter().find(|gate| !gate.verdict.passed()) {
                let why = recorded!("audit-gate-fails", gate = &gate.gate, why = gate.words());
                left_out.push(LeftOutPhase::new(phase, why));
                continue;
            }
            let passed = clean.iter().filter_map(|gate| gate.tests).map(|tests| tests.passed).max().unwrap_or(0);
            let Some(context) = runner.of_result() else { continue };
            let context = Arc::new(context);
            let of = context.clone();
            let faults = helix_process::spawn_blocking(move || planted_faults(&of, passed));
            let faults = faults.await.map_err(EngineError::environment)?.map_err(EngineError::environment)?;
            if faults.is_empty() || clean.is_empty() {
                left_out.push(LeftOutPhase::new(phase, recorded!("audit-nothing")));
                continue;
            }
            possible += faults.len();
            // What one phase does not need is for those after it.
            let share = limits.faults.saturating_sub(tried.len()).div_ceil(count - index);
            for fault in faults.into_iter().take(share) {
                if begun.elapsed() > limits.time {
                    break;
                }
                let (of, planted) = (context.clone(), fault.clone());
                let commit = helix_process::spawn_blocking(move || planted.plant(&of));
                let commit = commit.await.map_err(EngineError::environment)?.map_err(EngineError::environment)?;
                let reports = runner.answers(Some(commit)).await?;
                let one = tried_fault(&phase, fault, &reports);
                each(&one);
                tried.push(one);
            }
        }
        if tried.is_empty() {
            let why: Vec<String> = left_out.iter().map(|one| format!("{}: {}", one.phase, one.why)).collect();
            let why = if why.is_empty() { "no phase has passed".to_owned() } else { why.join("; ") };
            let hint = "`helix gates run` shows whether the gates pass here; what they need besides belongs into `[workspace]`";
            return Err(EngineError::Environment {
                message: format!("no fault was tried: {why}"),
                hint: Some(hint.to_owned()),
            });
        }
        Ok(Audit::new(job, tried, possible, left_out))
    }
}

fn tried_fault(phase: &PhaseId, fault: PlantedFault, reports: &[GateReport]) -> TriedFault {
    let PlantedFault { sort, path, line, what, .. } = fault;
    let noticed = reports.iter().find(|gate| !gate.verdict.passed());
    let gate_said = noticed.map_or_else(Words::default, |gate| match &gate.verdict {
        Verdict::Fail { findings } => findings.first().map_or_else(|| gate.words(), Finding::words),
        Verdict::Inconclusive { fault } => ErrorView::of_fault(fault).words(),
        Verdict::Pass => Words::default(),
    });
    TriedFault {
        phase: phase.clone(),
        sort,
        path,
        line,
        planted: RECORD.words(&what),
        planted_said: what,
        noticed_by: noticed.map(|gate| gate.gate.clone()),
        said: noticed.map(|_| RECORD.words(&gate_said)),
        gate_said,
    }
}

#[cfg(test)]
#[path = "audit_test.rs"]
mod tests;
