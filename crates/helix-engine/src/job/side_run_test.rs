use helix_core::run::{Ending, RunFacts};

use super::*;

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
