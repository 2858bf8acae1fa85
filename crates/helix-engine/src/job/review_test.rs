use serde_json::json;

use super::*;

#[test]
fn only_a_whole_and_consistent_answer_is_a_verdict() {
    let problem = json!({ "message": "no test", "file": "a.py", "line": 3, "fix": "write one" });
    let approved = read(&json!({ "verdict": "approved", "summary": "fine", "findings": [] })).unwrap();
    assert_eq!(approved, (Verdict::Pass, "fine".to_owned()));
    let rejected = read(&json!({ "verdict": "rejected", "summary": "no", "findings": [problem] })).unwrap();
    let (Verdict::Fail { findings }, _) = rejected else { panic!("{rejected:?}") };
    assert_eq!(findings[0].place.as_ref().map(ToString::to_string), Some("a.py:3".into()));
    for unusable in [
        json!({ "verdict": "approved", "summary": "fine", "findings": [problem] }),
        json!({ "verdict": "rejected", "summary": "no", "findings": [] }),
        json!({ "verdict": "Approved", "summary": "fine", "findings": [] }),
        json!({ "verdict": "approved", "findings": [] }),
        json!({ "verdict": "rejected", "summary": "no", "findings": [{ "message": "no test" }] }),
        json!({ "verdict": "approved", "summary": "fine", "findings": [], "confidence": 1 }),
        json!("approved"),
        json!(null),
    ] {
        let answer = read(&unusable);
        assert!(answer.is_err(), "{unusable}: {answer:?}");
    }
}
