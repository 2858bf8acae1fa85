//! One failure at one place and time, in the form in which it is remembered.
//!
//! Must not know how it was classified: it is made from the classifier's answer once, here.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnosis::Diagnosis;
use super::work::Work;
use crate::classify::Classified;
use helix_core::ids::{CommitId, PhaseId, RunId};

/// One failure at one place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// Names this occurrence forever: capturing it twice remembers it once. See [`OccurrencePlace::key`].
    pub key: String,
    /// What it is.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// Where it happened.
    #[serde(flatten)]
    pub place: OccurrencePlace,
    /// When.
    pub at: Timestamp,
}

/// Where a failure happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OccurrencePlace {
    /// The project: path of its repository, or another stable name.
    pub project: String,
    /// In the course of which work.
    #[serde(flatten)]
    pub work: Work,
    /// In which try at it, from 1; in a session the turn's number.
    pub attempt: u32,
    /// What saw it; see [`check`].
    pub check: String,
    /// The commit that was examined, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The agent profile that had worked; empty when none had.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The agent's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

helix_core::words! {
    /// What became of one occurrence.
    pub enum OccurrenceState {
        /// Not known yet.
        Open = "open",
        /// What saw it looked again and did not see it any more.
        Gone = "gone",
        /// It was seen again in a later attempt of the same phase, which goes on in its place.
        SeenAgain = "seen_again",
        /// Its phase or job was given up.
        GaveUp = "gave_up",
    }
}

/// Names of what sees failures. The same name in two attempts means: the same thing looked again.
pub mod check {
    /// The agent's run itself.
    pub const RUN: &str = "run";
    /// Making a commit of what the agent left.
    pub const COMMIT: &str = "commit";
    pub const VERIFY: &str = "verify";
    /// Combining phases and bringing the result into the target branch.
    pub const INTEGRATION: &str = "integration";
    /// What a planning phase returned.
    pub const PHASES: &str = "phases";
    /// The rule set over a plan or an ADR.
    pub const DOCUMENT: &str = "document";
    /// Everything that a plan needs to become a job.
    pub const SUBMISSION: &str = "submission";

    /// The gate with this index (from 0) and name in its phase's list.
    pub fn gate(index: usize, name: &str) -> String {
        format!("gate/{index}/{name}")
    }

    /// What this validator found in the Consultant's answer.
    pub fn answer(validator: &str) -> String {
        format!("answer/{validator}")
    }

    /// A message in a session, by the digest of its words.
    pub fn message(digest: &str) -> String {
        format!("message/{digest}")
    }
}

impl OccurrencePlace {
    /// The key of the failure that this check saw in this attempt: the same after a crash, different for all others.
    pub fn key(&self) -> String {
        let phase = self.work.phase().map_or("-", PhaseId::as_str);
        format!("{}/{phase}/{}/{}", self.work.name(), self.attempt, self.check)
    }
}

impl Occurrence {
    /// What is remembered of a classified failure of this tool.
    pub fn new(tool: &str, classified: &Classified, place: OccurrencePlace, at: Timestamp) -> Self {
        Self { key: place.key(), diagnosis: Diagnosis::new(tool, classified), place, at }
    }
}
