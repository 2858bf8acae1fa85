use super::*;

fn tally(helped: u64, no_effect: u64) -> Tally {
    Tally { helped, no_effect, ..Tally::default() }
}

#[test]
fn what_was_never_tried_is_neither_good_nor_bad_and_little_evidence_does_not_move_it_far() {
    let untried = Effectiveness::from_tally(Tally { unknown: 9, open: 4, ..Tally::default() });
    assert_eq!(untried.rate, 0.5);
    let (once, often) = (Effectiveness::from_tally(tally(1, 0)), Effectiveness::from_tally(tally(90, 10)));
    assert!(once.rate < often.rate && once.low < often.low, "{once:?} {often:?}");
    assert!(often.low > 0.8 && often.high < 0.97, "{often:?}");
}

#[test]
fn a_benefit_is_claimed_only_with_enough_evidence() {
    assert!(Benefit::from_tallies(tally(3, 1), tally(1, 1)).low < 0.0);
    let sure = Benefit::from_tallies(tally(80, 20), tally(20, 30));
    assert!(sure.low > 0.0 && sure.difference > 0.3, "{sure:?}");
    assert!(Benefit::from_tallies(tally(10, 90), tally(40, 10)).high < 0.0);
}
