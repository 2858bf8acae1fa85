//! What is executed and how it ended: the words that dialects and the supervisor share.
//!
//! Must not know any dialect, and nothing of how a process is started, followed or stopped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause, WallsHeld};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use crate::walls::Walls;

/// What to execute, free of dialect. Nothing is inherited: the agent gets exactly this environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// The program. A bare name is looked up in the invocation's own `PATH`, never in Helix's; a relative path with a
    /// slash is resolved against [`Self::cwd`].
    pub program: PathBuf,
    /// Arguments, without the program's own name.
    pub args: Vec<String>,
    /// The whole environment. Helix adds `HELIX_RUN_ID`, `HELIX_RUN_DIR` (how stray processes are found again) and nothing else. Of
    /// a recorded invocation only the names are kept: values may be secrets and are gone once the agent has them.
    #[serde(rename = "environment_names", serialize_with = "names", skip_deserializing)]
    pub env: Vec<(String, String)>,
    /// Working directory; must exist.
    pub cwd: PathBuf,
    /// What the agent reads from stdin. Kept in a file of its own beside the record of the request.
    #[serde(skip)]
    pub stdin: Vec<u8>,
}

fn names<S: Serializer>(env: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(env.iter().map(|(name, _)| name))
}

/// Says to what runs for a run which one that is.
pub(crate) const RUN_ID_VARIABLE: &str = "HELIX_RUN_ID";

/// Marks every process of a run, however far it has moved from its parent, with the run's directory: a run in another state
/// directory, such as a copy of this one, may have the same id.
pub const RUN_DIR_VARIABLE: &str = "HELIX_RUN_DIR";

/// Name of the variable that marks what a run's process has started as a run of its own: it ends with the outer one.
pub const WITHIN_RUN_VARIABLE: &str = "HELIX_WITHIN_RUN";

/// Most that is kept of what a run prints, in bytes, of stdout and of stderr: a run that prints more is stopped.
pub const MAX_OUTPUT: u64 = 256 << 20;

/// A run to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Names the run and its directory. The same id always means the same run.
    pub run: RunId,
    #[serde(flatten)]
    pub invocation: Invocation,
    /// Longest time the agent may take, counted from its start by the keeper; `None` for no limit.
    pub deadline: Option<Duration>,
    /// How long each step of a stop waits.
    #[serde(default)]
    pub grace: Grace,
    /// What is kept of it.
    #[serde(default)]
    pub kind: RunKind,
    /// Whatever the caller needs to make sense of the run after a restart, such as the dialect's name.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What its processes may reach; `None` where no sandbox is asked for. The supervisor adds what every run needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Walls>,
}

/// What is kept of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RunKind {
    /// It does something: that it was started, and how it ended, survives a power cut. Stderr goes into a file of its own.
    #[default]
    Work,
    /// It looks at something, and may do so again after a power cut. Stderr goes between the lines of stdout.
    Check,
}

/// How long a run may take to obey before the next, harsher step of a stop: SIGINT, SIGTERM, SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// Time between SIGINT and SIGTERM.
    pub interrupt: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub terminate: Duration,
}

impl Grace {
    /// The same time for both steps.
    pub fn each(step: Duration) -> Self {
        Self { interrupt: step, terminate: step }
    }
}

impl Default for Grace {
    /// Five seconds for each step.
    fn default() -> Self {
        Self::each(Duration::from_secs(5))
    }
}

/// How a run ended, as the keeper (or, if that is gone, the supervisor) recorded it. Final: every reader sees the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How the agent's process ended.
    pub ending: Ending,
    /// Why Helix ended it, if Helix did.
    pub stopped: Option<StopCause>,
    /// The last 2 KiB of stderr; bytes that are not UTF-8 are replaced.
    pub stderr_tail: String,
    /// When the agent's process was created (or should have been).
    pub started_at: Timestamp,
    /// When the agent and all that it left behind were gone.
    pub ended_at: Timestamp,
    /// Largest resident set of the agent or any of its descendants that was reaped, in KiB; 0 if nobody could measure.
    pub peak_rss_kib: u64,
    /// Size of the record of stdout when nobody could write to it any more.
    pub stdout_bytes: u64,
    /// How many processes the agent left behind and the keeper (or supervisor) killed.
    pub leftovers_killed: u32,
    /// What held its processes back; `None` where no sandbox was asked for, or nobody recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsHeld>,
}

/// How reading a run's stdout ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Whether the run is over **and** every byte of its record was read.
    pub read_to_end: bool,
    /// Whole lines (those that ended with a newline) that were read.
    pub lines: u64,
    /// Bytes read, newlines and the tail included.
    pub bytes: u64,
    /// Lines, the tail included, that were too long: their first 32 MiB were delivered, and the rest was dropped.
    #[serde(default)]
    pub cut: u64,
    /// Bytes after the last newline; not delivered as a line. Empty when the stream ends with a newline.
    pub tail: Vec<u8>,
}
