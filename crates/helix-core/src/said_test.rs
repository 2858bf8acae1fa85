use super::{Words, of_job};
use crate::ids::JobId;

#[test]
fn only_commands_about_a_job_get_its_id() {
    let job = JobId::new("j1").unwrap();
    let text =
        "THE JOB: `helix jobs resume JOB`, `helix jobs diff JOB --phase a`, `helix jobs list`, helix jobs show X JOB";
    let said =
        "THE JOB: `helix jobs resume j1`, `helix jobs diff j1 --phase a`, `helix jobs list`, helix jobs show X JOB";
    assert_eq!(of_job(text, &job), said);
}

#[test]
fn words_are_looked_at_by_their_message_and_not_by_their_text() {
    let inner = Words::message("lost", [("file", "a.py".into())]);
    let outer = Words::message("found", [("why", Words::from("first: ").and(inner.clone()))]);
    assert!(outer.includes(&inner) && outer.includes(&outer) && !inner.includes(&outer));
    let other = Words::message("lost", [("file", "b.py".into())]);
    assert!(!outer.includes(&other), "another value says something else");
    assert!(inner.says("lost") && outer.says("lost") && outer.says("found") && !inner.says("found"));
    assert_eq!((inner.value("file"), inner.value("why")), (Some(&Words::from("a.py")), None));
    assert_eq!(inner.hint(), Words::message("lost.hint", [("file", "a.py".into())]));
    assert_eq!(Words::from("text").hint(), Words::default(), "others' texts have no hint of ours");
    assert_eq!((inner.or("text"), Words::default().or("text")), (inner, "text".into()));
}
