//! What can go wrong in the keeper itself.
//!
//! Must not know what the agent does wrong: that is an `Ending`, not a fault.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::run_dir::RunDirError;

/// Says what the keeper could not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeeperFault {
    #[error("cannot {doing}")]
    System { doing: &'static str, source: io::Error },
    #[error("cannot {doing} {}", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is missing: the run directory is not whole", path.display())]
    Missing { path: PathBuf },
    #[error("the run directory cannot be used")]
    Directory(#[from] RunDirError),
    #[error("cannot start {program}: {why}")]
    Start { program: String, why: String, errno: Option<i32> },
}

impl KeeperFault {
    pub(crate) fn os(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }

    pub(crate) fn errno(doing: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::System { doing, source: errno.into() }
    }

    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }

    pub(crate) fn missing(path: &Path) -> Self {
        Self::Missing { path: path.to_owned() }
    }

    /// The system's error number for the agent's program, where that is what failed.
    pub(crate) fn program_errno(&self) -> Option<i32> {
        match self {
            Self::Start { errno, .. } => *errno,
            Self::System { .. } | Self::File { .. } | Self::Missing { .. } | Self::Directory(_) => None,
        }
    }

    /// The whole chain in one line, for the record of a run that never started.
    pub(crate) fn reason(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        text
    }
}
