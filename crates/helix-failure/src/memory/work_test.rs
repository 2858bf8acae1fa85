use super::*;

#[test]
fn each_kind_of_work_is_told_by_its_fields() {
    for (json, work) in [
        (r#"{"job":"j1","phase":"a"}"#, Work::Job { job: JobId::new("j1").unwrap(), phase: PhaseId::new("a").ok() }),
        (r#"{"job":"j1"}"#, Work::Job { job: JobId::new("j1").unwrap(), phase: None }),
        (r#"{"session":"s1"}"#, Work::Session { session: SessionId::new("s1").unwrap() }),
        (r#"{"document":"adr/draft.md"}"#, Work::Document { document: "adr/draft.md".into() }),
    ] {
        assert_eq!(serde_json::from_str::<Work>(json).unwrap(), work);
        assert_eq!(serde_json::to_string(&work).unwrap(), json);
    }
    assert!(serde_json::from_str::<Work>("{}").is_err());
}
