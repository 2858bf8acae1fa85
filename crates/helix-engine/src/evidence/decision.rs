//! What a job proves of the decision that it carried out: which acceptance criteria hold in what was merged.
//!
//! Must not change the decision; that is for the caller.

use async_recursion::async_recursion as boxed;
use helix_adr::{Acceptance, Adr};
use helix_core::ids::{CommitId, JobId};
use helix_job::{
    Active, Attempt, GateReport, Integrated, Integration, IntegrationTarget, JobEnd, JobState, PhaseState,
};
use helix_plan::GateSpec;

use super::{Archive, JobEvidence};
use crate::error::EngineError;
use crate::evidence::examiner::Examiner;
use crate::evidence::look::Live;
use helix_git::{GitError, Repository};

/// What a job proves of its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionEvidence {
    pub job: JobId,
    /// The decision's file, relative to the repository's root.
    pub adr: String,
    /// The commit that was merged.
    pub commit: CommitId,
    /// The criteria that its gate `criteria_covered` has proven on the merged tree, as they read at submit; all or none.
    pub criteria: Vec<String>,
    /// Who has approved what it does, if a person was asked to.
    pub approved_by: Option<Acceptance>,
}

impl Archive<'_> {
    /// What a job proves of the decision that it carried out.
    ///
    /// # Errors
    /// As for [`Archive::evidence`], and [`EngineError::Refused`] with the reason when it proves nothing.
    #[boxed]
    pub async fn decision(&self, id: &str) -> Result<DecisionEvidence, EngineError> {
        let state_dir = self.state_dir.to_path_buf();
        self.read(id, move |job, state, active, repository| {
            let live = Live { repository, state_dir };
            let evidence = Examiner { look: &live }.job(job, state, active)?;
            let mut found = proven(job, state, active, &evidence).map_err(EngineError::refused)?;
            let merged = merged(&live.repository, &found.commit, &found.adr).map_err(EngineError::environment)?;
            if let (Some(adr), Some(merged)) = (&active.spec.adr, merged.filter(|_| !found.criteria.is_empty())) {
                found.criteria.extend(given_their_test(&Adr::parse(&adr.path, &adr.text), &merged));
            }
            Ok(found)
        })
        .await
    }
}

/// The decision as it was merged.
fn merged(repository: &Repository, commit: &CommitId, path: &str) -> Result<Option<Adr>, GitError> {
    let listing = repository.listing(&repository.commit(commit.as_str())?.tree)?;
    let Some(entry) = listing.get(path) else { return Ok(None) };
    Ok(Some(Adr::parse(path, &String::from_utf8_lossy(&repository.blob(&entry.object)?))))
}

/// Criteria that named no evidence at submit and were given a test by the job, as they read now: the gate takes these for the
/// same.
fn given_their_test(submitted: &Adr, merged: &Adr) -> Vec<String> {
    let bare = submitted.criteria.iter().filter(|one| one.evidence.is_empty() && one.unusable.is_empty());
    let texts = bare.filter_map(|one| merged.criteria.iter().find(|other| other.text.starts_with(&one.text)));
    texts.map(|criterion| criterion.text.clone()).collect()
}

fn proven(job: &JobId, state: &JobState, active: &Active, evidence: &JobEvidence) -> Result<DecisionEvidence, String> {
    let Some(adr) = &active.spec.adr else {
        return Err(format!("job {job} implemented no decision that existed at submit"));
    };
    if state.end() != Some(&JobEnd::Succeeded) {
        return Err(format!("job {job} has not succeeded"));
    }
    if active.reverted.is_some() {
        return Err(format!("job {job} was reverted"));
    }
    let Integration::Done(Integrated { result, target: IntegrationTarget::Branch { .. }, gates }) = &active.integration
    else {
        return Err(format!("the result of job {job} is not merged into the branch"));
    };
    if !evidence.proved {
        let first =
            evidence.lacking.first().map(|what| format!(" ({})", helix_language::Language::English.words(what)));
        let first = first.unwrap_or_default();
        return Err(format!("the evidence of job {job} is not complete{first}: see `helix jobs evidence {job}`"));
    }
    let covers = |report: &GateReport| {
        report.gate == GateSpec::CriteriaCovered {}.name() && report.verdict.passed() && report.tree == result.tree
    };
    let passed = active.phases.iter().filter(|progress| matches!(progress.state, PhaseState::Passed { .. }));
    let last: Vec<&Attempt> = passed.filter_map(|progress| progress.last_attempt()).collect();
    let of_phases = last.iter().flat_map(|last| &last.gates);
    // What is delivered passes the gates before it once more.
    let validation = last.iter().flat_map(|last| &last.begun).flat_map(|begun| &begun.validation);
    let criteria = match gates.iter().chain(of_phases).chain(validation.map(|one| &one.report)).any(covers) {
        true => Adr::parse(&adr.path, &adr.text).criteria.into_iter().map(|criterion| criterion.text).collect(),
        false => Vec::new(),
    };
    let approved_by = active.approved_by().map(|(by, at)| {
        let on = at.strftime("%F").to_string();
        Acceptance { by: by.to_string(), on }
    });
    Ok(DecisionEvidence {
        job: job.clone(),
        adr: adr.path.clone(),
        commit: result.commit.clone(),
        criteria,
        approved_by,
    })
}
