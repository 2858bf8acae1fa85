use super::*;

#[test]
fn draws_are_stable_and_keep_their_share() {
    let holdout = Holdout::new(0.1);
    let drawn: Vec<Exposure> = (0..20_000).map(|n| holdout.draw(&format!("j/p/{n}/run"))).collect();
    let again: Vec<Exposure> = (0..20_000).map(|n| holdout.draw(&format!("j/p/{n}/run"))).collect();
    assert_eq!(drawn, again);
    let held = drawn.iter().filter(|exposure| **exposure == Exposure::HeldBack).count();
    assert!((1_800..2_200).contains(&held), "{held}");
    assert_eq!(Holdout::NONE.draw("x"), Exposure::Shown);
    assert_eq!(Holdout::new(7.0).draw("x"), Exposure::HeldBack);
    assert_eq!(Holdout::new(f64::NAN), Holdout::NONE);
}
