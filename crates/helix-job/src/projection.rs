//! Projects a job's state into what users see. The only place where a status is made.

use jiff::Timestamp;

use super::delivery::target_of;
use super::event::{DeliveryStep, JobEnd, Review};
use super::phrases::{CANCELLED_BY, UNTIL, outcome_words, reviewer, reviewer_words, waits};
use super::state::{Active, AskedQuestion, Attempt, Begun, Integration, JobState, PhaseProgress, PhaseState, Stage};
use super::view::{
    DeliveryState, DeliveryView, JobStatus, JobView, PhaseStatus, PhaseView, ReviewView, Wait, unfinished,
};
use crate::question::{About, QuestionStatus, QuestionView};
use helix_adr::{Adr, AdrText, Status};
use helix_core::finding::Verdict;
use helix_core::ids::{JobId, PhaseId, QuestionId, RunId};
use helix_core::said::{Words, of_job};
use helix_core::usage::dollars;
use helix_language::{ErrorView, Language, RECORD, recorded};
use helix_plan::{Approval, Phase};

impl JobView {
    /// Projects a job; `None` before its first event.
    pub fn project(id: &JobId, state: &JobState) -> Option<Self> {
        let active = state.active()?;
        let end = state.end();
        let usage = active.usage();
        let integrated = match &active.integration {
            Integration::Done(done) => Some(done),
            Integration::Open | Integration::Failed(_) => None,
        };
        let phases = phases(id, active, end);
        let idle_seconds = idle(active, active.submitted_at, active.last_at);
        Some(Self {
            id: id.clone(),
            name: active.spec.plan.name.clone(),
            status: status(active, end),
            project_path: active.spec.repo.path.clone(),
            plan_path: active.spec.plan_path.clone(),
            adr: active.spec.adr.as_ref().map(|adr| adr.path.clone()),
            adr_proposed: end == Some(&JobEnd::Succeeded) && is_only_proposed(active),
            venv: active.spec.venv.clone(),
            issue: active.spec.plan.issue.clone(),
            created_at: active.submitted_at,
            started_at: phases.iter().filter_map(|phase| phase.started_at).min(),
            completed_at: end.map(|_| active.last_at),
            duration_seconds: seconds(active.submitted_at, active.last_at) - idle_seconds,
            idle_seconds,
            phases,
            usage,
            cost: usage.cost_usd,
            commit: integrated.map(|done| done.result.commit.clone()),
            files_changed: integrated.map(|done| done.result.changed.len()),
            integration: integrated.map(|done| done.target.clone()),
            error: match end {
                Some(JobEnd::Failed { reason, hint, said, .. }) => {
                    Some(ErrorView { message: reason.clone(), hint: hint.clone(), said: said.clone() }.of_job(id))
                }
                Some(JobEnd::Cancelled { by }) => Some(ErrorView::new(format!("{CANCELLED_BY}{by}"))),
                Some(JobEnd::Succeeded) | None => None,
            },
            deliveries: deliveries(id, active),
            reverted: active.reverted.clone(),
            questions: questions(id, active, end),
            by: active.spec.by.clone(),
            attempted: active.attempted.clone(),
            last_event: active.last_event,
        })
    }

    /// Adds what phases wait for at this moment.
    #[must_use]
    pub fn with_waits(mut self, all: impl IntoIterator<Item = (PhaseId, Wait)>) -> Self {
        for (id, wait) in all {
            if let Some(phase) = self.phases.iter_mut().find(|phase| phase.id == id) {
                let doing = phase.stage.take().map(|stage| format!("{stage}, ")).unwrap_or_default();
                phase.stage = Some(format!("{doing}{}", waits(Language::English, &wait)));
                phase.waits_for = Some(wait);
            }
        }
        self
    }
}

/// Whether the decision was a proposal at submit, and no approval has accepted it since.
fn is_only_proposed(active: &Active) -> bool {
    let proposed = |adr: &AdrText| Adr::parse(&adr.path, &adr.text).status() == Some(Status::Proposed);
    active.spec.adr.as_ref().is_some_and(proposed) && active.approved_by().is_none()
}

fn phases(id: &JobId, active: &Active, end: Option<&JobEnd>) -> Vec<PhaseView> {
    let blocked = active.blocked();
    let view = |(phase, progress): (&Phase, &PhaseProgress)| {
        let mut view = phase_view(active, end, phase, progress, blocked.contains(&phase.id));
        view.error = view.error.map(|error| error.of_job(id));
        for report in &mut view.gates {
            report.verdict.name_job(id);
        }
        if let Some(review) = &mut view.review {
            review.verdict.name_job(id);
        }
        view
    };
    active.pairs().map(view).collect()
}

