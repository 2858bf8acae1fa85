//! Watching a job to its end, no matter who is its host, and taking over if that host dies.
//!
//! Must not know how a job was submitted; what it shows is folded from the job's events alone.

mod actions;
mod display;
mod exit;
mod failures;
mod report;
mod screen;
mod sign;

use std::time::Duration;

use helix_job::phrases::{self, open_questions};
use helix_job::{IllegalEvent, JobEvent, JobState, JobView, PhaseStatus, Recorded};
use helix_language::say;
use helix_server::wire::ActivityFrame;
use jiff::Timestamp;
use tokio::signal::unix::SignalKind;
use tokio::time::Instant;

use crate::agent_log::Logs;
use crate::client::{ClientError, JobActivity, JobEvents};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::Reached;
use crate::offline;
use crate::question;
use crate::runtime::signal_stream;
use crate::terminal::Reading;

use display::Display;
use screen::Keys;

pub(crate) use failures::{print_job, reports_of};
pub(crate) use report::job_report;
pub(crate) use sign::meaning;

pub(crate) struct Watched {
    /// The job as it stood last.
    pub(crate) view: JobView,
    /// How `helix` is to end: as the job, or before its end with [`Exit::NeedsPerson`] or, if the user left, [`Exit::Interrupted`].
    pub(crate) exit: Exit,
    /// The host, as it is now: it may be another one than at the beginning.
    pub(crate) reached: Reached,
    /// Whether this command has asked the job to stop.
    pub(crate) cancelling: bool,
}

/// What the first Ctrl-C means where there is no screen to ask at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The job is cancelled; the second one leaves it.
    Cancels,
    /// The job is left.
    Leaves,
}

/// How long nothing has to happen before it is asked why, and between that and the next time: what hinders a job is in no event.
const STILL: Duration = Duration::from_secs(2);
const STILL_AGAIN: Duration = Duration::from_secs(10);
/// Between two frames of the screen.
const FRAME: Duration = Duration::from_millis(100);
/// Between two looks at a log that is open on the screen.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What was said of a job since something happened last.
#[derive(Default)]
struct Silence {
    /// What its phases wait for.
    waits: Vec<String>,
    /// What keeps it from going on.
    obstacle: Option<String>,
}

/// What became of putting questions to a person.
enum Put {
    /// They are answered, as far as the host took the answers.
    Answered,
    /// Nobody is there, or would rather not answer now.
    NotNow,
    /// Something happened meanwhile: somebody else may have answered.
    Overtaken(Option<Box<Recorded<JobEvent>>>),
}

/// Shows a job until it is over, or until the user leaves it: what happens after the event of number `seen`.
///
/// # Errors
/// When neither the host nor another one can be reached, or an event cannot be understood.
pub(crate) async fn watch(
    context: &Context,
    reached: Reached,
    job: &JobView,
    interrupt: Interrupt,
    seen: u64,
) -> Result<Watched, CommandError> {
    // What this process runs ends with it.
    let display = Display::new(context, job, matches!(reached, Reached::Other(_)), seen).await;
    let (state, view, silence) = (JobState::New, job.clone(), Silence::default());
    let mut watcher = Watcher {
        context,
        reached,
        display,
        state,
        view,
        last: 0,
        interrupt,
        cancelling: false,
        silence,
        stuck: false,
        logs: Logs::default(),
    };
    let ended = watcher.follow().await;
    watcher.display.finish();
    let exit = ended?;
    Ok(Watched { view: watcher.view, exit, reached: watcher.reached, cancelling: watcher.cancelling })
}

/// Shows a job that is over: to people what happened, to programs its events, as to one who had watched it. Ends as the job.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) async fn look_back(context: &Context, view: &JobView) -> Ended {
    let journal = offline::open_or_missing(context, view.id.as_str()).await?;
    let mut events = helix_store::job_events(&journal, &view.id, 0).await?;
    events.iter_mut().for_each(|recorded| recorded.event.name_job(&view.id));
    let state = JobState::fold(&events).map_err(contradiction)?;
    let shown = match context.terminal.reading {
        Reading::People => print_job(context, view, true).await,
        Reading::Programs => events.iter().try_for_each(|event| context.terminal.json_line(event).map(drop)),
    };
    match shown {
        Ok(()) | Err(CommandError::ReaderLeft) => Ok(exit::of_job(&state, false)),
        Err(error) => Err(error),
    }
}

pub(crate) fn contradiction(error: IllegalEvent) -> CommandError {
    CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the job's events contradict each other").because(&error)
}

