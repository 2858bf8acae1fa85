use super::*;
use helix_core::ids::RunId;
use helix_core::run::{Ending, RunFacts};
use helix_core::usage::Usage;

fn recorded(number: u64, event: SessionEvent) -> Recorded<SessionEvent> {
    Recorded { number, at: Timestamp::UNIX_EPOCH, event }
}

/// Two turns, one after the other; the second one runs.
fn events() -> Vec<Recorded<SessionEvent>> {
    let turn = |number: u32| TurnId::nth(&SessionId::new("s").unwrap(), number);
    let start = |number: u32| {
        serde_json::from_value(serde_json::json!({
            "type": "turn_started", "turn": turn(number), "run": RunId::for_turn(&turn(number), 1), "message": "m",
            "place": match number { 1 => serde_json::json!({ "at": "beginning" }), _ => serde_json::json!({ "at": "after", "turn": turn(number - 1) }) },
            "asked": "", "client": {},
        }))
        .unwrap()
    };
    let end = |number: u32| {
        serde_json::from_value(serde_json::json!({
            "type": "turn_finished", "turn": turn(number), "answer": "a", "usage": Usage::default(),
            "runs": 1, "delivery": "delivered",
            "facts": RunFacts::without_record(Ending::Unknown, None),
        }))
        .unwrap()
    };
    let open = serde_json::json!({ "type": "session_opened", "key": "k", "directory": "/d", "agent": "a" });
    let open = serde_json::from_value(open).unwrap();
    vec![recorded(1, open), recorded(2, start(1)), recorded(3, end(1)), recorded(4, start(2))]
}

#[test]
fn turns_after_each_other_are_a_line() {
    let (view, turns) = SessionView::fold(&SessionId::new("s").unwrap(), &events()).unwrap().unwrap();
    assert_eq!((view.turn_count, view.running().map(|turn| turn.number)), (2, Some(2)));
    assert_eq!(turns[1].parent.as_ref(), Some(&turns[0].id));
    assert_eq!(turns[0].end.as_ref().map(|end| end.runs), Some(1));
}

#[test]
fn a_second_turn_beside_a_running_one_and_a_foreign_end_are_refused() {
    let id = SessionId::new("s").unwrap();
    let mut events = events();
    let again = recorded(5, events[1].event.clone());
    events.push(again);
    assert!(SessionView::fold(&id, &events).is_err());
    events.pop();
    let ended_twice = recorded(5, events[2].event.clone());
    events.push(ended_twice);
    assert!(SessionView::fold(&id, &events).is_err(), "turn 1 is not the running one");
}

/// A view must not grow with the length of the session.
#[test]
fn a_view_holds_no_ended_turn() {
    let id = SessionId::new("s").unwrap();
    let (view, _) = SessionView::fold(&id, &events()[..3]).unwrap().unwrap();
    let text = serde_json::to_string(&view).unwrap();
    assert!(!text.contains("\"answer\""), "{text}");
}
