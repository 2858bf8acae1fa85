//! Hands failures to failure intelligence, and keeps what it says where the next try and people find it.
//!
//! Must not move anything: what is noted advises prompts and persons, and nothing else.

use helix_core::finding::{Finding, Verdict};
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::run::{Outcome, Retry};
use helix_failure::event::FailureEvent;
use helix_failure::memory::{Resolution, Suggestion, Work, check};
use helix_failure::{Log, Stream};
use helix_job::{Active, Attempt, GateReport, JobEnd, JobEvent, JobState, PhaseState};
use helix_plan::Phase;
use jiff::Timestamp;

use super::effects::{EffectRunner, blocking};
use crate::failures::{AttemptEnd, AttemptSite, FailureContext, ReportShelf, in_project, read_log};

/// Most of a change that is remembered as a fix, in bytes.
const DIFF_KEPT: usize = 64 << 10;

impl EffectRunner {
    /// What failure intelligence says about an answer that tells of a failure.
    pub(super) async fn notes(&self, job: &JobId, active: &Active, event: &JobEvent) -> Vec<JobEvent> {
        let now = Timestamp::now();
        match event {
            JobEvent::RunFinished { phase, attempt, facts, .. } => {
                if matches!(Outcome::from_facts(facts).retry(), Retry::Accept) {
                    return Vec::new();
                }
                let Some((site, _)) = self.site(job, active, phase, *attempt) else { return Vec::new() };
                let runner = self.runner_of(job).await.unwrap_or_else(|_| self.runner().clone());
                let dialect = runner.profile(&site.agent).map_or("", |profile| profile.dialect.as_str());
                match FailureContext::of_run(&site, dialect, facts, Log::of_texts("", ""), now) {
                    Some(context) => self.note(context, check::RUN, &site).await,
                    None => Vec::new(),
                }
            }
            JobEvent::GateFinished { phase, attempt, gate, report } => {
                let Some((site, this)) = self.site(job, active, phase, *attempt) else { return Vec::new() };
                if report.verdict.passed() {
                    return Vec::new();
                }
                let name = check::gate(*gate, &report.gate);
                let log = self.log_of(report).await;
                let Some(context) = FailureContext::of_gate(&site, *gate, report, log.clone(), now) else {
                    return Vec::new();
                };
                let mut notes = self.note(context, &name, &site).await;
                if this.number > 1 {
                    let end = self.attempt_end(active, site, passed_checks(this), now).await;
                    let resolution = self.failures().attempt_failed_again(end, vec![(name, log)]).await;
                    notes.extend(resolved(&resolution));
                }
                notes
            }
            JobEvent::ReviewFinished { phase, attempt, gate, review, .. } => {
                let Some((site, _)) = self.site(job, active, phase, *attempt) else { return Vec::new() };
                let name = gate.map_or_else(|| check::VERIFY.to_owned(), |gate| check::gate(gate, "review_approved"));
                match &review.verdict {
                    Verdict::Pass => Vec::new(),
                    Verdict::Fail { findings } => {
                        self.note(FailureContext::of_findings(&site, &name, findings, now), &name, &site).await
                    }
                    Verdict::Inconclusive { fault } => {
                        self.note(FailureContext::of_fault(&site, &name, fault, now), &name, &site).await
                    }
                }
            }
            JobEvent::PhasesRejected { phase, attempt, findings } => {
                let Some((site, _)) = self.site(job, active, phase, *attempt) else { return Vec::new() };
                self.note(FailureContext::of_findings(&site, check::PHASES, findings, now), check::PHASES, &site).await
            }
            JobEvent::AttemptFaulted { phase, attempt, fault } => {
                let Some(site) = self.site_of_phase(job, active, phase, *attempt) else { return Vec::new() };
                let context = FailureContext::of_fault(&site, check::COMMIT, fault, now);
                self.note(context, check::COMMIT, &site).await
            }
            JobEvent::IntegrationFailed { findings, .. } => self.note_integration(job, active, findings, now).await,
            JobEvent::JobSubmitted { .. }
            | JobEvent::AttemptStarted { .. }
            | JobEvent::ResultCommitted { .. }
            | JobEvent::DeliveryBegun { .. }
            | JobEvent::PhasesProposed { .. }
            | JobEvent::QuestionAsked { .. }
            | JobEvent::QuestionAnswered { .. }
            | JobEvent::QuestionExpired { .. }
            | JobEvent::AdviceGiven { .. }
            | JobEvent::ConflictFound { .. }
            | JobEvent::Integrated { .. }
            | JobEvent::CancelRequested { .. }
            | JobEvent::JobFinished { .. }
            | JobEvent::JobResumed { .. }
            | JobEvent::Failure(_) => Vec::new(),
        }
    }

