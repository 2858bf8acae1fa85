//! Small jobs, sessions and events to write.

use helix_core::ids::{JobId, SessionId};
use helix_core::usage::Usage;
use helix_job::session::{SessionEvent, SessionView};
use helix_job::{JobStatus, JobView};
use helix_store::{NewEvent, NewJob, NewSession};
use jiff::Timestamp;

/// The `second`th second after a fixed time.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_300_000 + second).unwrap()
}

pub(crate) fn job_id(text: &str) -> JobId {
    JobId::new(text).unwrap()
}

pub(crate) fn session_id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

/// An event whose body says `text`.
pub(crate) fn event(text: &str) -> NewEvent {
    NewEvent::of(at(0), &serde_json::json!({"type": "noted", "text": text})).unwrap()
}

/// What [`event`] was told to say.
pub(crate) fn text(body: &str) -> String {
    serde_json::from_str::<serde_json::Value>(body).unwrap()["text"].as_str().unwrap().to_owned()
}

/// A job as it stands at an event.
pub(crate) fn job_view(id: &JobId, last_event: u64) -> Box<JobView> {
    Box::new(JobView {
        deliveries: Vec::new(),
        reverted: None,
        questions: Vec::new(),
        id: id.clone(),
        name: "csv-export".into(),
        status: JobStatus::Running,
        project_path: "/home/user/project".into(),
        plan_path: "plans/csv-export.yaml".into(),
        adr: None,
        adr_proposed: false,
        venv: None,
        issue: None,
        created_at: at(0),
        started_at: None,
        completed_at: None,
        duration_seconds: 0.0,
        idle_seconds: 0.0,
        phases: Vec::new(),
        usage: Usage::default(),
        cost: 0.0,
        commit: None,
        files_changed: None,
        integration: None,
        error: None,
        by: None,
        attempted: Vec::new(),
        last_event,
    })
}

pub(crate) fn new_job(id: &str, idempotency_key: Option<&str>) -> NewJob {
    NewJob {
        idempotency_key: idempotency_key.map(Into::into),
        events: vec![event("submitted")],
        view: job_view(&job_id(id), 1),
    }
}

/// A session as it stands after its opening.
pub(crate) fn new_session(id: &str, key: &str) -> NewSession {
    let (id, opened) = (
        session_id(id),
        SessionEvent::SessionOpened {
            key: key.into(),
            owner: None,
            copied_from: None,
            directory: "/home/user/work".into(),
            agent: "claude".into(),
        },
    );
    let event = NewEvent::of(at(0), &opened).unwrap();
    let recorded = helix_job::Recorded { number: 1, at: at(0), event: opened };
    let view = SessionView::apply(None, &id, &recorded).unwrap().view;
    NewSession { events: vec![event], view: Box::new(view) }
}
