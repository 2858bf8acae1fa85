use helix_core::ids::{JobId, SessionId};
use helix_job::session::SessionEvent;

use super::*;

#[test]
fn an_event_comes_back_as_it_was_with_its_time_to_the_nanosecond() {
    let at: Timestamp = "2026-11-21T23:39:00.123456789Z".parse().unwrap();
    let event = SessionEvent::JobStarted { job: JobId::new("j1").unwrap() };
    let new = NewEvent::of(at, &event).unwrap();
    assert_eq!(new.kind, "job_started");
    let stored = StoredEvent {
        stream: SessionId::new("s1").unwrap().into(),
        number: 7,
        position: 70,
        at: new.at,
        kind: new.kind,
        body: new.body,
    };
    assert_eq!(stored.decode::<SessionEvent>().unwrap(), Recorded { number: 7, at, event });
}

#[test]
fn an_event_without_a_type_is_refused_when_it_is_written_and_not_when_it_is_read() {
    let error = NewEvent::of(Timestamp::UNIX_EPOCH, &serde_json::json!({"job": "j1"})).unwrap_err();
    assert!(error.to_string().contains("`type`"), "{error:?}");
}
