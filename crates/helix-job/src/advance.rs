//! How events move a job: which phase each one concerns, and what a job as a whole allows.
//!
//! Must not know the rules of a single phase: those are in `attempt`.

use std::sync::Arc;

use jiff::Timestamp;

use super::attempt::PhaseContext;
use super::event::{Advice, AdviceAction, Integrated, JobEnd, JobEvent};
use super::illegal::Illegal;
use super::person::{Attempted, Person};
use super::spec::JobSpec;
use super::state::{Active, Conflict, Dependents, Integration, LeftOutBy, PhaseProgress, PhaseState, PlannedBy};
use helix_core::evidence::{Committed, IntegrationTarget};
use helix_core::finding::Finding;
use helix_core::ids::{PhaseId, TreeId};
use helix_core::said::Words;
use helix_core::usage::Usage;
use helix_language::{correction, recorded};
use helix_plan::{GateSpec, Phase};

impl Active {
    pub(super) fn submitted(spec: &JobSpec, at: Timestamp) -> Self {
        let selected = |id: &PhaseId| spec.only.as_ref().is_none_or(|only| only.contains(id));
        let planned_by = if spec.is_of_a_person() { PlannedBy::Person } else { PlannedBy::Somebody };
        let phases = spec.plan.phases.iter().map(|phase| {
            let skipped = || {
                let (dependents, by) = (Dependents::Run, LeftOutBy::Request);
                PhaseState::Skipped { why: recorded!("cause-not-selected"), dependents, by }
            };
            let state = if selected(&phase.id) { PhaseState::Pending } else { skipped() };
            PhaseProgress { planned_by, ..PhaseProgress::new(phase.id.clone(), state) }
        });
        Self {
            phases: phases.collect(),
            spec: Arc::new(spec.clone()),
            submitted_at: at,
            last_event: 1,
            last_at: at,
            idle: Vec::new(),
            cancel: None,
            integration: Integration::Open,
            merges: Vec::new(),
            conflicts: Vec::new(),
            reverted: None,
            attempted: Vec::new(),
        }
    }

    /// The progress of a phase.
    pub fn progress(&self, id: &PhaseId) -> Option<&PhaseProgress> {
        self.phases.iter().find(|progress| &progress.id == id)
    }

    /// The conflict that a phase was added for, if it was.
    pub fn conflict(&self, phase: &PhaseId) -> Option<&Conflict> {
        self.conflicts.iter().find(|conflict| &conflict.phase == phase)
    }

    /// A phase's definition and progress, by index in the plan's order.
    pub fn pairs(&self) -> impl Iterator<Item = (&Phase, &PhaseProgress)> {
        self.spec.plan.phases.iter().zip(&self.phases)
    }

    /// The gates that results put together have to pass: the union of those of all passed phases, each with its index in the
    /// list of its phase.
    pub fn gates_of_sum(&self) -> Vec<(&Phase, usize)> {
        self.union_of_gates(|_, progress| matches!(progress.state, PhaseState::Passed { .. }))
    }

    /// The union of those gates of some phases that say something about results put together.
    pub(super) fn union_of_gates(&self, of: impl Fn(&Phase, &PhaseProgress) -> bool) -> Vec<(&Phase, usize)> {
        let phases = self.pairs().filter(|(phase, progress)| of(phase, progress));
        let mut gates = different_gates(phases.map(|(phase, _)| phase), GateSpec::checks_a_sum);
        if self.phases.iter().any(|progress| !progress.accepted().is_empty()) {
            gates.retain(|(phase, gate)| !self.is_overruled(phase, *gate));
        }
        gates
    }

    /// Whether a person has overruled this gate, or the same one of another phase, and nothing that builds on that has passed it since:
    /// what they said of a phase they said of the sum.
    fn is_overruled(&self, owner: &Phase, index: usize) -> bool {
        let ancestry = self.spec.plan.ancestry();
        let is_same = |phase: &Phase, gate: usize| {
            let spec = phase.gates.get(gate);
            spec == owner.gates.get(index) && (phase.id == owner.id || !spec.is_some_and(GateSpec::is_about_claims))
        };
        let overrules =
            |phase: &Phase, progress: &PhaseProgress| progress.accepted().iter().any(|one| is_same(phase, one.gate));
        let has_passed = |phase: &Phase, progress: &PhaseProgress| {
            matches!(progress.state, PhaseState::Passed { .. })
                && (0..phase.gates.len()).any(|gate| is_same(phase, gate))
                && !overrules(phase, progress)
        };
        self.pairs().filter(|(phase, progress)| overrules(phase, progress)).any(|(phase, _)| {
            !self
                .pairs()
                .any(|(later, progress)| ancestry.is_before(&phase.id, &later.id) && has_passed(later, progress))
        })
    }

