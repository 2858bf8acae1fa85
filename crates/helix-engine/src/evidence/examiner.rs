//! Compares the records of phases with what they name: commits, run directories, outputs of gates.
//!
//! Must not know how evidence is read or shown.

use helix_core::finding::Verdict;
use helix_core::ids::{JobId, RunId, TreeId};
use helix_core::run::Outcome;
use helix_core::said::Words;
use helix_job::phrases::outcome_words;
use helix_job::question::{APPROVE, About, QuestionStatus};
use helix_job::{
    Active, Attempt, CommandEvidence, Committed, Dependents, GateReport, Integration, JobEnd, JobState, JobView,
    LeftOutBy, NotIntegrated, PhaseProgress, PhaseState, Review, RunEnded,
};
use helix_language::recorded;
use helix_plan::{Approval, GateSpec, Phase};

use super::look::{Look, Sight};
use super::{
    AttemptEvidence, GateEvidence, IntegrationEvidence, JobEvidence, OutputEvidence, OutputState, PersonEvidence,
    PhaseEvidence, RefusalEvidence, ResultEvidence, ReviewEvidence, RunEvidence, Standing,
};
use crate::error::EngineError;

/// The attempt whose result counts, with that result.
pub(super) fn judged(progress: &PhaseProgress) -> Option<(&Attempt, &Committed)> {
    let PhaseState::Passed { result, .. } = &progress.state else { return None };
    let this =
        progress.attempts.iter().rev().find(|one| one.result.as_ref().is_some_and(|own| own.commit == result.commit));
    Some((this?, result))
}

/// Compares records with what they name.
pub(super) struct Examiner<'a> {
    pub(super) look: &'a dyn Look,
}

