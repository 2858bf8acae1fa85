//! A simulated host for job tests: carries out effects by drawing their results, without processes, git or time.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test file uses a part of the world")]

use helix_core::finding::{Fault, FaultKind, Finding, Verdict};
use helix_core::ids::{AgentSessionId, CommitId, JobId, PhaseId, RunId, TreeId};
use helix_core::run::{
    AgentErrorKind, Ending, RateLimit, RunFacts, StopCause, StopReason, StreamFacts, Terminal, TerminalKind,
    TerminalReason,
};
use helix_core::usage::Usage;
use helix_job::question::Answer;
use helix_job::{
    Advice, AdviceAction, AttemptStart, ChangeKind, ChangedFile, Committed, DeliveryStep, Effect, GateReport,
    Integrated, IntegrationTarget, JobEvent, JobSpec, NotIntegrated, Origin, Policy, Recorded, RepoRef, Review,
    RunEnded, SideRun, Stage,
};
use helix_plan::{Defaults, GateSpec, GeneratePhases, OnFailure, Phase, PhaseType, Plan, Seconds};
use jiff::Timestamp;

pub const START: i64 = 1_795_299_301;

pub fn job() -> JobId {
    JobId::from_parts(1_795_299_301_000, 7)
}

pub fn id(text: &str) -> PhaseId {
    PhaseId::new(text).unwrap()
}

pub fn commit(number: u64) -> CommitId {
    CommitId::new(format!("{number:040x}")).unwrap()
}

pub fn tree(number: u64) -> TreeId {
    TreeId::new(format!("{number:040x}")).unwrap()
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap()
}

pub fn phase(name: &str, depends_on: &[&str], gates: usize) -> Phase {
    Phase {
        id: id(name),
        name: name.into(),
        kind: PhaseType::Development,
        description: "do it".into(),
        depends_on: depends_on.iter().map(|one| id(one)).collect(),
        skills: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        gates: (0..gates).map(|_| GateSpec::SyntaxCheck { files: Vec::new() }).collect(),
        verify: None,
        approval: None,
        on_failure: OnFailure::Fail,
        optional: false,
        generates_phases: None,
        network: None,
        agent: None,
        model: None,
        max_attempts: 3,
        timeout: Seconds(60),
        budget_usd: None,
        max_turns: None,
    }
}

pub fn spec(phases: Vec<Phase>) -> JobSpec {
    JobSpec {
        plan: Plan {
            name: "test".into(),
            description: String::new(),
            adr: None,
            issue: None,
            land: None,
            workflow: None,
            phases,
        },
        plan_path: "plan.yaml".into(),
        repo: RepoRef { path: "/repo".into(), base: commit(0), branch: Some("main".into()) },
        adr: None,
        policy: Policy::default(),
        idempotency_key: None,
        origin: Origin::Cli,
        by: None,
        only: None,
        default_agent: "claude".into(),
        replaced: Default::default(),
        roles: Default::default(),
        briefing: Default::default(),
        gate_files: Default::default(),
        venv: None,
        no_preflight: false,
    }
}

pub fn complete() -> RunFacts {
    RunFacts {
        ending: Ending::Exited { code: 0 },
        stopped: None,
        stdout: StreamFacts { read_to_end: true, lines: 4, ..StreamFacts::default() },
        asked_schema: false,
        started: true,
        active_after_terminal: false,
        terminal: Some(Terminal {
            kind: TerminalKind::Success,
            is_error: false,
            reason: Some(TerminalReason::Completed),
            stop_reason: Some(StopReason::EndTurn),
            http_status: None,
            structured_output: false,
            usage_present: true,
            answer_empty: false,
            turns: 1,
            denials: 0,
            message: String::new(),
        }),
        declared_error: None,
        rate_limit: None,
        tasks_lost: 0,
        compacted: false,
        answered: true,
        record_unknown: false,
        repeated: None,
        stderr_tail: String::new(),
        walls: None,
    }
}

