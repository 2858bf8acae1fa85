//! Asks a run to stop until that is recorded: a process that goes on is worse than one that is told late.
//!
//! Must not know why a run is to stop; what follows from the request is its keeper's business.

use async_recursion::async_recursion as boxed;
use std::time::Duration;

use helix_core::run::StopCause;
use tokio::time::Instant;

use super::RunHandle;

/// Pauses between requests: a disk that is full, a directory that cannot be written for a while.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A request that may have to be repeated.
#[derive(Debug)]
pub struct Stopping {
    /// What could not be asked, and when to ask again.
    failed: Option<(StopCause, Instant)>,
    pause: Duration,
}

impl Default for Stopping {
    /// Nothing was asked yet.
    fn default() -> Self {
        Self { failed: None, pause: FIRST_PAUSE }
    }
}

impl Stopping {
    /// Asks; where that fails, [`Stopping::due`] says when to do so again.
    #[boxed]
    pub async fn ask(&mut self, handle: &RunHandle, cause: StopCause) {
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

    /// Waits for the time to ask once more; forever where no request has failed.
    pub async fn due(&self) -> StopCause {
        match self.failed {
            Some((cause, again)) => {
                tokio::time::sleep_until(again).await;
                cause
            }
            None => std::future::pending().await,
        }
    }
}

impl RunHandle {
    /// Stops the run, however often that takes to be asked, and waits until nothing of it is left.
    #[boxed]
    pub async fn cancel(&self) {
        let mut stopping = Stopping::default();
        stopping.ask(self, StopCause::Cancelled).await;
        let ended = self.ended();
        tokio::pin!(ended);
        loop {
            let cause = tokio::select! {
                biased;
                _ = &mut ended => return,
                cause = stopping.due() => cause,
            };
            stopping.ask(self, cause).await;
        }
    }
}
