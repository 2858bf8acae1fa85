//! The rules of reviews, questions, escalation, added phases, conflicts, budgets and going on, one by one.

mod approvals;
mod deliveries;
mod going_on;
mod languages;
mod let_in;
mod overruled;
mod reviews;

use crate::world::{
    World, added, advice_given, answered, at, complete, declared, fault, finding, gate_finished, generates, id, job,
    phase, review_finished, run_finished, spec,
};
use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::ids::{PhaseId, TreeId};
use helix_core::run::AgentErrorKind;
use helix_core::said::Words;
use helix_job::question::{About, Answer, FAIL, Question, QuestionKind, QuestionStatus, RETRY, SKIP};
use helix_job::{
    AdviceAction, AskPerson, Effect, Illegal, JobEnd, JobEvent, JobSpec, JobState, JobStatus, JobView, PhaseState,
    PhaseStatus, Role, SideBudget, decide,
};
use helix_plan::{Approval, GateSpec, OnFailure, Seconds, TestsGate, Verify};

struct Play {
    world: World,
    state: JobState,
}

impl Play {
    fn new(spec: JobSpec) -> Self {
        let state = JobState::fold(&[World::submitted(spec)]).unwrap();
        Self { world: World::new(Vec::new()), state }
    }

    fn effects(&self) -> Vec<Effect> {
        decide(&self.state, at(self.world.clock)).effects
    }

    fn keys(&self) -> Vec<String> {
        self.effects().iter().map(Effect::key).collect()
    }

    fn event(&mut self, event: JobEvent) {
        self.try_event(event).unwrap();
    }

    fn try_event(&mut self, event: JobEvent) -> Result<(), Illegal> {
        let recorded = self.world.record(event);
        match self.state.clone().apply(&recorded) {
            Ok(state) => self.state = state,
            Err(illegal) => {
                self.world.number -= 1;
                return Err(illegal.why);
            }
        }
        Ok(())
    }

    fn tree(&self, phase: &str) -> TreeId {
        let progress = self.state.active().unwrap().progress(&id(phase)).unwrap();
        progress.last_attempt().unwrap().result.as_ref().unwrap().tree.clone()
    }

    /// Carries out the first effect the happy way.
    fn happy(&mut self) {
        self.happy_with(|_| true);
    }

    /// Carries out the first effect of those whose keys are wanted the happy way.
    fn happy_with(&mut self, wanted: impl Fn(&str) -> bool) {
        let effect = self.effects().into_iter().find(|effect| wanted(&effect.key())).unwrap();
        let state = self.state.clone();
        let tree = |phase: &PhaseId| {
            let last = state.active().unwrap().progress(phase).unwrap().last_attempt().unwrap();
            last.result.as_ref().unwrap().tree.clone()
        };
        let event = self.world.carry_out(&effect, tree).unwrap();
        self.event(event);
    }

    /// A try up to its commit.
    fn work(&mut self) {
        (0..3).for_each(|_| self.happy());
    }

    fn fail_gate(&mut self, phase: &str, attempt: u32, what: &str) {
        let event =
            gate_finished(&id(phase), attempt, 0, self.tree(phase), Verdict::Fail { findings: vec![finding(what)] });
        self.event(event);
    }

    fn review(&mut self, phase: &str, attempt: u32, round: u32, verdict: Verdict) {
        let event = review_finished(&id(phase), attempt, None, round, self.tree(phase), verdict);
        self.event(event);
    }

    fn view(&self) -> JobView {
        JobView::project(&job(), &self.state).unwrap()
    }

    fn phase(&self, phase: &str) -> PhaseState {
        self.state.active().unwrap().progress(&id(phase)).unwrap().state.clone()
    }
}

fn verified(name: &str) -> helix_plan::Phase {
    let mut phase = phase(name, &[], 0);
    phase.verify = Some(Verify { model: None, timeout: Seconds(120) });
    phase
}

fn unreadable() -> Verdict {
    Verdict::Inconclusive { fault: Fault { kind: FaultKind::Unreadable, ..fault() } }
}

