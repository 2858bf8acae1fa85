//! A job's stream in the journal and the state that it adds up to.
//!
//! Must not know what is to be done next.

use helix_core::ids::JobId;
use helix_job::{IllegalEvent, JobEvent, JobState, JobView, Recorded};
use helix_store::{Journal, Projection, ReadError, Stream};

use super::{EventLog, StreamState};

/// A job's events and state. Its loop is the only writer.
pub type JobLog = EventLog<JobState>;

impl StreamState for JobState {
    type Id = JobId;
    type Event = JobEvent;
    type Illegal = IllegalEvent;
    const NOUN: &'static str = "job";

    fn stream(id: &JobId) -> Stream {
        Stream::Job(id.clone())
    }

    fn last_event(&self) -> u64 {
        self.active().map_or(0, |active| active.last_event)
    }

    fn apply(self, _id: &JobId, recorded: &Recorded<JobEvent>) -> Result<Self, IllegalEvent> {
        JobState::apply(self, recorded)
    }

    fn projection(&self, id: &JobId) -> Option<Projection> {
        JobView::project(id, self).map(|view| Projection::Job(Box::new(view)))
    }

    async fn reload(_journal: &dyn Journal, _id: &JobId) -> Result<Option<Self>, ReadError> {
        Ok(None)
    }

    fn append_name(&self, events: &[JobEvent]) -> String {
        let names = events.iter().map(|event| {
            let mut name = event.name().to_owned();
            // An event that cannot be written is refused before; here its fields only tell appends apart.
            let fields = serde_json::to_value(event).unwrap_or_default();
            for key in ["phase", "attempt", "gate", "round", "asked"] {
                match &fields[key] {
                    serde_json::Value::String(text) => name.push_str(&format!(" {text}")),
                    serde_json::Value::Number(number) => name.push_str(&format!(" {key} {number}")),
                    _ => {}
                }
            }
            name
        });
        // The observer writes what it has learned so far: which notes come together differs from run to run.
        match events.iter().all(|event| event.name().contains('.')) {
            true => "append of notes on failures".to_owned(),
            false => format!("append of {}", names.collect::<Vec<_>>().join(", ")),
        }
    }
}
