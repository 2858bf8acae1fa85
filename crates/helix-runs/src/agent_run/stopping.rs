//! Asks a run to stop until that is recorded: an agent that goes on is worse than one that is told late.
//!
//! Must not know why a run is to stop; what follows from the request is its keeper's business.

use std::time::Duration;

use helix_agents::RunHandle;
use helix_core::run::StopCause;
use tokio::time::Instant;

/// Pauses between tries: a disk that is full, a directory that cannot be written for a while.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A request that may have to be repeated.
pub(super) struct Stopping {
    /// What could not be asked, and when to ask again.
    failed: Option<(StopCause, Instant)>,
    pause: Duration,
}

impl Stopping {
    /// Nothing was asked yet.
    pub(super) fn new() -> Self {
        Self { failed: None, pause: FIRST_PAUSE }
    }

    /// Asks; where that fails, [`Stopping::due`] says when to do so again.
    pub(super) async fn ask(&mut self, handle: &RunHandle, cause: StopCause) {
        self.failed = match handle.stop(cause).await {
            Ok(()) => None,
            Err(error) => {
                let (error, pause) = (helix_core::error_chain(&error), self.pause);
                tracing::error!(run = %handle.run(), error, "a run cannot be stopped; trying again in {pause:?}");
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                Some((cause, Instant::now() + pause))
            }
        };
    }

    /// Waits for the time to ask once more; for ever where no asking has failed.
    pub(super) async fn due(&self) -> StopCause {
        match self.failed {
            Some((cause, again)) => {
                tokio::time::sleep_until(again).await;
                cause
            }
            None => std::future::pending().await,
        }
    }
}

/// Stops a run, however often that takes to be asked, and waits until nothing of it is left.
pub(super) async fn end(handle: &RunHandle) {
    let mut stopping = Stopping::new();
    stopping.ask(handle, StopCause::Cancelled).await;
    let ended = handle.ended();
    tokio::pin!(ended);
    loop {
        let cause = tokio::select! {
            biased;
            _ = &mut ended => return,
            cause = stopping.due() => cause,
        };
        stopping.ask(handle, cause).await;
    }
}