pub fn truncated() -> RunFacts {
    RunFacts { terminal: None, ..complete() }
}

pub fn lost() -> RunFacts {
    RunFacts { ending: Ending::Unknown, ..complete() }
}

pub fn cancelled() -> RunFacts {
    RunFacts { stopped: Some(StopCause::Cancelled), ..complete() }
}

pub fn declared(error: AgentErrorKind) -> RunFacts {
    let mut facts = complete();
    facts.ending = Ending::Exited { code: 1 };
    facts.declared_error = Some(error);
    if let Some(terminal) = facts.terminal.as_mut() {
        terminal.is_error = true;
        terminal.stop_reason = Some(StopReason::StopSequence);
    }
    facts
}

pub fn limited_until(second: i64) -> RunFacts {
    let limit = RateLimit { rejected: true, resets_at: Some(at(second)) };
    RunFacts { rate_limit: Some(limit), ..declared(AgentErrorKind::RateLimit) }
}

pub fn finding(text: &str) -> Finding {
    Finding::new("test", text)
}

/// A host that answers effects; every answer is a draw from `draws` (0 when they run out: the happy way).
pub struct World {
    pub number: u64,
    pub clock: i64,
    pub commits: u64,
    draws: std::vec::IntoIter<u8>,
}

impl World {
    pub fn new(draws: Vec<u8>) -> Self {
        Self { number: 1, clock: 0, commits: 0, draws: draws.into_iter() }
    }

    pub fn draw(&mut self) -> u8 {
        self.draws.next().unwrap_or(0)
    }

    pub fn record(&mut self, event: JobEvent) -> Recorded<JobEvent> {
        self.number += 1;
        self.clock += 1;
        Recorded { number: self.number, at: at(self.clock), event }
    }

    pub fn submitted(spec: JobSpec) -> Recorded<JobEvent> {
        Recorded { number: 1, at: at(0), event: JobEvent::JobSubmitted { spec: Box::new(spec) } }
    }

    pub fn committed(&mut self, moved: bool) -> Committed {
        self.commits += 1;
        Committed {
            commit: commit(self.commits),
            tree: tree(self.commits),
            branch: format!("b{}", self.commits),
            changed: vec![ChangedFile { path: "a.py".into(), how: ChangeKind::Modified }],
            moved,
        }
    }

