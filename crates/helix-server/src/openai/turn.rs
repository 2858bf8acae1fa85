//! A turn as one client attends it, and what becomes of it when the client goes away. Must not know any wire format.
//!
//! Runs belong to the engine's sessions, never to a connection: a client that goes away loses nothing but the view. [12]

use std::time::Duration;

use helix_core::ids::{SessionId, TurnId};
use helix_engine::consultant::{TurnEvent, TurnRequest};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use super::profile::Profile;
use crate::config::Disconnect;
use crate::problem::chain;
use crate::shared::Shared;

/// Longest time that a turn goes on after Open WebUI closed the connection. It does that for Stop alone: whoever reloads or
/// closes the page leaves its server reading (measured with 0.12.4).
const OPEN_WEBUI_GRACE: Duration = Duration::from_millis(300);

/// A turn that somebody reads.
pub(crate) struct Attended {
    shared: Shared,
    key: String,
    profile: Profile,
    disconnected: CancellationToken,
    /// `None` once the turn is over.
    events: Option<mpsc::Receiver<TurnEvent>>,
    began: Option<(SessionId, TurnId)>,
}

impl Attended {
    /// Asks the engine.
    ///
    /// # Errors
    /// [`ApiError`] when the turn cannot begin.
    pub(crate) async fn begin(
        shared: Shared,
        key: String,
        profile: Profile,
        request: TurnRequest,
    ) -> Result<Self, ApiError> {
        let disconnected = request.disconnected.clone();
        shared.abandoned.goes_on(&key);
        let events = shared.engine.turn(request).await?;
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
        match &event {
            Some(TurnEvent::Began { session, turn }) => self.began = Some((session.clone(), turn.clone())),
            Some(TurnEvent::Ended(_)) | None => self.events = None,
            Some(
                TurnEvent::Queued { .. }
                | TurnEvent::Waits { .. }
                | TurnEvent::Status { .. }
                | TurnEvent::JobNews { .. }
                | TurnEvent::Thinking { .. }
                | TurnEvent::Text { .. }
                | TurnEvent::ToolStarted { .. }
                | TurnEvent::ToolFinished { .. },
            ) => {}
        }
        event
    }
}

impl Attended {
    /// How long the turn goes on without a reader; `None`: to its end.
    fn grace(&self) -> Option<Duration> {
        match (self.shared.config.disconnect, self.profile) {
            (Disconnect::Detach, _) => None,
            (Disconnect::StopAfter(grace), Profile::OpenWebUi { .. }) => Some(grace.min(OPEN_WEBUI_GRACE)),
            (Disconnect::StopAfter(grace), Profile::Plain) => Some(grace),
        }
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        let Some(events) = self.events.take() else { return };
        // Whatever becomes of the turn: its end is not read by this client.
        self.disconnected.cancel();
        let Some(grace) = self.grace() else { return };
        if self.shared.shutdown.is_cancelled() {
            // Agents go on under their keepers while the server restarts.
            return;
        }
        let left = Left { shared: self.shared.clone(), key: self.key.clone(), events, began: self.began.take() };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.shared.tasks.spawn_on(left.stop_after(grace), &runtime);
        }
    }
}

/// A turn that nobody reads any more.
struct Left {
    shared: Shared,
    key: String,
    events: mpsc::Receiver<TurnEvent>,
    began: Option<(SessionId, TurnId)>,
}

impl Left {
    async fn stop_after(mut self, grace: Duration) {
        let goes_on = self.shared.abandoned.enter(&self.key);
        let shutdown = self.shared.shutdown.clone();
        let patience = tokio::time::sleep(grace);
        tokio::pin!(patience);
        let mut patient = true;
        loop {
            if let (false, Some((session, turn))) = (patient, &self.began) {
                self.stop(session, turn).await;
                break;
            }
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(TurnEvent::Began { session, turn }) => self.began = Some((session, turn)),
                    Some(TurnEvent::Ended(_)) | None => break,
                    Some(
                        TurnEvent::Queued { .. }
                        | TurnEvent::Waits { .. }
                        | TurnEvent::Status { .. }
                        | TurnEvent::JobNews { .. }
                        | TurnEvent::Thinking { .. }
                        | TurnEvent::Text { .. }
                        | TurnEvent::ToolStarted { .. }
                        | TurnEvent::ToolFinished { .. },
                    ) => {}
                },
                () = &mut patience, if patient => patient = false,
                () = goes_on.cancelled(), if patient => patient = false,
                () = shutdown.cancelled() => break,
            }
        }
        self.shared.abandoned.leave(&self.key);
    }

    /// Stops the turn, unless the session is at another one by now.
    async fn stop(&self, session: &SessionId, turn: &TurnId) {
        let engine = &self.shared.engine;
        let runs = match engine.session(session).await {
            Ok(view) => view.running().is_some_and(|running| &running.id == turn),
            Err(error) => {
                tracing::warn!(%session, error = chain(&error), "an abandoned turn's session cannot be read");
                return;
            }
        };
        if !runs {
            return;
        }
        match engine.stop_turn(session).await {
            Ok(stopped) => tracing::info!(%session, %turn, stopped, "the turn's client went away"),
            Err(error) => tracing::warn!(%session, %turn, error = chain(&error), "an abandoned turn cannot be stopped"),
        }
    }
}
