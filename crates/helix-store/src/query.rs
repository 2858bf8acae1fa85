//! Questions to the journal and pages of answers. Must not know how they are looked up.

use helix_core::ids::{JobId, SessionId};
use helix_job::session::SessionView;
use helix_job::{JobStatus, JobView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::StoredEvent;

/// Most events that one read returns.
pub const MAX_EVENTS_PER_READ: usize = 1_000;
/// Most jobs or sessions on a page.
pub const MAX_ROWS_PER_PAGE: usize = 500;

/// Which jobs are wanted; an empty filter wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// With one of these statuses; empty: with any.
    pub statuses: Vec<JobStatus>,
    /// Of this repository (absolute path).
    pub project_path: Option<String>,
    /// Of plans with this name.
    pub name: Option<String>,
}

impl JobFilter {
    /// Jobs for which something may still happen.
    pub fn unfinished() -> Self {
        Self { statuses: vec![JobStatus::Queued, JobStatus::Running, JobStatus::Waiting], ..Self::default() }
    }
}

/// Some events of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    pub events: Vec<StoredEvent>,
    /// Number of the stream's last event at the time of reading; 0 when it is empty.
    pub last: u64,
}

impl EventPage {
    /// Whether there are events after those of this page.
    pub fn has_more(&self) -> bool {
        self.events.last().is_some_and(|event| event.number < self.last)
    }
}

/// Jobs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobView>,
    /// `after` of the next page; absent on the last page, and when all jobs were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<JobId>,
    /// Jobs between these whose records cannot be read; the job itself says why. Absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<JobId>,
}

/// How much there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs by status; a status that no job has is not there.
    pub jobs: Vec<(JobStatus, u64)>,
    pub sessions: u64,
    /// Events that were ever written, over all streams.
    pub events: u64,
}

/// Sessions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionView>,
    /// `after` of the next page; absent on the last page, and when all sessions were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
    /// Sessions between these whose records cannot be read. Absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<SessionId>,
}