fn deliveries(id: &JobId, active: &Active) -> Vec<DeliveryView> {
    let view = |(phase, attempt, begun): (&Phase, u32, &Begun)| {
        let progress = active.progress(&phase.id)?;
        let this = progress.attempts.iter().find(|one| one.begin.attempt == attempt)?;
        let (spec, result) = (phase.gates.get(begun.gate)?, this.result.as_ref()?);
        let said = begun.rollbacks.last().map(|last| last.words(begun).of_job(id));
        let mut rollbacks = begun.rollbacks.clone();
        for report in rollbacks.iter_mut().flat_map(|one| one.report.iter_mut().chain(&mut one.health)) {
            report.verdict.name_job(id);
        }
        Some(DeliveryView {
            phase: phase.id.clone(),
            attempt,
            gate: spec.name().to_owned(),
            target: target_of(phase, begun.gate)?,
            commit: result.commit.clone(),
            tree: result.tree.clone(),
            at: begun.at,
            baseline: begun.baseline.clone(),
            state: delivery_state(progress, this, begun),
            outcome: said.as_ref().map(|said| RECORD.words(said)),
            said: said.unwrap_or_default(),
            rollbacks,
        })
    };
    active.deliveries().filter_map(view).collect()
}

fn delivery_state(progress: &PhaseProgress, this: &Attempt, begun: &Begun) -> DeliveryState {
    let of_this = |step: DeliveryStep| step.attempt == this.begin.attempt && step.gate == begun.gate;
    match progress.state {
        PhaseState::Working { stage: Stage::Watching(step) } if of_this(step) && step.round == 0 => {
            return DeliveryState::Watching;
        }
        PhaseState::Working { stage: Stage::Watching(step) | Stage::RollingBack(step) } if of_this(step) => {
            return DeliveryState::RollingBack;
        }
        _ => {}
    }
    match (begun.rollbacks.last(), this.gates.get(begun.gate).map(|report| &report.verdict)) {
        (Some(last), _) => last.state(begun),
        (None, Some(Verdict::Pass)) if begun.good => DeliveryState::Delivered,
        (None, Some(Verdict::Fail { .. })) => DeliveryState::Failed,
        (None, None) if is_delivering(progress, this, begun) => DeliveryState::Delivering,
        (None, Some(Verdict::Pass | Verdict::Inconclusive { .. }) | None) => DeliveryState::Unknown,
    }
}

/// Whether the phase is at this delivery: one whose attempt was given up in the middle is not under way any more, whatever the
/// phase does since.
fn is_delivering(progress: &PhaseProgress, this: &Attempt, begun: &Begun) -> bool {
    let last = progress.last_attempt().is_some_and(|last| last.begin.attempt == this.begin.attempt);
    last && progress.state == PhaseState::Working { stage: Stage::Gating { gate: begun.gate } }
}

fn questions(id: &JobId, active: &Active, end: Option<&JobEnd>) -> Vec<QuestionView> {
    let asked = active
        .pairs()
        .flat_map(|(phase, progress)| progress.questions.iter().map(move |asked| (phase, progress, asked)));
    asked
        .map(|(phase, progress, asked)| QuestionView {
            id: QuestionId::nth(id, &progress.id, asked.question.number),
            job: id.clone(),
            job_name: active.spec.plan.name.clone(),
            phase: progress.id.clone(),
            phase_name: phase.name.clone(),
            about: asked.question.about.clone(),
            kind: asked.question.kind(),
            text: of_job(&asked.question.text, id),
            said: asked.question.said.of_job(id),
            set_out: set_out(progress, asked),
            options: asked.question.options.clone(),
            free_text: asked.question.free_text,
            asked_at: asked.at,
            expires_at: asked.expires_at,
            approvers: asked.question.approvers,
            approved_by: asked.approved_by.clone(),
            attempted: active.attempted.clone(),
            status: match &asked.status {
                // A job that is over waits for nothing.
                QuestionStatus::Open if end.is_some() => QuestionStatus::Closed,
                status => status.clone(),
            },
        })
        .collect()
}

/// What the agent said last before it was asked about its work.
fn set_out(progress: &PhaseProgress, asked: &AskedQuestion) -> String {
    match asked.question.about {
        About::Gate { .. } | About::Approval { when: Approval::After } => {}
        About::Approval { when: Approval::Before }
        | About::RunsByItself { .. }
        | About::Escalation { .. }
        | About::Agent => return String::new(),
    }
    let judged = progress.attempts.iter().rfind(|attempt| attempt.started_at <= asked.at);
    let record = judged.and_then(|attempt| attempt.run_end.as_ref()?.facts.terminal.as_ref());
    record.map(|record| record.message.trim().to_owned()).unwrap_or_default()
}

