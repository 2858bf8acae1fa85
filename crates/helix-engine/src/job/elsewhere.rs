//! State directories that deliver from the same repository: a file in its git directory names them, one host at a time begins, and
//! the journal of each says what it changes.
//!
//! Must not know what is delivered. Clones of a repository do not know of each other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::finding::{Fault, FaultKind};
use helix_language::{fault, recorded};
use helix_store::{Access, Journal, SqliteJournal, StateDir};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::effects::{EffectRunner, blocking_fault, environment};
use super::target::Target;

/// Name of the file in the repository's git directory, with an entry in each line.
const FILE: &str = "helix-deliveries";
/// Longest list that is read, in bytes: some thousand state directories.
const LONGEST: u64 = 1 << 20;

/// A state directory, and the repository as its jobs call it: work trees of one repository have paths of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    state: PathBuf,
    project: String,
}

/// The journal of a state directory that delivers from a repository.
#[derive(Clone)]
pub(super) struct Ledger {
    /// The state directory; `None` is that of this host.
    pub(super) state: Option<PathBuf>,
    pub(super) project: String,
    pub(super) journal: Arc<dyn Journal>,
    file: PathBuf,
}

impl Ledger {
    /// It cannot be found out what the state directory changes.
    pub(super) fn unreadable(&self, error: &dyn std::error::Error) -> Fault {
        self.state.as_deref().map_or_else(|| environment(error), |state| unreadable(&self.file, state, error))
    }
}

impl EffectRunner {
    /// Takes the turn to begin deliveries from the target's repository, and enters this state directory there; `None` while another
    /// delivery begins.
    pub(super) async fn turn(&self, target: &Target) -> Result<Option<File>, Fault> {
        let path = self.deliveries_file(target).await?;
        let own = Entry { state: self.state().root().to_owned(), project: target.project.clone() };
        blocking_fault(move || enter(&path, &own).map_err(|error| disk("write", &path, &error))).await
    }

    /// The journals of all state directories that have delivered from the target's repository; this host's comes first.
    pub(super) async fn ledgers(&self, target: &Target) -> Result<Vec<Ledger>, Fault> {
        let file = self.deliveries_file(target).await?;
        let read = file.clone();
        let entries = blocking_fault(move || entries(&read).map_err(|error| disk("read", &read, &error))).await?;
        let journal = Arc::clone(self.shared.host.journal());
        let own = Ledger { state: None, project: target.project.clone(), journal, file: file.clone() };
        let mut all = vec![own.clone()];
        for Entry { state, project } in entries {
            if state == self.state().root() {
                if project != target.project {
                    all.push(Ledger { project, ..own.clone() });
                }
                continue;
            }
            let failed = |error: &dyn std::error::Error| unreadable(&file, &state, error);
            // One that was deleted changes nothing any more.
            let Some(found) = StateDir::existing(&state).map_err(|error| failed(&error))? else { continue };
            let database = found.database();
            if !tokio::fs::try_exists(&database).await.map_err(|error| failed(&error))? {
                continue;
            }
            let journal = SqliteJournal::open(database, Access::ReadOnly).await.map_err(|error| failed(&error))?;
            all.push(Ledger { state: Some(state), project, journal: Arc::new(journal), file: file.clone() });
        }
        Ok(all)
    }

    async fn deliveries_file(&self, target: &Target) -> Result<PathBuf, Fault> {
        let spaces = self.workspaces_at(PathBuf::from(&target.project)).await?;
        Ok(spaces.repository().user().common_dir().join(FILE))
    }
}

/// Whether a process has announced itself as the host of a state directory, and is there.
pub(super) fn is_hosted(state: &Path) -> bool {
    let host = StateDir::existing(state).ok().flatten().and_then(|state| state.host().ok().flatten());
    host.is_some_and(|host| Path::new("/proc").join(host.pid.to_string()).exists())
}

/// Locks the file, and enters the state directory, durably.
fn enter(path: &Path, own: &Entry) -> std::io::Result<Option<File>> {
    let mut file = opened(path, OpenOptions::new().create(true).append(true))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if !entries(path)?.contains(own) {
        // A line that a host has left unfinished ends here, and is none.
        let line = format!("\n{}\n", serde_json::to_string(own)?);
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
    }
    Ok(Some(file))
}

fn entries(path: &Path) -> std::io::Result<Vec<Entry>> {
    let file = match opened(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut text = String::new();
    if file.take(LONGEST + 1).read_to_string(&mut text)? as u64 > LONGEST {
        return Err(std::io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Whoever works in the repository can put a pipe or a link in the file's place; neither is waited for or followed.
fn opened(path: &Path, how: &mut OpenOptions) -> std::io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = how.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("it is not a regular file")) }
}

fn disk(action: &str, path: &Path, error: &std::io::Error) -> Fault {
    let (path, error) = (path.display().to_string(), error.to_string());
    fault(FaultKind::Environment, recorded!("fault-delivery-file", action = action, path = path, error = error))
}

fn unreadable(file: &Path, state: &Path, error: &dyn std::error::Error) -> Fault {
    let (file, state) = (file.display().to_string(), state.display().to_string());
    let error = helix_core::error_chain(error);
    fault(FaultKind::Environment, recorded!("fault-deliveries", state = state, error = error, file = file))
}

#[cfg(test)]
#[path = "elsewhere_test.rs"]
mod tests;
