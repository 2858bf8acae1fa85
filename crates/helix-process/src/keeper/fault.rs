//! What can go wrong in the keeper itself.
//!
//! Must not know what the agent does wrong: that is an `Ending`, not a fault.

use std::io;

use helix_core::error_chain;
use helix_core::recorded;
use helix_core::said::Words;
use helix_core::text::clip;
use helix_language::RECORD;

use crate::run_dir::RunDirError;

/// Longest text of others that is recorded for a run that did not start, in characters.
pub(super) const MAX_REASON: usize = 2 * 1024;

/// Says what the keeper could not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeeperFault {
    #[error("cannot {doing}")]
    System { doing: &'static str, source: io::Error },
    #[error(transparent)]
    Directory(#[from] RunDirError),
    #[error("cannot start {program}: {}", RECORD.words(why))]
    Start {
        program: String,
        why: Words,
        /// The system's error number for the agent's program, where that is what failed.
        errno: Option<i32>,
    },
}

impl KeeperFault {
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// What it is, for the record; others' words are clipped at [`MAX_REASON`].
    pub(crate) fn words(&self) -> Words {
        match self {
            Self::Start { program, why, .. } => recorded!("start-failed", program = program, why = why),
            Self::System { .. } | Self::Directory(_) => clip(&error_chain(self), MAX_REASON).into(),
        }
    }
}
