//! One conversation's loop: takes its turns one after the other, runs the agent, and keeps the record.
//!
//! Must not know other conversations, and nothing of who listens: a turn goes on when its listener is gone.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use helix_agents::{AgentAsk, SessionRef};
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{AgentSessionId, RunId, SessionId, TurnId};
use helix_core::job::{ErrorView, Recorded, describe, remedy};
use helix_core::run::{Ending, Outcome, Retry, RunFacts};
use helix_core::session::{SessionEvent, SessionView};
use helix_core::step_marker::MarkerFilter;
use helix_store::{Append, NewEvent, Projection, Stream};
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::{TurnEnded, TurnEvent, TurnRequest};
use crate::agent_run::{Listener, RunError, RunLimits, RunReport};

/// A turn that waits for its place.
pub(super) struct Waiting {
    pub(super) request: TurnRequest,
    pub(super) listener: mpsc::Sender<TurnEvent>,
    pub(super) place: Place,
}

/// Counts as an open turn of its conversation for as long as it exists.
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    /// Takes a place; returns how many are taken already.
    pub(super) fn take(open: &Arc<AtomicUsize>) -> (Self, usize) {
        let ahead = open.fetch_add(1, Ordering::Relaxed);
        (Self(Arc::clone(open)), ahead)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The loop's data.
pub(super) struct Room {
    desk: Arc<Desk>,
    view: SessionView,
    queue: mpsc::Receiver<Waiting>,
    /// Cancelled to stop the turn under way; a new one for each turn.
    stop: Arc<std::sync::Mutex<CancellationToken>>,
}

impl Room {
    pub(super) fn new(
        desk: Arc<Desk>,
        view: SessionView,
        queue: mpsc::Receiver<Waiting>,
        stop: Arc<std::sync::Mutex<CancellationToken>>,
    ) -> Self {
        Self { desk, view, queue, stop }
    }

    /// Answers turns until the engine closes or nobody can ask any more.
    pub(super) async fn run(mut self) {
        let closing = self.desk.closing.clone();
        let work = async {
            self.finish_interrupted_turn().await;
            while let Some(waiting) = self.queue.recv().await {
                self.answer(waiting).await;
            }
        };
        tokio::select! {
            () = closing.cancelled() => {}
            () = work => {}
        }
    }

    /// A turn that a former host began: its run went on under its keeper, so that its answer is only to be read.
    async fn finish_interrupted_turn(&mut self) {
        let Some(open) = self.view.running().cloned() else { return };
        let mut ears = Ears { listener: None, filter: MarkerFilter::default() };
        match self.desk.runner.follow(&open.run, &mut ears).await {
            Ok(report) => self.conclude(&open.id, &report).await,
            Err(error) => {
                tracing::warn!(session = %self.view.id, %error, "a turn of a former host cannot be read");
                self.conclude(&open.id, &lost_report()).await;
            }
        }
    }

    async fn answer(&mut self, waiting: Waiting) {
        let _place = waiting.place;
        let turn = TurnId::nth(&self.view.id, self.view.turns.len() as u32 + 1);
        let mut ears = Ears { listener: Some(waiting.listener), filter: MarkerFilter::default() };
        // No child of `closing`: when the engine closes, the agent goes on under its keeper.
        let stop = CancellationToken::new();
        *crate::job::lock(&self.stop) = stop.clone();
        let resume = self.view.resumable().cloned();
        let began = self.begin(&turn, &waiting.request, resume.clone()).await;
        let result = match began {
            Ok(()) => {
                ears.tell(TurnEvent::Began { session: self.view.id.clone(), turn: turn.clone() }).await;
                self.ask_agent(&turn, &waiting.request, resume, &stop, &mut ears).await
            }
            Err(message) => Err(message),
        };
        let ended = match result {
            Ok(report) => {
                self.conclude(&turn, &report).await;
                ended(&report)
            }
            Err(error) => {
                let report = lost_report();
                self.conclude(&turn, &report).await;
                TurnEnded { error: Some(error), ..ended(&report) }
            }
        };
        ears.finish(ended).await;
    }

    /// Runs the agent; a session that the agent has lost is rebuilt once from Helix's own record [T8].
    async fn ask_agent(
        &self,
        turn: &TurnId,
        request: &TurnRequest,
        resume: Option<AgentSessionId>,
        stop: &CancellationToken,
        ears: &mut Ears,
    ) -> Result<RunReport, ErrorView> {
        let resumed = resume.is_some();
        let report = self.run_once(turn, 1, request, resume, stop, ears).await?;
        let lost =
            resumed && matches!(Outcome::from_facts(&report.facts), Outcome::Misconfigured | Outcome::Unstarted { .. });
        if !lost {
            return Ok(report);
        }
        let text = "The agent has lost this conversation; it starts anew with the record of it".to_owned();
        ears.tell(TurnEvent::Status { text }).await;
        self.run_once(turn, 2, request, None, stop, ears).await
    }

    async fn run_once(
        &self,
        turn: &TurnId,
        number: u32,
        request: &TurnRequest,
        resume: Option<AgentSessionId>,
        stop: &CancellationToken,
        ears: &mut Ears,
    ) -> Result<RunReport, ErrorView> {
        let run = RunId::for_turn(turn, number);
        let ask = self.make_ask(&run, request, resume).await?;
        let limits = RunLimits { deadline: Some(self.desk.config.turn_timeout), stop };
        let result = self.desk.runner.run(&self.view.agent, &run, || ask, limits, ears).await;
        result.map_err(|error| {
            let hint = match &error {
                RunError::UnknownAgent { .. } => "set [consultant] agent in helix.toml to one that is there",
                _ => "run `helix doctor`",
            };
            ErrorView { message: crate::job::environment(&error).message, hint: Some(hint.into()) }
        })
    }

    async fn make_ask(
        &self,
        run: &RunId,
        request: &TurnRequest,
        resume: Option<AgentSessionId>,
    ) -> Result<AgentAsk, ErrorView> {
        let unusable = |message: String| ErrorView { message, hint: None };
        let cwd = PathBuf::from(&self.view.directory);
        let prompt = match &resume {
            Some(_) => request.message.clone(),
            None => self.desk.with_history(&self.view, request),
        };
        let session = match resume {
            Some(session) => SessionRef::Resume(session),
            None => {
                let id = AgentSessionId::new(uuid::Uuid::now_v7().to_string());
                SessionRef::New(id.map_err(|error| unusable(error.to_string()))?)
            }
        };
        let mut ask = AgentAsk::new(prompt, session, cwd, self.desk.runner.agent_files(run));
        ask.system = Some(self.desk.system_prompt(&self.view, request).await?);
        ask.model = request.model.clone().or_else(|| self.desk.config.model.clone());
        ask.tools = self.desk.tool_rules(&self.view);
        ask.mcp = self.desk.tool_server(&self.view.id).into_iter().collect();
        ask.label = Some("consultant".into());
        Ok(ask)
    }

    async fn begin(
        &mut self,
        turn: &TurnId,
        request: &TurnRequest,
        resume: Option<AgentSessionId>,
    ) -> Result<(), ErrorView> {
        // Jobs may have been started from this conversation meanwhile: the record is read again.
        let event = SessionEvent::TurnStarted {
            turn: turn.clone(),
            run: RunId::for_turn(turn, 1),
            message: request.message.clone(),
            resume,
        };
        self.record(event).await
    }

    async fn conclude(&mut self, turn: &TurnId, report: &RunReport) {
        let event = SessionEvent::TurnFinished {
            turn: turn.clone(),
            facts: Box::new(report.facts.clone()),
            answer: report.answer.clone(),
            usage: report.usage,
            session: report.session.clone(),
        };
        if let Err(error) = self.record(event).await {
            tracing::error!(session = %self.view.id, message = error.message, "the end of a turn is not recorded");
        }
    }

    /// Makes an event durable, after whatever the tools have recorded in this conversation meanwhile.
    async fn record(&mut self, event: SessionEvent) -> Result<(), ErrorView> {
        match self.desk.record(&self.view.id, event).await {
            Ok(view) => {
                self.view = view;
                Ok(())
            }
            Err(error) => Err(ErrorView {
                message: format!("the conversation cannot be recorded: {error}"),
                hint: Some("check that the state directory is writable and not full".into()),
            }),
        }
    }
}

/// How a turn ended, for its listener.
fn ended(report: &RunReport) -> TurnEnded {
    let outcome = Outcome::from_facts(&report.facts);
    let error = match outcome.retry() {
        Retry::Accept => None,
        Retry::Resume | Retry::Fresh | Retry::Later(_) | Retry::Never => {
            Some(ErrorView { message: describe(&outcome), hint: remedy(&outcome) })
        }
    };
    TurnEnded {
        outcome,
        answer: helix_core::step_marker::split(&report.answer).0.to_owned(),
        usage: report.usage,
        error,
    }
}

/// What is known of a run that nobody can read.
fn lost_report() -> RunReport {
    RunReport::without_record(RunFacts::without_record(Ending::Unknown, None))
}

/// Turns what the agent does into what the user sees.
struct Ears {
    listener: Option<mpsc::Sender<TurnEvent>>,
    filter: MarkerFilter,
}

impl Ears {
    async fn tell(&mut self, event: TurnEvent) {
        if let Some(listener) = &self.listener
            && listener.send(event).await.is_err()
        {
            // The client is gone; the turn goes on and its answer is kept.
            self.listener = None;
        }
    }

    async fn finish(mut self, ended: TurnEnded) {
        let (rest, _marker) = std::mem::take(&mut self.filter).finish();
        if !rest.is_empty() {
            self.tell(TurnEvent::Text { text: rest }).await;
        }
        self.tell(TurnEvent::Ended(Box::new(ended))).await;
    }
}

impl Listener for Ears {
    async fn hear(&mut self, event: AgentEvent) {
        let shown = match event {
            // Whole texts repeat their fragments; what sub-agents say among themselves is not the answer.
            AgentEvent::Text { text, partial: true, parent: None } => TurnEvent::Text { text: self.filter.push(&text) },
            AgentEvent::Thinking { text, partial: true, parent: None } => TurnEvent::Thinking { text },
            AgentEvent::ToolStarted { id, name, input, parent: _ } => TurnEvent::ToolStarted { id, name, input },
            AgentEvent::ToolFinished { id, output, failed } => TurnEvent::ToolFinished { id, output, failed },
            AgentEvent::ApiRetry { attempt, max, delay_ms, reason } => TurnEvent::Status {
                text: format!(
                    "The provider is in trouble ({reason}); try {attempt} of {max} in {:.1} s",
                    delay_ms as f64 / 1000.0
                ),
            },
            AgentEvent::RateLimited { rejected: true, resets_at } => TurnEvent::Status {
                text: match resets_at {
                    Some(at) => format!("The provider's limit is reached until {at}"),
                    None => "The provider's limit is reached".into(),
                },
            },
            AgentEvent::Question { text } => TurnEvent::Status { text },
            AgentEvent::Text { .. }
            | AgentEvent::Thinking { .. }
            | AgentEvent::RateLimited { .. }
            | AgentEvent::Started { .. }
            | AgentEvent::UsageReported { .. }
            | AgentEvent::Finished { .. }
            | AgentEvent::Unrecognised { .. } => return,
        };
        if !matches!(&shown, TurnEvent::Text { text } if text.is_empty()) {
            self.tell(shown).await;
        }
    }
}

/// Adds an event to a session's view and makes the append that stores both.
pub(super) fn append_of(
    view: SessionView,
    event: SessionEvent,
) -> Result<(Append, SessionView), Box<dyn std::error::Error + Send + Sync>> {
    let (id, last): (SessionId, u64) = (view.id.clone(), view.last_event);
    let recorded = Recorded { number: last + 1, at: Timestamp::now(), event };
    let new = NewEvent::of(recorded.at, &recorded.event)?;
    let view = SessionView::apply(Some(view), &id, &recorded)?;
    let append =
        Append::to(Stream::Session(id), vec![new]).after(last).with(Projection::Session(Box::new(view.clone())));
    Ok((append, view))
}