    /// What follows for failures from phases, or the job, having come to their end. Before a job's first state, everything that
    /// it has reached counts as new; asking again gives the same answer.
    pub(super) async fn conclusions(&self, job: &JobId, before: &JobState, after: &JobState) -> Vec<JobEvent> {
        let (old, Some(new)) = (before.active(), after.active()) else { return Vec::new() };
        let now = Timestamp::now();
        let mut notes = Vec::new();
        for progress in &new.phases {
            let was = old.and_then(|old| old.progress(&progress.id)).map(|old| &old.state);
            let Some(this) = progress.last_attempt() else { continue };
            match (&progress.state, was) {
                (PhaseState::Passed { .. }, Some(PhaseState::Passed { .. }))
                | (PhaseState::Failed { .. }, Some(PhaseState::Failed { .. })) => {}
                // A phase that passed at its first try has nothing to thank anybody for.
                (PhaseState::Passed { .. }, _) if progress.attempts.len() > 1 => {
                    let Some((site, _)) = self.site(job, new, &progress.id, this.number) else { continue };
                    let end = self.attempt_end(new, site, passed_checks(this), now).await;
                    notes.extend(resolved(&self.failures().attempt_passed(end).await));
                }
                (PhaseState::Failed { .. }, _) => {
                    let unknown = self.failures().gave_up(job, Some(&progress.id), now).await;
                    notes.extend(unknown.iter().filter_map(noted));
                }
                _ => {}
            }
        }
        match after.end() {
            Some(JobEnd::Cancelled { .. }) => drop(self.failures().stopped(job, now).await),
            Some(JobEnd::Failed { .. }) => drop(self.failures().gave_up(job, None, now).await),
            Some(JobEnd::Succeeded) | None => {}
        }
        notes
    }

    /// What was seen before about the failure of the try before this one, for the agent's prompt; as data.
    pub(super) async fn history(&self, run: &RunId, active: &Active, phase: &Phase, attempt: u32) -> Option<String> {
        let (job, _) = run.job_and_phase()?;
        let before = attempt.checked_sub(1).filter(|before| *before > 0)?;
        let site = self.site_of_phase(&job, active, &phase.id, before)?;
        match self.shelf().told_after(&site).await {
            Ok(text) => text.map(|text| format!("\n{text}\n")),
            Err(error) => {
                tracing::warn!(%run, %error, "the agent is not told what was seen before");
                None
            }
        }
    }

    async fn note_integration(
        &self,
        job: &JobId,
        active: &Active,
        findings: &[Finding],
        at: Timestamp,
    ) -> Vec<JobEvent> {
        let site = AttemptSite {
            project: active.spec.repo.path.clone(),
            work: Work::phase_of(job, None),
            phase_name: "Integration".into(),
            goal: active.spec.plan.description.clone(),
            attempt: 1,
            max_attempts: None,
            agent: String::new(),
            run: None,
            commit: None,
            adr: active.spec.plan.adr.clone(),
        };
        let context = FailureContext::of_findings(&site, check::INTEGRATION, findings, at);
        self.note(context, check::INTEGRATION, &site).await
    }

    fn shelf(&self) -> ReportShelf {
        ReportShelf::of(self.state().root())
    }

    fn site_of_phase(&self, job: &JobId, active: &Active, id: &PhaseId, attempt: u32) -> Option<AttemptSite> {
        let phase = active.spec.plan.phase(id)?;
        Some(AttemptSite {
            project: active.spec.repo.path.clone(),
            work: Work::phase_of(job, Some(id)),
            phase_name: phase.name.clone(),
            goal: phase.description.clone(),
            attempt,
            max_attempts: active
                .progress(id)
                .map(|progress| progress.granted_attempts(phase))
                // Tries that did not count are beyond the number.
                .filter(|granted| attempt <= *granted),
            agent: self.agent_of(active, phase),
            run: Some(RunId::for_attempt(job, id, attempt)),
            commit: None,
            adr: active.spec.plan.adr.clone(),
        })
    }

