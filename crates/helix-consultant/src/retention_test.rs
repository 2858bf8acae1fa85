use super::*;

#[test]
fn age_and_number_both_let_go_and_nothing_goes_unasked() {
    let now: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
    let old: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    assert!(!Retention::default().lets_go("chat:a", 1_000, old, now));
    let days = Retention { days: Some(30), count: None };
    assert!(days.lets_go("chat:a", 0, old, now) && !days.lets_go("chat:a", 1_000, now, now));
    let count = Retention { days: None, count: Some(2) };
    assert!(!count.lets_go("chat:a", 1, old, now) && count.lets_go("chat:a", 2, now, now));
    // Whoever wants a temporary chat wants it to go.
    assert!(Retention::default().lets_go("temporary:a", 0, old, now));
    assert!(!Retention::default().lets_go("temporary:a", 1_000, now, now));
    assert!(!count.lets_go("temporary:a", 2, now, now), "only its age counts");
}