fn status(active: &Active, end: Option<&JobEnd>) -> JobStatus {
    match end {
        Some(JobEnd::Succeeded) => JobStatus::Succeeded,
        Some(JobEnd::Failed { .. }) => JobStatus::Failed,
        Some(JobEnd::Cancelled { .. }) => JobStatus::Cancelled,
        None => {
            let working = active.phases.iter().any(PhaseProgress::is_busy);
            let parked = active.phases.iter().any(|progress| match &progress.state {
                PhaseState::Between(between) => between.not_before.is_some(),
                state => matches!(state, PhaseState::Asking { .. }),
            });
            let untouched = active.phases.iter().all(|progress| progress.attempts.is_empty());
            match (working, parked, untouched) {
                (true, _, _) => JobStatus::Running,
                (false, true, _) => JobStatus::Waiting,
                (false, false, true) => JobStatus::Queued,
                (false, false, false) => JobStatus::Running,
            }
        }
    }
}

fn phase_view(
    active: &Active,
    end: Option<&JobEnd>,
    phase: &Phase,
    progress: &PhaseProgress,
    blocked: bool,
) -> PhaseView {
    let last = progress.last_attempt();
    let started_at = progress.attempts.first().map(|first| first.started_at);
    let (status, commit, settled_at, error) = match &progress.state {
        PhaseState::Pending if blocked => {
            (PhaseStatus::Skipped, None, None, Some(cause(recorded!("cause-skipped-before"))))
        }
        // A job that is over leaves nothing pending: what never started counts as cancelled.
        PhaseState::Pending | PhaseState::Between(_) | PhaseState::Asking { .. } if end.is_some() => {
            (PhaseStatus::Cancelled, None, None, None)
        }
        PhaseState::Pending => (PhaseStatus::Pending, None, None, None),
        PhaseState::Working { .. } => {
            let correction = last.and_then(|last| last.begin.correction.as_ref());
            (PhaseStatus::Running, None, None, correction.map(|correction| cause(correction.words())))
        }
        PhaseState::Between(between) => {
            let status = if between.not_before.is_some() { PhaseStatus::Waiting } else { PhaseStatus::Running };
            (status, None, None, Some(cause(between.correction.words())))
        }
        PhaseState::Asking { trouble, .. } => (PhaseStatus::Waiting, None, None, trouble.clone().map(unfinished)),
        PhaseState::Escalating { error, .. } => (PhaseStatus::Running, None, None, Some(unfinished(error.clone()))),
        PhaseState::Passed { result, at } => (PhaseStatus::Passed, Some(result.commit.clone()), Some(*at), None),
        PhaseState::Failed { error, at } => (PhaseStatus::Failed, None, Some(*at), Some(error.clone())),
        PhaseState::Skipped { why, .. } => (PhaseStatus::Skipped, None, None, Some(cause(why.clone()))),
        PhaseState::Cancelled => (PhaseStatus::Cancelled, None, None, None),
    };
    let completed_at = settled_at.or_else(|| end.map(|_| active.last_at).filter(|_| started_at.is_some()));
    let until = completed_at.unwrap_or(active.last_at);
    let idle_seconds = started_at.map_or(0.0, |from| idle(active, from, until));
    PhaseView {
        id: phase.id.clone(),
        name: phase.name.clone(),
        status,
        stage: stage(phase, &progress.state),
        waits_for: None,
        attempt: progress.attempts.len() as u32,
        started_at,
        completed_at,
        duration_seconds: started_at.map(|from| seconds(from, until) - idle_seconds),
        idle_seconds,
        outputs: phase.outputs.clone(),
        gates: last.map(|last| last.gates.clone()).unwrap_or_default(),
        accepted: progress.accepted().to_vec(),
        verdict: last.and_then(verdict),
        verify: phase.verify.is_some(),
        review: review(progress),
        cost: progress.usage().cost_usd,
        runs: runs(progress),
        commit,
        notes: last.iter().flat_map(|last| &last.repairs).map(|one| RECORD.words(one)).collect(),
        notes_said: last.map(|last| last.repairs.clone()).unwrap_or_default(),
        error,
    }
}

