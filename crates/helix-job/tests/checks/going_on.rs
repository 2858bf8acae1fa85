//! Jobs that are over and go on: what is kept, what begins anew, what is asked again.
//!
//! Must not carry anything out: that is the play's business.

use helix_core::finding::{Fault, FaultKind};
use helix_core::said::Words;
use helix_job::question::{About, Question};
use helix_job::{AdviceAction, Effect, JobEnd, JobEvent, JobStatus, PhaseState, Reopen, ReopenError};

use super::{Play, escalating};
use crate::world::{World, advice_given, complete, fault, id, lost, phase, run_finished, spec};

#[test]
fn a_failed_job_goes_on_where_it_stopped_with_its_tries_kept() {
    let mut spec = spec(vec![phase("a", &[], 0), phase("b", &["a"], 1), phase("c", &["b"], 0)]);
    spec.plan.phases[1].max_attempts = 1;
    let mut play = Play::new(spec);
    play.work();
    play.work();
    play.fail_gate("b", 1, "wrong");
    assert_eq!(play.state.to_reopen(&Reopen::Unfinished), Err(ReopenError::Running));
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    assert_eq!((reopen.as_slice(), restart.as_slice()), ([id("b")].as_slice(), [].as_slice()));
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert_eq!(play.view().status, JobStatus::Running);
    let [Effect::StartAttempt { phase, attempt: 2, after: Some(_), correction: Some(told), .. }] = &play.effects()[..]
    else {
        panic!("{:?}", play.effects())
    };
    assert_eq!((phase, told.findings[0].message.as_str()), (&id("b"), "wrong"));
    // All but what has passed is done again, and what passed is not.
    play.work();
    play.happy();
    assert_eq!(play.keys(), ["start/c/1"]);
}

#[test]
fn a_result_that_could_not_be_committed_is_committed_first_when_the_job_goes_on() {
    let mut play = Play::new(spec(vec![phase("a", &[], 1)]));
    let resume = |play: &mut Play| {
        play.happy();
        let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
        play.event(JobEvent::JobResumed {
            by: "a test".into(),
            reopen,
            restart,
            budget_usd: None,
            check: Vec::new(),
            accept: None,
            plan: None,
        });
    };
    let full = Fault { kind: FaultKind::Environment, ..fault() };
    let failed = JobEvent::AttemptFaulted { phase: id("a"), attempt: 1, fault: full };
    (0..2).for_each(|_| play.happy());
    play.event(failed.clone());
    assert!(matches!(play.phase("a"), PhaseState::Failed { .. }));
    resume(&mut play);
    assert_eq!(play.keys(), ["commit/a/1"], "the agent has done its work");
    let mut twice = play;
    let mut good = Play { world: World::new(Vec::new()), state: twice.state.clone() };
    good.world.number = twice.world.number;
    while good.state.end().is_none() {
        good.happy();
    }
    assert_eq!(good.state.end(), Some(&JobEnd::Succeeded));
    assert_eq!(good.state.active().unwrap().phases[0].attempts.len(), 1);
    // What cannot be committed the second time either is not waited for again and again.
    twice.event(failed);
    resume(&mut twice);
    assert_eq!(twice.keys(), ["start/a/2"]);
}

#[test]
fn a_phase_that_is_done_again_takes_all_that_build_on_it_along() {
    let mut spec = spec(vec![phase("a", &[], 0), phase("b", &["a"], 0), phase("c", &["b"], 1)]);
    spec.plan.phases[2].max_attempts = 1;
    let mut play = Play::new(spec);
    while play.keys() != ["gate/c/1/0"] {
        play.happy();
    }
    play.fail_gate("c", 1, "wrong");
    play.happy();
    let (reopen, restart) = play.state.to_reopen(&Reopen::Phase(id("a"))).unwrap();
    assert_eq!(restart, [id("a"), id("b"), id("c")]);
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    let [Effect::StartAttempt { phase, attempt: 2, after: None, correction: None, .. }] = &play.effects()[..] else {
        panic!("{:?}", play.effects())
    };
    assert_eq!(phase, &id("a"), "from what it builds on, not from what it left");
    assert_eq!(play.state.to_reopen(&Reopen::Unfinished), Err(ReopenError::Running));
    let unknown = Reopen::Phase(id("x"));
    let mut over = play;
    while over.state.end().is_none() {
        over.happy();
    }
    assert_eq!(over.state.to_reopen(&unknown), Err(ReopenError::Succeeded), "what is integrated stays");
}

