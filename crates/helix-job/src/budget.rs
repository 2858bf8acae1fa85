//! The budget tree: what a job may still spend, what a phase may, and what is reserved for a run.
//!
//! Must not know prices: money is what agents report. A reservation is made when a try starts and settled when its run ends, so
//! that phases which run at the same time never promise the same money twice.

use super::spec::Grant;
use super::state::{Active, Attempt, PhaseProgress, PhaseState, Stage};
use helix_core::said::{Said, Words};
use helix_language::recorded;
use helix_plan::{GateSpec, Phase};

/// What a job has left of each limit that is set, reservations of running attempts taken off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Remaining {
    usd: Option<f64>,
    turns: Option<u32>,
    tokens: Option<u64>,
    seconds: Option<u64>,
    /// Phases under way whose result will still be looked at by an agent: each has a share in what is left.
    checks: u32,
}

/// What a reviewer or an adviser may spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SideBudget {
    /// Nobody has set a limit.
    Unlimited,
    /// So many US dollars, more than none.
    Usd(f64),
    /// Everything that is left is reserved for runs that are under way: there may be something when one of them ends.
    Reserved,
}

/// That this limit of a job is used up, and how to go on: a job can be given more money, its other limits stay.
pub fn spent(limit: Words) -> Said {
    let is_money = limit.says("spent-budget") || limit.says("spent-reserved");
    let hint = if is_money { recorded!("cause-spent.hint") } else { recorded!("cause-spent.rest") };
    Said { message: recorded!("cause-spent", limit = limit), hint }
}

impl Active {
    /// Which limit of the job is used up, and how to go on; `None` while it may. Reservations do not count.
    pub fn spent_limit(&self) -> Option<Said> {
        self.limit_reached().map(spent)
    }

    fn limit_reached(&self) -> Option<Words> {
        let (policy, usage) = (&self.spec.policy, self.usage());
        if let Some(budget) = policy.budget_usd.filter(|budget| usage.cost_usd >= *budget) {
            let (budget, spent) = (budget.to_string(), format!("{:.4}", usage.cost_usd));
            let (budget, spent) = (Words::decimal(&budget), Words::decimal(&spent));
            return Some(recorded!("spent-budget", budget = budget, spent = spent));
        }
        if let Some(limit) = policy.max_turns.filter(|limit| usage.turns >= *limit) {
            return Some(recorded!("spent-turns", limit = limit, taken = usage.turns));
        }
        let tokens = usage.total_input().saturating_add(usage.output_tokens);
        if let Some(limit) = policy.max_tokens.filter(|limit| tokens >= *limit) {
            return Some(recorded!("spent-tokens", limit = limit, used = tokens));
        }
        let seconds = self.run_seconds();
        if let Some(limit) = policy.max_run_seconds.filter(|limit| seconds >= *limit) {
            return Some(recorded!("spent-time", limit = limit.to_string(), used = seconds.to_string()));
        }
        None
    }

    /// Wall time of all runs together, in whole seconds.
    pub fn run_seconds(&self) -> u64 {
        let attempts = || self.phases.iter().flat_map(|progress| &progress.attempts);
        let runs = attempts().filter_map(|one| one.run_end.as_ref()).map(|ended| ended.duration_ms);
        let reviews = attempts().flat_map(|one| &one.reviews).map(|(_, review)| review.side.duration_ms);
        let advice = self.phases.iter().flat_map(|progress| &progress.advice).map(|advice| advice.side.duration_ms);
        runs.chain(reviews).chain(advice).fold(0_u64, u64::saturating_add) / 1_000
    }

    /// What a reviewer or an adviser that starts now may spend: its share of what is not reserved, or the policy's limit for such
    /// runs, whichever is less. A job that has used up its budget ([`Active::spent_limit`]) starts none.
    pub fn side_budget(&self) -> SideBudget {
        let left = self.left();
        let share = left.usd.map(|usd| usd / f64::from(left.checks.max(1)));
        if share.is_some_and(|share| share <= 0.0) {
            return SideBudget::Reserved;
        }
        let least = share.into_iter().chain(self.spec.policy.side_budget_usd).reduce(f64::min);
        least.map_or(SideBudget::Unlimited, SideBudget::Usd)
    }

