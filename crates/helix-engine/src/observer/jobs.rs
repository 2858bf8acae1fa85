//! Failures of jobs, as their events tell of them, and what follows when a phase or a job ends.
//!
//! Must not move a job: what is noted advises prompts and people.

use std::path::Path;

use helix_core::finding::Verdict;
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::run::Retry;
use helix_failure::event::FailureEvent;
use helix_failure::memory::{AttemptAnswer, Work, check};
use helix_failure::{LogSample, Stream as LogStream};
use helix_job::{Active, Attempt, GateReport, JobEnd, JobEvent, JobState, PhaseState, Recorded};
use helix_store::failures::Ceasing;
use jiff::Timestamp;

use super::{Observer, resolved};
use crate::failures::{AttemptSite, FailureContext, in_project, read_log};
use crate::job::{blocking, kept_configured};

/// Most of a change that is remembered as a fix, in bytes.
const DIFF_KEPT: usize = 64 << 10;

/// A job at one of its events, and the state directory with its records.
pub(super) struct JobRecord<'a> {
    pub(super) root: &'a Path,
    pub(super) job: &'a JobId,
    pub(super) active: &'a Active,
}

impl JobRecord<'_> {
    /// The failure that this event tells of, if it does.
    pub(super) async fn failure(&self, recorded: &Recorded<JobEvent>) -> Option<FailureContext> {
        let at = recorded.at;
        match &recorded.event {
            JobEvent::RunFinished { phase, attempt, end } => {
                if matches!(end.outcome().retry(), Retry::Accept) {
                    return None;
                }
                let site = self.site(phase, *attempt)?;
                let tool = self.dialect(&site.place.agent).await;
                FailureContext::of_run(&site, &tool, &end.facts, at)
            }
            JobEvent::GateFinished { phase, attempt, gate, report } if !report.verdict.passed() => {
                let log = self.log(report).await;
                FailureContext::of_gate(&self.site(phase, *attempt)?, *gate, report, log, at)
            }
            JobEvent::HealthChecked { phase, step, report } | JobEvent::RollbackFinished { phase, step, report }
                if !report.verdict.passed() =>
            {
                let log = self.log(report).await;
                FailureContext::of_gate(&self.site(phase, step.attempt)?, step.gate, report, log, at)
            }
            JobEvent::ReviewFinished { phase, attempt, gate, review, .. } => {
                let site = self.site(phase, *attempt)?;
                let name = gate.map_or_else(|| check::VERIFY.to_owned(), |gate| check::gate(gate, "review_approved"));
                match &review.verdict {
                    Verdict::Pass => None,
                    Verdict::Fail { findings } => Some(FailureContext::of_findings(&site, &name, findings, at)),
                    Verdict::Inconclusive { fault } => Some(FailureContext::of_fault(&site, &name, fault, at)),
                }
            }
            JobEvent::PhasesRejected { phase, attempt, findings } => {
                Some(FailureContext::of_findings(&self.site(phase, *attempt)?, check::PHASES, findings, at))
            }
            JobEvent::AttemptFaulted { phase, attempt, fault } => {
                // Before the first agent there is nothing to explain: the fault itself says what to do.
                self.active.progress(phase)?.last_attempt()?;
                Some(FailureContext::of_fault(&self.site(phase, *attempt)?, check::COMMIT, fault, at))
            }
            JobEvent::IntegrationFailed(failed) => {
                Some(FailureContext::of_findings(&self.integration(), check::INTEGRATION, &failed.findings, at))
            }
            _ => None,
        }
    }

    fn integration(&self) -> AttemptSite {
        self.site_of("Integration", &self.active.spec.plan.description, None, 1)
    }

    fn site_of(&self, phase_name: &str, goal: &str, phase: Option<&PhaseId>, attempt: u32) -> AttemptSite {
        let (spec, work) = (&self.active.spec, Work::phase_of(self.job, phase));
        let mut site = AttemptSite::new(spec.repo.path.clone(), work, attempt);
        site.report_place.phase_name = phase_name.to_owned();
        site.report_place.goal = goal.to_owned();
        site.report_place.adr = spec.plan.adr.clone();
        site.report_place.issue = spec.plan.issue.as_ref().map(ToString::to_string);
        site
    }

    fn site(&self, id: &PhaseId, attempt: u32) -> Option<AttemptSite> {
        let spec = &self.active.spec;
        let (phase, progress) = (spec.plan.phase(id)?, self.active.progress(id));
        let this = progress.and_then(|progress| progress.attempts.iter().find(|one| one.begin.attempt == attempt));
        let mut site = self.site_of(&phase.name, &phase.description, Some(id), attempt);
        let granted = progress.map(|progress| progress.granted_attempts(phase));
        // Attempts that did not count are beyond the number.
        site.report_place.max_attempts = granted.filter(|granted| attempt <= *granted);
        site.place.agent = phase.agent.as_ref().unwrap_or(&spec.default_agent).clone();
        site.place.run = Some(RunId::for_attempt(self.job, id, attempt));
        site.place.commit = this.and_then(|one| one.result.as_ref()).map(|result| result.commit.clone());
        Some(site)
    }

    /// The dialect that an agent of the job speaks; its name where its profile is gone.
    async fn dialect(&self, agent: &str) -> String {
        let (root, job) = (self.root.to_path_buf(), self.job.clone());
        let kept = helix_process::spawn_blocking(move || kept_configured(&root, &job)).await;
        let profiles = kept.ok().and_then(Result::ok).flatten().unwrap_or_default().agents;
        let profile = profiles.iter().find(|profile| profile.name == agent);
        profile.map_or(agent, |profile| profile.dialect.word()).to_owned()
    }

    async fn log(&self, report: &GateReport) -> LogSample {
        let Some(command) = &report.command else { return LogSample::from_texts("", "") };
        match read_log(self.root.join(&command.output_file), LogStream::Stdout).await {
            Ok(mut log) => {
                in_project(&mut log, &self.root.join("worktrees"));
                log
            }
            Err(error) => {
                tracing::warn!(gate = report.gate, %error, "a gate's output cannot be read again");
                LogSample::from_texts("", "")
            }
        }
    }
}