#[test]
fn a_phase_passes_only_after_its_verifier() {
    let mut play = Play::new(spec(vec![verified("a")]));
    play.work();
    assert_eq!(play.keys(), ["review/a/1/verify/1"], "[30] no result counts before the verifier has seen it");
    play.review("a", 1, 1, Verdict::Fail { findings: vec![finding("the report is empty")] });
    let [Effect::StartAttempt { correction: Some(told), resume: Some(_), .. }] = &play.effects()[..] else { panic!() };
    assert_eq!(told.findings[0].message, "the report is empty");
    let at = told.at.expect("a correction says when it was found");
    assert!(told.to_markdown().contains(&format!("Found at {at:.0}.")), "{}", told.to_markdown());
    play.work();
    play.review("a", 2, 1, Verdict::Pass);
    assert_eq!(play.keys(), ["integrate/0000000000000000000000000000000000000002"]);
    assert_eq!(play.view().phases[0].verdict.as_deref(), Some("pass: pass"));
}

#[test]
fn a_verdict_about_another_tree_is_refused() {
    let mut play = Play::new(spec(vec![verified("a")]));
    play.work();
    let other = review_finished(&id("a"), 1, None, 1, crate::world::tree(99), Verdict::Pass);
    assert_eq!(play.try_event(other), Err(Illegal::WrongTree { phase: id("a"), tree: crate::world::tree(99) }));
}

#[test]
fn approval_before_keeps_the_phase_from_starting_and_a_no_fails_it() {
    let mut one = phase("a", &[], 0);
    one.approval = Some(Approval::Before);
    let mut play = Play::new(spec(vec![one]));
    assert_eq!(play.keys(), ["ask/a/1"]);
    play.happy();
    assert!(play.effects().is_empty(), "the job waits without a process");
    let view = play.view();
    assert_eq!((view.status, view.phases[0].status), (JobStatus::Waiting, PhaseStatus::Waiting));
    assert_eq!(view.questions[0].kind, QuestionKind::Approval);
    let wrong = play.try_event(answered(&id("a"), 1, "maybe", None)).unwrap_err();
    assert!(
        matches!(&wrong, Illegal::Answer { number: 1, source, .. } if source.to_string().contains("approve, reject")),
        "{wrong}"
    );
    let mut yes = Play { world: World::new(Vec::new()), state: play.state.clone() };
    yes.world.number = play.world.number;
    yes.event(answered(&id("a"), 1, "approve", None));
    assert_eq!(yes.keys(), ["start/a/1"]);
    play.event(answered(&id("a"), 1, "reject", Some("not this year")));
    let [Effect::Conclude { end: JobEnd::Failed { reason, .. } }] = &play.effects()[..] else { panic!() };
    assert!(reason.contains("not this year"), "{reason}");
    assert!(play.try_event(answered(&id("a"), 1, "approve", None)).is_err(), "an answer is final");
}

