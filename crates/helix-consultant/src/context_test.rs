//! What an agent session is taken to know.

use helix_core::ids::{RunId, SessionId, TurnId};

use super::*;

/// A turn that was told a fact and ended so.
fn turn(end: serde_json::Value) -> TurnView {
    let session = SessionId::new("s").unwrap();
    let id = TurnId::nth(&session, 1);
    let run = RunId::for_turn(&id, 1);
    serde_json::from_value(serde_json::json!({
        "id": id, "session": session, "number": 1, "run": run, "message": "m", "asked": "", "client": {},
        "started_at": "2026-01-01T00:00:00Z", "facts": { "Skills": "d" }, "end": end,
    }))
    .unwrap()
}

fn end(compacted: bool, is_error: bool) -> serde_json::Value {
    let terminal = serde_json::json!({
        "kind": "success", "is_error": is_error, "reason": "completed", "stop_reason": "end_turn", "usage_present": true, "turns": 1,
        "structured_output": false, "answer_empty": false, "denials": 0, "message": "",
    });
    serde_json::json!({
        "facts": {
            "ending": { "how": "exited", "code": 0 }, "stdout": { "read_to_end": true, "lines": 3, "unparsable": 0, "broken_tail": false },
            "started": true, "terminal": terminal, "compacted": compacted,
        },
        "answer": "a", "usage": helix_core::usage::Usage::default(), "runs": 1, "delivery": "delivered",
    })
}

#[test]
fn a_session_knows_what_an_answered_turn_told_unless_a_summary_took_its_place() {
    assert_eq!(told_by(turn(end(false, false))).len(), 1);
    for lost in [end(true, false), end(false, true), serde_json::Value::Null] {
        assert_eq!(told_by(turn(lost.clone())), Told::new(), "{lost}");
    }
}
