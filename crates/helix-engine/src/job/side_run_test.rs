use helix_core::run::{Ending, RunFacts};
use helix_language::{ErrorView, Language};

use super::*;

#[test]
fn an_answer_of_another_form_is_told_in_english_and_german() {
    let answer = serde_json::json!({ "summary": "fine" });
    let error = serde_json::from_value::<u8>(answer.clone()).unwrap_err();
    let fault = misfit(&answer, &["verdict", "summary"], &error);
    assert_eq!(fault.message, "its answer does not have the form that was asked for: it lacks `verdict`");
    let german = ErrorView::of_fault(&fault).said_in(Language::German).message;
    assert_eq!(german, "die Antwort hat nicht die verlangte Form; es fehlt: `verdict`");
}

#[test]
fn runs_that_are_repeated_are_paid_for_too() {
    let mut before = Consumed::default();
    let costs = [0.25, 0.5].map(|cost_usd| {
        let mut report = RunReport::without_record(RunFacts::without_record(Ending::Unknown, None));
        (report.usage.cost_usd, report.duration_ms) = (cost_usd, 10);
        before.add(&mut report);
        (report.usage.cost_usd, report.duration_ms)
    });
    assert_eq!(costs, [(0.25, 10), (0.75, 20)]);
    assert_eq!(before.left_of(SideBudget::Usd(1.0)).unwrap(), Some(0.25), "each gets what the ones before have left");
    assert!(before.left_of(SideBudget::Usd(0.75)).is_err());
}
