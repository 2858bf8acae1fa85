//! A turn's events for one client, and what happens to the turn when the client disconnects.
//!
//! Must not know any wire format. Runs belong to the engine's sessions, never to a connection.

use std::collections::VecDeque;
use std::time::Duration;

use helix_core::ids::{SessionId, TurnId};
use helix_engine::consultant::{Purpose, TurnError, TurnEvent, TurnRequest};
use helix_language::Language;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::error::ApiError;
use super::links::Links;
use crate::config::Disconnect;
use crate::connection::Line;
use crate::profile::Profile;
use crate::state::{AskedSince, AskedTurn, ServerState};

/// Longest time that a turn continues after Open WebUI closed the connection. It does that for Stop alone: when a page is
/// reloaded or closed, its server keeps reading (measured with 0.12.4).
const OPEN_WEBUI_GRACE: Duration = Duration::from_millis(300);

/// A turn that a client reads.
pub(crate) struct TurnStream {
    profile: Profile,
    disconnected: CancellationToken,
    /// `None` once the turn is over.
    turn: Option<OpenTurn>,
    began: Option<(SessionId, TurnId)>,
    /// What is told before anything else.
    first: Option<TurnEvent>,
    pub(super) session: SessionId,
    /// Has links open in a browser.
    pub(super) links: Links,
    /// Events to be shown.
    ready: VecDeque<TurnEvent>,
}

/// A turn that is not over, as far as anybody knows.
struct OpenTurn {
    shared: ServerState,
    asked: watch::Receiver<AskedSince>,
    line: Line,
    events: mpsc::Receiver<TurnEvent>,
}

impl TurnStream {
    /// Starts a turn; `first` is what the client is told before its events, `links` what its links become.
    ///
    /// # Errors
    /// [`ApiError`] when it cannot start.
    pub(crate) async fn begin(
        shared: ServerState,
        profile: Profile,
        line: Line,
        mut request: TurnRequest,
        first: Option<TurnEvent>,
        mut links: Links,
    ) -> Result<Self, ApiError> {
        let disconnected = request.disconnected.clone();
        let language = request.language();
        let starting = async {
            let session = shared.engine.consultant().locate(&mut request).await?;
            let continues = request.purpose == Purpose::Continue;
            let language = request.language();
            // From here on: a later message may come before it is seen that the client of this one has gone.
            let turn = AskedTurn { session: session.clone(), request: request.client.request.clone(), continues };
            let asked = shared.open_turns.add(turn);
            Ok::<_, TurnError>((session, asked, language, shared.engine.consultant().turn(request).await?))
        };
        let (session, asked, language, events) = tokio::select! {
            started = starting => started?,
            () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down(language, None)),
        };
        links.language = language;
        let turn = OpenTurn { shared: shared.clone(), asked, line, events };
        Ok(Self { profile, disconnected, turn: Some(turn), began: None, first, session, links, ready: VecDeque::new() })
    }

    /// Waits for the next event; `None` when there are no more.
    pub(crate) async fn next(&mut self) -> Option<TurnEvent> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let event = self.turn.as_mut()?.events.recv().await;
        match &event {
            Some(TurnEvent::Began { session, turn }) => self.began = Some((session.clone(), turn.clone())),
            Some(TurnEvent::Ended(_)) | None => self.turn = None,
            Some(_) => {}
        }
        event
    }

    /// The same as the client is to see it.
    pub(crate) async fn next_shown(&mut self) -> Option<TurnEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let event = self.next().await?;
            self.ready.extend(self.links.apply(event).await);
        }
    }

    /// What Helix itself says is in this language.
    pub(crate) fn language(&self) -> Language {
        self.links.language
    }

    /// Session and turn, once it runs.
    pub(crate) fn began(&self) -> Option<&(SessionId, TurnId)> {
        self.began.as_ref()
    }
}

impl Drop for TurnStream {
    fn drop(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        // This client will not read the end, whatever happens to the turn.
        self.disconnected.cancel();
        let grace = match (turn.shared.config.disconnect, self.profile) {
            (Disconnect::Detach, _) => return,
            (Disconnect::StopAfter(grace), profile) if profile.is_open_webui() => grace.min(OPEN_WEBUI_GRACE),
            (Disconnect::StopAfter(grace), _) => grace,
        };
        if turn.shared.is_ending() {
            // Agents continue under their keepers while the server restarts.
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let tasks = turn.shared.tasks.clone();
            tasks.spawn_on(turn.stop_after(grace, self.began.take()), &runtime);
        }
    }
}

impl OpenTurn {
    /// Stops the turn after this time, or when its session has got another message. A client whose connection broke has
    /// asked for nothing: its turn has all the time, and who asks for the rest of its answer wants it to go on.
    async fn stop_after(mut self, grace: Duration, mut began: Option<(SessionId, TurnId)>) {
        let shutdown = self.shared.shutdown.clone();
        let (timer, is_lost) = (tokio::time::sleep(grace), self.line.is_lost());
        tokio::pin!(timer);
        let enough = if is_lost { AskedSince::Message } else { AskedSince::Rest };
        let mut waits = true;
        loop {
            if let (false, Some((session, turn))) = (waits, &began) {
                let stopped = self.shared.engine.consultant().stop_turn(session, turn);
                tracing::info!(%session, %turn, stopped, "stopped a turn whose client disconnected");
                break;
            }
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(TurnEvent::Ended(_)) | None => break,
                    Some(TurnEvent::Began { session, turn }) => began = Some((session, turn)),
                    Some(_) => {}
                },
                () = &mut timer, if waits && !is_lost => waits = false,
                _ = self.asked.wait_for(|asked| *asked >= enough), if waits => waits = false,
                () = shutdown.cancelled() => break,
            }
        }
    }
}
