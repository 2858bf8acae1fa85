//! Results that are there and did not pass: checked again without an attempt, or accepted by a person, who proves nothing.
//!
//! Must not carry anything out: that is the play's business.

use helix_job::question::{Answer, AnswerMisfit};
use helix_job::{How, Illegal, JobEnd, JobEvent, JobStatus, Person, PhaseState, PhaseStatus, ReopenError};

use super::{Play, escalating};
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
