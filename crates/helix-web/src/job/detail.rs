//! What is known of a job, put together from its view and its events, and what of it is selected. Must not know how it is shown.

use helix_core::evidence::{Committed, GateReport};
use helix_core::ids::{PhaseId, RunId};
use helix_engine::{Engine, EngineError};
use helix_job::{JobEvent, JobView, PhaseStatus, PhaseView, Recorded, Review};
use helix_plan::Phase;
use serde::Deserialize;

use super::JobQuery;

/// What is shown of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tab {
    Activity,
    Changes,
    Checks,
    Evidence,
    Prompt,
}

impl Tab {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Changes => "changes",
            Self::Checks => "checks",
            Self::Evidence => "evidence",
            Self::Prompt => "prompt",
        }
    }
}

/// All of a job.
pub(super) struct JobDetail {
    pub(super) view: JobView,
    /// The plan as it is now.
    pub(super) phases: Vec<Phase>,
    pub(super) events: Vec<Recorded<JobEvent>>,
}

/// An attempt at a phase, as far as it has come.
pub(super) struct Attempt {
    pub(super) number: u32,
    pub(super) run: RunId,
    pub(super) result: Option<Committed>,
    pub(super) gates: Vec<GateReport>,
    pub(super) reviews: Vec<Review>,
}

/// What is selected of a job.
pub(super) struct Selected<'a> {
    pub(super) phase: Option<&'a PhaseView>,
    pub(super) tab: Tab,
    pub(super) attempts: Vec<Attempt>,
    /// The attempt that is looked at, of these.
    pub(super) attempt: Option<usize>,
    /// Whether it was asked for, and not only the last one.
    pub(super) is_fixed: bool,
}

impl JobDetail {
    pub(super) async fn read(engine: &Engine, id: &str) -> Result<Self, EngineError> {
        let view = engine.jobs().get(id).await?;
        let phases = engine.jobs().phases(&view.id).await?;
        let events = engine.jobs().events_so_far(&view.id).await?;
        Ok(Self { view, phases, events })
    }

    /// The budget of the whole job in US dollars, if it has one.
    pub(super) fn budget(&self) -> Option<f64> {
        let raised = self.events.iter().rev().find_map(|one| match &one.event {
            JobEvent::JobResumed { budget_usd, .. } => *budget_usd,
            _ => None,
        });
        raised.or_else(|| match self.events.first().map(|one| &one.event) {
            Some(JobEvent::JobSubmitted { spec }) => spec.policy.budget_usd,
            _ => None,
        })
    }

    /// What is selected: what was asked for, else what one would look at first.
    pub(super) fn select(&self, asked: &JobQuery) -> Selected<'_> {
        let all = &self.view.phases;
        let first = |status: PhaseStatus| all.iter().find(|phase| phase.status == status);
        let phase = asked
            .phase
            .as_ref()
            .and_then(|id| all.iter().find(|phase| &phase.id == id))
            .or_else(|| first(PhaseStatus::Waiting))
            .or_else(|| first(PhaseStatus::Running))
            .or_else(|| first(PhaseStatus::Failed))
            .or_else(|| all.iter().rev().find(|phase| phase.status == PhaseStatus::Passed))
            .or_else(|| all.first());
        let attempts = phase.map(|phase| self.attempts(&phase.id)).unwrap_or_default();
        let given = asked.attempt.and_then(|number| attempts.iter().position(|one| one.number == number));
        let attempt = given.or_else(|| attempts.len().checked_sub(1));
        let tab = asked.tab.unwrap_or_else(|| match phase.map(|phase| phase.status) {
            Some(PhaseStatus::Passed) => Tab::Evidence,
            Some(PhaseStatus::Failed) => Tab::Checks,
            Some(PhaseStatus::Waiting) if attempts.iter().any(|one| one.result.is_some()) => Tab::Changes,
            _ => Tab::Activity,
        });
        Selected { phase, tab, attempts, attempt, is_fixed: given.is_some() }
    }

    fn attempts(&self, phase: &PhaseId) -> Vec<Attempt> {
        let mut all: Vec<Attempt> = Vec::new();
        for one in &self.events {
            let of = |all: &mut Vec<Attempt>, number: u32| all.iter().rposition(|one| one.number == number);
            match &one.event {
                JobEvent::AttemptStarted(begin) if &begin.phase == phase => {
                    let (number, run) = (begin.attempt, begin.run.clone());
                    all.push(Attempt { number, run, result: None, gates: Vec::new(), reviews: Vec::new() });
                }
                JobEvent::ResultCommitted { phase: of_phase, attempt, result, .. } if of_phase == phase => {
                    if let Some(at) = of(&mut all, *attempt) {
                        all[at].result = Some(result.clone());
                    }
                }
                JobEvent::GateFinished { phase: of_phase, attempt, report, .. } if of_phase == phase => {
                    if let Some(at) = of(&mut all, *attempt) {
                        all[at].gates.push(report.clone());
                    }
                }
                JobEvent::ReviewFinished { phase: of_phase, attempt, review, .. } if of_phase == phase => {
                    if let Some(at) = of(&mut all, *attempt) {
                        all[at].reviews.push((**review).clone());
                    }
                }
                _ => {}
            }
        }
        all
    }
}

impl Selected<'_> {
    pub(super) fn attempt(&self) -> Option<&Attempt> {
        self.attempt.and_then(|at| self.attempts.get(at))
    }

    /// The run of the attempt that is looked at.
    pub(super) fn run(&self) -> Option<RunId> {
        self.attempt().map(|one| one.run.clone())
    }

    /// The query that leads to this phase with another tab or attempt.
    pub(super) fn query(&self, tab: Tab, attempt: Option<u32>) -> String {
        let phase = self.phase.map(|phase| format!("phase={}&", phase.id)).unwrap_or_default();
        let attempt = attempt.map(|number| format!("&attempt={number}")).unwrap_or_default();
        format!("?{phase}tab={}{attempt}", tab.word())
    }

    /// Where what is new of this page comes from.
    pub(super) fn live(&self, detail: &JobDetail) -> String {
        let attempt = self.attempt().filter(|_| self.is_fixed).map(|one| one.number);
        format!("/jobs/{}/live{}", detail.view.id, self.query(self.tab, attempt))
    }
}
