//! How git can fail, with what was asked and what a person can do about it.
//!
//! Must not know who asked. Git's own words are matched once, in [`hint_for`], and only to choose a hint.

use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_core::finding::{Fault, FaultKind};
use helix_process::secrets::clean;

/// A git operation that did not work.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("git could not be started as {program:?}")]
    Unstartable {
        program: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It answered with an exit code that means failure.
    #[error("`{command}` failed in {directory:?} ({}): {stderr}", exit_text(*.code))]
    Failed {
        /// The command line, for people.
        command: String,
        directory: PathBuf,
        /// Exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// The end of what it wrote to stderr.
        stderr: String,
        /// What to do, where that is known.
        hint: Option<String>,
    },
    /// It took too long and was killed.
    #[error("`{command}` took longer than {limit:?} in {directory:?} and was stopped")]
    TimedOut { command: String, directory: PathBuf, limit: Duration },
    /// It takes too long in the user's own work tree, where it is not killed.
    #[error("`{command}` takes longer than {limit:?} in {directory:?} and was left to finish (process {pid})")]
    StillRunning { command: String, directory: PathBuf, limit: Duration, pid: i32 },
    /// Its answer is not what its manual says.
    #[error("`{command}` gave an answer that cannot be read: {problem}")]
    Unreadable {
        command: String,
        /// What is wrong with the answer.
        problem: String,
    },
    /// An object or reference is not in the repository.
    #[error("{name} is not in the repository {repository:?}")]
    NoObject {
        /// What was looked for.
        name: String,
        repository: PathBuf,
    },
    /// Somebody has removed the directory in which an agent worked.
    #[error(
        "the working directory {path:?} was removed while the agent worked in it; what it had not committed is lost"
    )]
    WorktreeGone { path: PathBuf },
    /// Nobody is named as author.
    #[error("git does not know who makes commits in {repository:?}: {missing}")]
    NoIdentity { repository: PathBuf, missing: String },
    /// Nobody wants it any more.
    #[error("it was cancelled")]
    Cancelled,
    #[error("cannot {action} {path:?}")]
    Disk {
        /// What was tried, such as `read`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

fn exit_text(code: Option<i32>) -> String {
    code.map_or_else(|| "ended by a signal".into(), |code| format!("exit {code}"))
}

impl GitError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Failed { hint, .. } => return hint.clone(),
            Self::Unstartable { .. } => "install git 2.38 or newer and make sure that it is on PATH",
            Self::StillRunning { .. } => {
                "wait until it has ended, or check why it hangs; then run `helix jobs resume JOB`"
            }
            Self::TimedOut { .. } => {
                "check for a hanging file system, filter or credential helper; run the command by hand"
            }
            Self::Unreadable { .. } => "check that `git --version` is 2.38 or newer",
            Self::NoObject { .. } => {
                "the commit may have been removed by `git gc`, or the clone is shallow: `git fetch --unshallow`"
            }
            Self::WorktreeGone { .. } => {
                "find out what deletes files in the state directory; `helix jobs resume JOB` repeats the work"
            }
            Self::NoIdentity { .. } => {
                "run `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.org`"
            }
            Self::Disk { .. } => "check free space and permissions",
            Self::Cancelled => return None,
        };
        Some(hint.into())
    }

    /// The same as a fault of a check.
    pub fn fault(&self) -> Fault {
        let kind = match self {
            Self::Unstartable { .. } => FaultKind::ToolMissing,
            Self::TimedOut { .. } | Self::StillRunning { .. } => FaultKind::Timeout,
            Self::Unreadable { .. } => FaultKind::Unreadable,
            // There is nothing to look at, and nothing to wait for.
            Self::WorktreeGone { .. } => FaultKind::NothingChecked,
            Self::Failed { .. }
            | Self::NoObject { .. }
            | Self::NoIdentity { .. }
            | Self::Cancelled
            | Self::Disk { .. } => FaultKind::Environment,
        };
        Fault { kind, message: helix_core::error_chain(self), hint: self.hint(), said: None }
    }

    /// A command that failed; `full` is what the disk says of it.
    pub(crate) fn failed(
        command: impl Into<String>,
        directory: &Path,
        code: Option<i32>,
        stderr: String,
        full: Option<String>,
    ) -> Self {
        let stderr = [Some(stderr), full].into_iter().flatten().collect::<Vec<_>>().join("\n");
        let stderr = clean(&stderr);
        Self::Failed { command: command.into(), directory: directory.into(), code, hint: hint_for(&stderr), stderr }
    }

    pub(crate) fn disk(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Disk { action, path, source }
    }
}

/// Why a directory cannot be worked in.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory does not exist or is none.
    #[error("{path:?} is not a directory")]
    NoDirectory { path: PathBuf },
    /// It is in no repository.
    #[error("{path:?} is not in a git repository")]
    NoRepository { path: PathBuf },
    /// It has no work tree.
    #[error("{path:?} is a bare repository")]
    Bare { path: PathBuf },
    /// It belongs to somebody else and git refuses to trust it.
    #[error("{path:?} belongs to another user and git does not trust it")]
    ForeignOwner { path: PathBuf },
    /// A path that is not text.
    #[error("the path {path:?} is not valid UTF-8")]
    NotText { path: PathBuf },
    #[error("the repository at {path:?} could not be opened")]
    Git {
        path: PathBuf,
        #[source]
        source: Box<GitError>,
    },
}

impl OpenError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoDirectory { .. } => Some("check the path".into()),
            Self::NoRepository { .. } => Some(
                "run `git init` in the project's root directory and commit what is there; or name a repository with --project".into(),
            ),
            Self::Bare { .. } => Some("give the path of a clone with files in it".into()),
            Self::ForeignOwner { path } => {
                Some(format!("if you trust it: `git config --global --add safe.directory {}`", path.display()))
            }
            Self::NotText { .. } => Some("rename the directory".into()),
            Self::Git { source, .. } => source.hint(),
        }
    }
}

/// Chooses a hint for a failure that users can fix. Git runs with `LC_ALL=C`, so its words are stable.
pub(crate) fn hint_for(stderr: &str) -> Option<String> {
    let table: [(&str, &str); 12] = [
        ("dubious ownership", "if you trust the repository: `git config --global --add safe.directory <path>`"),
        (
            "refs/heads/helix' exists",
            "a branch named `helix` is in the way of `helix/…`: rename it with `git branch -m helix …`",
        ),
        ("No space left on device", "free some disk space, then run `helix jobs resume JOB`"),
        ("Disk quota exceeded", "free some of your disk quota, then run `helix jobs resume JOB`"),
        // What git says of an index that it cannot write, with the name of its lock.
        ("Out of diskspace", "the disk is full: free some disk space, then run `helix jobs resume JOB`"),
        ("index.lock", "another git process works in the repository, or one has died: remove the index.lock it names"),
        ("insufficient permission", "check the permissions of the repository and of the state directory"),
        ("Permission denied", "check the permissions of the repository and of the state directory"),
        ("Read-only file system", "make the repository writable, then run `helix jobs resume JOB`"),
        ("Out of memory", "a file that git reads whole, such as `.gitignore`, is huge: remove it"),
        ("not a valid object name", "the commit is not in this clone; fetch it first"),
        ("bad object", "the repository is damaged or was pruned: run `git fsck`"),
    ];
    table.iter().find(|(needle, _)| stderr.contains(needle)).map(|(_, hint)| (*hint).to_owned())
}
