//! Brings the results of a job together and into the target branch. Only a tree that was validated is landed.
//!
//! Must not know how gates check or how git merges.

use helix_core::finding::{Fault, Finding, Verdict};
use helix_core::ids::JobId;
use helix_job::{Active, Committed, GateReport, IntegrationTarget, JobEvent, Tip};
use helix_plan::Phase;
use tokio_util::sync::CancellationToken;

use super::base::conflict_event;
use super::effects::{EffectRunner, Stopped, blocking};
use super::gate::{GateCheck, fault_finding};
use helix_git::{Integration, IntegrationRequest, Landing, MergeConflict, Merged, PreparedMerge, Workspaces};

/// How often a target that moves while its merge is checked is followed before that is called a failure.
const CHASES: usize = 5;

/// Why results are not integrated.
enum Trouble {
    /// The work does not fit together.
    Findings(Vec<Finding>),
    /// A gate does not let the results through together; the last of the reports says why.
    Gate(Vec<GateReport>),
    /// Results contradict each other.
    Conflict(MergeConflict),
    Stopped(Stopped),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Stopped(Stopped::Fault(fault))
    }
}

impl From<Stopped> for Trouble {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl EffectRunner {
    pub(super) async fn integrate(
        &self,
        job: &JobId,
        active: &Active,
        tips: Vec<Tip>,
        cancel: CancellationToken,
    ) -> Option<JobEvent> {
        match self.try_integrate(job, active, tips, &cancel).await {
            Ok((result, target, gates)) => Some(JobEvent::Integrated { result, target, gates }),
            Err(Trouble::Findings(findings)) => Some(failed(findings)),
            Err(Trouble::Gate(gates)) => {
                let (findings, fault) = match gates.last().map(|report| &report.verdict) {
                    Some(Verdict::Fail { findings }) => (findings.clone(), None),
                    Some(Verdict::Inconclusive { fault }) => (vec![fault_finding(fault)], Some(fault.clone())),
                    Some(Verdict::Pass) | None => (Vec::new(), None),
                };
                Some(JobEvent::IntegrationFailed { findings, gates, fault })
            }
            Err(Trouble::Stopped(Stopped::Fault(fault))) => Some(faulted(fault)),
            Err(Trouble::Conflict(conflict)) => {
                let known = conflict_event(active, None, &conflict);
                Some(known.unwrap_or_else(|| failed(vec![unresolved(&conflict)])))
            }
            Err(Trouble::Stopped(Stopped::Unwanted)) => None,
        }
    }

    async fn try_integrate(
        &self,
        job: &JobId,
        active: &Active,
        tips: Vec<Tip>,
        cancel: &CancellationToken,
    ) -> Result<(Committed, IntegrationTarget, Vec<GateReport>), Trouble> {
        let spaces = self.workspaces(&active.spec).await?;
        let _turn = self.landing(&active.spec).await;
        let base = active.spec.repo.base.clone();
        let mut reports = Vec::new();
        let (result, checked) = match self.combine(&spaces, job, &tips).await? {
            None => (base.clone(), None),
            Some((commit, Combined::Validated)) => {
                // What a later phase did to the work of an earlier one is in the last phase's tree.
                let gates = active.gates_to_confirm(&commit.tree);
                reports.extend(self.validate(job, active, &commit, gates, cancel).await?);
                (commit.commit, Some(commit.tree))
            }
            Some((commit, Combined::New)) => {
                reports.extend(self.validate(job, active, &commit, active.gates_of_sum(), cancel).await?);
                (commit.commit, Some(commit.tree))
            }
        };
        let request = IntegrationRequest {
            job: job.clone(),
            name: active.spec.plan.name.clone(),
            base,
            result,
            branch: active.spec.repo.branch.clone(),
        };
        for _ in 0..CHASES {
            let prepared = blocking({
                let (spaces, request) = (spaces.clone(), request.clone());
                move || spaces.repository().prepare_integration(&request)
            });
            let merge = match prepared.await? {
                Integration::Nothing => {
                    let committed = committed(&spaces, &request.base, &request.base, String::new()).await?;
                    return Ok((committed, IntegrationTarget::Nowhere, reports));
                }
                Integration::Already { commit, branch } => {
                    let committed = committed(&spaces, &request.base, &commit.id, branch.clone()).await?;
                    // A former host landed it and had no time to say what it had checked, or the user did.
                    if checked.as_ref() != Some(&committed.tree) {
                        reports = self.validate(job, active, &committed, active.gates_of_sum(), cancel).await?;
                    }
                    return Ok((committed, IntegrationTarget::Branch { branch }, reports));
                }
                Integration::Conflict { paths, onto } => {
                    return self.leave_beside(&spaces, &request, &paths, &onto, reports).await;
                }
                Integration::Ready(merge) => merge,
            };
            if merge.unvalidated {
                let commit = committed(&spaces, &merge.onto, &merge.commit, String::new()).await?;
                reports = self.validate(job, active, &commit, active.gates_of_sum(), cancel).await?;
            }
            if let Some(landed) = self.land(&spaces, &request, &merge).await? {
                return Ok((landed.0, landed.1, reports));
            }
        }
        Err(Trouble::Findings(vec![
            Finding::new("integration.moving", "the target branch keeps moving while the result is checked")
                .fix("start the job again when the branch is not changing"),
        ]))
    }

