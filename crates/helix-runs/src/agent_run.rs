//! One agent run from its ask to its evidence: starts or re-attaches, translates, watches, and never guesses.
//!
//! Must not know jobs, phases or sessions: callers say what is asked and read what came of it.

mod watch;

use async_recursion::async_recursion as boxed;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helix_agents::RunDirError;
use helix_agents::dialect::{self, HostEnvironment, InvocationError, Reader};
use helix_agents::supervisor::{Stopping, SweepReport};
use helix_agents::{
    AgentAsk, AgentProfile, Grace, Keeping, Limit, RecordedRun, RecordingError, RunEnd, RunHandle, RunKind, RunRequest,
    SessionRef, Supervisor, own_code, run_labels,
};
use helix_core::agent_event::AgentEvent;
use helix_core::ids::{AgentSessionId, RunId};
use helix_core::recorded;
use helix_core::run::{Ending, RunFacts, StopCause};
use helix_core::usage::Usage;
use helix_job::Wait;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::watch::{Sign, Watch};
use crate::admission::{Admission, Permit, Ticket};
use crate::session_totals::SessionTotals;

/// How long an agent may take to exit after its terminal record. Measured: 50 to 90 ms, 1.1 s at most in 473 runs, plus
/// session-end hooks; the rest is a process that hangs.
const LINGER: Duration = Duration::from_secs(20);
/// How long an agent may be silent outside a tool call. The CLI's own stall detection takes 300 s, so that silence past
/// 320 s means stuck (`docs/outcomes.md`).
const STALL: Duration = Duration::from_secs(360);

/// How long an agent may be silent outside a tool call until readers are told.
const QUIET: Duration = Duration::from_secs(60);

/// How often a call may fail the same way, with nothing new in between. In 335 recorded runs of real agents the most is 5: answers in
/// a wrong form, after which the agent ends by itself.
const REPEATS: u32 = 8;

/// The record of an agent's stdout in its run directory.
const STDOUT: &str = "stdout.jsonl";

/// Runs agents under the supervisor, at most so many at a time.
#[derive(Clone)]
pub struct AgentRunner {
    supervisor: Supervisor,
    runs: PathBuf,
    profiles: Arc<Vec<AgentProfile>>,
    admission: Admission,
    totals: SessionTotals,
    timeouts: RunTimeouts,
    /// Where agents find `helix`, after their own programs.
    programs: Option<PathBuf>,
}

/// How long the runner waits before it ends a run that does not end by itself.
#[derive(Debug, Clone, Copy)]
pub struct RunTimeouts {
    /// After the terminal record.
    pub linger: Duration,
    /// Without a sign of work outside a tool call: an event with a meaning, or a piece of one. Mere lines are none.
    pub stall: Duration,
    /// The same until it is told, and told again each time that the silence has doubled.
    pub quiet: Duration,
    /// How often a tool call may fail the same way, with nothing new in between; `None`: for ever.
    pub repeats: Option<u32>,
    /// For each step of a stop.
    pub grace: Grace,
}

impl Default for RunTimeouts {
    fn default() -> Self {
        Self { linger: LINGER, stall: STALL, quiet: QUIET, repeats: Some(REPEATS), grace: Grace::default() }
    }
}

/// What a run left.
#[derive(Debug, Clone)]
pub struct RunReport {
    pub facts: RunFacts,
    pub usage: Usage,
    /// The session that can be resumed.
    pub session: Option<AgentSessionId>,
    /// The point that the session has reached, where the dialect can cut sessions.
    pub point: Option<String>,
    /// The answer, also when it was cut off.
    pub answer: String,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

impl RunReport {
    /// The report of a run of which nothing but these facts is known.
    pub fn without_record(facts: RunFacts) -> Self {
        Self { facts, usage: Usage::default(), session: None, point: None, answer: String::new(), duration_ms: 0 }
    }
}

/// Why a run could not be made. What an agent does wrong is no error here but evidence in the report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No agent of this name is configured.
    #[error("unknown agent {name:?}; configured: {known}")]
    UnknownAgent { name: String, known: String },
    /// The ask cannot be expressed in the agent's dialect.
    #[error("agent {agent} cannot be asked this")]
    Invocation { agent: String, source: InvocationError },
    /// The supervisor could not start or attach to it.
    #[error("run {run} could not be started")]
    Start { run: RunId, source: helix_agents::supervisor::StartError },
    /// There is no such run.
    #[error("no record of run {run}")]
    Unknown { run: RunId },
    /// The run's record could not be read.
    #[error("the record of run {run} cannot be read")]
    Record { run: RunId, source: Box<dyn std::error::Error + Send + Sync> },
    /// The engine is closing; the run goes on under its keeper.
    #[error("the engine is closing")]
    Closing,
}

