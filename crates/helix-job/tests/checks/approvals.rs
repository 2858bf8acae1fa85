//! Who approves, and how many: nobody alone where two have to, and never who submitted the job where somebody else has to.

use helix_job::question::{Answer, AnswerMisfit};
use helix_job::{How, Person};
use helix_plan::ApprovedBy;

use super::*;

/// A job of one phase whose result these have to approve, submitted by Ana.
fn play(by: Option<ApprovedBy>, count: u32) -> Play {
    let mut one = phase("a", &[], 0);
    one.gates = vec![GateSpec::Approval { question: None, by, count }];
    let mut spec = spec(vec![one]);
    spec.by = Some(Person::new("Ana", How::Terminal));
    let mut play = Play::new(spec);
    play.work();
    play.happy();
    play
}

fn answer(play: &mut Play, by: Person, choice: &str) -> Result<(), AnswerMisfit> {
    let answer = Answer { choice: Some(choice.into()), text: None, by };
    match play.try_event(JobEvent::QuestionAnswered { phase: id("a"), asked: 1, answer }) {
        Ok(()) => Ok(()),
        Err(Illegal::Answer { source, .. }) => Err(source),
        Err(other) => panic!("{other:?}"),
    }
}

fn key(name: &str) -> Person {
    Person::new(name, How::Key)
}

#[test]
fn two_different_people_approve_and_the_question_says_how_far_it_is() {
    let mut play = play(None, 2);
    answer(&mut play, key("Ana"), "approve").unwrap();
    let question = play.view().questions[0].clone();
    assert_eq!((&question.status, question.approved_by.len()), (&QuestionStatus::Open, 1), "{question:?}");
    let said = helix_job::phrases::approvals(helix_language::Language::English, &question).unwrap();
    assert!(said.contains("2 different people") && said.contains("1 of 2 approved, by Ana (key)"), "{said}");
    assert_eq!(play.view().status, JobStatus::Waiting);
    // The same one again, by another way in.
    let again = answer(&mut play, Person::new("ana", How::Terminal), "approve").unwrap_err();
    assert!(matches!(again, AnswerMisfit::Again { .. }), "{again}");
    answer(&mut play, key("Ben"), "approve").unwrap();
    let gates = &play.view().phases[0].gates;
    assert_eq!(gates[0].summary, "approved by Ana (key) and Ben (key)");
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn who_submitted_the_job_does_not_approve_it_where_somebody_else_has_to() {
    let mut play = play(Some(ApprovedBy::Other), 1);
    let own = answer(&mut play, key("ana"), "approve").unwrap_err();
    assert!(matches!(own, AnswerMisfit::Submitter { .. }), "{own}");
    answer(&mut play, key("Ben"), "approve").unwrap();
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn nobody_approves_who_cannot_be_told_apart_from_an_agent_and_one_rejection_is_enough() {
    for how in [How::Chat, How::Open, How::Told] {
        let mut play = play(None, 2);
        for choice in ["approve", "reject"] {
            let error = answer(&mut play, Person::new("Ben", how), choice).unwrap_err();
            assert!(matches!(error, AnswerMisfit::Unproven { .. }), "{how:?}: {error}");
        }
    }
    let mut play = play(Some(ApprovedBy::Other), 2);
    answer(&mut play, key("Ben"), "approve").unwrap();
    answer(&mut play, key("Ana"), "reject").unwrap();
    assert!(!matches!(play.view().questions[0].status, QuestionStatus::Open));
    assert!(!matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn what_an_agent_asked_for_as_a_person_stands_with_the_question_and_moves_nothing() {
    let mut play = play(None, 1);
    let (before, run) = (play.keys(), helix_core::ids::RunId::for_attempt(&job(), &id("a"), 1));
    play.event(JobEvent::AgentRefused { run: run.clone(), asked: "answer".into() });
    assert_eq!(play.keys(), before);
    let view = play.view();
    assert_eq!((view.attempted.len(), &view.attempted[0].run), (1, &run));
    assert_eq!(view.questions[0].attempted, view.attempted);
}
