//! What is recorded in Helix's own words, as readers of another language get it.
//!
//! Must not carry anything out: that is the play's business.

use helix_core::evidence::{GateReport, TestCounts};
use helix_core::finding::{FaultKind, Verdict};
use helix_core::ids::TreeId;
use helix_core::said::Words;
use helix_job::question::{FAIL, SKIP};
use helix_job::{Effect, JobEvent, phrases};
use helix_language::{Language, fault, recorded};

use super::{Play, escalating, unreadable, verified};
use crate::world::{answered, id, job, lost, run_finished, spec};

#[test]
fn a_question_and_what_came_of_it_are_said_in_german() {
    let mut play = Play::new(escalating(0));
    play.work();
    play.fail_gate("a", 1, "src/a.py is empty");
    play.happy();
    let question = play.view().questions[0].clone();
    let asked = phrases::asks(Language::German, &question);
    assert!(asked.starts_with("Phase a (a) kommt nicht weiter nach "), "{asked}");
    for part in [" Versuch", "\n\nGate ", " fand: ein Problem", "\n- src/a.py is empty\n", "\n\nWas soll geschehen?"] {
        assert!(asked.contains(part), "{part:?} in {asked}");
    }
    let option = |key: &str| question.options.iter().find(|one| one.key == key).unwrap();
    assert_eq!(phrases::option(Language::German, option(FAIL)), "Den Job als gescheitert beenden");
    assert_eq!(phrases::asks(Language::English, &question), question.text);
    let mut skipped = Play { world: super::World::new(Vec::new()), state: play.state.clone() };
    skipped.world.number = play.world.number;
    skipped.event(answered(&id("a"), 1, SKIP, None));
    let view = skipped.view();
    let error = view.phases[0].error.as_ref().unwrap();
    assert!(error.message.starts_with("skipped by a test: gate "), "{error:?}");
    let german = error.said_in(Language::German).message;
    assert!(german.starts_with("ausgelassen von a test: Gate "), "{german}");
    let [Effect::Conclude { end }] = &skipped.effects()[..] else { panic!("{:?}", skipped.effects()) };
    skipped.event(JobEvent::JobFinished { end: end.clone() });
    let ended = phrases::outcome(Language::German, &skipped.view());
    let begins = "ist gescheitert: keine Phase hat bestanden: alle wurden ausgelassen";
    let job = job();
    assert_eq!(ended, format!("{begins} (wiederhole eine mit `helix jobs retry {job} --phase PHASE`)"));
}

#[test]
fn causes_of_runs_and_reviews_are_said_in_german_and_recorded_in_english() {
    let mut play = Play::new(spec(vec![verified("a")]));
    play.work();
    play.review("a", 1, 1, unreadable());
    play.review("a", 1, 2, unreadable());
    let error = play.view().phases[0].error.clone().unwrap();
    assert!(error.message.starts_with("the verifier gave no usable answer 2 times"), "{error:?}");
    let german = error.said_in(Language::German);
    assert!(german.message.starts_with("der Prüfer gab 2 Mal keine brauchbare Antwort"), "{german:?}");
    let hint = format!("`helix jobs resume {}` fragt den Prüfer noch einmal; die Arbeit bleibt, wie sie ist", job());
    assert!(german.hint.unwrap().ends_with(&hint));

    let mut play = Play::new(spec(vec![verified("a")]));
    play.work();
    for round in [1, 2] {
        let fault = fault(FaultKind::Unreadable, recorded!("side-lacks", keys = "`verdict`"), Words::default());
        play.review("a", 1, round, Verdict::Inconclusive { fault });
    }
    let error = play.view().phases[0].error.clone().unwrap();
    assert!(error.message.ends_with("the form that was asked for: it lacks `verdict`"), "{error:?}");
    let german = error.said_in(Language::German).message;
    assert!(german.ends_with(", zuletzt: die Antwort hat nicht die verlangte Form: es fehlt `verdict`"), "{german}");

    let mut play = Play::new(spec(vec![super::phase("a", &[], 0)]));
    play.happy();
    play.event(run_finished(&id("a"), 1, lost()));
    play.happy();
    let error = play.view().phases[0].error.clone().unwrap();
    assert_eq!(error.message, "The last run did not complete: its keeper died.");
    assert!(error.said_in(Language::German).message.starts_with("Der letzte Lauf wurde nicht fertig: "), "{error:?}");
}

/// A gate's own words are English; what it counted can be told in any language.
#[test]
fn what_a_gate_counted_is_said_in_german() {
    let tree = TreeId::new("0".repeat(40)).unwrap();
    let mut report = GateReport::new("tests_pass", Verdict::Pass, "3 passed, 0 failed, 1 skipped".into(), tree);
    assert_eq!(phrases::gate_summary(Language::English, &report), report.summary);
    assert_eq!(phrases::gate_summary(Language::German, &report), "");
    report.tests = Some(TestCounts { passed: 3, failed: 0, skipped: 1 });
    assert_eq!(phrases::gate_summary(Language::German, &report), "3 bestanden, 0 gescheitert, 1 ausgelassen");
    report.tests = Some(TestCounts { passed: 3, failed: 2, skipped: 0 });
    assert_eq!(phrases::gate_summary(Language::German, &report), "3 bestanden, 2 gescheitert");
}