    /// The results whose tests those of the sum are compared with by a gate: of the phases that have it, each on which one without it has
    /// built, for that one's changes were compared with nothing; else the last. Each with the gate's index in its phase.
    pub fn compared_by(&self, gate: &GateSpec) -> Vec<(&Phase, usize, &Committed)> {
        let ancestry = self.spec.plan.ancestry();
        let (mut having, mut found) = (Vec::<(&Phase, usize, &Committed)>::new(), Vec::new());
        for (phase, progress) in self.pairs() {
            let PhaseState::Passed { result, .. } = &progress.state else { continue };
            if let Some(index) = phase.gates.iter().position(|own| own == gate) {
                having.push((phase, index, result));
            } else if !result.changed.is_empty() {
                let mut nearest: Vec<&(&Phase, usize, &Committed)> = Vec::new();
                for before in having.iter().rev().filter(|(before, ..)| ancestry.is_before(&before.id, &phase.id)) {
                    if !nearest.iter().any(|(near, ..)| ancestry.is_before(&before.0.id, &near.id)) {
                        nearest.push(before);
                    }
                }
                found.extend(nearest.into_iter().copied().filter(|new| !found.contains(new)).collect::<Vec<_>>());
            }
        }
        if found.is_empty() { having.pop().into_iter().collect() } else { found }
    }

    /// Gates of passed phases that have to hold on the tree of the last phase, and that were not run on it: what a later phase did to
    /// the work of an earlier one is in it, too.
    pub fn gates_to_confirm(&self, tree: &TreeId) -> Vec<(&Phase, usize)> {
        let passed = || {
            self.pairs().filter_map(|(phase, progress)| match &progress.state {
                PhaseState::Passed { result, .. } => Some((phase, result)),
                _ => None,
            })
        };
        let judged = |owner: &Phase, gate: &GateSpec| {
            let has = |phase: &Phase| phase.gates.contains(gate) && (phase.id == owner.id || !gate.is_about_claims());
            // Tests also ask how a tree came about: the same gate of the last phase did not ask that of one without it.
            let gap = matches!(gate, GateSpec::TestsPass(_))
                && passed().any(|(phase, result)| has(phase) && result.tree != *tree)
                && passed().any(|(phase, result)| !result.changed.is_empty() && !has(phase));
            !gap && passed().any(|(phase, result)| has(phase) && result.tree == *tree)
        };
        let mut gates = self.gates_of_sum();
        gates.retain(|(phase, index)| phase.gates.get(*index).is_some_and(|gate| !judged(phase, gate)));
        gates
    }

    /// The checks of the whole that phases were to make which nobody but the plan left out: what is integrated must not be
    /// what they said no to. Each with its index in the list of its phase.
    pub fn gates_left_out(&self) -> Vec<(&Phase, usize)> {
        let by_plan = |state: &PhaseState| matches!(state, PhaseState::Skipped { by: LeftOutBy::Plan, .. });
        let (blocked, ancestry) = (self.blocked(), self.spec.plan.ancestry());
        let left_out = self.pairs().filter(|(phase, progress)| match &progress.state {
            // It never started, since one that it needs was left out.
            PhaseState::Pending => {
                blocked.contains(&phase.id)
                    && ancestry
                        .before(&phase.id)
                        .filter_map(|one| self.progress(&one.id))
                        .any(|one| by_plan(&one.state))
            }
            state => by_plan(state),
        });
        different_gates(left_out.map(|(phase, _)| phase), GateSpec::is_about_everything)
    }

    /// What all runs have consumed.
    pub fn usage(&self) -> Usage {
        self.phases.iter().map(PhaseProgress::usage).fold(Usage::default(), |sum, next| sum + next)
    }

