//! A job's events as they come over the wire. Must not know how they are shown.

use helix_job::{JobEvent, Recorded};

use super::sse::Frames;
use crate::codes;
use crate::error::CommandError;

/// The events of one job from one connection.
#[derive(Debug)]
pub(crate) struct JobEvents {
    frames: Frames,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum NextEvent {
    /// An event.
    Event(Box<Recorded<JobEvent>>),
    /// The connection is over; whether the job is, its events tell.
    Disconnected,
}

impl JobEvents {
    pub(super) fn new(frames: Frames) -> Self {
        Self { frames }
    }

    /// The next event. A broken connection is no error: the caller comes back with the last number.
    ///
    /// # Errors
    /// An event that cannot be understood.
    pub(crate) async fn next(&mut self) -> Result<NextEvent, CommandError> {
        loop {
            let Ok(Some(frame)) = self.frames.next().await else {
                return Ok(NextEvent::Disconnected);
            };
            // Frames without a number say something about the stream, not about the job.
            if frame.id.is_none() {
                continue;
            }
            let event = serde_json::from_str(&frame.data).map_err(|error| {
                CommandError::helix(codes::HOST_UNINTELLIGIBLE, "an event of the host cannot be understood")
                    .because(&error)
                    .hint("the host may be another version of Helix: stop it and let this one take over")
            })?;
            return Ok(NextEvent::Event(Box::new(event)));
        }
    }
}
