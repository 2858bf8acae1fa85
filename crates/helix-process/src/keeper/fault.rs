//! What can go wrong in the keeper itself.
//!
//! Must not know what the agent does wrong: that is an `Ending`, not a fault.

use std::io;

use crate::run_dir::RunDirError;

/// Says what the keeper could not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeeperFault {
    #[error("cannot {doing}")]
    System { doing: &'static str, source: io::Error },
    #[error(transparent)]
    Directory(#[from] RunDirError),
    #[error("cannot start {program}: {why}")]
    Start {
        program: String,
        why: String,
        /// The system's error number for the agent's program, where that is what failed.
        errno: Option<i32>,
    },
}

impl KeeperFault {
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }
}
