//! The directory that holds everything Helix keeps, and the lock that makes one process its host.
//!
//! Must not know what the files in it contain, except for the host's own announcement. Everything here is a few quick
//! file operations at start-up and is therefore not async.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::StateDirError;

/// Name of the directory with the runs of agents.
pub(crate) const RUNS: &str = "runs";

/// Directories of the layout; all are for their owner only, since they hold prompts, code and tokens.
const DIRECTORIES: [&str; 4] = [RUNS, "worktrees", "sessions", "cache"];

/// How long what a killed host was about to start may hold its lock.
const LEFT_BEHIND: Duration = Duration::from_secs(2);
/// Between two looks at whether it is free.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A state directory that exists and can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    root: PathBuf,
}

/// Where a host can be reached, as written to `host.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Base URL of its API.
    pub url: String,
    pub pid: u32,
    /// File with the bearer token.
    pub token_file: PathBuf,
    /// Files of its configuration, the strongest first.
    pub configuration: Vec<PathBuf>,
    /// Digests of their texts when it read them, in the same order.
    #[serde(default)]
    pub texts: Vec<String>,
    /// Digest of the settings in force; equal for files that say the same.
    #[serde(default)]
    pub settings: String,
}

/// The right to be the host of a state directory; given up when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct HostLock {
    directory: StateDir,
    /// Holds the `flock`; closed on exec, so that no other program ever inherits it.
    _file: File,
}

impl StateDir {
    /// Creates what is missing of the directory and its layout (mode 0700), and checks that it can be written.
    ///
    /// The mode of a directory that exists is left alone: it may be one that the user shares on purpose.
    ///
    /// # Errors
    /// [`StateDirError`] naming the path that cannot be created or written.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StateDirError> {
        let given = root.into();
        create_directory(&given)?;
        let root = given.canonicalize().map_err(|source| failed("resolve", &given, source))?;
        for name in DIRECTORIES {
            create_directory(&root.join(name))?;
        }
        let directory = Self { root };
        directory.check_writable()?;
        Ok(directory)
    }

    /// The directory as it is, for readers: creates and writes nothing, and so works on a full disk, too. `None` if there is
    /// none.
    ///
    /// # Errors
    /// [`StateDirError`] when it cannot be resolved.
    pub fn existing(root: &Path) -> Result<Option<Self>, StateDirError> {
        match root.canonicalize() {
            Ok(root) => Ok(Some(Self { root })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(failed("resolve", root, source)),
        }
    }

    /// The directory itself, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn database(&self) -> PathBuf {
        self.root.join("helix.db")
    }

    /// Name of the file with the memory of failures.
    pub const FAILURES: &'static str = "failures.db";

    /// The memory of failures: a file of its own, so that damage to it cannot reach the journal.
    pub fn failures(&self) -> PathBuf {
        self.root.join(Self::FAILURES)
    }

    /// Run directories of agents.
    pub fn runs(&self) -> PathBuf {
        self.root.join(RUNS)
    }

    /// Git worktrees of attempts.
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// What may be deleted at any time.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Where the terminal reaches the host: for people alone.
    pub fn terminal(&self) -> PathBuf {
        Self::terminal_in(&self.root)
    }

    /// The same of a state directory that nobody has opened.
    pub fn terminal_in(state: &Path) -> PathBuf {
        state.join("terminal")
    }

    /// The bearer token of the API.
    pub fn token_file(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The port that the last host took, if it could choose.
    pub fn port_file(&self) -> PathBuf {
        self.root.join("port")
    }

    pub fn host_file(&self) -> PathBuf {
        self.root.join("host.json")
    }

    /// Becomes the host, if nobody else is. A dead host's announcement is removed.
    ///
    /// # Errors
    /// [`StateDirError::Held`] with the other host's process and address, if it has announced them.
    pub fn lock(&self) -> Result<HostLock, StateDirError> {
        let path = self.root.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|source| failed("open", &path, source))?;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let host = self.host()?;
                    // A process that a killed host was about to start holds its lock until it becomes another program; a host that
                    // starts has not said yet who it is, and one that ends does not say so any more.
                    let is_alive = |host: &HostInfo| Path::new("/proc").join(host.pid.to_string()).exists();
                    if !host.as_ref().is_some_and(is_alive) && asked.elapsed() < LEFT_BEHIND {
                        std::thread::sleep(LOOK_AGAIN);
                        continue;
                    }
                    return Err(StateDirError::Held {
                        path: self.root.clone(),
                        pid: host.as_ref().map(|host| host.pid),
                        url: host.map(|host| host.url),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed("lock", &path, source)),
            }
        }
        remove_if_there(&self.host_file())?;
        Ok(HostLock { directory: self.clone(), _file: file })
    }

    /// The process that is the host now, whether or not it answers; `None` where nobody is, or one has not said yet who it is.
    ///
    /// # Errors
    /// [`StateDirError`] when that cannot be told.
    pub fn holder(&self) -> Result<Option<u32>, StateDirError> {
        let path = self.root.join("lock");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed("open", &path, source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(self.host()?.map(|host| host.pid)),
            Err(TryLockError::Error(source)) => Err(failed("lock", &path, source)),
        }
    }

    /// The announced host. It may have died since; only [`StateDir::lock`] tells.
    ///
    /// # Errors
    /// [`StateDirError`] when the announcement cannot be read or understood.
    pub fn host(&self) -> Result<Option<HostInfo>, StateDirError> {
        let path = self.host_file();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed("read", &path, source)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|source| StateDirError::Announcement { path, source })
    }

    /// Writes a block to a file, since permissions alone tell neither a full disk nor a read-only mount.
    fn check_writable(&self) -> Result<(), StateDirError> {
        // Without a name: a process that is killed here leaves nothing behind.
        let written = tempfile::tempfile_in(&self.root).and_then(|mut probe| {
            probe.write_all(&[0; 4096])?;
            // File systems with delayed allocation report a full disk only now.
            probe.sync_all()
        });
        written.map_err(|source| failed("write to", &self.root, source))
    }
}