#[test]
fn a_rejected_result_goes_back_to_the_agent_with_the_persons_words() {
    let mut one = phase("a", &[], 0);
    one.approval = Some(Approval::After);
    let mut play = Play::new(spec(vec![one]));
    play.work();
    play.happy();
    play.event(answered(&id("a"), 1, "reject", Some("the heading is wrong")));
    let [Effect::StartAttempt { correction: Some(told), .. }] = &play.effects()[..] else { panic!() };
    assert_eq!(told.findings[0].message, "the heading is wrong");
    play.work();
    play.happy();
    play.event(answered(&id("a"), 2, "approve", None));
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn a_manual_gate_is_answered_by_a_person_and_reported_like_any_gate() {
    let mut one = phase("a", &[], 0);
    one.gates = vec![GateSpec::Manual { question: Some("Is the cable plugged in?".into()) }];
    let mut play = Play::new(spec(vec![one]));
    play.work();
    play.happy();
    assert!(play.view().questions[0].text.contains("Is the cable plugged in?"));
    play.event(answered(&id("a"), 1, "approve", None));
    let gates = &play.view().phases[0].gates;
    assert!(gates[0].verdict.passed() && gates[0].gate == "manual" && gates[0].summary.contains("a test"), "{gates:?}");
}

#[test]
fn a_question_that_nobody_answers_runs_out() {
    let mut one = phase("a", &[], 0);
    one.approval = Some(Approval::Before);
    let mut spec = spec(vec![one]);
    spec.policy.question_seconds = Some(60);
    let mut play = Play::new(spec);
    play.happy();
    let wake = decide(&play.state, at(play.world.clock)).wake_at.unwrap();
    assert_eq!(wake, at(play.world.clock + 60));
    let early = JobEvent::QuestionExpired { phase: id("a"), asked: 1 };
    assert!(play.try_event(early).is_err(), "not before its time");
    play.world.clock += 60;
    assert_eq!(play.keys(), ["expire/a/1"]);
    play.happy();
    assert!(matches!(play.phase("a"), PhaseState::Failed { .. }), "silence is no approval");
    assert!(matches!(play.view().questions[0].status, QuestionStatus::Expired { .. }));
}

#[test]
fn what_an_agent_asks_waits_for_a_person_and_the_session_goes_on_with_the_answer() {
    let mut play = Play::new(spec(vec![phase("a", &[], 1)]));
    play.happy();
    let question = Question {
        number: 1,
        about: About::Agent,
        text: "Which port?".into(),
        said: Words::default(),
        options: Vec::new(),
        free_text: true,
        approvers: None,
    };
    play.event(JobEvent::QuestionAsked { phase: id("a"), question: Box::new(question) });
    assert_eq!(play.keys(), ["run/a/1"], "the agent ends its turn by itself");
    play.event(run_finished(&id("a"), 1, complete()));
    play.happy();
    assert_eq!(play.view().status, JobStatus::Waiting);
    assert!(play.effects().is_empty(), "what it left before the answer is no result: no gate runs");
    let answer = Answer { choice: None, text: Some("8080".into()), by: "anna".into() };
    play.event(JobEvent::QuestionAnswered { phase: id("a"), asked: 1, answer });
    let [Effect::StartAttempt { attempt: 2, resume: Some(_), correction: Some(told), .. }] = &play.effects()[..] else {
        panic!("{:?}", play.effects())
    };
    assert!(told.to_markdown().contains("8080") && told.to_markdown().contains("Which port?"));
}

fn escalating(rounds: u32) -> JobSpec {
    let mut one = phase("a", &[], 1);
    one.on_failure = OnFailure::Escalate;
    one.max_attempts = 1;
    let mut spec = spec(vec![one]);
    spec.policy.escalation.advice_rounds = rounds;
    spec.roles.adviser = Some(Role { agent: "claude".into(), model: None });
    spec
}

#[test]
fn escalation_asks_the_adviser_first_and_a_person_last() {
    let mut play = Play::new(escalating(2));
    play.work();
    play.fail_gate("a", 1, "wrong");
    assert_eq!(play.keys(), ["advise/a/1"]);
    play.event(advice_given(&id("a"), 1, AdviceAction::Retry { hint: "read the README".into() }));
    let [Effect::StartAttempt { attempt: 2, resume: None, correction: Some(told), .. }] = &play.effects()[..] else {
        panic!()
    };
    assert!(told.summary.contains("read the README") && told.findings[0].message == "wrong", "[26] {told:?}");
    play.work();
    play.fail_gate("a", 2, "wrong again");
    assert_eq!(play.keys(), ["advise/a/2"]);
    play.event(advice_given(&id("a"), 2, AdviceAction::OtherModel { model: "opus".into(), hint: "think".into() }));
    assert_eq!(play.state.active().unwrap().progress(&id("a")).unwrap().model.as_deref(), Some("opus"));
    play.work();
    play.fail_gate("a", 3, "still wrong");
    assert_eq!(play.keys(), ["ask/a/1"], "no third round");
    play.happy();
    let question = play.view().questions[0].clone();
    assert_eq!(question.kind, QuestionKind::Escalation);
    assert!(question.text.contains("still wrong"), "{}", question.text);
    // What is not over cannot be resumed; once it is, it is said.
    let error = play.view().phases[0].error.clone().unwrap();
    assert!(!question.text.contains("jobs resume") && error.hint.is_none(), "{error:?}: {}", question.text);
    assert!(question.text.contains("Adviser, 2 times: "), "once is enough: {}", question.text);
    let mut again = Play { world: World::new(Vec::new()), state: play.state.clone() };
    again.world.number = play.world.number;
    again.event(answered(&id("a"), 1, RETRY, Some("the file is called b.py")));
    let [Effect::StartAttempt { attempt: 4, correction: Some(told), .. }] = &again.effects()[..] else { panic!() };
    assert!(told.summary.contains("the file is called b.py"));
    let mut skip = Play { world: World::new(Vec::new()), state: play.state.clone() };
    skip.world.number = play.world.number;
    skip.event(answered(&id("a"), 1, SKIP, None));
    assert_eq!(skip.view().phases[0].status, PhaseStatus::Skipped);
    let [Effect::Conclude { end: JobEnd::Failed { reason, .. } }] = &skip.effects()[..] else { panic!() };
    assert!(reason.contains("no phase has passed"), "what was left out proves nothing: {reason}");
    play.event(answered(&id("a"), 1, FAIL, None));
    assert!(matches!(&play.effects()[..], [Effect::Conclude { end: JobEnd::Failed { .. } }]));
}

#[test]
fn only_optional_phases_are_skipped_by_an_adviser() {
    let mut play = Play::new(escalating(1));
    play.work();
    play.fail_gate("a", 1, "wrong");
    play.event(advice_given(&id("a"), 1, AdviceAction::Skip));
    assert_eq!(play.keys(), ["ask/a/1"], "a person decides about what the plan needs");
    let mut spec = escalating(1);
    spec.plan.phases[0].optional = true;
    let mut play = Play::new(spec);
    play.work();
    play.fail_gate("a", 1, "wrong");
    play.event(advice_given(&id("a"), 1, AdviceAction::Skip));
    assert_eq!(play.view().phases[0].status, PhaseStatus::Skipped);
}

#[test]
fn an_adviser_whose_provider_refuses_for_good_is_asked_once() {
    for (error, next) in [(AgentErrorKind::Billing, "ask/a/1"), (AgentErrorKind::Server, "advise/a/2")] {
        let mut play = Play::new(escalating(3));
        play.work();
        play.fail_gate("a", 1, "wrong");
        let mut advice = advice_given(&id("a"), 1, AdviceAction::Unusable { fault: fault() });
        if let JobEvent::AdviceGiven { advice, .. } = &mut advice {
            advice.side.facts = Some(Box::new(declared(error)));
        }
        play.event(advice);
        assert_eq!(play.keys(), [next], "{error:?}");
    }
}

#[test]
fn a_split_puts_phases_in_the_place_of_one_and_dependents_build_on_them() {
    let mut spec = escalating(1);
    spec.plan.phases.push(phase("b", &["a"], 0));
    let mut play = Play::new(spec);
    play.work();
    play.fail_gate("a", 1, "too much");
    play.event(advice_given(&id("a"), 1, AdviceAction::Split { phases: added(&id("a"), 1, 2) }));
    assert_eq!(play.keys(), ["start/a-1-0/1", "start/a-1-1/1"]);
    let active = play.state.active().unwrap();
    let b = active.spec.plan.phase(&id("b")).unwrap();
    assert_eq!(b.depends_on, [id("a"), id("a-1-0"), id("a-1-1")]);
    let order: Vec<String> = play.view().phases.iter().map(|phase| phase.id.to_string()).collect();
    assert_eq!(order, ["a", "a-1-0", "a-1-1", "b"]);
}

#[test]
fn without_persons_an_escalation_ends_as_failed() {
    let mut spec = escalating(0);
    spec.policy.escalation.person = AskPerson::Never;
    let mut play = Play::new(spec);
    play.work();
    play.fail_gate("a", 1, "wrong");
    assert!(matches!(&play.effects()[..], [Effect::Conclude { end: JobEnd::Failed { .. } }]));
}

fn planning() -> JobSpec {
    let mut plan = phase("plan", &[], 1);
    plan.generates_phases = Some(generates());
    spec(vec![plan, phase("end", &["plan"], 0)])
}

#[test]
fn phases_that_a_planning_phase_returns_join_the_plan_when_it_passes() {
    let mut play = Play::new(planning());
    play.work();
    assert_eq!(play.keys(), ["read/plan/1"]);
    let phases = added(&id("plan"), 1, 2);
    play.event(JobEvent::PhasesProposed { phase: id("plan"), attempt: 1, phases });
    assert_eq!(play.view().phases.len(), 2, "not before it has passed");
    play.happy();
    assert_eq!(play.keys(), ["start/plan-1-0/1", "start/plan-1-1/1"], "what depends on it waits for them");
    let order: Vec<String> = play.view().phases.iter().map(|phase| phase.id.to_string()).collect();
    assert_eq!(order, ["plan", "plan-1-0", "plan-1-1", "end"], "they stand after the phase that they come from");
}

#[test]
fn of_two_planning_phases_that_add_the_same_phase_the_slower_one_is_corrected() {
    let mut spec = planning();
    let mut other = spec.plan.phases[0].clone();
    other.id = id("other");
    spec.plan.phases.push(other);
    let mut play = Play::new(spec);
    (0..6).for_each(|_| play.happy_with(|key| !key.starts_with("read/")));
    assert_eq!(play.keys(), ["read/plan/1", "read/other/1"]);
    let same = |by: &str| vec![phase("same", &[by], 0)];
    // Both fit the plan as it is; it grows when the first of them passes.
    for by in ["plan", "other"] {
        play.event(JobEvent::PhasesProposed { phase: id(by), attempt: 1, phases: same(by) });
    }
    while !matches!(play.phase("other"), PhaseState::Between(_)) {
        assert_ne!(play.keys(), Vec::<String>::new(), "{:?}", play.phase("other"));
        play.happy();
    }
    assert!(matches!(play.phase("plan"), PhaseState::Passed { .. }));
    let order: Vec<String> = play.view().phases.iter().map(|phase| phase.id.to_string()).collect();
    assert_eq!(order, ["plan", "same", "end", "other"]);
}

#[test]
fn an_invalid_proposal_goes_back_as_a_correction_and_never_runs_half() {
    let mut play = Play::new(planning());
    play.work();
    let findings = vec![finding("`/phases/0/id`: it is taken")];
    play.event(JobEvent::PhasesRejected { phase: id("plan"), attempt: 1, findings });
    let [Effect::StartAttempt { correction: Some(told), .. }] = &play.effects()[..] else { panic!() };
    assert!(told.findings[0].message.contains("/phases/0/id"));
    assert_eq!(play.view().phases.len(), 2);
    let taken = JobEvent::PhasesProposed { phase: id("plan"), attempt: 1, phases: vec![phase("end", &[], 0)] };
    assert!(play.try_event(taken).is_err());
}

#[test]
fn added_phases_stand_after_what_they_stand_on_and_nobody_else_moves() {
    let plan = spec(vec![phase("a", &[], 0), phase("by", &[], 0), phase("b", &["by"], 0), phase("c", &[], 0)]).plan;
    let added = [phase("one", &["by"], 0), phase("two", &["by", "c"], 0), phase("three", &["by"], 0)];
    let order = |plan: &helix_plan::Plan| plan.phases.iter().map(|one| one.id.to_string()).collect::<Vec<_>>();
    let grown = plan.grown(&id("by"), &added).unwrap();
    assert_eq!(order(&grown), ["a", "by", "one", "b", "c", "two", "three"]);
    let again = grown.grown(&id("one"), &[phase("four", &["one"], 0)]).unwrap();
    assert_eq!(order(&again), ["a", "by", "one", "four", "b", "c", "two", "three"]);
}

#[test]
fn two_phases_that_meet_one_conflict_wait_for_one_resolution() {
    let both = ["a", "b"];
    let mut play =
        Play::new(spec(vec![phase("a", &[], 0), phase("b", &[], 0), phase("c", &both, 0), phase("d", &both, 0)]));
    play.work();
    play.work();
    assert_eq!(play.keys(), ["start/c/1", "start/d/1"]);
    let found = |by: &str| {
        let between = vec![id("a"), id("b")];
        JobEvent::ConflictFound { phase: Some(id(by)), between, paths: vec!["x.py".into()] }
    };
    // Both were started before either knew: the second answer is no less true than the first.
    play.event(found("c"));
    play.event(found("d"));
    assert_eq!(play.keys(), ["start/integrate-1/1"]);
    assert!(play.try_event(found("d")).is_err(), "it waits already");
    let order: Vec<String> = play.view().phases.iter().map(|phase| phase.id.to_string()).collect();
    assert_eq!(order, ["a", "b", "integrate-1", "c", "d"], "before those that wait for it");
    play.work();
    play.happy();
    assert_eq!(play.keys(), ["start/c/1", "start/d/1"]);
}

#[test]
fn contradicting_results_get_a_phase_that_brings_them_together() {
    let mut spec = spec(vec![phase("a", &[], 0), phase("b", &[], 0), phase("c", &["a", "b"], 0)]);
    spec.plan.phases[1].gates =
        vec![GateSpec::TestsPass(TestsGate::of_command("pytest", Seconds(60))), GateSpec::Manual { question: None }];
    let mut play = Play::new(spec);
    play.work();
    play.work();
    play.happy();
    play.happy();
    play.event(answered(&id("b"), 1, "approve", None));
    assert_eq!(play.keys(), ["start/c/1"]);
    let between = vec![id("a"), id("b")];
    let found = JobEvent::ConflictFound { phase: Some(id("c")), between, paths: vec!["x.py".into()] };
    play.event(found.clone());
    assert_eq!(play.keys(), ["start/integrate-1/1"]);
    let active = play.state.active().unwrap();
    let added = active.spec.plan.phase(&id("integrate-1")).unwrap();
    let gates: Vec<&str> = added.gates.iter().map(GateSpec::name).collect();
    assert_eq!(gates, ["conflicts_resolved", "tests_pass"], "the union, but for what a person has approved");
    assert!(play.try_event(found).is_err(), "a conflict is resolved once");
    play.work();
    play.happy();
    play.happy();
    let [Effect::StartAttempt { phase, parents, .. }] = &play.effects()[..] else { panic!("{:?}", play.effects()) };
    assert_eq!(phase, &id("c"));
    assert!(parents.iter().any(|tip| tip.phase == id("integrate-1")));
}

#[test]
fn a_reservation_keeps_parallel_phases_from_promising_the_same_money() {
    let mut spec = spec(vec![phase("a", &[], 0), phase("b", &[], 0), phase("c", &[], 0)]);
    spec.policy.budget_usd = Some(1.0);
    let mut play = Play::new(spec);
    let mut granted = Vec::new();
    for effect in play.effects() {
        let Effect::StartAttempt { grant, .. } = effect else { panic!() };
        granted.push(grant.usd.unwrap());
    }
    assert_eq!(granted, [0.5, 0.5]);
    play.happy();
    let [_, Effect::StartAttempt { grant, .. }] = &play.effects()[..] else { panic!("{:?}", play.effects()) };
    assert_eq!(grant.usd, Some(0.5));
    // The first run costs 0.5, what the second may still have stays reserved for it.
    play.event(run_finished(&id("a"), 1, complete()));
    play.happy();
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn reviewers_of_what_is_under_way_have_a_share_that_no_phase_that_starts_can_take() {
    let mut spec = spec(vec![verified("a"), verified("b"), phase("c", &[], 0)]);
    spec.policy.budget_usd = Some(5.0);
    spec.policy.max_parallel = 2;
    let mut play = Play::new(spec);
    let usd = |play: &Play| match play.state.active().unwrap().side_budget() {
        SideBudget::Usd(usd) => usd,
        other => panic!("{other:?}"),
    };
    play.happy_with(|key| key == "start/a/1");
    play.happy_with(|key| key == "start/b/1");
    for phase in ["b", "a"] {
        play.happy_with(|key| key == format!("run/{phase}/1"));
        play.happy_with(|key| key == format!("commit/{phase}/1"));
    }
    play.happy_with(|key| key.starts_with("review/b/"));
    // The last place goes to a phase that gets all that is left, but for the reviewer of the other one.
    play.happy_with(|key| key == "start/c/1");
    assert!(play.keys().contains(&"review/a/1/verify/1".to_owned()), "{:?}", play.keys());
    assert!(usd(&play) > 1.0, "{}", usd(&play));
}

#[test]
fn a_reviewer_waits_while_everything_is_reserved_and_starts_when_something_comes_back() {
    let mut spec = spec(vec![verified("a"), phase("b", &[], 0)]);
    spec.policy.budget_usd = Some(1.0);
    spec.policy.max_parallel = 2;
    let mut play = Play::new(spec);
    play.happy_with(|key| key == "start/a/1");
    play.happy_with(|key| key == "start/b/1");
    // It spends more than it was granted: what others were promised is all that is left.
    let mut finished = run_finished(&id("a"), 1, complete());
    if let JobEvent::RunFinished { end, .. } = &mut finished {
        end.usage.cost_usd = 0.8;
    }
    play.event(finished);
    play.happy_with(|key| key == "commit/a/1");
    assert_eq!(play.state.active().unwrap().side_budget(), SideBudget::Reserved);
    assert_eq!(play.keys(), ["run/b/1"]);
    let mut finished = run_finished(&id("b"), 1, complete());
    if let JobEvent::RunFinished { end, .. } = &mut finished {
        end.usage.cost_usd = 0.1;
    }
    play.event(finished);
    assert_eq!(play.keys(), ["review/a/1/verify/1", "commit/b/1"]);
    assert!(matches!(play.state.active().unwrap().side_budget(), SideBudget::Usd(usd) if usd > 0.0));
}

#[test]
fn the_phases_own_budget_ends_its_tries() {
    let mut one = phase("a", &[], 1);
    one.budget_usd = Some(0.5);
    let mut play = Play::new(spec(vec![one]));
    play.work();
    play.fail_gate("a", 1, "wrong");
    let [Effect::Conclude { end: JobEnd::Failed { reason, .. } }] = &play.effects()[..] else { panic!() };
    assert!(reason.contains("budget is used up"), "{reason}");
}

#[test]
fn turns_tokens_and_time_of_the_whole_job_stop_the_next_run() {
    for (limit, word) in [(0, "1 turn "), (1, "tokens"), (2, "agents' time")] {
        let mut spec = spec(vec![phase("a", &[], 0), phase("b", &["a"], 0)]);
        match limit {
            0 => spec.policy.max_turns = Some(1),
            1 => spec.policy.max_tokens = Some(10),
            _ => spec.policy.max_run_seconds = Some(1),
        }
        let mut play = Play::new(spec);
        play.happy();
        let mut finished = run_finished(&id("a"), 1, complete());
        if let JobEvent::RunFinished { end, .. } = &mut finished {
            end.usage.output_tokens = 10;
            end.duration_ms = 1_000;
        }
        play.event(finished);
        play.happy();
        let [Effect::Conclude { end: JobEnd::Failed { reason, .. } }] = &play.effects()[..] else {
            panic!("{:?}", play.effects())
        };
        assert!(reason.contains(word), "{reason}");
    }
}
