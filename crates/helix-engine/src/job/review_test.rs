use serde_json::json;

use super::*;

#[test]
fn only_a_whole_and_consistent_answer_is_a_verdict() {
    let problem = json!({ "message": "no test", "file": "a.py", "line": 3, "fix": "write one" });
    let answer =
        json!({ "verdict": "approved", "summary": "fine", "checks_passed": ["tests/a.py tests it"], "findings": [] });
    let checks_passed = vec!["tests/a.py tests it".to_owned()];
    assert_eq!(read(&answer).unwrap(), Judged { verdict: Verdict::Pass, summary: "fine".into(), checks_passed });
    let rejected = read(&json!({ "verdict": "rejected", "summary": "no", "findings": [problem] })).unwrap();
    let Judged { verdict: Verdict::Fail { findings }, .. } = rejected else { panic!("{rejected:?}") };
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