    pub(super) fn check_end(&self, end: &JobEnd) -> Result<(), Illegal> {
        if let Some(busy) = self.phases.iter().find(|progress| progress.is_busy()) {
            return Err(busy.illegal("has not ended"));
        }
        match end {
            JobEnd::Succeeded if !matches!(self.integration, Integration::Done(_)) => Err(Illegal::NOT_INTEGRATED),
            JobEnd::Succeeded if self.phases.iter().any(PhaseProgress::has_failed) => {
                Err(Illegal::Job("a phase has failed"))
            }
            JobEnd::Succeeded | JobEnd::Failed { .. } | JobEnd::Cancelled { .. } => Ok(()),
        }
    }

    pub(super) fn advance(&mut self, event: &JobEvent) -> Result<(), Illegal> {
        match event {
            JobEvent::JobSubmitted { .. } => Err(Illegal::Job("the job exists already")),
            JobEvent::AttemptStarted(begin) => {
                if self.cancel.is_some() {
                    return Err(Illegal::CANCELLING);
                }
                self.change(&begin.phase, |progress, context| progress.begin(context, begin))
            }
            JobEvent::RunFinished { phase, attempt, end } => self.find(phase)?.run_finished(*attempt, end.clone()),
            JobEvent::ResultCommitted { phase, attempt, result, repairs, repairs_said, findings, runs_by_itself } => {
                let repairs = Words::of_each(repairs_said, repairs).collect();
                self.change(phase, |progress, context| {
                    progress.note_self_running(*attempt, runs_by_itself)?;
                    progress.committed(context, *attempt, result, repairs, findings)
                })
            }
            JobEvent::PhasesProposed { phase, attempt, phases } => {
                self.spec.plan.grown(phase, phases).map_err(Illegal::Plan)?;
                self.change(phase, |progress, context| progress.proposal_read(context, *attempt, Ok(phases)))
            }
            JobEvent::PhasesRejected { phase, attempt, findings } => {
                self.change(phase, |progress, context| progress.proposal_read(context, *attempt, Err(findings)))
            }
            JobEvent::GateFinished { phase, attempt, gate, report } => {
                self.change(phase, |progress, context| progress.gate_finished(context, *attempt, *gate, report))
            }
            JobEvent::DeliveryBegun { phase, attempt, gate, tree, validation, baseline } => {
                self.delivery_begun(phase, *attempt, *gate, tree, validation, baseline.as_ref())
            }
            JobEvent::HealthChecked { phase, step, report } => {
                self.change(phase, |progress, context| progress.health_checked(context, *step, report))
            }
            JobEvent::RollbackBegun { phase, step } => {
                self.change(phase, |progress, context| progress.rollback_begun(context, *step))
            }
            JobEvent::RollbackFinished { phase, step, report } => {
                self.change(phase, |progress, context| progress.rollback_finished(context, *step, report))
            }
            JobEvent::ReviewFinished { phase, attempt, gate, round, review } => self
                .change(phase, |progress, context| progress.review_finished(context, *attempt, *gate, *round, review)),
            JobEvent::QuestionAsked { phase, question } => {
                self.change(phase, |progress, context| progress.question_asked(context, question))
            }
            JobEvent::QuestionAnswered { phase, asked, answer } => {
                self.change(phase, |progress, context| progress.question_answered(context, *asked, answer))
            }
            JobEvent::QuestionExpired { phase, asked } => {
                self.change(phase, |progress, context| progress.question_expired(context, *asked))
            }
            JobEvent::AdviceGiven { phase, round, advice } => self.advised(phase, *round, advice),
            JobEvent::ConflictFound { phase, between, paths } => self.conflict_found(phase.as_ref(), between, paths),
            JobEvent::AttemptFaulted { phase, attempt, fault } => {
                self.change(phase, |progress, context| progress.faulted(context, *attempt, fault))
            }
            JobEvent::Integrated(done) => self.integrate(Integration::Done(done.clone())),
            JobEvent::IntegrationFailed(failed) => self.integrate(Integration::Failed(failed.clone())),
            JobEvent::CancelRequested { by } => {
                // Sticky: a second request changes nothing, no matter who makes it.
                self.cancel.get_or_insert_with(|| by.clone());
                self.phases.iter_mut().for_each(PhaseProgress::cancel_unless_running);
                Ok(())
            }
            JobEvent::JobFinished { .. } => Err(Illegal::NOT_INTEGRATED),
            JobEvent::JobResumed { .. } | JobEvent::RollbackRequested { .. } | JobEvent::Reverted(_) => {
                Err(Illegal::Job("the job is not over"))
            }
            JobEvent::AgentRefused { run, asked } => {
                self.attempted.push(Attempted { run: run.clone(), asked: asked.clone(), at: self.last_at });
                Ok(())
            }
            JobEvent::Failure(_) => Ok(()),
        }
    }

