//! Results that are there and did not pass: checked again without an attempt, or accepted by a person, who proves nothing.
//!
//! Must not carry anything out: that is the play's business.

use helix_job::question::{Answer, AnswerMisfit};
use helix_job::{
    ChangedPlan, Committed, How, Illegal, JobEnd, JobEvent, JobSpec, JobStatus, Person, PhaseState, PhaseStatus,
    PlannedBy, ReopenError,
};
use helix_language::Language;
use helix_plan::{GateSpec, OnFailure, Seconds, TestsGate, Verify};

use super::{Play, escalating, planning};
use crate::world::{answered, id, phase, spec};

/// A job whose first phase of two was stopped by its second gate.
fn stopped() -> Play {
    let mut spec = spec(vec![phase("a", &[], 2), phase("b", &["a"], 0)]);
    spec.plan.phases[0].max_attempts = 1;
    // Only different gates are different checks of the sum.
    spec.plan.phases[0].gates[1] = helix_plan::GateSpec::SyntaxCheck { files: vec!["*.py".into()] };
    let mut play = Play::new(spec);
    play.work();
    play.happy();
    let tree = play.tree("a");
    let verdict = helix_core::finding::Verdict::Fail { findings: vec![crate::world::finding("wrong")] };
    play.event(crate::world::gate_finished(&id("a"), 1, 1, tree, verdict));
    play.happy();
    assert!(matches!(play.state.end(), Some(JobEnd::Failed { .. })));
    play
}

fn resumed(check: &str, reopen: Vec<helix_core::ids::PhaseId>, accept: Option<&str>) -> JobEvent {
    JobEvent::JobResumed {
        by: Person::new("Dana", How::Terminal),
        reopen,
        restart: Vec::new(),
        budget_usd: None,
        check: vec![id(check)],
        accept: accept.map(str::to_owned),
        plan: None,
    }
}

#[test]
fn the_gates_judge_the_last_result_again_and_no_agent_works() {
    let mut play = stopped();
    assert_eq!(play.state.to_check(Some(&id("b"))), Err(ReopenError::NothingToCheck), "it has not begun");
    assert!(matches!(play.state.to_check(Some(&id("x"))), Err(ReopenError::UnknownPhase { .. })));
    let (reopen, check) = play.state.to_check(None).unwrap();
    assert_eq!((reopen.as_slice(), check), ([].as_slice(), vec![id("a")]));
    play.event(resumed("a", reopen, None));
    assert_eq!(play.keys(), ["gate/a/1/0"], "from the first gate");
    assert_eq!(play.view().phases[0].gates, [], "what was judged before counts no more");
    play.happy();
    play.happy();
    assert_eq!((play.view().phases[0].status, play.view().phases[0].attempt), (PhaseStatus::Passed, 1));
    assert_eq!(play.keys(), ["start/b/1"]);
}

#[test]
fn a_person_accepts_a_result_with_a_reason_and_the_gate_that_said_no_is_no_gate_of_the_sum() {
    let mut play = stopped();
    let gates = |play: &Play| play.state.active().unwrap().gates_of_sum().len();
    let reopen = play.state.to_accept(&id("a")).unwrap();
    play.event(resumed("a", reopen, Some("the test server is down")));
    let view = play.view();
    assert_eq!((view.status, view.phases[0].status), (JobStatus::Running, PhaseStatus::Passed));
    let accepted = &view.phases[0].accepted[0];
    assert_eq!(
        (accepted.gate, accepted.reason.as_str(), accepted.by.name.as_str()),
        (1, "the test server is down", "Dana")
    );
    assert!(!view.phases[0].gates[1].verdict.passed(), "its answer stays what it was");
    assert_eq!(gates(&play), 1, "the other gate still has to pass");
    play.work();
    assert!(matches!(play.phase("b"), PhaseState::Passed { .. }));
    assert_eq!(play.state.to_accept(&id("a")), Err(ReopenError::Running));
}

#[test]
fn what_comes_after_the_accepted_gate_is_still_checked() {
    let mut spec = spec(vec![phase("a", &[], 2)]);
    spec.plan.phases[0].max_attempts = 1;
    let mut play = Play::new(spec);
    play.work();
    play.fail_gate("a", 1, "wrong");
    play.happy();
    play.event(resumed("a", Vec::new(), Some("known")));
    assert_eq!(play.keys(), ["gate/a/1/1"]);
}