impl Observer {
    /// Remembers what an event of a job tells, and says what to note in its stream.
    pub(super) async fn job_event(
        &self,
        job: &JobId,
        recorded: &Recorded<JobEvent>,
        before: &JobState,
        after: &JobState,
    ) -> Vec<FailureEvent> {
        let Some(active) = after.active() else { return Vec::new() };
        if matches!(recorded.event, JobEvent::AttemptStarted(_)) {
            self.failures.warm_up();
        }
        let record = JobRecord { root: self.services.state.root(), job, active };
        let mut notes = Vec::new();
        if let Some(context) = record.failure(recorded).await {
            let name = context.place.check.clone();
            notes.extend(self.failures.record(context).await.events());
            if let JobEvent::GateFinished { phase, attempt: 2.., report, .. } = &recorded.event
                && let Some(end) = self.attempt_end(&record, phase, recorded.at).await
            {
                let log = record.log(report).await;
                notes.extend(resolved(&self.failures.attempt_failed_again(end, name, log).await.resolved));
            }
        }
        notes.extend(self.conclusions(&record, before, after, recorded.at).await);
        notes
    }

    /// What follows for earlier failures when a phase or the job has come to its end. Asking again gives the same answer.
    async fn conclusions(
        &self,
        record: &JobRecord<'_>,
        before: &JobState,
        after: &JobState,
        at: Timestamp,
    ) -> Vec<FailureEvent> {
        let mut notes = Vec::new();
        for progress in &record.active.phases {
            let was = before.active().and_then(|old| old.progress(&progress.id)).map(|old| &old.state);
            match (&progress.state, was) {
                (PhaseState::Passed { .. }, Some(PhaseState::Passed { .. }))
                | (PhaseState::Failed { .. }, Some(PhaseState::Failed { .. })) => {}
                // A phase that passed at its first attempt had no failure.
                (PhaseState::Passed { .. }, _) if progress.attempts.len() > 1 => {
                    let Some(end) = self.attempt_end(record, &progress.id, at).await else { continue };
                    notes.extend(resolved(&self.failures.attempt_ended(end).await.resolved));
                }
                (PhaseState::Failed { .. }, _) => {
                    let unknown = self.failures.cease(record.job, Some(&progress.id), Ceasing::GaveUp, at).await;
                    notes.extend(resolved(&unknown));
                }
                _ => {}
            }
        }
        let how = match (before.end(), after.end()) {
            (None, Some(JobEnd::Cancelled { .. })) => Some(Ceasing::Stopped),
            (None, Some(JobEnd::Failed { .. })) => Some(Ceasing::GaveUp),
            (_, Some(JobEnd::Succeeded) | None) | (Some(_), Some(_)) => None,
        };
        if let Some(how) = how {
            self.failures.cease(record.job, None, how, at).await;
        }
        notes
    }

    /// What the last attempt at a phase has shown and changed.
    async fn attempt_end(&self, record: &JobRecord<'_>, phase: &PhaseId, at: Timestamp) -> Option<AttemptAnswer> {
        let this = record.active.progress(phase)?.last_attempt()?;
        let site = record.site(phase, this.begin.attempt)?;
        let mut answer = site.answer(passed_checks(this), at);
        let since = self.failures.changed_since(&site.place.work).await;
        if let (Some(since), Some(commit)) = (since, site.place.commit.clone())
            && let Ok(spaces) = self.jobs.workspaces(&record.active.spec).await
        {
            let compared = blocking(move || {
                let repository = spaces.repository();
                let (old, new) = (repository.commit(since.as_str())?, repository.commit(commit.as_str())?);
                let changed = repository.changes(&old.tree, &new.tree)?;
                let patch = repository.patch(&since, &commit, &[], DIFF_KEPT)?;
                Ok((changed.into_iter().map(|file| file.path).collect::<Vec<_>>(), patch.text))
            });
            match compared.await {
                Ok(compared) => (answer.change.files, answer.change.diff) = compared,
                Err(fault) => {
                    tracing::warn!(
                        work = site.place.work.name(),
                        message = fault.message,
                        "what fixed a failure is not known"
                    );
                }
            }
        }
        Some(answer)
    }
}

/// Checks of an attempt that were made and found nothing.
fn passed_checks(this: &Attempt) -> Vec<String> {
    let run = this.run_end.as_ref().filter(|ended| matches!(ended.outcome().retry(), Retry::Accept));
    let run = run.map(|_| check::RUN.to_owned());
    let commit = this.result.as_ref().map(|_| check::COMMIT.to_owned());
    let gates = this.gates.iter().enumerate().filter(|(_, gate)| gate.verdict.passed());
    let gates = gates.map(|(index, gate)| check::gate(index, &gate.gate));
    let verifier = this.reviews.iter().any(|(gate, review)| gate.is_none() && review.verdict.passed());
    let verify = verifier.then(|| check::VERIFY.to_owned());
    let phases = (!this.proposed.is_empty()).then(|| check::PHASES.to_owned());
    run.into_iter().chain(commit).chain(phases).chain(gates).chain(verify).collect()
}