    /// The event that carrying out the effect leads to; `None` for effects that record nothing themselves.
    pub fn carry_out(&mut self, effect: &Effect, tree_of: impl Fn(&PhaseId) -> TreeId) -> Option<JobEvent> {
        Some(match effect {
            Effect::StartAttempt { phase, attempt, parents, after, resume, correction, grant } => {
                if self.draw() == 9 {
                    return Some(JobEvent::AttemptFaulted { phase: phase.clone(), attempt: *attempt, fault: fault() });
                }
                let base = parents.first().map_or_else(|| commit(0), |tip| tip.commit.clone());
                let (start, base) = after.clone().unwrap_or((base.clone(), base));
                JobEvent::AttemptStarted(Box::new(AttemptStart {
                    phase: phase.clone(),
                    attempt: *attempt,
                    run: RunId::for_attempt(&job(), phase, *attempt),
                    base,
                    start,
                    resume: resume.clone(),
                    correction: correction.clone(),
                    grant: *grant,
                }))
            }
            Effect::Work { phase, attempt, stage: Stage::Agent } => {
                let facts = match self.draw() {
                    1 => truncated(),
                    2 => lost(),
                    3 => declared(AgentErrorKind::Server),
                    4 => limited_until(self.clock + 30),
                    5 => declared(AgentErrorKind::Authentication),
                    6 => declared(AgentErrorKind::Unknown),
                    _ => complete(),
                };
                run_finished(phase, *attempt, facts)
            }
            Effect::Stop(_) => return None,
            Effect::Work { phase, attempt, stage: Stage::Reading } => match self.draw() {
                1 => JobEvent::PhasesRejected {
                    phase: phase.clone(),
                    attempt: *attempt,
                    findings: vec![finding("no phases")],
                },
                number => JobEvent::PhasesProposed {
                    phase: phase.clone(),
                    attempt: *attempt,
                    phases: added(phase, *attempt, u32::from(number % 3) + 1),
                },
            },
            Effect::Work { phase, attempt, stage: Stage::Reviewing { gate, round } } => {
                let verdict = match self.draw() {
                    1 => Verdict::Fail { findings: vec![finding("not so")] },
                    2 | 3 => Verdict::Inconclusive { fault: Fault { kind: FaultKind::Unreadable, ..fault() } },
                    4 => Verdict::Inconclusive { fault: Fault { kind: FaultKind::Environment, ..fault() } },
                    _ => Verdict::Pass,
                };
                review_finished(phase, *attempt, *gate, *round, tree_of(phase), verdict)
            }
            Effect::Advise { phase, round } => {
                let action = match self.draw() {
                    1 => AdviceAction::GiveUp,
                    2 => AdviceAction::Skip,
                    3 => AdviceAction::Unusable { fault: fault() },
                    4 => AdviceAction::OtherModel { model: "other".into(), hint: "look".into() },
                    5 => AdviceAction::Split { phases: added(phase, 100 + round, 2) },
                    _ => AdviceAction::Retry { hint: "look again".into() },
                };
                advice_given(phase, *round, action)
            }
            Effect::Ask { phase, question } => {
                JobEvent::QuestionAsked { phase: phase.clone(), question: question.clone() }
            }
            Effect::Expire { phase, number } => JobEvent::QuestionExpired { phase: phase.clone(), asked: *number },
            Effect::Work { phase, attempt, stage: Stage::Committing } => {
                let moved = self.draw() != 1;
                let (phase, result) = (phase.clone(), self.committed(moved));
                JobEvent::ResultCommitted {
                    phase,
                    attempt: *attempt,
                    result,
                    repairs: Vec::new(),
                    repairs_said: Vec::new(),
                    findings: Vec::new(),
                    runs_by_itself: Vec::new(),
                }
            }
            Effect::BeginDelivery { phase, attempt, gate } => JobEvent::DeliveryBegun {
                phase: phase.clone(),
                attempt: *attempt,
                gate: *gate,
                tree: tree_of(phase),
                validation: Vec::new(),
                baseline: None,
            },
            Effect::BeginRollback { phase, step } => JobEvent::RollbackBegun { phase: phase.clone(), step: *step },
            Effect::Work { phase, stage: stage @ (Stage::Watching(step) | Stage::RollingBack(step)), .. } => {
                let verdict = match self.draw() {
                    1 => Verdict::Fail { findings: vec![finding("unhealthy")] },
                    2 => Verdict::Inconclusive { fault: Fault { kind: FaultKind::Environment, ..fault() } },
                    _ => Verdict::Pass,
                };
                step_answered(phase, *stage, *step, tree_of(phase), verdict)
            }
            Effect::Work { phase, attempt, stage: Stage::Gating { gate } } => {
                let verdict = match self.draw() {
                    1 => Verdict::Fail { findings: vec![finding("wrong")] },
                    2 => Verdict::Fail { findings: vec![finding("still wrong")] },
                    3 => Verdict::Inconclusive { fault: fault() },
                    4 => Verdict::Inconclusive { fault: Fault { kind: FaultKind::ToolMissing, ..fault() } },
                    _ => Verdict::Pass,
                };
                gate_finished(phase, *attempt, *gate, tree_of(phase), verdict)
            }
            Effect::Integrate { .. } => {
                if self.draw() == 1 {
                    JobEvent::IntegrationFailed(NotIntegrated {
                        findings: vec![finding("conflict")],
                        gates: Vec::new(),
                        fault: None,
                    })
                } else {
                    let target = IntegrationTarget::Branch { branch: "main".into() };
                    JobEvent::Integrated(Integrated { result: self.committed(true), target, gates: Vec::new() })
                }
            }
            Effect::Conclude { end } => JobEvent::JobFinished { end: end.clone() },
        })
    }
}

