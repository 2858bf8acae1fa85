//! A turn's events for one client, and what happens to the turn when the client disconnects.
//!
//! Must not know any wire format. Runs belong to the engine's sessions, never to a connection.

use std::time::Duration;

use helix_core::ids::{SessionId, TurnId};
use helix_engine::consultant::{SessionSelector, TurnEvent, TurnRequest};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use crate::config::Disconnect;
use crate::profile::Profile;
use crate::shared::Shared;

/// Longest time that a turn continues after Open WebUI closed the connection. It does that for Stop alone: when a page is
/// reloaded or closed, its server keeps reading (measured with 0.12.4).
const OPEN_WEBUI_GRACE: Duration = Duration::from_millis(300);

/// A turn that a client reads.
pub(crate) struct TurnStream {
    shared: Shared,
    key: String,
    profile: Profile,
    disconnected: CancellationToken,
    /// `None` once the turn is over.
    events: Option<mpsc::Receiver<TurnEvent>>,
    began: Option<(SessionId, TurnId)>,
}

impl TurnStream {
    /// Starts a turn.
    ///
    /// # Errors
    /// [`ApiError`] when it cannot start.
    pub(crate) async fn begin(shared: Shared, profile: Profile, request: TurnRequest) -> Result<Self, ApiError> {
        let key = match &request.session {
            SessionSelector::Key(key) => key.clone(),
            SessionSelector::Id(id) => format!("session:{id}"),
        };
        let disconnected = request.disconnected.clone();
        // Detached turns of this conversation need not wait any longer. Without any, nothing is sent.
        shared.next_turns.send(key.clone()).ok();
        let events = tokio::select! {
            events = shared.engine.consultant().turn(request) => events?,
            () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down()),
        };
        Ok(Self { shared, key, profile, disconnected, events: Some(events), began: None })
    }

    /// Waits for the next event; `None` when there are no more.
    pub(crate) async fn next(&mut self) -> Option<TurnEvent> {
        let event = self.events.as_mut()?.recv().await;
        self.note(event)
    }

    /// The next event, if there is one already.
    pub(crate) fn ready(&mut self) -> Option<TurnEvent> {
        let event = self.events.as_mut()?.try_recv().ok()?;
        self.note(Some(event))
    }

    /// Session and turn, once it runs.
    pub(crate) fn began(&self) -> Option<&(SessionId, TurnId)> {
        self.began.as_ref()
    }

    fn note(&mut self, event: Option<TurnEvent>) -> Option<TurnEvent> {
        if let Some(TurnEvent::Began { session, turn }) = &event {
            self.began = Some((session.clone(), turn.clone()));
        }
        if matches!(event, Some(TurnEvent::Ended(_)) | None) {
            self.events = None;
        }
        event
    }

    /// How long the turn continues without a reader; `None`: to its end.
    fn grace(&self) -> Option<Duration> {
        match (self.shared.config.disconnect, self.profile) {
            (Disconnect::Detach, _) => None,
            (Disconnect::StopAfter(grace), Profile::Plain) => Some(grace),
            (Disconnect::StopAfter(grace), _) => Some(grace.min(OPEN_WEBUI_GRACE)),
        }
    }
}

impl Drop for TurnStream {
    fn drop(&mut self) {
        let Some(events) = self.events.take() else { return };
        // This client will not read the end, whatever happens to the turn.
        self.disconnected.cancel();
        let Some(grace) = self.grace() else { return };
        if self.shared.shutdown.is_cancelled() {
            // Agents continue under their keepers while the server restarts.
            return;
        }
        let turn = DetachedTurn {
            next_turns: self.shared.next_turns.subscribe(),
            shared: self.shared.clone(),
            key: self.key.clone(),
            events,
            began: self.began.take(),
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.shared.tasks.spawn_on(turn.stop_after(grace), &runtime);
        }
    }
}

/// A turn whose client disconnected.
struct DetachedTurn {
    shared: Shared,
    key: String,
    /// The conversations of all turns that start.
    next_turns: broadcast::Receiver<String>,
    events: mpsc::Receiver<TurnEvent>,
    began: Option<(SessionId, TurnId)>,
}

impl DetachedTurn {
    async fn stop_after(mut self, grace: Duration) {
        let shutdown = self.shared.shutdown.clone();
        let timer = tokio::time::sleep(grace);
        tokio::pin!(timer);
        let mut waits = true;
        loop {
            if let (false, Some((session, turn))) = (waits, &self.began) {
                let stopped = self.shared.engine.consultant().stop_turn(session, turn);
                tracing::info!(%session, %turn, stopped, "stopped a turn whose client disconnected");
                break;
            }
            tokio::select! {
                event = self.events.recv() => {
                    if matches!(event, Some(TurnEvent::Ended(_)) | None) {
                        break;
                    }
                    if let Some(TurnEvent::Began { session, turn }) = event {
                        self.began = Some((session, turn));
                    }
                }
                () = &mut timer, if waits => waits = false,
                // After missed messages, the next turn may be among them.
                next = self.next_turns.recv(), if waits => waits = next.is_ok_and(|key| key != self.key),
                () = shutdown.cancelled() => break,
            }
        }
    }
}
