use serde_json::json;

use super::frame::tests::{phase, shown};
use super::*;

fn key(shown: &mut Shown, code: KeyCode) -> Action {
    pressed(shown, KeyEvent::new(code, KeyModifiers::NONE), 24)
}

fn id(text: &str) -> PhaseId {
    text.parse().unwrap()
}

#[test]
fn keys_are_about_the_phase_that_matters_most_until_another_is_selected() {
    let mut shown = shown(vec![
        phase("a", "passed", json!({})),
        phase("b", "running", json!({})),
        phase("c", "pending", json!({})),
    ]);
    assert_eq!(key(&mut shown, KeyCode::Char('l')), Action::Log(id("b")));
    assert_eq!(key(&mut shown, KeyCode::Up), Action::Nothing);
    assert_eq!(shown.selected, Some(id("b")), "the first key shows where one is");
    key(&mut shown, KeyCode::Up);
    assert_eq!(key(&mut shown, KeyCode::Char('d')), Action::Diff(id("a")));
    key(&mut shown, KeyCode::Up);
    assert_eq!(key(&mut shown, KeyCode::Char('g')), Action::Output(id("a")));
    (0..5).for_each(|_| drop(key(&mut shown, KeyCode::Down)));
    assert_eq!(shown.selected, Some(id("c")));
    key(&mut shown, KeyCode::Esc);
    assert_eq!(shown.selected, None);
}

#[test]
fn a_job_is_cancelled_only_by_a_second_key_and_left_only_where_it_goes_on() {
    let mut shown = shown(vec![phase("a", "running", json!({}))]);
    assert_eq!(key(&mut shown, KeyCode::Char('q')), Action::Leave);
    assert_eq!(key(&mut shown, KeyCode::Char('c')), Action::Nothing);
    assert_eq!(key(&mut shown, KeyCode::Char('x')), Action::Nothing, "any other key: stay");
    assert!(matches!(shown.over, Over::Nothing));
    key(&mut shown, KeyCode::Char('c'));
    assert_eq!(key(&mut shown, KeyCode::Char('c')), Action::Cancel);
    shown.goes_on = false;
    assert_eq!(key(&mut shown, KeyCode::Char('q')), Action::Nothing);
    assert_eq!(key(&mut shown, KeyCode::Char('d')), Action::Nothing);
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(pressed(&mut shown, ctrl_c, 24), Action::Interrupt);
}

#[test]
fn a_second_interrupt_cancels_and_asks_no_more() {
    let shown = shown(vec![phase("a", "running", json!({}))]);
    let drawn_at = Timestamp::now();
    let mut screen = Screen { held: None, shown, stale: false, drawn_at, reading: None, asked: None };
    assert!(screen.ask_to_leave() && !screen.ask_to_leave());
    assert!(matches!(screen.shown.over, Over::Nothing));
}