impl Examiner<'_> {
    /// The evidence of a job.
    ///
    /// # Errors
    /// Git failed.
    pub(super) fn job(&self, job: &JobId, state: &JobState, active: &Active) -> Result<JobEvidence, EngineError> {
        let phases: Vec<PhaseEvidence> = active.pairs().map(|(phase, progress)| self.phase(phase, progress)).collect();
        let (integration, refusal) = match &active.integration {
            Integration::Open => (None, None),
            Integration::Done(done) => (Some(self.integration(active, done)?), None),
            Integration::Failed(NotIntegrated { findings, gates, fault: _ }) => {
                (None, Some(RefusalEvidence { findings: findings.clone(), gates: self.gates(gates) }))
            }
        };
        let lacking = lacking(state.end(), &phases, integration.as_ref());
        let view = JobView::project(job, state).ok_or_else(|| EngineError::not_found("job", job))?;
        let rollbacks = view.deliveries.iter().flat_map(|one| &one.rollbacks);
        let rollbacks = rollbacks.flat_map(|one| one.report.iter().chain(&one.health)).map(|one| self.gate(one));
        Ok(JobEvidence {
            rollbacks: rollbacks.collect(),
            deliveries: view.deliveries,
            reverted: view.reverted,
            job: job.clone(),
            name: active.spec.plan.name.clone(),
            base: active.spec.repo.base.clone(),
            venv: active.spec.venv.clone(),
            phases,
            conflicts: active.conflicts.clone(),
            integration,
            refusal,
            proved: lacking.is_empty(),
            lacking,
        })
    }

    fn phase(&self, phase: &Phase, progress: &PhaseProgress) -> PhaseEvidence {
        let passed = matches!(progress.state, PhaseState::Passed { .. });
        let this = judged(progress).map(|(this, _)| this).or_else(|| progress.last_attempt().filter(|_| !passed));
        let mut evidence = PhaseEvidence {
            phase: progress.id.clone(),
            standing: Standing::NotPassed,
            missing: Vec::new(),
            attempt: this.map(|this| this.begin.attempt),
            base: this.map(|this| this.begin.base.clone()),
            result: this.and_then(|this| this.result.as_ref()).map(|result| self.result(result)),
            run: this.map(|this| self.run(this)),
            gates: this.map(|this| self.gates(&this.gates)).unwrap_or_default(),
            validation: this.map(|this| self.validation(this)).unwrap_or_default(),
            reviews: this.map(|this| self.reviews(phase, this)).unwrap_or_default(),
            answers: answers(progress),
            attempts: progress.attempts.iter().map(|one| self.attempt(one)).collect(),
        };
        if passed {
            evidence.missing = missing(&evidence, phase, this);
            let accepted = progress.accepted().iter();
            evidence.missing.extend(accepted.map(|one| {
                recorded!("lacks-accepted", by = &one.by, gate = one.name.as_str(), why = one.reason.as_str())
            }));
            evidence.standing = if evidence.missing.is_empty() { Standing::Proved } else { Standing::Unproved };
        } else if let PhaseState::Skipped { why, by: LeftOutBy::Plan, dependents: Dependents::Skip } = &progress.state {
            // An optional one lacks nothing: the plan says that the job is done without it.
            evidence.missing.push(recorded!("lacks-left-out", why = why));
        }
        evidence
    }

    fn attempt(&self, one: &Attempt) -> AttemptEvidence {
        AttemptEvidence {
            attempt: one.begin.attempt,
            run: one.begin.run.clone(),
            summary: one.summary(),
            result: one.result.as_ref().map(|result| self.result(result)),
        }
    }

    pub(super) fn result(&self, result: &Committed) -> ResultEvidence {
        let found = self.look.tree(&result.commit).as_ref() == Some(&result.tree);
        ResultEvidence {
            commit: result.commit.clone(),
            tree: result.tree.clone(),
            branch: result.branch.clone(),
            changed_files: result.changed.len(),
            found,
        }
    }

    fn record(&self, run: &RunId) -> (String, bool) {
        let Sight { path, content } = self.look.record(run);
        (path, content.is_some())
    }

    fn run(&self, this: &Attempt) -> RunEvidence {
        let (record, found) = self.record(&this.begin.run);
        let outcome = this.run_end.as_ref().map(RunEnded::outcome);
        RunEvidence {
            run: this.begin.run.clone(),
            outcome: outcome.as_ref().map_or_else(|| recorded!("lacks-end"), |outcome| outcome_words(outcome).message),
            completed: outcome
                .is_some_and(|outcome| matches!(outcome, Outcome::Completed(_) | Outcome::CompletedWithDenials(_))),
            record,
            found,
            facts: this.run_end.as_ref().map(|end| end.facts.clone()),
        }
    }

    pub(super) fn gates(&self, reports: &[GateReport]) -> Vec<GateEvidence> {
        reports.iter().map(|report| self.gate(report)).collect()
    }

    fn gate(&self, report: &GateReport) -> GateEvidence {
        let output = report.command.as_ref().map(|command| self.output(command));
        let steps = report.steps.iter().filter_map(|step| step.command.as_ref());
        let step_outputs = steps.map(|command| self.output(command)).collect();
        GateEvidence { report: report.clone(), output, step_outputs }
    }

    fn output(&self, command: &CommandEvidence) -> OutputEvidence {
        let Sight { path: file, content } = self.look.output(&command.output_file);
        let sha256_now = content.map(|content| content.sha256);
        let state = match &sha256_now {
            Some(now) if *now == command.output_sha256 => OutputState::Intact,
            Some(_) => OutputState::Changed,
            None => OutputState::Missing,
        };
        OutputEvidence { file, state, sha256_now }
    }

    fn validation(&self, this: &Attempt) -> Vec<GateEvidence> {
        this.begun.iter().flat_map(|begun| &begun.validation).map(|one| self.gate(&one.report)).collect()
    }

    fn reviews(&self, phase: &Phase, this: &Attempt) -> Vec<ReviewEvidence> {
        let evidence = |(gate, review): &(Option<usize>, Review)| {
            let (record, found) = self.record(&review.side.run);
            let asked_by =
                gate.map_or("verify", |gate| phase.gates.get(gate).map_or("review_approved", GateSpec::name));
            ReviewEvidence { asked_by: asked_by.to_owned(), review: review.clone(), record, found }
        };
        this.reviews.iter().map(evidence).collect()
    }
}

/// What a job lacks of being proved; empty: nothing.
fn lacking(end: Option<&JobEnd>, phases: &[PhaseEvidence], integration: Option<&IntegrationEvidence>) -> Vec<Words> {
    let mut lacking = Vec::new();
    match end {
        Some(JobEnd::Succeeded) => {}
        Some(JobEnd::Failed { reason, said, .. }) => {
            let why = said.as_ref().map_or_else(|| reason.into(), |said| said.message.clone());
            lacking.push(recorded!("lacks-success", why = why));
        }
        Some(JobEnd::Cancelled { .. }) => lacking.push(recorded!("lacks-cancelled")),
        None => lacking.push(recorded!("lacks-job-end")),
    }
    for phase in phases {
        let of = |what| recorded!("lacks-of-phase", phase = phase.phase.as_str(), what = what);
        lacking.extend(phase.missing.iter().map(of));
    }
    match integration {
        None => lacking.push(recorded!("lacks-integration")),
        Some(one) => lacking.extend(one.missing.iter().map(|what| recorded!("lacks-of-result", what = what))),
    }
    lacking
}