    async fn land(
        &self,
        spaces: &Workspaces,
        request: &IntegrationRequest,
        merge: &PreparedMerge,
    ) -> Result<Option<(Committed, IntegrationTarget)>, Trouble> {
        let landing = blocking({
            let (spaces, request, merge) = (spaces.clone(), request.clone(), merge.clone());
            move || spaces.repository().land(&request, &merge)
        });
        match landing.await? {
            Landing::Moved => Ok(None),
            Landing::Landed(target) => {
                let branch = branch_of(&target);
                Ok(Some((committed(spaces, &request.base, &merge.commit, branch).await?, target)))
            }
        }
    }

    /// The target contradicts the result: it is left on a branch of its own, and that is success only in name of the
    /// work, so it is reported with what is in the way.
    async fn leave_beside(
        &self,
        spaces: &Workspaces,
        request: &IntegrationRequest,
        paths: &[String],
        onto: &helix_core::ids::CommitId,
        reports: Vec<GateReport>,
    ) -> Result<(Committed, IntegrationTarget, Vec<GateReport>), Trouble> {
        let why = format!(
            "the branch has moved to {} and contradicts the result in {}",
            onto.as_str().get(..12).unwrap_or_default(),
            paths.join(", ")
        );
        let target = blocking({
            let (spaces, request) = (spaces.clone(), request.clone());
            move || spaces.repository().land_beside(&request, &request.result, why)
        });
        let target = target.await?;
        let committed = committed(spaces, &request.base, &request.result, branch_of(&target)).await?;
        Ok((committed, target, reports))
    }

    /// One commit that holds all results.
    async fn combine(
        &self,
        spaces: &Workspaces,
        job: &JobId,
        tips: &[Tip],
    ) -> Result<Option<(Committed, Combined)>, Trouble> {
        if tips.is_empty() {
            return Ok(None);
        }
        let (tips, message) = (tips.to_vec(), format!("Combine the results of helix job {job}"));
        let merged = blocking({
            let spaces = spaces.clone();
            move || spaces.repository().merge_tips(&tips, &message)
        });
        let (commit, combined) = match merged.await? {
            Merged::Contained(commit) => (commit, Combined::Validated),
            Merged::Combined(commit) => (commit, Combined::New),
            Merged::Conflict(conflict) => return Err(Trouble::Conflict(conflict)),
        };
        let whole =
            Committed { commit: commit.id, tree: commit.tree, branch: String::new(), changed: Vec::new(), moved: true };
        Ok(Some((whole, combined)))
    }

    /// Runs gates on a tree that they were not run on by their phases, and those that the plan left out.
    async fn validate(
        &self,
        job: &JobId,
        active: &Active,
        result: &Committed,
        gates: Vec<(&Phase, usize)>,
        cancel: &CancellationToken,
    ) -> Result<Vec<GateReport>, Trouble> {
        let mut reports = self.run_all(job, active, result, gates, cancel).await?;
        reports.extend(self.left_out(job, active, result, cancel).await?);
        Ok(reports)
    }