/// All runs of a phase, in the order in which they began: tries with their reviews, then advice.
fn runs(progress: &PhaseProgress) -> Vec<RunId> {
    let with_reviews = |one: &'_ Attempt| {
        let reviews = one.reviews.iter().map(|(_, review)| review.side.run.clone());
        std::iter::once(one.begin.run.clone()).chain(reviews).collect::<Vec<_>>()
    };
    let advice = progress.advice.iter().map(|advice| advice.side.run.clone());
    progress.attempts.iter().flat_map(with_reviews).chain(advice).collect()
}

/// The verifier's last answer, about whichever attempt: what is being corrected was found about the one before.
fn review(progress: &PhaseProgress) -> Option<ReviewView> {
    let reviews = progress.attempts.iter().flat_map(|one| one.reviews.iter().map(move |review| (one, review)));
    let of_verifier = reviews.filter(|(_, (gate, _))| gate.is_none());
    let all: Vec<(u32, &Review)> = of_verifier.map(|(one, (_, review))| (one.begin.attempt, review)).collect();
    let cost = dollars(all.iter().map(|(_, review)| review.side.usage.cost_usd).sum());
    let total_ms = all.iter().map(|(_, review)| review.side.duration_ms).sum();
    let (attempt, last) = all.last()?;
    Some(ReviewView {
        attempt: *attempt,
        run: last.side.run.clone(),
        agent: last.agent.clone(),
        model: last.model.clone(),
        verdict: last.verdict.clone(),
        summary: last.summary.clone(),
        checks_passed: last.checks_passed.clone(),
        duration_ms: last.side.duration_ms,
        runs: all.len() as u32,
        cost,
        total_ms,
    })
}

/// The verifier's last answer about a try, in a few words.
fn verdict(last: &Attempt) -> Option<String> {
    let (_, review) = last.reviews.iter().rev().find(|(gate, _)| gate.is_none())?;
    Some(format!("{}: {}", review.verdict.word(), review.summary))
}

fn stage(phase: &Phase, state: &PhaseState) -> Option<String> {
    Some(match state {
        PhaseState::Working { stage } => match stage {
            Stage::Agent => "agent".into(),
            Stage::Committing => "commit".into(),
            Stage::Reading => "new phases".into(),
            Stage::Gating { gate } => format!("gate {}", phase.gates.get(*gate).map_or("?", |gate| gate.name())),
            Stage::Reviewing { gate, .. } => reviewer(Language::default(), *gate),
            Stage::Watching(_) => "health".into(),
            Stage::RollingBack(_) => "rollback".into(),
        },
        PhaseState::Asking { .. } => "waits for your answer (`helix answer`)".into(),
        PhaseState::Escalating { round, .. } => format!("adviser, round {round}"),
        PhaseState::Between(between) => match between.not_before {
            Some(until) => format!("{UNTIL}{until}"),
            None => "next try".into(),
        },
        PhaseState::Pending => return None,
        PhaseState::Passed { .. } | PhaseState::Failed { .. } => return None,
        PhaseState::Skipped { .. } | PhaseState::Cancelled => return None,
    })
}

/// A cause about which nothing is to be done.
fn cause(words: Words) -> ErrorView {
    ErrorView::of_words(words, Words::default())
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

/// Seconds between two times in which the job was over.
fn idle(active: &Active, from: Timestamp, to: Timestamp) -> f64 {
    active
        .idle
        .iter()
        .filter(|(end, again)| *end >= from && *again <= to)
        .map(|(end, again)| seconds(*end, *again))
        .sum()
}

impl Attempt {
    /// Who stopped it, with their answer and why: a gate that nobody has overruled, else the last reviewer.
    pub fn stopped_by(&self) -> Option<(Words, &Verdict, Words)> {
        let overruled = |gate: usize| self.accepted.iter().any(|one| one.gate == gate);
        let mut gates = self.gates.iter().enumerate();
        if let Some((_, report)) = gates.find(|(gate, report)| !report.verdict.passed() && !overruled(*gate)) {
            return Some((recorded!("phase-stage-gate", gate = &report.gate), &report.verdict, report.words()));
        }
        let (gate, review) = self.reviews.last().filter(|(_, review)| !review.verdict.passed())?;
        Some((reviewer_words(*gate), &review.verdict, (&review.summary).into()))
    }

    /// The attempt in one line, for people: how its run ended and who stopped it.
    pub fn summary(&self) -> Words {
        let ended = self.run_end.as_ref().map(|ended| outcome_words(&ended.outcome()).message);
        let run = ended.unwrap_or_else(|| recorded!("attempt-running"));
        match self.stopped_by() {
            Some((what, verdict, why)) => {
                recorded!("attempt-stopped", run = run, what = what, verdict = verdict.word(), why = why)
            }
            None => run,
        }
    }
}