    fn site<'a>(
        &self,
        job: &JobId,
        active: &'a Active,
        id: &PhaseId,
        attempt: u32,
    ) -> Option<(AttemptSite, &'a Attempt)> {
        let this = active.progress(id)?.attempts.iter().find(|one| one.number == attempt)?;
        let site = self.site_of_phase(job, active, id, attempt)?;
        let commit = this.result.as_ref().map(|result| result.commit.clone());
        Some((AttemptSite { commit, ..site }, this))
    }

    /// Records a failure, keeps its report as files, and says what the journal is told.
    async fn note(&self, context: FailureContext, check: &str, site: &AttemptSite) -> Vec<JobEvent> {
        let recorded = self.failures().record_failure(context).await;
        let artefact = self.shelf().keep(&recorded, check, site).await;
        recorded.events(artefact).into_iter().map(|event| JobEvent::Failure(Box::new(event))).collect()
    }

    async fn log_of(&self, report: &GateReport) -> Log {
        let Some(command) = &report.command else { return Log::of_texts("", "") };
        let file = self.state().root().join(&command.output_file);
        match read_log(file, Stream::Stdout).await {
            Ok(mut log) => {
                in_project(&mut log, &self.state().worktrees());
                log
            }
            Err(error) => {
                tracing::warn!(gate = report.gate, %error, "a gate's output cannot be read again");
                Log::of_texts("", "")
            }
        }
    }

    async fn attempt_end(&self, active: &Active, site: AttemptSite, passed: Vec<String>, at: Timestamp) -> AttemptEnd {
        let (mut files, mut diff) = (Vec::new(), String::new());
        let since = self.failures().changed_since(&site.work).await;
        if let (Some(since), Some(commit)) = (since, site.commit.clone())
            && let Ok(spaces) = self.workspaces(&active.spec).await
        {
            let compared = blocking(move || {
                let repository = spaces.repository();
                let (old, new) = (repository.commit(since.as_str())?, repository.commit(commit.as_str())?);
                let changed = repository.changes(&old.tree, &new.tree)?;
                let patch = repository.patch(&since, &commit, &[], DIFF_KEPT)?;
                Ok((changed.into_iter().map(|file| file.path).collect::<Vec<_>>(), patch.text))
            });
            match compared.await {
                Ok(compared) => (files, diff) = compared,
                Err(fault) => {
                    tracing::warn!(
                        work = site.work.name(),
                        message = fault.message,
                        "what mended a failure is not known"
                    );
                }
            }
        }
        AttemptEnd { site, passed, files, diff, at }
    }
}

/// Checks of a try that were made and found nothing.
fn passed_checks(this: &Attempt) -> Vec<String> {
    let run = this.run_end.as_ref().filter(|ended| matches!(ended.outcome.retry(), Retry::Accept));
    let run = run.map(|_| check::RUN.to_owned());
    let commit = this.result.as_ref().map(|_| check::COMMIT.to_owned());
    let gates = this.gates.iter().enumerate().filter(|(_, gate)| gate.verdict.passed());
    let gates = gates.map(|(index, gate)| check::gate(index, &gate.gate));
    let verifier = this.reviews.iter().any(|(gate, review)| gate.is_none() && review.verdict.passed());
    let verify = verifier.then(|| check::VERIFY.to_owned());
    let phases = (!this.proposed.is_empty()).then(|| check::PHASES.to_owned());
    run.into_iter().chain(commit).chain(phases).chain(gates).chain(verify).collect()
}

fn resolved(resolution: &Resolution) -> Vec<JobEvent> {
    resolution.resolved.iter().filter_map(noted).collect()
}

fn noted(suggestion: &Suggestion) -> Option<JobEvent> {
    FailureEvent::suggestion_resolved(suggestion).map(|event| JobEvent::Failure(Box::new(event)))
}