    async fn run_all(
        &self,
        job: &JobId,
        active: &Active,
        result: &Committed,
        gates: Vec<(&Phase, usize)>,
        cancel: &CancellationToken,
    ) -> Result<Vec<GateReport>, Trouble> {
        let spaces = self.workspaces(&active.spec).await?;
        let base = active.spec.repo.base.clone();
        let result = committed(&spaces, &base, &result.commit, result.branch.clone()).await?;
        let mut reports: Vec<GateReport> = Vec::new();
        for (phase, index) in gates {
            let label = format!("integration.{}.{index}", phase.id);
            let check = GateCheck { job, active, phase, base: &base, result: &result, gate: index, label, cancel };
            reports.push(self.gate_report(check).await?);
            if reports.last().is_none_or(|report| !report.verdict.passed()) {
                return Err(Trouble::Gate(reports));
            }
        }
        Ok(reports)
    }

    /// Asks what phases were to check that the plan left out: the work of the others must not be what they failed on. A check
    /// that holds where the job began, or that ran tests, and does not hold now says that of this result; any other was about
    /// the work that is not in it.
    async fn left_out(
        &self,
        job: &JobId,
        active: &Active,
        result: &Committed,
        cancel: &CancellationToken,
    ) -> Result<Vec<GateReport>, Trouble> {
        let asked = active.gates_left_out();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let spaces = self.workspaces(&active.spec).await?;
        let base = active.spec.repo.base.clone();
        let start = committed(&spaces, &base, &base, String::new()).await?;
        let result = committed(&spaces, &base, &result.commit, result.branch.clone()).await?;
        let mut reports: Vec<GateReport> = Vec::new();
        for (phase, index) in asked {
            let check = |place: &str, result| {
                let label = format!("{place}.{}.{index}", phase.id);
                GateCheck { job, active, phase, base: &base, result, gate: index, label, cancel }
            };
            let mut report = self.gate_report(check("left-out", &result)).await?;
            if report.verdict.passed() {
                reports.push(report);
                continue;
            }
            let failed = matches!(report.verdict, Verdict::Fail { .. });
            let ran = report.tests.is_some_and(|tests| tests.passed.saturating_add(tests.failed) > 0);
            if failed && ran || self.gate_report(check("left-out.origin", &start)).await?.verdict.passed() {
                report.summary = format!("phase {} was left out, and what it checks: {}", phase.id, report.summary);
                reports.push(report);
                return Err(Trouble::Gate(reports));
            }
        }
        Ok(reports)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Combined {
    /// A phase was validated on just this tree.
    Validated,
    /// Nobody has validated it.
    New,
}

fn failed(findings: Vec<Finding>) -> JobEvent {
    JobEvent::IntegrationFailed { findings, gates: Vec::new(), fault: None }
}

/// What is recorded when the surroundings keep results from being integrated.
pub(super) fn faulted(fault: Fault) -> JobEvent {
    JobEvent::IntegrationFailed { findings: vec![fault_finding(&fault)], gates: Vec::new(), fault: Some(fault) }
}

fn unresolved(conflict: &MergeConflict) -> Finding {
    Finding::new("integration.conflict", conflict.to_string())
        .fix("let one of the two phases depend on the other, or give each its own files")
}

fn branch_of(target: &IntegrationTarget) -> String {
    match target {
        IntegrationTarget::Branch { branch } | IntegrationTarget::Beside { branch, .. } => branch.clone(),
        IntegrationTarget::Nowhere => String::new(),
    }
}

async fn committed(
    spaces: &Workspaces,
    base: &helix_core::ids::CommitId,
    commit: &helix_core::ids::CommitId,
    branch: String,
) -> Result<Committed, Fault> {
    let (spaces, base, commit) = (spaces.clone(), base.clone(), commit.clone());
    blocking(move || {
        let repository = spaces.repository();
        let (old, new) = (repository.commit(base.as_str())?, repository.commit(commit.as_str())?);
        let changed = repository.changes(&old.tree, &new.tree)?;
        Ok(Committed { moved: old.tree != new.tree, commit: new.id, tree: new.tree, branch, changed })
    })
    .await
}
