//! A followed run: its lines, its end, and the way to stop it.
//!
//! Must not know how it was started.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause};
use jiff::Timestamp;
use tokio::process::Child;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::liveness::{keeper_gone, nudge};
use super::watching::{Changes, Hub, Watch};
use super::{abandoned, blocking};
use crate::invocation::{RunEnd, RunRequest};
use crate::run_dir::{RunDir, RunDirError, RunState};
use crate::tail::LineReader;

/// Pauses before a run whose keeper is gone is settled once more.
const SETTLE_PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// A run being followed. Cheap to clone; dropping it neither stops the run nor loses anything of it.
#[derive(Debug, Clone)]
pub struct RunHandle {
    shared: Arc<RunShared>,
}

/// What all handles and readers of a run share.
#[derive(Debug)]
pub(crate) struct RunShared {
    request: RunRequest,
    following: Arc<Following>,
    /// Ends the task that waits for the end when nobody wants to know any more.
    waiting: Arc<DropGuard>,
}

/// What the task that waits for the end works on.
#[derive(Debug)]
pub(crate) struct Following {
    run: RunId,
    directory: RunDir,
    changes: Changes,
    end: watch::Sender<Option<RunEnd>>,
}

impl RunShared {
    /// Begins to follow. Must be called inside a runtime.
    pub(super) fn follow(
        hub: &Arc<Hub>,
        directory: RunDir,
        request: RunRequest,
        state: RunState,
        keeper: Option<Child>,
    ) -> Arc<Self> {
        let changes = Changes::new();
        let ended = match state {
            RunState::Ended(end) => Some(*end),
            RunState::Unclaimed | RunState::Kept | RunState::Abandoned => None,
        };
        let over = ended.is_some();
        let following = Arc::new(Following {
            run: request.run.clone(),
            changes: changes.clone(),
            end: watch::Sender::new(ended),
            directory,
        });
        let token = CancellationToken::new();
        if !over {
            let watch = hub.watch(following.directory.path(), changes);
            let (following, ended) = (Arc::clone(&following), token.clone());
            tokio::spawn(async move { ended.run_until_cancelled(wait_for_end(following, watch, keeper)).await });
        }
        Arc::new(Self { request, following, waiting: Arc::new(token.drop_guard()) })
    }
}

impl RunHandle {
    pub(super) fn new(shared: Arc<RunShared>) -> Self {
        Self { shared }
    }

    /// Names the run.
    pub fn run(&self) -> &RunId {
        &self.shared.request.run
    }

    /// Returns what the caller of [`super::Supervisor::start`] wanted to know again.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.shared.request.labels
    }

    /// Returns the run's directory, with the verbatim record of its output.
    pub fn directory(&self) -> &Path {
        self.shared.following.directory.path()
    }

    /// Reads stdout from its first byte. Any number of readers, each at its own pace.
    pub fn lines(&self) -> LineReader {
        let following = &self.shared.following;
        let (output, end) = (following.changes.output.subscribe(), following.end.subscribe());
        LineReader::new(self.run().clone(), following.directory.stdout(), output, end, Arc::clone(&self.shared.waiting))
    }

    /// How the run ended, if it has and that was noticed.
    pub fn end(&self) -> Option<RunEnd> {
        self.shared.following.end.borrow().clone()
    }

    /// Forgets a run that has ended, so that its id can be used again.
    ///
    /// # Errors
    /// [`RunDirError`] if the disk refused.
    #[boxed]
    pub async fn forget(self) -> Result<(), RunDirError> {
        let directory = self.shared.following.directory.clone();
        blocking(move || directory.remove()).await
    }

    /// Whether the run goes on, or came to an end that says something of what it ran, and whether its output is in its place.
    #[boxed]
    pub async fn is_of_use(&self) -> bool {
        let (directory, end) = (self.shared.following.directory.clone(), self.end());
        let looked = blocking(move || {
            let stopped = directory.read_stop()?.is_some_and(|stop| stop.cause == StopCause::Cancelled);
            Ok(!stopped && directory.exists(&directory.stdout())?)
        });
        let lost = end.is_some_and(|end| end.ending == Ending::Unknown);
        !lost && looked.await.unwrap_or(false)
    }

    /// Asks for the run to be stopped: SIGINT, grace, SIGTERM, grace, SIGKILL, then whatever is left. Returns as soon
    /// as that is recorded; the keeper does it, even if this process dies. The first cause that is recorded holds.
    /// Stopping a run that has ended does nothing.
    ///
    /// # Errors
    /// [`RunDirError`] if the request cannot be recorded, or the keeper cannot be told: it will see the record only at its next
    /// occasion.
    #[boxed]
    pub async fn stop(&self, cause: StopCause) -> Result<(), RunDirError> {
        let following = Arc::clone(&self.shared.following);
        if following.end.borrow().is_some() {
            return Ok(());
        }
        blocking(move || {
            let directory = &following.directory;
            if directory.read_exit()?.is_some() {
                return Ok(());
            }
            directory.record_stop(cause)?;
            nudge(directory)
        })
        .await
    }

    /// Waits until the run is over and returns how it ended.
    #[boxed]
    pub async fn ended(&self) -> RunEnd {
        let mut end = self.shared.following.end.subscribe();
        let known = end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone());
        // The sender lives as long as this handle, so that the wait cannot fail.
        known.unwrap_or_else(|| unknown_end(&self.shared.following))
    }
}

