//! The directory of one run: which files there are, who writes each, and in what state they say the run is.
//!
//! Must not know how processes are spawned or waited for; a table of what a crash at each point means is in
//! `docs/runs.md`.

mod durable;
mod request;
mod seal;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause, WallsHeld};
use jiff::Timestamp;
use rustix::process::{Flock, FlockType, fcntl_getlk};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use durable::PRIVATE;
pub(crate) use durable::{publish_once, sync_directory, write_once};
pub use durable::{replace_file, replace_private};
pub(crate) use request::{is_staging_name, publish, set_aside, staging_owner};
pub use seal::RunSeal;

use crate::invocation::{MAX_OUTPUT, RunEnd, RunRequest};
use crate::proc::ProcessIdentity;
use crate::remove_tree::remove_tree;

/// Names of the files of a run.
pub(crate) mod name {
    /// What to run, without the values of the environment.
    pub(crate) const REQUEST: &str = "request.json";
    /// The environment's values; removed as soon as the agent has them, since some are secrets.
    pub(crate) const ENVIRONMENT: &str = "environment.json";
    /// Those of them that nobody may read, until what the run printed is masked.
    pub(crate) const SECRETS: &str = "secrets.json";
    /// Exists once what the run printed is being masked where it lies.
    pub(crate) const MASKING: &str = "masking";
    pub(crate) const STDIN: &str = "stdin";
    pub(crate) const STDERR: &str = "stderr.txt";
    /// What the keeper itself has to complain of.
    pub(crate) const KEEPER_LOG: &str = "keeper.log";
    /// Held by the living keeper (a record lock, which the kernel drops when the keeper dies).
    pub(crate) const LOCK: &str = "lock";
    /// Exists once a keeper has taken the run; never removed.
    pub(crate) const CLAIM: &str = "claim";
    /// Who keeps the run.
    pub(crate) const RECORD: &str = "run.json";
    pub(crate) const STOP: &str = "stop.json";
    /// Space for [`EXIT`], renamed to it.
    pub(crate) const EXIT_RESERVE: &str = "exit.reserve";
    pub(crate) const EXIT: &str = "exit.json";
}

/// Space set aside for `exit.json` before the agent starts, so that a full disk cannot swallow the end of a run. The
/// longest record: 2 KiB of stderr and 2048 characters of reason, each escaped as six bytes, and 1 KiB for the rest.
pub(crate) const EXIT_RESERVE: usize = 32 * 1024;

/// How much of stderr is kept in the record of the end.
pub(crate) const STDERR_TAIL: u64 = 2 * 1024;

/// Says which file of a run directory could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// The operating system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// The file is not what Helix writes there.
    #[error("{} is damaged", path.display())]
    Damaged {
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The work was dropped because Helix is shutting down.
    #[error("the work on the run directory was not done")]
    Interrupted { source: crate::EndedEarly },
}

impl RunDirError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// What `run.json` says: who keeps the run. For people and for a sweep after the keeper's death; liveness is decided
/// by the lock alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    pub(crate) run: RunId,
    /// Where this was written: in a copy of it nothing else is true.
    pub(crate) directory: PathBuf,
    pub(crate) keeper: Option<ProcessIdentity>,
    /// `None` until the agent's process exists.
    pub(crate) agent: Option<ProcessIdentity>,
    pub(crate) boot_id: String,
    /// The control group that holds the agent's processes, if one could be made.
    pub(crate) cgroup: Option<PathBuf>,
    pub(crate) claimed_at: Timestamp,
    /// What holds the agent's processes back, once they exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) walls: Option<WallsHeld>,
}

/// What `stop.json` says. The first one to be written is final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopRecord {
    pub(crate) cause: StopCause,
    pub(crate) requested_at: Timestamp,
}

/// What the files say of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunState {
    /// Published, and no keeper has claimed it.
    Unclaimed,
    /// A keeper holds it.
    Kept,
    Ended(Box<RunEnd>),
    /// It was claimed, nobody holds it, and nobody recorded an end.
    Abandoned,
}