    fn integrate(&mut self, integration: Integration) -> Result<(), Illegal> {
        if !matches!(self.integration, Integration::Open) {
            return Err(Illegal::INTEGRATED);
        }
        let blocked = self.blocked();
        if let Some(open) = self.phases.iter().find(|one| !one.is_settled() && !blocked.contains(&one.id)) {
            return Err(open.illegal("has not ended"));
        }
        if let Integration::Done(Integrated { result, target, .. }) = &integration
            && *target != IntegrationTarget::Nowhere
            && !self.merges.contains(&result.commit)
        {
            self.merges.push(result.commit.clone());
        }
        self.integration = integration;
        Ok(())
    }

    fn advised(&mut self, id: &PhaseId, round: u32, advice: &Advice) -> Result<(), Illegal> {
        if let AdviceAction::Split { phases } = &advice.action {
            let grown = self.spec.plan.grown(id, phases).map_err(Illegal::Plan)?;
            self.change(id, |progress, context| progress.advised(context, round, advice))?;
            if matches!(self.find(id)?.state, PhaseState::Skipped { .. }) {
                self.adopt(grown);
            }
            return Ok(());
        }
        self.change(id, |progress, context| progress.advised(context, round, advice))
    }

    /// Takes over a plan that has grown, wherever its new phases stand in it.
    fn adopt(&mut self, grown: helix_plan::Plan) {
        let mut known = std::mem::take(&mut self.phases).into_iter().peekable();
        let progress = grown.phases.iter().map(|phase| {
            let own = known.next_if(|progress| progress.id == phase.id);
            own.unwrap_or_else(|| PhaseProgress::new(phase.id.clone(), PhaseState::Pending))
        });
        self.phases = progress.collect();
        Arc::make_mut(&mut self.spec).plan = grown;
    }

    fn conflict_found(
        &mut self,
        blocked: Option<&PhaseId>,
        between: &[PhaseId],
        paths: &[String],
    ) -> Result<(), Illegal> {
        if self.cancel.is_some() {
            return Err(Illegal::CANCELLING);
        }
        if !matches!(self.integration, Integration::Open) {
            return Err(Illegal::INTEGRATED);
        }
        if let Some(blocked) = blocked {
            let blocked = self.find(blocked)?;
            if blocked.state != PhaseState::Pending {
                return Err(blocked.wrong_state());
            }
        }
        if let Some(known) = self.conflicts.iter().find(|known| known.between == between) {
            let resolver = known.phase.clone();
            return self.wait_for(blocked, &resolver);
        }
        for id in between {
            let progress = self.find(id)?;
            if !matches!(progress.state, PhaseState::Passed { .. }) {
                return Err(progress.illegal("has no result"));
            }
        }
        let added = super::conflict::phase(&self.spec.plan, self.conflicts.len(), between, paths)?;
        let last = between.last().ok_or(Illegal::EMPTY_CONFLICT)?;
        let mut grown = self.spec.plan.clone();
        if let Some(blocked) = grown.phases.iter_mut().find(|phase| Some(&phase.id) == blocked) {
            blocked.depends_on.push(added.id.clone());
        }
        self.conflicts.push(Conflict { phase: added.id.clone(), between: between.to_vec(), paths: paths.to_vec() });
        grown.place(last, &[added]);
        self.adopt(grown);
        Ok(())
    }

    /// A phase met a conflict that another one had met before: both wait for the same phase.
    fn wait_for(&mut self, blocked: Option<&PhaseId>, resolver: &PhaseId) -> Result<(), Illegal> {
        let spec = Arc::make_mut(&mut self.spec);
        match spec.plan.phases.iter_mut().find(|phase| Some(&phase.id) == blocked) {
            Some(blocked) if !blocked.depends_on.contains(resolver) => {
                blocked.depends_on.push(resolver.clone());
                Ok(())
            }
            Some(_) | None => Err(Illegal::Job("this conflict is known already")),
        }
    }