fn answers(progress: &PhaseProgress) -> Vec<PersonEvidence> {
    // What an agent asked proves nothing about its result.
    let about_result = progress.questions.iter().filter(|asked| asked.question.about != About::Agent);
    let answered = about_result.filter_map(|asked| match &asked.status {
        QuestionStatus::Answered { answer, at } => {
            Some(PersonEvidence { question: asked.question.text.clone(), answer: answer.clone(), at: *at })
        }
        QuestionStatus::Open | QuestionStatus::Expired { .. } | QuestionStatus::Closed => None,
    });
    answered.collect()
}

/// What is missing of a passed phase's proof, for people.
fn missing(evidence: &PhaseEvidence, phase: &Phase, this: Option<&Attempt>) -> Vec<Words> {
    let gates: Vec<&str> = phase.gates.iter().map(GateSpec::name).collect();
    let mut missing = Vec::new();
    match &evidence.result {
        None => missing.push(recorded!("lacks-attempt")),
        Some(result) if !result.found => missing.push(no_commit(result)),
        Some(_) => {}
    }
    match &evidence.run {
        None => missing.push(recorded!("lacks-run")),
        Some(run) => {
            if !run.completed {
                missing.push(recorded!("lacks-run-end", run = run.run.as_str(), what = &run.outcome));
            }
            if !run.found {
                missing.push(recorded!("lacks-record", run = run.run.as_str(), path = &run.record));
            }
        }
    }
    let tree = evidence.result.as_ref().map(|result| &result.tree);
    for name in &gates {
        let asked = gates.iter().filter(|other| *other == name).count();
        let passed = |one: &&GateEvidence| one.report.gate == *name && one.report.verdict.passed();
        if evidence.gates.iter().filter(passed).count() < asked {
            let what = recorded!("lacks-pass", gate = *name);
            if !missing.contains(&what) {
                missing.push(what);
            }
        }
    }
    missing.extend(evidence.gates.iter().chain(&evidence.validation).filter_map(|gate| doubt(gate, tree)));
    let approving = |review: &ReviewEvidence| review.asked_by == "verify" && review.review.verdict == Verdict::Pass;
    if phase.verify.is_some() && !evidence.reviews.iter().any(approving) {
        missing.push(recorded!("lacks-verifier"));
    }
    for review in evidence.reviews.iter().filter(|review| review.review.verdict == Verdict::Pass && !review.found) {
        let run = review.review.side.run.as_str();
        missing.push(recorded!("lacks-review", run = run, path = &review.record));
    }
    // Phases that a phase adds are checked as they are added, and proved each by itself.
    let only_adds =
        phase.generates_phases.is_some() && evidence.result.as_ref().is_some_and(|result| result.changed_files == 0);
    let unjudged = evidence.gates.is_empty() && evidence.validation.is_empty() && evidence.reviews.is_empty();
    if unjudged && evidence.answers.is_empty() && !only_adds {
        missing.push(recorded!("lacks-checks"));
    }
    // An approval of the result is one of this result, not of an attempt before it.
    let since = this.map(|this| this.started_at).filter(|_| phase.approval == Some(Approval::After));
    let said_yes = |one: &PersonEvidence| {
        one.answer.choice.as_deref() == Some(APPROVE) && since.is_none_or(|since| one.at >= since)
    };
    if phase.approval.is_some() && !evidence.answers.iter().any(said_yes) {
        missing.push(recorded!("lacks-approval"));
    }
    missing
}

pub(super) fn no_commit(result: &ResultEvidence) -> Words {
    recorded!("lacks-commit", commit = result.commit.as_str(), tree = result.tree.as_str())
}

/// What makes a gate's answer worthless as proof of a tree, if anything does.
pub(super) fn doubt(gate: &GateEvidence, tree: Option<&TreeId>) -> Option<Words> {
    let name = gate.report.gate.as_str();
    if Some(&gate.report.tree) != tree {
        return Some(recorded!("lacks-tree", gate = name, tree = gate.report.tree.as_str()));
    }
    gate.output.iter().chain(&gate.step_outputs).find_map(|OutputEvidence { state, file, .. }| match state {
        OutputState::Intact => None,
        OutputState::Changed => Some(recorded!("lacks-output", gate = name, path = file)),
        OutputState::Missing => Some(recorded!("lacks-readable", gate = name, path = file)),
    })
}
