//! One session's loop: takes its turns one after the other, runs the agent, and keeps the record.
//!
//! Must not know other sessions, and nothing of who listens: a turn goes on when its listener is gone.

mod corrections;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use helix_agents::{AgentAsk, SessionRef};
use helix_core::ids::{RunId, TurnId};
use helix_core::run::{Ending, Outcome, Retry, RunFacts};
use helix_core::step_marker;
use helix_core::usage::Usage;
use helix_job::session::{
    Attachment, SessionEvent, SessionView, TextDigest, TextRelation, TurnEnd, TurnParent, TurnStart, TurnView,
    relation, rest_after,
};
use helix_language::{ErrorView, Language, say};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::agent_words;
use super::context::{self, Context};
use super::job_digest;
use super::locator::{self, Account, Difference, Located, TurnPosition};
use super::services::ConsultantServices;
use super::turn_output::TurnOutput;
use super::{Purpose, TurnEnded, TurnEvent, TurnRequest, phrases, uploads, user_words};
use corrections::Enforced;
use helix_project::chosen::note_project;
use helix_runs::admission::{Owner, Ticket, Urgency};
use helix_runs::agent_run::{AgentRunner, Entry, RunError, RunLimits, RunReport};
use helix_runs::event_log::{SessionLog, settled, turn_name};
use helix_runs::mutex::lock;
use helix_runs::services::SavePlace;

/// A turn that waits for its place.
pub(super) struct QueuedTurn {
    pub(super) request: TurnRequest,
    pub(super) listener: mpsc::Sender<TurnEvent>,
    pub(super) permit: TurnPermit,
}

/// Counts as an open turn of its session for as long as it exists.
pub(super) struct TurnPermit(Arc<watch::Sender<usize>>);