/// Phases as a planning phase adds them; their names are those of no other.
pub fn added(by: &PhaseId, attempt: u32, count: u32) -> Vec<Phase> {
    (0..count)
        .map(|number| {
            let mut new = phase(&format!("{by}-{attempt}-{number}"), &[by.as_str()], 1);
            new.on_failure = OnFailure::Skip;
            new
        })
        .collect()
}

pub fn review_finished(
    phase: &PhaseId,
    attempt: u32,
    gate: Option<usize>,
    round: u32,
    tree: TreeId,
    verdict: Verdict,
) -> JobEvent {
    let review = Review {
        side: side_run(RunId::for_review(&job(), phase, attempt, gate, round)),
        agent: "claude".into(),
        model: None,
        summary: verdict.word().into(),
        verdict,
        checks_passed: Vec::new(),
        tree,
    };
    JobEvent::ReviewFinished { phase: phase.clone(), attempt, gate, round, review: Box::new(review) }
}

fn side_run(run: RunId) -> SideRun {
    let usage = Usage { cost_usd: 0.1, turns: 1, ..Usage::default() };
    SideRun { run, facts: Some(Box::new(complete())), usage, duration_ms: 5 }
}

pub fn advice_given(phase: &PhaseId, round: u32, action: AdviceAction) -> JobEvent {
    let advice = Advice { side: side_run(RunId::for_advice(&job(), phase, round)), action, reason: "because".into() };
    JobEvent::AdviceGiven { phase: phase.clone(), round, advice: Box::new(advice) }
}

/// Lets a phase add phases of its own.
pub fn generates() -> GeneratePhases {
    GeneratePhases {
        min: 1,
        max: 5,
        template: PhaseType::Development,
        gates: Vec::new(),
        verify: None,
        defaults: Defaults::default(),
    }
}

pub fn answered(phase: &PhaseId, number: u32, choice: &str, text: Option<&str>) -> JobEvent {
    let answer = Answer { choice: Some(choice.into()), text: text.map(str::to_owned), by: "a test".into() };
    JobEvent::QuestionAnswered { phase: phase.clone(), asked: number, answer }
}

pub fn fault() -> Fault {
    Fault { kind: FaultKind::NothingChecked, message: "nothing there".into(), hint: None, said: None }
}

pub fn run_finished(phase: &PhaseId, attempt: u32, facts: RunFacts) -> JobEvent {
    let end = RunEnded {
        facts: Box::new(facts),
        usage: Usage { cost_usd: 0.5, turns: 1, ..Usage::default() },
        session: Some(AgentSessionId::new("agent-session").unwrap()),
        duration_ms: 10,
    };
    JobEvent::RunFinished { phase: phase.clone(), attempt, end }
}

/// The answer of a health check or a rollback.
pub fn step_answered(phase: &PhaseId, stage: Stage, step: DeliveryStep, tree: TreeId, verdict: Verdict) -> JobEvent {
    let (phase, report) = (phase.clone(), GateReport::new("deploy_success", verdict, "seen".into(), tree));
    match stage {
        Stage::RollingBack(_) => JobEvent::RollbackFinished { phase, step, report },
        _ => JobEvent::HealthChecked { phase, step, report },
    }
}

pub fn gate_finished(phase: &PhaseId, attempt: u32, gate: usize, tree: TreeId, verdict: Verdict) -> JobEvent {
    JobEvent::GateFinished {
        phase: phase.clone(),
        attempt,
        gate,
        report: GateReport { duration_ms: 1, ..GateReport::new("syntax_check", verdict, "1 file".into(), tree) },
    }
}