/// What bounds a run from outside.
pub struct RunLimits<'a> {
    /// Longest time from its start; kept by its keeper.
    pub deadline: Option<Duration>,
    /// Cancelled when somebody wants it to stop.
    pub stop: &'a CancellationToken,
    /// How it gets in.
    pub entry: Entry,
}

/// How a run gets in.
pub enum Entry {
    /// It has its place already.
    Permit(Permit),
    /// It waits in the line with this.
    Ticket(Ticket),
}

/// Is told what an agent does, as it happens.
pub trait Listener: Send {
    /// Takes one event. Awaited, so that a bounded channel slows reading down instead of losing anything.
    fn hear(&mut self, event: AgentEvent) -> impl Future<Output = ()> + Send;

    /// Takes what the run waits for before it can start; told once, and not at all where it starts at once.
    fn waits(&mut self, _wait: Wait) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Takes how long the agent has been silent outside a tool call, and for how long it may be.
    fn silent(&mut self, _so_far: Duration, _limit: Duration) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

impl AgentRunner {
    /// Makes a runner for these agents.
    pub fn new(supervisor: Supervisor, runs: PathBuf, profiles: Vec<AgentProfile>, admission: Admission) -> Self {
        let totals = SessionTotals::in_directory(runs.with_file_name("session-totals"));
        Self {
            supervisor,
            runs,
            profiles: Arc::new(profiles),
            admission,
            totals,
            timeouts: RunTimeouts::default(),
            programs: None,
        }
    }

    /// Keeps the processes of all runs.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Who may start now.
    pub fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The same with this directory at the end of every agent's `PATH`.
    #[must_use]
    pub fn with_programs(mut self, directory: Option<&Path>) -> Self {
        self.programs = directory.map(Path::to_path_buf);
        self
    }

    /// The same with other timeouts.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: RunTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The same with no step of a stop longer than this.
    #[must_use]
    pub fn with_grace_within(mut self, longest: Duration) -> Self {
        let Grace { interrupt, terminate } = &mut self.timeouts.grace;
        (*interrupt, *terminate) = ((*interrupt).min(longest), (*terminate).min(longest));
        self
    }

    /// The same with these agents, which go before those of the same name.
    #[must_use]
    pub fn with_profiles(&self, mut profiles: Vec<AgentProfile>) -> Self {
        let others = self.profiles.iter().filter(|other| profiles.iter().all(|one| one.name != other.name)).cloned();
        let others: Vec<AgentProfile> = others.collect();
        profiles.extend(others);
        Self { profiles: Arc::new(profiles), ..self.clone() }
    }