struct Watcher<'a> {
    context: &'a Context,
    reached: Reached,
    display: Display,
    state: JobState,
    view: JobView,
    /// Number of the last event that was shown.
    last: u64,
    interrupt: Interrupt,
    /// Whether this command has asked the job to stop.
    cancelling: bool,
    silence: Silence,
    /// Whether nothing goes on before a person has answered.
    stuck: bool,
    /// Those that are open on the screen.
    logs: Logs,
}

impl Watcher<'_> {
    async fn follow(&mut self) -> Ended {
        let mut interrupts = signal_stream(SignalKind::interrupt())?;
        let mut terminations = signal_stream(SignalKind::terminate())?;
        let is_screen = self.display.screen().is_some();
        let mut keys = Keys::new(is_screen);
        let (mut frames, mut looks) = (tokio::time::interval(FRAME), tokio::time::interval(LOOK_AGAIN));
        loop {
            let Some(mut events) = unless_gone(self.reached.client().events(&self.view.id, self.last).await)? else {
                self.take_over().await?;
                continue;
            };
            let mut activity = match is_screen {
                true => unless_gone(self.reached.client().activity(&self.view.id).await)?,
                false => None,
            };
            self.seed();
            self.silence = Silence::default();
            // A host can go between the job's last event and the question whether it is the last; the next one has no event to tell it by.
            let (mut overtaken, mut unjudged, mut still) = (None, true, Instant::now() + STILL);
            loop {
                if std::mem::take(&mut unjudged) {
                    if self.state.end().is_some() && self.is_latest().await? {
                        return Ok(exit::of_job(&self.state, self.cancelling));
                    }
                    self.stuck = self.state.waits_for_person(Timestamp::now()) && self.is_latest().await?;
                    match self.display.screen() {
                        Some(screen) if self.stuck => screen.ask(None),
                        None if self.stuck => match self.put_questions(&mut events).await? {
                            Put::Answered => {}
                            Put::NotNow => return Ok(Exit::NeedsPerson),
                            Put::Overtaken(next) => overtaken = Some(next),
                        },
                        Some(_) | None => {}
                    }
                }
                let next = match overtaken.take() {
                    Some(next) => next,
                    None => tokio::select! {
                        next = events.next() => next?,
                        heard = next_of(&mut activity) => {
                            match (heard?, self.display.screen()) {
                                (Some(heard), Some(screen)) => screen.hear(&heard),
                                (Some(_), None) | (None, _) => activity = None,
                            }
                            continue;
                        }
                        key = keys.next() => match self.at_key(key).await? {
                            Some(exit) => return Ok(exit),
                            None => continue,
                        },
                        _ = interrupts.recv() => match self.interrupted().await? {
                            Some(exit) => return Ok(exit),
                            None => continue,
                        },
                        _ = terminations.recv() => return Ok(Exit::Interrupted),
                        _ = frames.tick(), if is_screen => {
                            if let Some(screen) = self.display.screen() {
                                screen.tick();
                            }
                            continue;
                        }
                        _ = looks.tick(), if is_screen => {
                            self.look_again();
                            continue;
                        }
                        () = tokio::time::sleep_until(still) => {
                            still = Instant::now() + STILL_AGAIN;
                            self.explain_silence().await?;
                            continue;
                        }
                    },
                };
                still = Instant::now() + STILL;
                let Some(event) = next else { break };
                if std::mem::take(&mut self.silence).obstacle.is_some() {
                    self.display.note(&say!(self.context.terminal.language, "term-running-again"));
                }
                if event.number <= self.last {
                    continue;
                }
                self.show(&event)?;
                unjudged = true;
            }
            self.take_over().await?;
        }
    }

    /// What Ctrl-C means now: at a screen that is asked there. The exit, if this command is to end.
    async fn interrupted(&mut self) -> Result<Option<Exit>, CommandError> {
        if self.cancelling || self.interrupt == Interrupt::Leaves {
            return Ok(Some(Exit::Interrupted));
        }
        if let Some(screen) = self.display.screen()
            && screen.ask_to_leave()
        {
            return Ok(None);
        }
        self.begin_cancelling().await?;
        Ok(None)
    }

    async fn begin_cancelling(&mut self) -> Result<(), CommandError> {
        self.cancelling = true;
        self.display.note(&say!(self.context.terminal.language, "term-cancelling"));
        self.cancel().await
    }

    fn show(&mut self, event: &Recorded<JobEvent>) -> Result<(), CommandError> {
        self.last = event.number;
        self.state = std::mem::replace(&mut self.state, JobState::New).apply(event).map_err(contradiction)?;
        if let Some(projected) = JobView::project(&self.view.id, &self.state) {
            self.view = projected;
        }
        self.display.event(event, &self.view, &self.state)
    }

    /// The job as its host has it now; `None` if the host is gone.
    async fn now(&self) -> Result<Option<JobView>, CommandError> {
        unless_gone(self.reached.client().job(self.view.id.as_str()).await)
    }

    /// Says what the job waits for besides time and persons, each thing once as long as nothing happens: what its phases wait
    /// for (a place, memory), and what keeps it from being recorded (a full disk).
    async fn explain_silence(&mut self) -> Result<(), CommandError> {
        let Some(now) = self.now().await? else { return Ok(()) };
        let language = self.context.terminal.language;
        // A job that is not over has an error of its own only while something is in its way.
        let error = now.error.as_ref().filter(|_| !now.status.is_final()).map(|error| error.said_in(language));
        let obstacle = error.map(|error| match &error.hint {
            Some(hint) => format!("{}\n{}", error.message, phrases::hint(language, hint)),
            None => error.message.clone(),
        });
        if obstacle != self.silence.obstacle {
            let resumed = || say!(language, "term-running-again");
            self.display.note(&obstacle.clone().unwrap_or_else(resumed));
            self.silence.obstacle = obstacle;
        }
        let is_still = self.view.phases.iter().all(|phase| phase.status != PhaseStatus::Running);
        let waits = now
            .phases
            .iter()
            .filter_map(|phase| Some(format!("{}: {}", phase.id, phrases::waits(language, phase.waits_for.as_ref()?))));
        for wait in waits.filter(|_| is_still) {
            if !self.silence.waits.contains(&wait) {
                self.display.note(&wait);
                self.silence.waits.push(wait);
            }
        }
        Ok(())
    }

    /// Whether an event is the job's last: a job that was resumed, or a question that was answered, has later ones. If the host is
    /// gone, the next one will say.
    async fn is_latest(&self) -> Result<bool, CommandError> {
        Ok(self.now().await?.is_some_and(|now| now.last_event <= self.last))
    }

    /// Puts a job's open questions to the person at the terminal, until something else happens to the job.
    async fn put_questions(&self, events: &mut JobEvents) -> Result<Put, CommandError> {
        let context = self.context;
        for question in open_questions(&self.view) {
            context.terminal.say(&question::shown(context, question));
            if !context.terminal.is_attended() {
                continue;
            }
            let given = tokio::select! {
                given = question::ask(context, question) => given?,
                next = events.next() => {
                    context.terminal.say("");
                    return Ok(Put::Overtaken(next?));
                }
            };
            let Some(given) = given else { return Ok(Put::NotNow) };
            // Somebody else was faster, or the answer did not fit: what became of it is the next event, or it is asked again.
            if let Err(error) = unless_gone(self.reached.client().answer(&question.id, &given).await) {
                context.terminal.report(&error);
            }
        }
        Ok(if context.terminal.is_attended() { Put::Answered } else { Put::NotNow })
    }

    /// Goes on after a broken connection: with the same host if it lives, else with another, else as the host.
    async fn take_over(&mut self) -> Result<(), CommandError> {
        if self.reached.client().health().await.is_err() {
            if let Reached::Own(host) = &mut self.reached {
                return Err(host.server_failed().await);
            }
            let text = say!(self.context.terminal.language, "term-reconnecting");
            match self.display.screen() {
                Some(screen) => screen.notice(Some(text)),
                // Programs that only read events are told, too.
                None => self.context.terminal.say(&text),
            }
            self.reached = match self.interrupt {
                Interrupt::Leaves => Reached::Other(self.context.host().await?),
                Interrupt::Cancels => self.context.reach().await?,
            };
            if let Some(screen) = self.display.screen() {
                screen.notice(None);
            }
        }
        // The request may have died with the host; asking twice is as good as once.
        if self.cancelling { self.cancel().await } else { Ok(()) }
    }

    async fn cancel(&self) -> Result<(), CommandError> {
        match unless_gone(self.reached.client().cancel(self.view.id.as_str()).await) {
            // Over in the meantime: its last event is on the way.
            Err(error) if error.exit() == Exit::Usage => Ok(()),
            answered => answered.map(drop),
        }
    }
}

/// What an agent does next. Waits for ever where nobody listens.
async fn next_of(activity: &mut Option<JobActivity>) -> Result<Option<ActivityFrame>, CommandError> {
    match activity {
        Some(activity) => activity.next().await,
        None => std::future::pending().await,
    }
}

/// What a host answered; `None` if it is gone, which the event stream notices too and finds the next one.
fn unless_gone<T>(answered: Result<T, ClientError>) -> Result<Option<T>, CommandError> {
    match answered {
        Ok(answer) => Ok(Some(answer)),
        Err(ClientError::Gone(_)) => Ok(None),
        Err(ClientError::Refused(error)) => Err(error),
    }
}
