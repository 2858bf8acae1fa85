use super::*;

#[test]
fn statuses_are_words_with_commas() {
    let query = JobQuery { status: Some("running, failed,".into()), ..JobQuery::default() };
    assert_eq!(query.filter().unwrap().statuses, [JobStatus::Running, JobStatus::Failed]);
    assert!(JobQuery::default().filter().unwrap().statuses.is_empty());
    let wrong = JobQuery { status: Some("runing".into()), ..JobQuery::default() };
    assert_eq!(wrong.filter().unwrap_err().hint.as_deref(), Some("did you mean `running`?"));
}
