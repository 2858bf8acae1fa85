//! What is recorded in Helix's own words, as readers of another language get it.
//!
//! Must not carry anything out: that is the play's business.

use helix_core::evidence::{GateReport, TestCounts};
use helix_core::finding::{FaultKind, Verdict};
use helix_core::ids::TreeId;
use helix_core::said::Words;
use helix_job::question::{FAIL, SKIP};
use helix_job::{Effect, JobEvent, phrases};
use helix_language::{Language, fault_with_hint, recorded, summed_up};

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
    assert!(asked.starts_with("Phase a kommt nicht weiter nach "), "{asked}");
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
    assert_eq!(ended, format!("{begins}. Weiter: wiederhole eine mit `helix jobs retry {job} --phase a`"));
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
        let fault =
            fault_with_hint(FaultKind::Unreadable, recorded!("side-lacks", keys = "`verdict`"), Words::default());
        play.review("a", 1, round, Verdict::Inconclusive { fault });
    }
    let error = play.view().phases[0].error.clone().unwrap();
    assert!(error.message.ends_with("the form that was asked for: it lacks `verdict`"), "{error:?}");
    let german = error.said_in(Language::German).message;
    assert!(german.ends_with(", zuletzt: die Antwort hat nicht die verlangte Form; es fehlt: `verdict`"), "{german}");

    let mut play = Play::new(spec(vec![super::phase("a", &[], 0)]));
    play.happy();
    play.event(run_finished(&id("a"), 1, lost()));
    play.happy();
    let error = play.view().phases[0].error.clone().unwrap();
    assert_eq!(error.message, "the last run did not complete: its keeper died");
    assert!(error.said_in(Language::German).message.starts_with("der letzte Lauf wurde nicht fertig: "), "{error:?}");
}

/// Of what a former Helix recorded of a gate in English only, the counts can be told in any language.
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

/// What a gate says of its own accord goes through all that is made of it: the error of its phase, the event, the next prompt.
#[test]
fn what_a_gate_found_is_said_in_german_and_told_to_the_agent_in_english() {
    let mut only = super::phase("a", &[], 1);
    only.max_attempts = 2;
    let mut play = Play::new(spec(vec![only]));
    play.work();
    let message = recorded!("gate-files-missing", path = "page.md");
    let found = helix_language::finding("files.missing", message.clone());
    assert_eq!(found.message, "page.md is not in the result");
    let verdict = Verdict::Fail { findings: vec![found] };
    let report = GateReport::new("files_exist", verdict, String::new(), play.tree("a"));
    let mut report = summed_up(report, recorded!("gate-files-not-there", files = 1_u32));
    report.notes = vec!["a note of before".to_owned()];
    let finished = |attempt, report| JobEvent::GateFinished { phase: id("a"), attempt, gate: 0, report };
    let event = finished(1, report.clone());
    let lines = phrases::event(Language::German, &event, &play.view()).unwrap();
    assert!(format!("{lines:?}").contains("page.md ist nicht im Ergebnis"), "{lines:?}");
    // Wire and back: what a former Helix wrote has no words, and reads as it did.
    let mut wire = serde_json::to_value(&report).unwrap();
    assert_eq!(serde_json::from_value::<GateReport>(wire.clone()).unwrap(), report);
    let keys = ["said", "notes_said"];
    keys.iter().for_each(|key| drop(wire.as_object_mut().unwrap().remove(*key)));
    let former: GateReport = serde_json::from_value(wire).unwrap();
    assert_eq!((former.words(), former.notes().count()), ((&report.summary).into(), 1));
    assert_eq!(phrases::gate_summary(Language::German, &report), "1 Datei fehlt oder ist leer");
    play.event(event);
    let [Effect::StartAttempt { correction: Some(told), .. }] = &play.effects()[..] else { panic!() };
    let told = told.to_markdown();
    assert!(told.contains("page.md is not in the result") && told.contains("How to fix: create it in"), "{told}");
    play.work();
    play.event(finished(2, GateReport { tree: play.tree("a"), ..report }));
    let error = play.view().phases[0].error.clone().unwrap();
    let summary = "gate files_exist found: 1 file is missing or empty: page.md is not in the result";
    assert_eq!(error.message, summary);
    let german = "Gate files_exist fand: 1 Datei fehlt oder ist leer: page.md ist nicht im Ergebnis";
    assert_eq!(error.said_in(Language::German).message, german);
}