    /// Whether reviewers and advisers have to wait for money that is reserved for others.
    pub(super) fn side_runs_wait(&self) -> bool {
        let reserved = self.phases.iter().any(|progress| running_attempt(progress).is_some());
        reserved && self.spent_limit().is_none() && self.side_budget() == SideBudget::Reserved
    }

    pub(super) fn left(&self) -> Remaining {
        let (policy, usage) = (&self.spec.policy, self.usage());
        let running = || self.phases.iter().filter_map(running_attempt).map(|one| one.begin.grant);
        let tokens = usage.total_input().saturating_add(usage.output_tokens);
        Remaining {
            usd: policy.budget_usd.map(|budget| {
                let reserved: f64 = running().filter_map(|grant| grant.usd).sum();
                (budget - usage.cost_usd - reserved).max(0.0)
            }),
            turns: policy.max_turns.map(|limit| {
                let reserved: u32 = running().filter_map(|grant| grant.turns).fold(0, u32::saturating_add);
                limit.saturating_sub(usage.turns).saturating_sub(reserved)
            }),
            tokens: policy.max_tokens.map(|limit| limit.saturating_sub(tokens)),
            seconds: policy.max_run_seconds.map(|limit| {
                let reserved: u64 = running().filter_map(|grant| grant.seconds).fold(0, u64::saturating_add);
                limit.saturating_sub(self.run_seconds()).saturating_sub(reserved)
            }),
            checks: self.pairs().filter(|(phase, progress)| awaits_check(phase, progress)).count() as u32,
        }
    }
}

/// Whether an agent will still look at what the phase's current try leaves, or is asked for advice on it.
fn awaits_check(phase: &Phase, progress: &PhaseProgress) -> bool {
    let advised = matches!(progress.state, PhaseState::Escalating { .. });
    advised || progress.is_busy() && is_checked(phase)
}

/// Whether an agent looks at the phase's results.
fn is_checked(phase: &Phase) -> bool {
    phase.verify.is_some() || phase.gates.iter().any(|gate| matches!(gate, GateSpec::ReviewApproved { .. }))
}

impl Remaining {
    /// What a try of the phase may use when so many places are free for others; `None` when nothing is left for it now.
    pub(super) fn grant(&mut self, phase: &Phase, progress: &PhaseProgress, free_places: u32) -> Option<Grant> {
        let share = free_places.max(1);
        // Its own check comes after its run, and is paid from what the run does not get.
        let checks = self.checks + u32::from(is_checked(phase));
        if self.tokens == Some(0) {
            return None;
        }
        let of_job = self.usd.map(|left| left / f64::from(share + checks));
        let of_phase = phase.budget_usd.map(|budget| (budget - progress.current_cost()).max(0.0));
        let usd = of_job.into_iter().chain(of_phase).reduce(f64::min);
        let turns = self.turns.map(|left| left.div_ceil(share)).into_iter().chain(phase.max_turns).min();
        let limit = u64::from(phase.timeout.0);
        let seconds = self.seconds.map_or(limit, |left| left.div_ceil(u64::from(share)).min(limit));
        if usd.is_some_and(|usd| usd <= 0.0) || turns == Some(0) || seconds == 0 {
            return None;
        }
        self.checks = checks;
        self.usd = self.usd.map(|left| (left - usd.unwrap_or_default()).max(0.0));
        self.turns = self.turns.map(|left| left.saturating_sub(turns.unwrap_or_default()));
        self.seconds = self.seconds.map(|left| left.saturating_sub(seconds));
        Some(Grant { usd, turns, seconds: Some(seconds) })
    }
}

impl PhaseProgress {
    /// Whether the phase's own money is used up.
    pub(super) fn is_spent(&self, phase: &Phase) -> bool {
        phase.budget_usd.is_some_and(|budget| self.current_cost() >= budget)
    }

    /// US dollars of all runs since the job was last resumed.
    fn current_cost(&self) -> f64 {
        let attempts = self.attempts.get(self.epoch..).unwrap_or_default();
        let runs = attempts.iter().filter_map(|one| one.run_end.as_ref()).map(|ended| ended.usage.cost_usd);
        let reviews = attempts.iter().flat_map(|one| &one.reviews).map(|(_, review)| review.side.usage.cost_usd);
        runs.chain(reviews).sum()
    }
}

fn running_attempt(progress: &PhaseProgress) -> Option<&Attempt> {
    match progress.state {
        PhaseState::Working { stage: Stage::Agent } => progress.attempts.last(),
        _ => None,
    }
}