impl TurnPermit {
    /// Takes a permit; returns how many are taken already.
    pub(super) fn take(open: &Arc<watch::Sender<usize>>) -> (Self, usize) {
        let mut ahead = 0;
        open.send_modify(|open| {
            ahead = *open;
            *open += 1;
        });
        (Self(Arc::clone(open)), ahead)
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// The loop's data.
pub(super) struct SessionActor {
    services: Arc<ConsultantServices>,
    pub(super) log: SessionLog,
    queue: mpsc::Receiver<QueuedTurn>,
    pub(super) running: Arc<Mutex<Option<RunningTurn>>>,
    /// Why the end of a turn could not be recorded: a new actor has to read the record anew.
    failed: Option<ErrorView>,
}

/// The turn that can be stopped.
#[derive(Clone)]
pub(super) struct RunningTurn {
    pub(super) turn: TurnId,
    pub(super) stop: CancellationToken,
}

/// A turn under way.
struct ActiveTurn {
    turn: TurnId,
    /// The turn whose answer it continues.
    continues: Option<TurnId>,
    model: Option<String>,
    started: Instant,
    /// Runs so far.
    runs: u32,
    /// What the runs before the last one consumed.
    usage: Usage,
    stop: CancellationToken,
    output: TurnOutput,
    /// Its place among the session's open turns, given up before its end is told: a listener that hears of the end may then
    /// trust in the count.
    permit: Option<TurnPermit>,
}

impl SessionActor {
    pub(super) fn new(services: Arc<ConsultantServices>, view: SessionView, queue: mpsc::Receiver<QueuedTurn>) -> Self {
        let log = services.log(view);
        Self { services, log, queue, running: Arc::default(), failed: None }
    }

    fn view(&self) -> &SessionView {
        &self.log.state.view
    }

    /// Answers turns until the engine closes or nobody can ask any more. `interrupted` is the permit of a turn that a former host
    /// began. `let_go` is called whenever nobody has asked for as long as `idle`, and may see to it that nobody can.
    pub(super) async fn run(mut self, interrupted: Option<TurnPermit>, idle: Duration, let_go: impl Fn()) {
        let closing = self.services.host.closing.clone();
        let work = async {
            self.finish_interrupted_turn(interrupted).await;
            loop {
                match tokio::time::timeout(idle, self.queue.recv()).await {
                    Ok(Some(queued)) => Box::pin(self.answer(queued)).await,
                    Ok(None) => break,
                    Err(_) => let_go(),
                }
                if self.failed.is_some() {
                    self.queue.close();
                }
            }
        };
        tokio::select! {
            () = closing.cancelled() => {}
            () = work => {}
        }
    }

    /// A turn that a former host began: its run went on under its keeper, so that its answer is only to be read.
    async fn finish_interrupted_turn(&mut self, permit: Option<TurnPermit>) {
        let Some(open) = self.view().running().cloned() else { return };
        let runs = runs_of(&self.services.runner, &open.id);
        let language = user_words::language_at(self.services.journal(), Some(open.id.clone())).await;
        let language = language.unwrap_or_else(|error| {
            tracing::warn!(session = %self.view().id, %error, "the language of a session cannot be read");
            None
        });
        let output = TurnOutput::without_client(language.unwrap_or_default());
        let mut work = self.active(open.id, open.continues, open.begin.model, output, permit);
        let mut done = Vec::new();
        for run in &runs {
            let report = match self.services.runner.go_on(run, &work.stop, &mut work.output).await {
                Ok(report) => report,
                // The host died before a keeper claimed this correction: it asked nothing yet and is begun now.
                Err(RunError::Unknown { .. }) if !done.is_empty() => break,
                Err(error) => {
                    tracing::warn!(session = %self.view().id, %run, %error, "a run of a former host cannot be read");
                    unrecorded(Ending::Unknown)
                }
            };
            work.output.end_of_run().await;
            done.push((run.clone(), report));
        }
        work.runs = u32::try_from(done.len()).unwrap_or(u32::MAX);
        for (_, report) in done.iter().rev().skip(1) {
            work.usage += report.usage;
        }
        let enforced = self.enforce(&mut work, done).await;
        self.conclude(&mut work, enforced, None).await;
    }

    async fn answer(&mut self, waiting: QueuedTurn) {
        let QueuedTurn { request, listener, permit } = waiting;
        let mut output = TurnOutput::to_client(listener, request.disconnected.clone(), request.language());
        output.is_read_along(request.reads_along);
        // Jobs may have been started from this session meanwhile: the record is read again.
        let ended = match self.locate(&request).await {
            Ok(Located::New(position)) => return self.take_turn(request, *position, output, permit).await,
            Ok(Located::Again(turn, shown)) => self.tell_again(&turn, &shown, &mut output).await,
            Ok(Located::Unheard(turn, shown)) => match self.record_again(&turn, &request, &output).await {
                Ok(turn) => self.tell_again(&turn, &shown, &mut output).await,
                Err(error) => refused(error),
            },
            Err(error) => refused(error),
        };
        drop(permit);
        output.finish(ended).await;
    }

    async fn locate(&mut self, request: &TurnRequest) -> Result<Located, ErrorView> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.log.reload().await.map_err(|error| error.view())?;
        locator::locate(self.services.journal(), self.view(), request)
            .await
            .map_err(phrases::unreadable_record(request.language()))
    }

    /// Gives the answer of a turn that is over to anyone who asks for it again, without what they show of it.
    async fn tell_again(&self, turn: &TurnView, shown: &str, output: &mut TurnOutput) -> TurnEnded {
        output.tell(TurnEvent::Began { session: turn.session.clone(), turn: turn.id.clone() }).await;
        let language = output.language();
        output.tell(TurnEvent::Status { text: say!(language, "chat-answered-before") }).await;
        let Some(end) = &turn.end else { return refused(phrases::no_end(language)) };
        let text = rest_after(end.text(), shown).unwrap_or(end.text());
        output.tell(TurnEvent::Text { text: text.to_owned() }).await;
        if let Some(text) = end.note.clone() {
            output.tell(TurnEvent::Note { text }).await;
        }
        let outcome = Outcome::from_facts(&end.facts);
        TurnEnded {
            error: phrases::of_outcome(language, &outcome),
            outcome,
            answer: end.text().to_owned(),
            usage: end.usage,
            took: Duration::ZERO,
            is_in_order: end.note.is_none(),
        }
    }

    /// Records that an answer that nobody has read is given as the answer to this request: a turn without a run, known by the
    /// request's ids, at the same place. A later request of the same words wants another answer.
    async fn record_again(
        &mut self,
        turn: &TurnView,
        request: &TurnRequest,
        output: &TurnOutput,
    ) -> Result<TurnView, ErrorView> {
        let Some(end) = turn.end.clone() else { return Err(phrases::no_end(request.language())) };
        let id = self.view().next_turn();
        let begin = TurnStart { client: request.client.clone(), ..turn.begin.clone() };
        let started =
            SessionEvent::TurnStarted { turn: id.clone(), place: TurnParent::from_turn(turn), resume: None, begin };
        let end = TurnEnd { usage: Usage::default(), runs: 0, delivery: output.delivery(), ..end };
        let events = [started, SessionEvent::TurnFinished { turn: id.clone(), end }];
        settled(self.log.record_once(&events).await)?;
        let recorded = self.services.journal().turn(id).await;
        let recorded = recorded.map_err(phrases::unreadable_record(request.language()))?;
        recorded.ok_or_else(|| phrases::no_end(request.language()))
    }

    /// Carries a new turn out, from its beginning in the record to its end.
    async fn take_turn(
        &mut self,
        request: TurnRequest,
        mut position: TurnPosition,
        output: TurnOutput,
        permit: TurnPermit,
    ) {
        let continued = position.parent.as_ref().filter(|_| request.purpose == Purpose::Continue);
        let continues = continued.map(|turn| turn.id.clone());
        let mut work = self.active(self.view().next_turn(), continues, request.model.clone(), output, Some(permit));
        if !self.services.config.enforcement.is_off() {
            work.output.check_drafts();
        }
        let result = self.begin_and_ask(&mut work, &request, &mut position).await;
        let (enforced, error) = match result {
            Ok(report) => {
                let run = RunId::for_turn(&work.turn, work.runs);
                (self.enforce(&mut work, vec![(run, report)]).await, None)
            }
            Err(error) => {
                let report = unrecorded(Ending::NotStarted { reason: error.words(), errno: None });
                (Enforced::unchanged(report), Some(error))
            }
        };
        let ended = self.conclude(&mut work, enforced, error).await;
        drop(work.permit.take());
        work.output.finish(ended).await;
    }

    async fn begin_and_ask(
        &mut self,
        work: &mut ActiveTurn,
        request: &TurnRequest,
        position: &mut TurnPosition,
    ) -> Result<RunReport, ErrorView> {
        let language = request.language();
        self.note_project(language).await?;
        let attachments = uploads::keep(&self.view().directory, &request.uploads, language).await?;
        // What came in the course of the turn that this one goes on from, its agent need not have seen.
        let since = position.parent.as_ref().map(|parent| parent.started_at);
        let digests = job_digest::since(self.services.journal(), &self.view().jobs, since).await;
        let digests = digests.map_err(phrases::unreadable_record(language))?;
        position.differences.extend(digests.iter().map(|digest| Difference::Job(digest.text.clone())));
        let position = &*position;
        let context = context::at(self.services.journal(), self.view(), position, request).await?;
        // The user's words are those of the answer that is continued.
        let continued = position.parent.as_ref().filter(|_| work.continues.is_some());
        let facts = self.services.facts(self.view(), request.system.as_deref(), request.confirms).await;
        let facts = facts.map_err(|error| phrases::own_failure(language, &error))?;
        // What the agent's session was told of with the message before is named once.
        let before = position.parent.as_ref().filter(|parent| context.resumes().is_some() && parent.is_answered());
        let known: &[Attachment] = before.map_or(&[], |parent| &parent.begin.attachments);
        let new: Vec<&Attachment> =
            attachments.iter().filter(|one| !known.iter().any(|it| it.path == one.path)).collect();
        let files = uploads::named(&self.view().directory, &new);
        let begin = TurnStart {
            run: RunId::for_turn(&work.turn, 1),
            message: request.message.clone(),
            asked: continued.map_or_else(|| TextDigest::new(&request.words), |turn| turn.begin.asked.clone()),
            client: request.client.clone(),
            model: work.model.clone(),
            attachments,
            before: locator::said_elsewhere(&request.history)
                .filter(|_| position.parent.is_none() && position.account == Account::Client),
            confirms: request.confirms,
            agent_session: Some(context.writes_to().clone()),
            facts: facts.digests(),
        };
        self.record(SessionEvent::TurnStarted {
            turn: work.turn.clone(),
            place: position.in_record(request.purpose),
            resume: context.resumes().cloned(),
            begin,
        })
        .await?;
        work.output.tell(TurnEvent::Began { session: self.view().id.clone(), turn: work.turn.clone() }).await;
        for turn in &position.unheard {
            let Some(end) = &turn.end else { continue };
            let answer = phrases::unheard(language, &turn.begin.message, end.text());
            let text = [Some(answer), end.note.clone()].into_iter().flatten().collect::<Vec<_>>().join("\n");
            work.output.tell(TurnEvent::Note { text }).await;
        }
        if let Some((turn, note)) =
            position.untold.as_ref().and_then(|turn| Some((turn, turn.end.as_ref()?.note.as_ref()?)))
        {
            let text = phrases::untold(language, &turn.begin.message, note);
            work.output.tell(TurnEvent::Note { text }).await;
        }
        // What stands in the answer before needs no second telling; a job that was resumed may have ended once more the same way.
        for digest in digests.iter().filter(|one| phrases::ends_told(&request.last_shown, &one.job) < one.ends.max(1)) {
            let note = digest.job.status.is_final().then(|| phrases::job_over(language, &digest.job));
            let text = phrases::since_last_message(language, &digest.job);
            let job = digest.job.id.clone();
            work.output.tell(TurnEvent::JobNews { job, text, note }).await;
        }
        let prompt = |context: &Context| context.prompt(&facts, &files, &request.message);
        self.ask_agent(work, request, position, context, &prompt).await
    }

    /// Has the save hook know the project that the record has.
    async fn note_project(&self, language: Language) -> Result<(), ErrorView> {
        let (own, project) = (PathBuf::from(&self.view().directory), self.view().project.clone().map(PathBuf::from));
        let noted = tokio::task::spawn_blocking(move || note_project(own.parent().unwrap_or(&own), project.as_deref()));
        noted.await.map_err(std::io::Error::other).flatten().map_err(phrases::not_noted(language))
    }

    /// Runs the agent; a session that the agent has lost is rebuilt once from Helix's own record.
    async fn ask_agent(
        &self,
        work: &mut ActiveTurn,
        request: &TurnRequest,
        position: &TurnPosition,
        context: Context,
        prompt: &(dyn Fn(&Context) -> String + Sync),
    ) -> Result<RunReport, ErrorView> {
        let resumed = context.resumes().is_some();
        let report = self.run_once(work, &prompt(&context), context.session).await?;
        let lost =
            resumed && matches!(Outcome::from_facts(&report.facts), Outcome::Misconfigured | Outcome::Unstarted { .. });
        if !lost {
            return Ok(report);
        }
        work.output.tell(TurnEvent::Status { text: say!(work.output.language(), "chat-session-lost") }).await;
        work.usage += report.usage;
        let context = context::rebuilt(self.services.journal(), position, request).await?;
        self.run_once(work, &prompt(&context), context.session).await
    }

    /// One run of the turn, the next by number.
    async fn run_once(&self, work: &mut ActiveTurn, prompt: &str, session: SessionRef) -> Result<RunReport, ErrorView> {
        work.runs += 1;
        let run = RunId::for_turn(&work.turn, work.runs);
        let ask = self.make_ask(work, &run, prompt, session).await?;
        let owner = Owner::Session(self.view().id.clone());
        let entry = Entry::Ticket(Ticket { owner, phase: None, urgency: Urgency::Person });
        let limits = RunLimits { deadline: Some(self.services.config.turn_timeout), stop: &work.stop, entry };
        let place = format!("run {}.{}", turn_name(&work.turn), work.runs);
        self.services.host.writer.crash.pass(|| format!("before {place}"));
        let result = self.services.runner.run(&self.view().agent, &run, || ask, limits, &mut work.output).await;
        self.services.host.writer.crash.pass(|| format!("after {place}"));
        work.output.end_of_run().await;
        result.map_err(|error| phrases::run_failed(work.output.language(), &error))
    }

    async fn make_ask(
        &self,
        work: &ActiveTurn,
        run: &RunId,
        prompt: &str,
        session: SessionRef,
    ) -> Result<AgentAsk, ErrorView> {
        let cwd = PathBuf::from(&self.view().directory);
        let mut ask = AgentAsk::new(prompt.to_owned(), session, cwd, self.services.runner.agent_files(run));
        ask.system = Some(self.services.system_prompt(self.view(), work.output.language())?);
        ask.model = work.model.clone().or_else(|| self.services.config.model.clone());
        ask.tools = ConsultantServices::tool_access(self.view());
        ask.mcp = self.services.host.tool_server(run).into_iter().collect();
        let own = Path::new(&self.view().directory);
        ask.after_write = Some(self.services.host.save_hook(SavePlace::Session(own.parent().unwrap_or(own))));
        ask.agents = self.services.config.experts.clone();
        ask.label = Some("consultant".into());
        let (services, view) = (Arc::clone(&self.services), self.view().clone());
        // Ended early, it opens nothing more: only a runtime that is shutting down does that.
        let mut tools = std::mem::take(&mut ask.tools);
        let kept = tokio::task::spawn_blocking(move || {
            let mut walls = services.walls(&view);
            services.keep_rules(&view, &mut tools, &mut walls);
            (tools, walls)
        });
        (ask.tools, ask.walls) = kept.await.unwrap_or_default();
        Ok(ask)
    }

    /// The end of a turn: looks at what its last run left, and records it. Everything that ends a turn comes through here;
    /// what wants another run of the same turn first (such as a correction) calls [`SessionActor::run_once`] with `work`.
    ///
    /// `refused` is why the agent could not be asked at all.
    async fn conclude(&mut self, work: &mut ActiveTurn, enforced: Enforced, refused: Option<ErrorView>) -> TurnEnded {
        let Enforced { report, note, unfixed } = enforced;
        work.output.release().await;
        let usage = work.usage + report.usage;
        let plain = step_marker::visible(&report.answer);
        if work.output.shown().is_empty() && !plain.is_empty() {
            // An agent that does not stream gives its answer only here.
            let text = agent_words::of_whole(&plain).into_owned();
            work.output.tell(TurnEvent::Text { text }).await;
        }
        let shown = work.output.shown().to_owned();
        let answer = if shown.is_empty() { plain.clone() } else { shown.clone() };
        let outcome = Outcome::from_facts(&report.facts);
        let is_empty = outcome.retry() == Retry::Accept && answer.trim().is_empty();
        let empty = is_empty.then(|| phrases::empty_answer(work.output.language()));
        let note = empty.into_iter().chain(note).reduce(|first, second| format!("{first}\n{second}"));
        let end = TurnEnd {
            facts: Box::new(report.facts.clone()),
            shown: (!shown.is_empty() && relation(&shown, step_marker::split(&report.answer).0) != TextRelation::Same)
                .then_some(shown),
            answered: self.answered(work, work.output.read().unwrap_or(&answer)).await,
            answer: report.answer.clone(),
            usage,
            session: report.session.clone(),
            point: report.point.clone(),
            runs: work.runs.max(1),
            delivery: work.output.delivery(),
            note: note.clone(),
            unfixed,
        };
        let event = SessionEvent::TurnFinished { turn: work.turn.clone(), end };
        let error = refused.or_else(|| phrases::of_outcome(work.output.language(), &outcome));
        let (took, is_in_order) = (work.started.elapsed(), note.is_none());
        let mut ended = TurnEnded { error, outcome, answer, usage, took, is_in_order };
        if self.view().running().is_some_and(|running| running.id == work.turn)
            && let Err(error) = self.record_for(work, event).await
        {
            tracing::error!(session = %self.view().id, message = error.message, "the end of a turn is not recorded");
            self.failed = Some(error.clone());
            ended.error.get_or_insert(error);
        }
        if let Some(text) = note {
            work.output.tell(TurnEvent::Note { text }).await;
        }
        ended
    }

    /// Digest of what the client shows as this answer: with the one that it continues, which for the client is the same.
    async fn answered(&self, work: &ActiveTurn, answer: &str) -> Option<TextDigest> {
        let (mut text, mut before) = (answer.to_owned(), work.continues.clone());
        while let Some(id) = before {
            let turn = self.services.journal().turn(id).await.ok().flatten()?;
            text.insert_str(0, turn.end.as_ref().map_or("", |end| end.text()));
            before = turn.continues;
        }
        (!text.trim().is_empty()).then(|| TextDigest::new(&text))
    }

    /// A turn that can be stopped from now on.
    fn active(
        &self,
        turn: TurnId,
        continues: Option<TurnId>,
        model: Option<String>,
        output: TurnOutput,
        permit: Option<TurnPermit>,
    ) -> ActiveTurn {
        // No child of `closing`: when the engine closes, the agent goes on under its keeper.
        let stop = CancellationToken::new();
        *lock(&self.running) = Some(RunningTurn { turn: turn.clone(), stop: stop.clone() });
        let started = Instant::now();
        ActiveTurn { turn, continues, model, started, runs: 0, usage: Usage::default(), stop, output, permit }
    }

    /// Makes an event durable, or says at once why that cannot be done.
    async fn record(&mut self, event: SessionEvent) -> Result<(), ErrorView> {
        settled(self.log.record_once(&[event]).await)
    }

    /// Makes an event of a turn durable that must not be lost: retries, and shows the client why the turn waits.
    async fn record_for(&mut self, work: &mut ActiveTurn, event: SessionEvent) -> Result<(), ErrorView> {
        let (blocked, closing) = (self.log.blocked(), self.services.host.closing.clone());
        let recording = self.log.record(event, &closing);
        tokio::pin!(recording);
        let recorded = tokio::select! {
            recorded = &mut recording => recorded,
            why = blocked.wait() => {
                work.output.tell(TurnEvent::Status { text: why.line() }).await;
                recording.await
            }
        };
        settled(recorded)
    }
}

/// Runs of a turn that have a record, in order.
pub(super) fn runs_of(runner: &AgentRunner, turn: &TurnId) -> Vec<RunId> {
    let runs = (1..).map(|number| RunId::for_turn(turn, number));
    runs.take_while(|run| runner.supervisor().knows(run).unwrap_or(false)).collect()
}

/// The end of a turn that could not be recorded or found.
fn refused(error: ErrorView) -> TurnEnded {
    let outcome = Outcome::from_facts(&unrecorded(Ending::Unknown).facts);
    let (took, error) = (Duration::ZERO, Some(error));
    TurnEnded { outcome, answer: String::new(), usage: Usage::default(), took, is_in_order: false, error }
}

/// What is known of a run that left nothing to read.
fn unrecorded(ending: Ending) -> RunReport {
    RunReport::without_record(RunFacts::without_record(ending, None))
}
