//! Brings the results of a job together and into the target branch. Only a tree that was validated is landed.
//!
//! Must not know how gates check or how git merges.

use helix_core::finding::{Fault, Finding, Verdict};
use helix_core::ids::{CommitId, JobId};
use helix_core::said::Words;
use helix_job::{Active, Committed, GateReport, Integrated, IntegrationTarget, JobEvent, NotIntegrated, Tip};
use helix_language::{finding, recorded, summed_up};
use helix_plan::{GateSpec, Phase};
use tokio_util::sync::CancellationToken;

use super::base::conflict_event;
use super::effects::{EffectRunner, Stopped, blocking};
use super::gate::{GateCheck, fault_finding};
use super::unsaved::result_text;
use helix_gates::{DeliveryPart, WorkOf};
use helix_git::{
    CommitObject, GitError, Integration, IntegrationRequest, Landing, MergeConflict, Merged, Repository, Workspaces,
};

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

/// A job whose results are integrated, and what that works with.
struct Integrating<'a> {
    runner: &'a EffectRunner,
    job: &'a JobId,
    active: &'a Active,
    spaces: Workspaces,
    cancel: &'a CancellationToken,
}

impl EffectRunner {
    pub(super) async fn integrate(
        &self,
        job: &JobId,
        active: &Active,
        tips: &[Tip],
        cancel: &CancellationToken,
    ) -> Option<JobEvent> {
        let integrated = async {
            let spaces = self.workspaces(&active.spec).await?;
            let _turn = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Trouble::Stopped(Stopped::Unwanted)),
                turn = self.landing(&active.spec) => turn,
            };
            Integrating { runner: self, job, active, spaces, cancel }.integrate(tips).await
        };
        Some(match integrated.await {
            Ok(done) => JobEvent::Integrated(done),
            Err(Trouble::Findings(findings)) => failed(findings),
            Err(Trouble::Gate(gates)) => {
                let (findings, fault) = match gates.last().map(|report| &report.verdict) {
                    Some(Verdict::Fail { findings }) => (findings.clone(), None),
                    Some(Verdict::Inconclusive { fault }) => (vec![fault_finding(fault)], Some(fault.clone())),
                    Some(Verdict::Pass) | None => (Vec::new(), None),
                };
                JobEvent::IntegrationFailed(NotIntegrated { findings, gates, fault })
            }
            Err(Trouble::Stopped(Stopped::Fault(fault))) => faulted(fault),
            Err(Trouble::Conflict(conflict)) => {
                let known = conflict_event(active, None, &conflict);
                known.unwrap_or_else(|| failed(vec![unresolved(&conflict)]))
            }
            Err(Trouble::Stopped(Stopped::Unwanted)) => return None,
        })
    }
}