/// Waits for the record of the end, or for the death of the keeper without one.
async fn wait_for_end(following: Arc<Following>, watch: Watch, keeper: Option<Child>) {
    let mut state = following.changes.state.subscribe();
    let mut ticks = watch.interval().map(tokio::time::interval);
    let gone = keeper_gone(&following.directory);
    tokio::pin!(gone);
    let end = loop {
        state.borrow_and_update();
        match read_end(&following).await {
            Ok(Some(end)) => break end,
            Ok(None) => {}
            Err(error @ RunDirError::Damaged { .. }) => {
                tracing::error!(run = %following.run, %error, "the end of a run cannot be read; it counts as unknown");
                break unknown_end(&following);
            }
            // Too many open files, say. Its keeper's end is a time to look again.
            Err(error) => tracing::warn!(run = %following.run, %error, "the end of a run cannot be looked for"),
        }
        tokio::select! {
            _ = state.changed() => {}
            () = tick(&mut ticks) => following.changes.output_changed(),
            () = &mut gone => break settled(&following).await,
        }
    };
    following.end.send_replace(Some(end));
    // Readers that have read all there is wait for either.
    following.changes.output_changed();
    drop(watch);
    if let Some(mut keeper) = keeper
        && let Err(error) = keeper.wait().await
    {
        tracing::warn!(run = %following.run, %error, "the keeper's process could not be reaped");
    }
}

/// Never, without a timer.
async fn tick(ticks: &mut Option<tokio::time::Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}

async fn read_end(following: &Arc<Following>) -> Result<Option<RunEnd>, RunDirError> {
    let following = Arc::clone(following);
    blocking(move || following.directory.read_exit()).await
}

/// The keeper is gone: either it left a record, or this makes one. Tried more than once, since what keeps the record from being
/// read may pass.
async fn settled(following: &Arc<Following>) -> RunEnd {
    let mut pauses = SETTLE_PAUSES.iter();
    loop {
        let error = match settle(following).await {
            Ok(end) => return end,
            Err(error) => error,
        };
        let passes = matches!(&error, RunDirError::Io { source, .. } if source.kind() != io::ErrorKind::NotFound);
        match pauses.next().filter(|_| passes) {
            Some(pause) => {
                tracing::warn!(run = %following.run, %error, "a lost run cannot be sealed; trying again in {pause:?}");
                tokio::time::sleep(*pause).await;
            }
            None => {
                tracing::error!(run = %following.run, %error, "a lost run cannot be sealed; it counts as lost all the same");
                return unknown_end(following);
            }
        }
    }
}

async fn settle(following: &Arc<Following>) -> Result<RunEnd, RunDirError> {
    let owned = Arc::clone(following);
    blocking(move || {
        let directory = &owned.directory;
        if let Some(end) = directory.read_exit()? {
            return Ok(end);
        }
        directory.exists(directory.path()).and_then(|there| {
            if there {
                // A keeper that died between lock and claim left the run open: close it before it is called lost.
                directory.take_claim()?;
            }
            abandoned::settle(directory, &owned.run)
        })
    })
    .await
}

fn unknown_end(following: &Following) -> RunEnd {
    following.directory.end(Ending::Unknown, None, Timestamp::now(), 0)
}