    pub fn profiles(&self) -> &[AgentProfile] {
        &self.profiles
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// [`RunError::UnknownAgent`].
    pub fn profile(&self, name: &str) -> Result<&AgentProfile, RunError> {
        self.profiles.iter().find(|profile| profile.name == name).ok_or_else(|| RunError::UnknownAgent {
            name: name.into(),
            known: self.profiles.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// How the agent of this name keeps a limit; one that is not configured keeps none.
    pub fn keeps(&self, agent: &str, limit: Limit) -> Keeping {
        self.profile(agent).map_or(Keeping::Never, |profile| dialect::dialect(profile.dialect).keeps(limit))
    }

    /// Where the files go that a run's agent is given. Not in the run's own directory: that one appears whole, by rename,
    /// when the run starts.
    pub fn agent_files(&self, run: &RunId) -> PathBuf {
        self.shared_files().join(run.as_str())
    }

    /// Where files lie that the agents of many runs are given.
    pub fn shared_files(&self) -> PathBuf {
        self.runs.with_file_name("agent-files")
    }

    /// The directory of a run; exists once the run has started.
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        self.runs.join(run.as_str())
    }

    /// Whether a run of this name was ever begun, by whichever host.
    pub fn has_begun(&self, run: &RunId) -> bool {
        // A directory that cannot be looked at is met again, and named, when the run is attached to.
        self.supervisor.knows(run).unwrap_or(true)
    }

    /// Ends what is left of runs that nobody keeps any more, but for the living ones. Called when a host starts.
    ///
    /// # Errors
    /// The run directories cannot be read.
    #[boxed]
    pub async fn sweep(&self, living: &[RunId]) -> Result<SweepReport, RunDirError> {
        self.supervisor.sweep(living).await
    }

    /// Runs the agent, or attaches to the run if there is one of this id already, and reads it to its end.
    ///
    /// # Errors
    /// [`RunError`] when there is no run whose evidence could be given.
    pub async fn run(
        &self,
        agent: &str,
        run: &RunId,
        ask: impl FnOnce() -> AgentAsk + Send,
        limits: RunLimits<'_>,
        listener: &mut impl Listener,
    ) -> Result<RunReport, RunError> {
        // A run that exists asks nobody for a place: it lives already, and takes one, or is over and gives it back at once.
        if let Some(handle) = self.attach(run).await? {
            let _place = match limits.entry {
                Entry::Permit(place) => place,
                Entry::Ticket(ticket) => self.admission.occupy(ticket.owner),
            };
            return self.read(run, handle, limits.stop, listener).await;
        }
        // A stop comes first: what is not wanted any more is not started only to be stopped.
        let _place = tokio::select! {
            biased;
            () = limits.stop.cancelled() => return Ok(never_started()),
            place = self.enter(limits.entry, listener) => place?,
        };
        let profile = self.profile(agent)?;
        let (dialect, mut ask) = (dialect::dialect(profile.dialect), ask().of_profile(profile));
        ask.walled = self.supervisor.sandbox().holds();
        let mut invocation = dialect
            .invocation(profile, &ask, &HostEnvironment::of_this_process())
            .map_err(|source| RunError::Invocation { agent: agent.into(), source })?;
        let path = invocation.env.iter_mut().find(|(name, _)| name == "PATH");
        if let (Some((_, path)), Some(programs)) = (path, self.programs.as_ref().and_then(|path| path.to_str())) {
            path.push_str(&format!(":{programs}"));
        }
        let set = |name: &str| invocation.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        if let Some(path) = own_code(set("VIRTUAL_ENV"), set("PYTHONPATH"), &ask.cwd) {
            invocation.env.retain(|(name, _)| name != "PYTHONPATH");
            invocation.env.push(("PYTHONPATH".into(), path));
        }
        let walls = Some(helix_agents::walls(profile, &ask, &invocation));
        let request = RunRequest {
            run: run.clone(),
            walls,
            invocation,
            deadline: limits.deadline,
            grace: self.timeouts.grace,
            kind: RunKind::Work,
            labels: run_labels(profile, &ask, self.consumed_before(&ask.session).await),
        };
        let handle =
            self.supervisor.start(request).await.map_err(|source| RunError::Start { run: run.clone(), source })?;
        self.read(run, handle, limits.stop, listener).await
    }

    /// Reads a run again from its record; with `handle`'s end if it lives.
    ///
    /// # Errors
    /// [`RunError::Unknown`] and [`RunError::Record`].
    #[boxed]
    pub async fn follow(&self, run: &RunId, listener: &mut impl Listener) -> Result<RunReport, RunError> {
        let handle = self.attach(run).await?.ok_or_else(|| RunError::Unknown { run: run.clone() })?;
        self.follow_to_end(run, &handle, None, listener).await
    }

    /// Goes on with a run of a former host: as [`AgentRunner::follow`], and ends it when `stop` is cancelled or when it hangs.
    ///
    /// # Errors
    /// As for [`AgentRunner::follow`].
    #[boxed]
    pub async fn go_on(
        &self,
        run: &RunId,
        stop: &CancellationToken,
        listener: &mut impl Listener,
    ) -> Result<RunReport, RunError> {
        let handle = self.attach(run).await?.ok_or_else(|| RunError::Unknown { run: run.clone() })?;
        self.read(run, handle, stop, listener).await
    }

    /// Reads what is there of a run, without waiting for more.
    ///
    /// # Errors
    /// As for [`AgentRunner::follow`].
    #[boxed]
    pub async fn replay(&self, run: &RunId, listener: &mut impl Listener) -> Result<(), RunError> {
        let directory = self.run_dir(run);
        let (told, mut heard) = tokio::sync::mpsc::channel(64);
        let reading = tokio::task::spawn_blocking(move || -> Result<Option<()>, RecordingError> {
            let Some(mut recorded) = RecordedRun::open(&directory)? else { return Ok(None) };
            let mut events = Vec::new();
            while recorded.next_line(&mut events)? {
                // Nobody listens any more: the rest need not be read.
                if events.drain(..).any(|event| told.blocking_send(event).is_err()) {
                    break;
                }
            }
            Ok(Some(()))
        });
        while let Some(event) = heard.recv().await {
            listener.hear(event).await;
        }
        let read = reading.await.map_err(|_| RunError::Closing)?;
        let read = read.map_err(unreadable(run))?;
        read.ok_or_else(|| RunError::Unknown { run: run.clone() })
    }

    async fn enter(&self, entry: Entry, listener: &mut impl Listener) -> Result<Permit, RunError> {
        let ticket = match entry {
            Entry::Permit(place) => return Ok(place),
            Entry::Ticket(ticket) => ticket,
        };
        let (owner, phase) = (ticket.owner.clone(), ticket.phase.clone());
        let place = self.admission.enter(ticket);
        let waits = self.admission.waiting_of(&owner).into_iter().find(|(waiting, _)| *waiting == phase);
        if let Some((_, wait)) = waits {
            listener.waits(wait).await;
        }
        place.await.map_err(|_| RunError::Closing)
    }

    async fn attach(&self, run: &RunId) -> Result<Option<RunHandle>, RunError> {
        let attached = self.supervisor.attach(run).await;
        attached.map_err(unreadable(run))
    }

    /// What the session that a run goes on with has consumed so far.
    async fn consumed_before(&self, session: &SessionRef) -> Usage {
        let (SessionRef::Resume(from) | SessionRef::Fork { from, .. } | SessionRef::Cut { from, .. }) = session else {
            return Usage::default();
        };
        self.totals.total(from).await.unwrap_or_else(|error| {
            tracing::warn!(session = %from, %error, "what this session has consumed is not known: it may be counted twice");
            Usage::default()
        })
    }

    async fn keep_total(&self, session: Option<AgentSessionId>, total: Option<Usage>) {
        let (Some(session), Some(total)) = (session, total) else { return };
        if let Err(error) = self.totals.keep(&session, total).await {
            tracing::warn!(%session, %error, "what this session has consumed is not kept: it may be counted twice");
        }
    }

    /// Reads a run to its end. One whose record cannot be read is ended first: where this fails, nothing of the run is left.
    async fn read(
        &self,
        run: &RunId,
        handle: RunHandle,
        stop: &CancellationToken,
        listener: &mut impl Listener,
    ) -> Result<RunReport, RunError> {
        let report = self.follow_to_end(run, &handle, Some(stop), listener).await;
        if let Err(error) = &report {
            tracing::error!(%run, %error, "ending a run whose record cannot be read");
            handle.cancel().await;
        }
        report
    }

    /// Reads a run to its end; with `stop`, ends it when that is cancelled or when it hangs.
    async fn follow_to_end(
        &self,
        run: &RunId,
        handle: &RunHandle,
        stop: Option<&CancellationToken>,
        listener: &mut impl Listener,
    ) -> Result<RunReport, RunError> {
        let mut reader = reader(run, handle)?;
        let mut lines = handle.lines();
        let mut events = Vec::new();
        let (mut watch, mut stopping) = (Watch::new(self.timeouts, Instant::now()), Stopping::default());
        let never = CancellationToken::new();
        if stop.is_none() {
            watch.stopped();
        }
        loop {
            // Reading first: what is there is heard before anything is stopped, and a busy run is never called stalled.
            let next = tokio::select! {
                biased;
                line = lines.next() => Next::Line(line),
                () = stop.unwrap_or(&never).cancelled(), if watch.may_stop() => Next::Stop(StopCause::Cancelled),
                () = tokio::time::sleep_until(watch.deadline()), if watch.may_stop() => Next::Silence,
                () = tokio::time::sleep_until(watch.quiet_until()), if watch.is_model_asked() => Next::Quiet,
                cause = stopping.due() => Next::Stop(cause),
            };
            let cause = match next {
                Next::Line(None) => break,
                Next::Line(Some(line)) => {
                    let line = line.map_err(unreadable(run))?;
                    let worked = reader.run().pieces;
                    reader.line(&line, &mut events);
                    let mut sign = if reader.run().pieces > worked { Sign::Work } else { Sign::None };
                    for event in events.drain(..) {
                        sign = sign.or(watch.saw(&event));
                        listener.hear(event).await;
                    }
                    watch.heard(line.len(), sign, Instant::now());
                    let repeats = reader.run().repeated().map_or(0, |call| call.times);
                    match watch.overdue(Instant::now()) {
                        // What a former host has heard is read again at once: it may have got on since.
                        _ if watch.is_stuck(repeats) => {
                            let is_all = lines.end().cut > 0 || watch.has_heard(length_of_record(run, handle).await?);
                            is_all.then_some(StopCause::Stuck)
                        }
                        Some(heard) => patience_over(run, handle, &mut watch, heard).await?,
                        None => None,
                    }
                }
                Next::Stop(cause) => Some(cause),
                Next::Quiet => {
                    listener.silent(watch.still_quiet(), self.timeouts.stall).await;
                    None
                }
                // Whatever was read has been heard: reading comes first.
                Next::Silence => patience_over(run, handle, &mut watch, lines.end().bytes).await?,
            };
            if let Some(cause) = cause {
                tracing::info!(%run, ?cause, "stopping a run");
                watch.stopped();
                stopping.ask(handle, cause).await;
            }
        }
        let end = handle.ended().await;
        let stream = lines.end().clone();
        reader.tail(&stream.tail, &mut events);
        for event in events.drain(..) {
            listener.hear(event).await;
        }
        self.keep_total(reader.run().session.clone(), reader.run().session_usage).await;
        Ok(report(reader, &end, &stream))
    }
}

enum Next<L> {
    Line(Option<L>),
    Stop(StopCause),
    Silence,
    Quiet,
}

async fn length_of_record(run: &RunId, handle: &RunHandle) -> Result<u64, RunError> {
    let record = tokio::fs::metadata(handle.directory().join(STDOUT)).await;
    Ok(record.map_err(unreadable(run))?.len())
}

/// Why a run is to be stopped of which nothing shows that it works, in the first `heard` bytes of its record; `None` to wait on.
async fn patience_over(
    run: &RunId,
    handle: &RunHandle,
    watch: &mut Watch,
    heard: u64,
) -> Result<Option<StopCause>, RunError> {
    let until = match watch.until() {
        Some(until) => until,
        None => length_of_record(run, handle).await?,
    };
    Ok(watch.over(heard, until, Instant::now()))
}

fn unreadable<E: std::error::Error + Send + Sync + 'static>(run: &RunId) -> impl FnOnce(E) -> RunError {
    let run = run.clone();
    move |source| RunError::Record { run, source: Box::new(source) }
}

fn reader(run: &RunId, handle: &RunHandle) -> Result<Reader, RunError> {
    Reader::of_run(handle.labels()).map_err(unreadable(run))
}

/// The report of a run that was stopped before it had a place to run in.
fn never_started() -> RunReport {
    let ending = Ending::NotStarted { reason: recorded!("start-stopped"), errno: None };
    RunReport::without_record(RunFacts::without_record(ending, Some(StopCause::Cancelled)))
}

fn report(mut reader: Reader, end: &RunEnd, stream: &helix_agents::StreamEnd) -> RunReport {
    let elapsed = end.ended_at.duration_since(end.started_at).as_millis();
    RunReport {
        facts: reader.facts(&end.into(), stream),
        usage: reader.run().usage,
        session: reader.run().session.clone(),
        point: reader.run().point.clone(),
        answer: reader.run().answer.clone(),
        duration_ms: u64::try_from(elapsed).unwrap_or(0),
    }
}