impl Integrating<'_> {
    async fn integrate(&self, tips: &[Tip]) -> Result<Integrated, Trouble> {
        let active = self.active;
        let base = active.spec.repo.base.clone();
        let (result, checked, own) = match self.combine(tips).await? {
            None => (base.clone(), None, Vec::new()),
            Some((commit, asked)) => {
                let own = self.validate(&commit.id, asked, WorkOf::Job).await?;
                (commit.id, Some(commit.tree), own)
            }
        };
        let request = IntegrationRequest {
            job: self.job.clone(),
            name: active.spec.plan.name.clone(),
            base,
            result,
            branch: active.spec.repo.branch.clone(),
            land: active.spec.policy.land,
            text: result_text(active),
        };
        for _ in 0..CHASES {
            let prepared = self.git(&request, |repository, request| repository.prepare_integration(request));
            let merge = match prepared.await? {
                Integration::Nothing => {
                    let result = self.committed(&request.base, &request.base, String::new()).await?;
                    return Ok(Integrated { result, target: IntegrationTarget::Nowhere, gates: own });
                }
                Integration::Already { commit, branch } => {
                    let result = self.committed(&request.base, &commit.id, branch.clone()).await?;
                    // A former host landed it and had no time to say what it had checked, or the user did.
                    let gates = match checked.as_ref() == Some(&result.tree) {
                        true => own,
                        false => self.validate(&result.commit, active.gates_of_sum(), WorkOf::Branch).await?,
                    };
                    return Ok(Integrated { result, target: IntegrationTarget::Branch { branch }, gates });
                }
                Integration::OwnBranch => {
                    return self.beside(&request, recorded!("beside-as-asked"), own).await;
                }
                Integration::Conflict { paths, onto } => {
                    // The target conflicts with the result: that is left on a branch of its own, with what is in the way.
                    let onto = onto.as_str().get(..12).unwrap_or_default();
                    let why = recorded!("beside-conflict", commit = onto, paths = paths.join(", "));
                    return self.beside(&request, why, own).await;
                }
                Integration::Ready(merge) => merge,
            };
            let gates = match merge.unvalidated {
                true => self.validate(&merge.commit, active.gates_of_sum(), WorkOf::Branch).await?,
                false => own.clone(),
            };
            let commit = merge.commit.clone();
            match self.git(&request, move |repository, request| repository.land(request, &merge)).await? {
                Landing::Moved => {}
                Landing::Landed(target) => {
                    let result = self.committed(&request.base, &commit, branch_of(&target)).await?;
                    return Ok(Integrated { result, target, gates });
                }
            }
        }
        Err(Trouble::Findings(vec![finding("integration.moving", recorded!("result-branch-moves"))]))
    }

    /// Leaves the result on a branch of its own.
    async fn beside(
        &self,
        request: &IntegrationRequest,
        why: Words,
        gates: Vec<GateReport>,
    ) -> Result<Integrated, Trouble> {
        let beside = self.git(request, |repository, request| repository.land_beside(request, &request.result, why));
        let target = beside.await?;
        let result = self.committed(&request.base, &request.result, branch_of(&target)).await?;
        Ok(Integrated { result, target, gates })
    }

    /// Has git do something with the request away from the runtime's threads, unless the job was cancelled meanwhile.
    async fn git<T: Send + 'static>(
        &self,
        request: &IntegrationRequest,
        work: impl FnOnce(&Repository, &IntegrationRequest) -> Result<T, GitError> + Send + 'static,
    ) -> Result<T, Stopped> {
        if self.cancel.is_cancelled() {
            return Err(Stopped::Unwanted);
        }
        let (spaces, request) = (self.spaces.clone(), request.clone());
        Ok(blocking(move || work(spaces.repository(), &request)).await?)
    }

    /// One commit that holds all results, and the gates that have to pass on it.
    async fn combine(&self, tips: &[Tip]) -> Result<Option<(CommitObject, Vec<(&Phase, usize)>)>, Trouble> {
        if tips.is_empty() {
            return Ok(None);
        }
        let (tips, message) = (tips.to_vec(), format!("Combine the results of helix job {}", self.job));
        let spaces = self.spaces.clone();
        match blocking(move || spaces.repository().merge_tips(&tips, &message)).await? {
            // A phase was validated on just this tree, the earlier ones were not.
            Merged::Contained(commit) => {
                let asked = self.active.gates_to_confirm(&commit.tree);
                Ok(Some((commit, asked)))
            }
            Merged::Combined(commit) => Ok(Some((commit, self.active.gates_of_sum()))),
            Merged::Conflict(conflict) => Err(Trouble::Conflict(conflict)),
        }
    }

    /// Runs gates on a tree that they were not run on by their phases, and those that the plan left out.
    async fn validate(
        &self,
        result: &CommitId,
        gates: Vec<(&Phase, usize)>,
        of: WorkOf,
    ) -> Result<Vec<GateReport>, Trouble> {
        let mut reports: Vec<GateReport> = Vec::new();
        for gate in gates {
            reports.push(self.report("integration", gate, result, of).await?);
            if reports.last().is_none_or(|report| !report.verdict.passed()) {
                return Err(Trouble::Gate(reports));
            }
        }
        self.left_out(result, reports).await
    }

    /// Asks what phases were to check that the plan left out: the work of the others must not be what they failed on. A check
    /// that holds where the job began, or that ran tests, and does not hold now says that of this result; any other was about
    /// the work that is not in it.
    async fn left_out(&self, result: &CommitId, mut reports: Vec<GateReport>) -> Result<Vec<GateReport>, Trouble> {
        let start = &self.active.spec.repo.base;
        for (phase, index) in self.active.gates_left_out() {
            let report = self.report("left-out", (phase, index), result, WorkOf::Branch).await?;
            if report.verdict.passed() {
                reports.push(report);
                continue;
            }
            let failed = matches!(report.verdict, Verdict::Fail { .. });
            let ran = report.tests.is_some_and(|tests| tests.passed.saturating_add(tests.failed) > 0);
            if failed && ran
                || self.report("left-out.origin", (phase, index), start, WorkOf::Branch).await?.verdict.passed()
            {
                let summary = recorded!("gate-left-out", phase = phase.id.as_str(), summary = report.words());
                reports.push(summed_up(report, summary));
                return Err(Trouble::Gate(reports));
            }
        }
        Ok(reports)
    }

    async fn report(
        &self,
        place: &str,
        (mut phase, mut gate): (&Phase, usize),
        result: &CommitId,
        of: WorkOf,
    ) -> Result<GateReport, Stopped> {
        let Self { runner, job, active, cancel, .. } = *self;
        let spec = phase.gates.get(gate).filter(|_| of == WorkOf::Job);
        let tests = spec.filter(|spec| matches!(spec, GateSpec::TestsPass(_) | GateSpec::CriteriaCovered {}));
        // Tests are compared with those that results of phases have passed: what was new there must not assert less now.
        let mut compared = tests.map(|gate| active.compared_by(gate)).unwrap_or_default().into_iter();
        let mut next = compared.next();
        loop {
            let mut base = &active.spec.repo.base;
            if let Some((owner, index, passed)) = next {
                (phase, gate, base) = (owner, index, &passed.commit);
            }
            let result = &self.committed(base, result, String::new()).await?;
            let (label, part) = (format!("{place}.{}.{gate}", phase.id), DeliveryPart::Deliver);
            let check = GateCheck { job, active, phase, attempt: None, of, base, result, gate, label, part, cancel };
            let report = runner.gate_report(check).await?;
            next = compared.next().filter(|_| report.verdict.passed());
            if next.is_none() {
                return Ok(report);
            }
        }
    }

    async fn committed(&self, base: &CommitId, commit: &CommitId, branch: String) -> Result<Committed, Fault> {
        self.runner.committed(self.active, base, commit, branch).await
    }
}

fn failed(findings: Vec<Finding>) -> JobEvent {
    JobEvent::IntegrationFailed(NotIntegrated { findings, gates: Vec::new(), fault: None })
}

/// What is recorded when the environment keeps results from being integrated.
pub(super) fn faulted(fault: Fault) -> JobEvent {
    JobEvent::IntegrationFailed(NotIntegrated {
        findings: vec![fault_finding(&fault)],
        gates: Vec::new(),
        fault: Some(fault),
    })
}

fn unresolved(conflict: &MergeConflict) -> Finding {
    finding("integration.conflict", conflict.words())
}

fn branch_of(target: &IntegrationTarget) -> String {
    match target {
        IntegrationTarget::Branch { branch } | IntegrationTarget::Beside { branch, .. } => branch.clone(),
        IntegrationTarget::Nowhere => String::new(),
    }
}