/// Paths of one run's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    pub(crate) fn for_run(runs: &Path, run: &RunId) -> Self {
        Self { path: runs.join(run.as_str()) }
    }

    /// The directory of a run at this path.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a host has made it for this run. What somebody else has put there is no run.
    pub(crate) fn is_of(&self, run: &RunId, seal: &RunSeal) -> Result<bool, RunDirError> {
        self.exists(&self.file(&seal.file_name(run)))
    }

    /// The path of one of its files.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// What the run's processes have for themselves: `/tmp` and the like. Removed when the run ends.
    pub(crate) fn private(&self) -> PathBuf {
        self.file("private")
    }

    /// What the agent writes to its stderr, where that is not stdout's record.
    pub(crate) fn stderr(&self) -> PathBuf {
        self.file(name::STDERR)
    }

    /// Removes what the run's processes had for themselves.
    pub(crate) fn remove_private(&self) -> Result<(), RunDirError> {
        let path = self.private();
        remove_tree(&path).map_err(RunDirError::io("remove", &path))
    }

    /// The record of stdout.
    pub fn stdout(&self) -> PathBuf {
        self.file("stdout.jsonl")
    }

    /// Reads the state. The order of the looks matters: a keeper writes `exit.json` before it lets go of the lock, so
    /// that "free lock, then no record" is the proof that nobody will ever write one.
    pub(crate) fn state(&self) -> Result<RunState, RunDirError> {
        if let Some(end) = self.read_exit()? {
            return Ok(RunState::Ended(Box::new(end)));
        }
        if self.lock_holder()?.is_some() {
            return Ok(RunState::Kept);
        }
        if let Some(end) = self.read_exit()? {
            return Ok(RunState::Ended(Box::new(end)));
        }
        Ok(if self.exists(&self.file(name::CLAIM))? { RunState::Abandoned } else { RunState::Unclaimed })
    }

    /// Asks the kernel who holds the lock, without taking it: taking it, however briefly, could turn a keeper away.
    pub(crate) fn lock_holder(&self) -> Result<Option<i32>, RunDirError> {
        let path = self.file(name::LOCK);
        let file = File::open(&path).map_err(RunDirError::io("open", &path))?;
        let holder = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock))
            .map_err(|errno| RunDirError::io("query the lock", &path)(errno.into()))?;
        // A holder in another pid namespace has no number here; -1 keeps it distinct from "nobody".
        Ok(holder.map(|lock| lock.pid.map_or(-1, |pid| pid.as_raw_pid())))
    }

    pub(crate) fn read_exit(&self) -> Result<Option<RunEnd>, RunDirError> {
        read_json(&self.file(name::EXIT))
    }

    /// Whether the run is over.
    ///
    /// # Errors
    /// [`RunDirError`] if the directory cannot be looked at.
    pub fn has_ended(&self) -> Result<bool, RunDirError> {
        self.exists(&self.file(name::EXIT))
    }

    /// The labels that the run was started with; `None` if there is no such run.
    ///
    /// # Errors
    /// [`RunDirError`] if its request cannot be read.
    pub fn labels(&self) -> Result<Option<BTreeMap<String, String>>, RunDirError> {
        Ok(read_json::<RunRequest>(&self.file(name::REQUEST))?.map(|request| request.labels))
    }

    pub(crate) fn read_record(&self) -> Result<Option<RunRecord>, RunDirError> {
        read_json(&self.file(name::RECORD))
    }

    pub(crate) fn read_stop(&self) -> Result<Option<StopRecord>, RunDirError> {
        read_json(&self.file(name::STOP))
    }

    /// Records why the run is to be stopped, unless that is recorded already; returns what holds.
    pub(crate) fn record_stop(&self, cause: StopCause) -> Result<StopCause, RunDirError> {
        let path = self.file(name::STOP);
        let record = StopRecord { cause, requested_at: Timestamp::now() };
        write_once(&path, &to_json(&path, &record)?)?;
        Ok(self.read_stop()?.map_or(cause, |record| record.cause))
    }

    /// Size of the record of stdout; 0 if it is gone.
    pub(crate) fn stdout_bytes(&self) -> u64 {
        fs::metadata(self.stdout()).map_or(0, |metadata| metadata.len())
    }

    /// How much it has printed, in bytes: the longer one of its two streams.
    pub(crate) fn printed(&self) -> u64 {
        let length = |path: PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        length(self.stdout()).max(length(self.stderr()))
    }

    /// Takes back what nobody keeps of a run that printed more than it may; whether it did. Nothing of it writes any more.
    fn bound_output(&self) -> bool {
        let mut is_more = false;
        for path in [self.stdout(), self.stderr()] {
            if fs::metadata(&path).is_ok_and(|found| found.len() > MAX_OUTPUT) {
                is_more = true;
                let shortened = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(MAX_OUTPUT));
                if let Err(error) = shortened {
                    tracing::warn!(path = %path.display(), %error, "output that nobody keeps stays on the disk");
                }
            }
        }
        is_more
    }

    /// The last [`STDERR_TAIL`] bytes of stderr, for people.
    pub(crate) fn stderr_tail(&self) -> String {
        end_of_file(&self.file(name::STDERR), STDERR_TAIL)
            .unwrap_or_else(|error| format!("(stderr cannot be read: {error})"))
    }

    /// Takes the run for anyone who asks first; never given back.
    pub(crate) fn take_claim(&self) -> Result<bool, RunDirError> {
        let path = self.file(name::CLAIM);
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(RunDirError::io("create", &path)(error)),
        }
    }

    /// What is known of a run that ends now.
    pub(crate) fn end(
        &self,
        ending: Ending,
        stopped: Option<StopCause>,
        started_at: Timestamp,
        leftovers_killed: u32,
    ) -> RunEnd {
        let too_much = self.bound_output().then_some(StopCause::Output);
        RunEnd {
            ending,
            stopped: stopped.or(too_much),
            stderr_tail: self.stderr_tail(),
            started_at,
            ended_at: Timestamp::now(),
            peak_rss_kib: 0,
            stdout_bytes: self.stdout_bytes(),
            leftovers_killed,
            walls: None,
        }
    }

    /// Removes the directory and all that is in it, if it is there.
    pub(crate) fn remove(&self) -> Result<(), RunDirError> {
        remove_tree(&self.path).map_err(RunDirError::io("remove", &self.path))
    }

    pub(crate) fn exists(&self, path: &Path) -> Result<bool, RunDirError> {
        path.try_exists().map_err(RunDirError::io("look for", path))
    }
}

/// The end of a file, of at most so many bytes; what is no text is replaced.
///
/// # Errors
/// The file cannot be read.
pub fn end_of_file(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

pub(crate) fn to_json<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, RunDirError> {
    serde_json::to_vec(value).map_err(|source| RunDirError::Damaged { path: path.to_owned(), source })
}

/// Reads a file that every run directory has.
pub(crate) fn needed<T: DeserializeOwned>(path: &Path) -> Result<T, RunDirError> {
    read_json(path)?.ok_or_else(|| RunDirError::io("read", path)(io::ErrorKind::NotFound.into()))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RunDirError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunDirError::io("read", path)(error)),
    };
    match serde_json::from_slice(&text) {
        Ok(value) => Ok(Some(value)),
        Err(source) => Err(RunDirError::Damaged { path: path.to_owned(), source }),
    }
}