impl HostLock {
    pub fn directory(&self) -> &StateDir {
        &self.directory
    }

    /// Tells other processes where this host can be reached. Atomic: nobody ever reads half an announcement.
    ///
    /// # Errors
    /// [`StateDirError`] when it cannot be written.
    pub fn announce(&self, host: &HostInfo) -> Result<(), StateDirError> {
        let path = self.directory.host_file();
        let text = serde_json::to_vec_pretty(host)
            .map_err(|source| StateDirError::Announcement { path: path.clone(), source })?;
        let draft = self.directory.root.join(".host.json.new");
        remove_if_there(&draft)?;
        write_private(&draft, &text)?;
        std::fs::rename(&draft, &path).map_err(|source| failed("rename to", &path, source))
    }
}

impl Drop for HostLock {
    /// Takes the announcement back before the lock goes, so that it never names a host that has ended in order.
    fn drop(&mut self) {
        if let Err(error) = remove_if_there(&self.directory.host_file()) {
            tracing::warn!(%error, "the announcement of this host stays behind; the next host removes it");
        }
    }
}

/// A key of a state directory.
pub type Key = [u8; 32];

/// The key in a file that is there.
///
/// # Errors
/// When it cannot be read, or is not a key.
pub fn known_key(path: &Path) -> std::io::Result<Key> {
    Key::try_from(std::fs::read(path)?).map_err(|_| std::io::Error::other("it is not a key of 32 bytes"))
}

/// The key in a file, made for its owner only where there is none.
///
/// # Errors
/// When it cannot be read or written, or the system has no random numbers.
pub fn kept_key(path: &Path) -> std::io::Result<Key> {
    match known_key(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        known => return known,
    }
    let mut key = Key::default();
    getrandom::fill(&mut key).map_err(std::io::Error::other)?;
    // Whole or not at all, and the first of two that make one at once counts.
    let mut draft = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    draft.write_all(&key)?;
    draft.as_file().sync_all()?;
    match draft.persist_noclobber(path) {
        Ok(_) => Ok(key),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => known_key(path),
        Err(error) => Err(error.error),
    }
}

fn create_directory(path: &Path) -> Result<(), StateDirError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| failed("create", path, source))
}

fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StateDirError> {
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| failed("create", path, source))?;
    file.write_all(bytes).map_err(|source| failed("write", path, source))?;
    // File systems with delayed allocation report a full disk only now.
    file.sync_all().map_err(|source| failed("write", path, source))
}

fn remove_if_there(path: &Path) -> Result<(), StateDirError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(failed("remove", path, source)),
    }
}

/// Turns what the operating system said into what the user can do something about.
fn failed(doing: &'static str, path: &Path, source: std::io::Error) -> StateDirError {
    let path = path.to_path_buf();
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StateDirError::NotWritable { path, source },
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => StateDirError::NoDirectory { path: blocking(path) },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StateDirError::Full { path, source },
        _ => StateDirError::Io { doing, path, source },
    }
}

/// What stands where a directory is needed: the path itself, or the nearest one above it that exists.
fn blocking(path: PathBuf) -> PathBuf {
    path.ancestors().find(|above| above.exists()).map_or_else(|| path.clone(), Path::to_path_buf)
}

#[cfg(test)]
#[path = "state_dir_test.rs"]
mod tests;