#[test]
fn whoever_is_asked_can_have_it_checked_again_or_accept_it_with_a_reason() {
    let asked = || {
        let mut play = Play::new(escalating(0));
        play.work();
        play.fail_gate("a", 1, "wrong");
        play.happy();
        play
    };
    let mut play = asked();
    let keys: Vec<String> = play.view().questions[0].options.iter().map(|option| option.key.clone()).collect();
    assert_eq!(keys, ["retry", "check", "accept", "skip", "fail"]);
    play.event(answered(&id("a"), 1, "check", None));
    assert_eq!(play.keys(), ["gate/a/1/0"]);
    play.fail_gate("a", 1, "still wrong");
    assert_eq!(play.keys(), ["ask/a/2"], "no attempt was granted: it is asked again");
    let mut play = asked();
    let accept = |play: &mut Play, how: How, text: Option<&str>| {
        let answer =
            Answer { choice: Some("accept".into()), text: text.map(str::to_owned), by: Person::new("Dana", how) };
        match play.try_event(JobEvent::QuestionAnswered { phase: id("a"), asked: 1, answer }) {
            Err(Illegal::Answer { source, .. }) => Err(source),
            Err(other) => panic!("{other:?}"),
            Ok(()) => Ok(()),
        }
    };
    assert!(matches!(accept(&mut play, How::Terminal, Some("  ")), Err(AnswerMisfit::NoReason)));
    let unproven = play.try_event(answered(&id("a"), 1, "accept", Some("why not")));
    assert!(matches!(unproven, Err(Illegal::Answer { source: AnswerMisfit::Unproven { .. }, .. })), "{unproven:?}");
    accept(&mut play, How::Terminal, Some("known flaw")).unwrap();
    assert_eq!(play.view().phases[0].accepted[0].reason, "known flaw");
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn steps_by_hand_and_decisions_are_asked_with_what_is_to_be_done() {
    use helix_plan::{GateSpec, PhaseType};
    for (kind, begins) in [(PhaseType::Manual, "Manual step a:"), (PhaseType::Decision, "Decision a:")] {
        let mut one = phase("a", &[], 0);
        (one.kind, one.description) = (kind, "Press the button.\n".into());
        one.gates = vec![GateSpec::Manual { question: Some("Is it pressed?".into()) }];
        let mut play = Play::new(spec(vec![one]));
        play.work();
        play.happy();
        let text = play.view().questions[0].text.clone();
        assert_eq!(text, format!("{begins}\n\nPress the button.\n\nIs it pressed?"));
    }
}

#[test]
fn an_overruled_gate_is_none_of_the_sum_whichever_phase_has_the_same_one_until_a_later_phase_passes_it() {
    let sum = |play: &Play| play.state.active().unwrap().gates_of_sum().len();
    let accepted = |play: &mut Play| {
        play.fail_gate("a", 1, "wrong");
        while play.state.end().is_none() {
            play.happy();
        }
        let reopen = play.state.to_accept(&id("a")).unwrap();
        play.event(resumed("a", reopen, Some("known")));
    };
    let mut beside = spec(vec![phase("b", &[], 1), phase("a", &[], 1)]);
    beside.plan.phases[1].max_attempts = 1;
    let mut play = Play::new(beside);
    (0..4).for_each(|_| play.happy_with(|key| key.contains("/b/1")));
    (0..3).for_each(|_| play.happy_with(|key| key.contains("/a/1")));
    accepted(&mut play);
    assert!(matches!(play.phase("b"), PhaseState::Passed { .. }));
    assert_eq!(sum(&play), 0, "what is put together holds what was accepted, too");

    let mut after = spec(vec![phase("a", &[], 1), phase("b", &["a"], 1)]);
    after.plan.phases[0].max_attempts = 1;
    let mut play = Play::new(after);
    play.work();
    accepted(&mut play);
    assert_eq!(sum(&play), 0);
    play.work();
    play.happy();
    assert_eq!(sum(&play), 1, "what a later phase has put right must hold");
}

#[test]
fn what_stopped_an_attempt_is_no_gate_that_was_overruled() {
    let mut spec = escalating(0);
    spec.plan.phases[0].verify = Some(Verify { model: None, timeout: Seconds(60) });
    let mut play = Play::new(spec);
    play.work();
    play.fail_gate("a", 1, "wrong");
    play.happy();
    let by = Person::new("Dana", How::Terminal);
    let answer = Answer { choice: Some("accept".into()), text: Some("known".into()), by };
    play.event(JobEvent::QuestionAnswered { phase: id("a"), asked: 1, answer });
    let rejected = helix_core::finding::Verdict::Fail { findings: vec![crate::world::finding("missing")] };
    play.review("a", 1, 1, rejected);
    let attempt = play.state.active().unwrap().phases[0].attempts[0].clone();
    let summary = Language::English.words(&attempt.summary());
    assert!(summary.contains("verifier") && !summary.contains("syntax_check"), "{summary}");
    play.happy();
    let asked = &play.view().questions[1].text;
    assert!(asked.contains("missing") && !asked.contains("wrong"), "{asked}");
}

#[test]
fn a_planning_phase_whose_phases_fit_no_more_does_not_pass_without_any() {
    let mut spec = planning();
    let mut other = spec.plan.phases[0].clone();
    (other.id, other.max_attempts, other.on_failure) = (id("other"), 1, OnFailure::Escalate);
    spec.plan.phases.push(other);
    let mut play = Play::new(spec);
    (0..6).for_each(|_| play.happy_with(|key| !key.starts_with("read/")));
    for by in ["plan", "other"] {
        let phases = vec![phase("same", &[by], 0)];
        play.event(JobEvent::PhasesProposed { phase: id(by), attempt: 1, phases });
    }
    (0..2).for_each(|_| play.happy_with(|key| key.starts_with("gate/")));
    play.happy_with(|key| key == "ask/other/1");
    play.event(answered(&id("other"), 1, "check", None));
    assert!(play.keys().contains(&"read/other/1".to_owned()), "{:?}", play.keys());
}

#[test]
fn a_plan_that_nobody_known_for_certain_changed_lets_in_no_file_that_it_names() {
    for (how, planned_by) in [(How::Terminal, PlannedBy::Person), (How::Open, PlannedBy::Somebody)] {
        let by = Some(Person::new("Ana", How::Terminal));
        let mut play = Play::new(JobSpec { by, ..spec(vec![phase("a", &[], 0)]) });
        play.event(JobEvent::CancelRequested { by: "a test".into() });
        play.happy();
        let mut changed = phase("a", &[], 0);
        changed.outputs = vec![".envrc".into()];
        play.event(JobEvent::JobResumed {
            by: Person::new("Dana", how),
            reopen: vec![id("a")],
            restart: Vec::new(),
            budget_usd: None,
            check: Vec::new(),
            accept: None,
            plan: Some(Box::new(ChangedPlan { phases: vec![changed], gate_files: Default::default() })),
        });
        assert_eq!(play.state.active().unwrap().phases[0].planned_by, planned_by, "{how:?}");
    }
}

/// Whether a phase has changed something is said of its whole result, not of the attempt that happened to be its last.
#[test]
fn a_phase_without_the_tests_that_changed_something_in_its_first_attempt_alone_is_compared() {
    let tests = || vec![GateSpec::TestsPass(TestsGate::of_command("pytest", Seconds(60)))];
    let mut spec = spec(vec![phase("a", &[], 0), phase("b", &["a"], 1), phase("c", &["b"], 0)]);
    (spec.plan.phases[0].gates, spec.plan.phases[2].gates) = (tests(), tests());
    let mut play = Play::new(spec);
    play.work();
    play.happy();
    play.work();
    play.fail_gate("b", 1, "wrong");
    (0..2).for_each(|_| play.happy());
    let unmoved = Committed { moved: false, ..play.world.committed(true) };
    play.event(JobEvent::ResultCommitted {
        phase: id("b"),
        attempt: 2,
        result: unmoved,
        repairs: Vec::new(),
        repairs_said: Vec::new(),
        findings: Vec::new(),
        runs_by_itself: Vec::new(),
    });
    play.happy();
    play.work();
    play.happy();
    let active = play.state.active().unwrap();
    let confirmed = active.gates_to_confirm(&play.tree("c"));
    assert!(confirmed.iter().any(|(phase, _)| phase.id == id("a")), "{confirmed:?}");
    let compared = active.compared_by(&tests()[0]);
    assert_eq!(compared.iter().map(|(phase, ..)| phase.id.as_str()).collect::<Vec<_>>(), ["a"]);
}