    pub(super) fn resume(
        &mut self,
        reopen: &[PhaseId],
        restart: &[PhaseId],
        budget_usd: Option<f64>,
    ) -> Result<(), Illegal> {
        for id in reopen {
            self.find(id)?.reopen()?;
        }
        for id in restart {
            self.find(id)?.restart();
        }
        self.cancel = None;
        self.integration = Integration::Open;
        if budget_usd.is_some() {
            Arc::make_mut(&mut self.spec).policy.budget_usd = budget_usd;
        }
        Ok(())
    }

    /// Has the gates judge the last results of phases again; with a reason, a person accepts those instead.
    pub(super) fn check_again(&mut self, by: &Person, phases: &[PhaseId], accept: Option<&str>) -> Result<(), Illegal> {
        for id in phases {
            self.change(id, |progress, context| match accept {
                None => progress.check_again(context),
                Some(reason) => progress.accept(context, by, reason),
            })?;
        }
        Ok(())
    }

    fn find(&mut self, id: &PhaseId) -> Result<&mut PhaseProgress, Illegal> {
        self.phases.iter_mut().find(|progress| &progress.id == id).ok_or_else(|| Illegal::UnknownPhase(id.clone()))
    }

    /// Changes a phase's progress by the rules of its plan and policy.
    fn change(
        &mut self,
        id: &PhaseId,
        change: impl FnOnce(&mut PhaseProgress, &PhaseContext<'_>) -> Result<(), Illegal>,
    ) -> Result<(), Illegal> {
        let spec = Arc::clone(&self.spec);
        let phase = spec.plan.phase(id).ok_or_else(|| Illegal::UnknownPhase(id.clone()))?;
        let context = PhaseContext {
            phase,
            policy: &spec.policy,
            adviser: spec.roles.adviser.is_some(),
            conflict: self.conflict(id).is_some(),
            cancelling: self.cancel.is_some(),
            submitter: spec.by.as_ref(),
            at: self.last_at,
        };
        let progress = self.find(id)?;
        let passed = matches!(progress.state, PhaseState::Passed { .. });
        change(progress, &context)?;
        // What a planning phase proposes joins the plan when it passes, not before.
        let proposed = match (&progress.state, progress.attempts.last()) {
            (PhaseState::Passed { .. }, Some(last)) if !passed => last.proposed.clone(),
            _ => return Ok(()),
        };
        if !proposed.is_empty() {
            match self.spec.plan.grown(id, &proposed) {
                Ok(grown) => self.adopt(grown),
                // They were valid when they were read; another planning phase has added phases since.
                Err(findings) => self.find(id)?.outgrown(&context, &findings),
            }
        }
        Ok(())
    }
}

/// The gates of these phases that count, each once and with its index in the list of its phase. Claims were checked on the phase's
/// own diff; in the sum of all diffs they would mean something else, so that equal ones of two phases are two.
fn different_gates<'a>(
    phases: impl Iterator<Item = &'a Phase>,
    counts: impl Fn(&GateSpec) -> bool,
) -> Vec<(&'a Phase, usize)> {
    let mut found: Vec<(&Phase, usize)> = Vec::new();
    for phase in phases {
        for (index, gate) in phase.gates.iter().enumerate().filter(|(_, gate)| counts(gate)) {
            let known = || found.iter().any(|(other, index)| other.gates.get(*index) == Some(gate));
            if gate.is_about_claims() || !known() {
                found.push((phase, index));
            }
        }
    }
    found
}

impl PhaseProgress {
    pub(super) fn new(id: PhaseId, state: PhaseState) -> Self {
        Self {
            id,
            attempts: Vec::new(),
            state,
            approved: false,
            epoch: 0,
            extra_attempts: 0,
            model: None,
            advice: Vec::new(),
            advice_epoch: 0,
            questions: Vec::new(),
            planned_by: PlannedBy::Agent,
            let_in: Vec::new(),
            fault: None,
        }
    }

    /// Everything else has passed, and what it proposes does not fit the plan any more: it is told so, and tries again.
    fn outgrown(&mut self, context: &PhaseContext<'_>, findings: &[Finding]) {
        if let Some(last) = self.attempts.last_mut() {
            last.proposed.clear();
        }
        self.gate_rejected(context, correction(recorded!("cause-outgrown"), findings.to_vec()));
    }

    /// Whether a process works on it.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, PhaseState::Working { .. } | PhaseState::Escalating { .. })
    }
}
