//! One failure at one place and time, in the form in which it is remembered.
//!
//! Must not know how it was classified: it is made from the classifier's answer once, here.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::classify::Classified;
use crate::failure::code::tool_code;
use crate::failure::fingerprint::{Fingerprint, fingerprint, normalise};
use crate::failure::location::Ownership;
use crate::failure::plain::plain_text;
use crate::failure::verdict::{Blame, Category, RetryAdvice};
use crate::ids::{CommitId, JobId, PhaseId, RunId};

/// Characters of a cause's line that are remembered.
const CAUSE_LINE: usize = 1_000;
/// Characters of a summary.
const SUMMARY: usize = 200;

/// One failure at one place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// Names this occurrence for ever: capturing it twice remembers it once. See [`OccurrencePlace::key`].
    pub key: String,
    /// What makes it the same failure as others.
    pub fingerprint: Fingerprint,
    /// The tool that reported it, such as `cargo`; empty when not known.
    pub tool: String,
    /// The tool's own code for it, such as `E0308` or `TS2322`; empty when it names none.
    pub code: String,
    /// The cause's line without what varies from run to run; empty when no line names the cause.
    pub message: String,
    /// File name of the nearest of the project's own places; empty when none is named.
    pub frame: String,
    /// One of the contract's ten.
    pub category: Category,
    /// The finer cause.
    pub cause: String,
    /// When trying again makes sense.
    pub retry: RetryAdvice,
    /// Whose move it is.
    pub blame: Blame,
    /// The line that names the cause as it was written, without control sequences, cut to 1,000 characters.
    pub cause_line: String,
    /// One line for people, at most 200 characters.
    pub summary: String,
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
    /// In which job.
    pub job: JobId,
    /// In which phase; `None` for what belongs to no single phase, such as an integration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// In which try, from 1.
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

/// What became of one occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OccurrenceState {
    /// Not known yet.
    Open,
    /// What saw it looked again and did not see it any more.
    Gone,
    /// It was seen again in a later attempt of the same phase, which goes on in its place.
    SeenAgain,
    /// Its phase or job was given up.
    GaveUp,
}

impl OccurrenceState {
    /// The word of the wire format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Gone => "gone",
            Self::SeenAgain => "seen_again",
            Self::GaveUp => "gave_up",
        }
    }
}

/// Names of what sees failures. The same name in two attempts means: the same thing looked again.
pub mod check {
    /// The agent's run itself.
    pub const RUN: &str = "run";
    /// Making a commit of what the agent left.
    pub const COMMIT: &str = "commit";
    /// The independent verifier.
    pub const VERIFY: &str = "verify";
    /// Combining phases and bringing the result into the target branch.
    pub const INTEGRATION: &str = "integration";

    /// The gate with this index (from 0) and name in its phase's list.
    pub fn gate(index: usize, name: &str) -> String {
        format!("gate/{index}/{name}")
    }
}

impl OccurrencePlace {
    /// The key of the failure that this check saw in this attempt: the same after a crash, different for all others.
    pub fn key(&self) -> String {
        let phase = self.phase.as_ref().map_or("-", PhaseId::as_str);
        format!("{}/{phase}/{}/{}", self.job, self.attempt, self.check)
    }
}

impl Occurrence {
    /// What is remembered of a classified failure of this tool.
    pub fn of(tool: &str, classified: &Classified, place: OccurrencePlace, at: Timestamp) -> Self {
        let line = classified.cause_line.as_ref().map(|line| plain_text(&line.text)).unwrap_or_default();
        let frame = classified.locations.iter().find(|location| location.ownership == Ownership::Project);
        let frame = frame.map(|frame| frame.path.rsplit(['/', '\\']).next().unwrap_or_default()).unwrap_or_default();
        Self {
            key: place.key(),
            fingerprint: fingerprint(tool, classified),
            tool: tool.to_owned(),
            code: tool_code(&line).unwrap_or_default().to_owned(),
            message: normalise(&line),
            frame: frame.to_owned(),
            category: classified.category,
            cause: classified.cause.to_owned(),
            retry: classified.retry,
            blame: classified.blame,
            cause_line: line.trim().chars().take(CAUSE_LINE).collect(),
            summary: summary(&line, classified),
            place,
            at,
        }
    }
}

/// The cause's line on one line, or the cause's name when no line says it.
fn summary(line: &str, classified: &Classified) -> String {
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    if words.is_empty() {
        return classified.cause.replace(['_', '-'], " ");
    }
    words.join(" ").chars().take(SUMMARY).collect()
}