#[test]
fn after_a_resume_the_adviser_is_asked_anew_and_what_it_has_cost_stays() {
    let mut play = Play::new(escalating(1));
    let fail = |play: &mut Play, attempt: u32| {
        while !play.keys().iter().any(|key| key.starts_with("gate/")) {
            play.happy();
        }
        play.fail_gate("a", attempt, "wrong");
    };
    let advice = |play: &mut Play, round: u32| play.event(advice_given(&id("a"), round, AdviceAction::GiveUp));
    fail(&mut play, 1);
    assert_eq!(play.keys(), ["advise/a/1"]);
    advice(&mut play, 1);
    play.event(JobEvent::CancelRequested { by: "a test".into() });
    play.happy();
    let spent = play.state.active().unwrap().usage().cost_usd;
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    assert!((play.state.active().unwrap().usage().cost_usd - spent).abs() < 1e-9, "what was spent stays spent");
    fail(&mut play, 2);
    assert_eq!(play.keys(), ["advise/a/2"], "a round of its own: that of the first is over");
    advice(&mut play, 2);
    assert_eq!(play.state.active().unwrap().phases[0].advice.len(), 2);
    assert!(matches!(play.phase("a"), PhaseState::Asking { .. }), "one round since the job was resumed");
}

#[test]
fn an_adviser_without_a_structured_answer_is_not_asked_again() {
    let mut play = Play::new(escalating(3));
    while !play.keys().iter().any(|key| key.starts_with("gate/")) {
        play.happy();
    }
    play.fail_gate("a", 1, "wrong");
    assert_eq!(play.keys(), ["advise/a/1"]);
    // Its form was not what was asked for: the next round may do better.
    let mut structured = advice_given(&id("a"), 1, AdviceAction::Unusable { fault: fault() });
    if let JobEvent::AdviceGiven { advice, .. } = &mut structured {
        let terminal = advice.side.facts.as_mut().and_then(|facts| facts.terminal.as_mut()).unwrap();
        terminal.structured_output = true;
    }
    let mut other = Play { world: World::new(Vec::new()), state: play.state.clone() };
    other.world.number = play.world.number;
    other.event(structured);
    assert_eq!(other.keys(), ["advise/a/2"]);
    play.event(advice_given(&id("a"), 1, AdviceAction::Unusable { fault: fault() }));
    assert!(matches!(play.phase("a"), PhaseState::Asking { .. }), "{:?}", play.keys());
}

#[test]
fn the_time_between_an_end_and_a_resume_is_no_time_of_the_job_and_its_phases() {
    let mut play = Play::new(spec(vec![phase("a", &[], 0)]));
    play.happy();
    play.event(JobEvent::CancelRequested { by: "a test".into() });
    play.event(run_finished(&id("a"), 1, lost()));
    while play.state.end().is_none() {
        play.happy();
    }
    let before = play.view();
    play.world.clock += 9 * 3600;
    let (reopen, restart) = play.state.to_reopen(&Reopen::Unfinished).unwrap();
    play.event(JobEvent::JobResumed {
        by: "a test".into(),
        reopen,
        restart,
        budget_usd: None,
        check: Vec::new(),
        accept: None,
        plan: None,
    });
    play.happy();
    let after = play.view();
    assert!(after.idle_seconds >= 9.0 * 3600.0, "{after:#?}");
    assert!(after.duration_seconds < before.duration_seconds + 600.0, "{after:#?}");
    let later = after.clone().at(after.created_at + jiff::SignedDuration::from_hours(10));
    assert!(later.duration_seconds < 3600.0 + 600.0, "{later:#?}");
    for view in [after, later] {
        assert!(view.phases[0].duration_seconds.unwrap() < view.duration_seconds, "{view:#?}");
    }
}

/// Who is told that nobody has answered, and asks the same again, gets that for an answer; later it is a question again.
#[test]
fn what_nobody_answered_is_not_asked_again_at_once() {
    let mut spec = spec(vec![phase("a", &[], 1)]);
    spec.policy.question_seconds = Some(60);
    let mut play = Play::new(spec);
    play.happy();
    let question = Question {
        number: 1,
        about: About::Agent,
        text: "May it?".into(),
        said: Words::default(),
        options: Vec::new(),
        free_text: true,
        approvers: None,
    };
    let known = |play: &Play| play.state.active().unwrap().progress(&id("a")).unwrap().asked_before(&question);
    assert_eq!(known(&play), None);
    play.event(JobEvent::QuestionAsked { phase: id("a"), question: Box::new(question.clone()) });
    assert_eq!(known(&play), Some(1));
    play.event(run_finished(&id("a"), 1, complete()));
    play.happy();
    play.world.clock += 60;
    assert_eq!(play.keys(), ["expire/a/1"]);
    play.happy();
    let [Effect::StartAttempt { attempt: 2, .. }] = &play.effects()[..] else { panic!("{:?}", play.effects()) };
    play.happy();
    assert_eq!(known(&play), Some(1));
    play.event(run_finished(&id("a"), 2, complete()));
    play.happy();
    play.fail_gate("a", 2, "wrong");
    play.happy();
    assert_eq!(play.keys(), ["run/a/3"]);
    assert_eq!(known(&play), None);
}
