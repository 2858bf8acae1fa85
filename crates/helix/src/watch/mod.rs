//! Watching a job to its end, whoever is its host, and taking over if that host dies.
//!
//! Must not know how a job was submitted; what it shows is folded from the job's events alone.

mod bars;
mod exit;
mod failures;
mod lines;
mod report;

use std::time::Duration;

use helix_job::question::QuestionStatus;
use helix_job::{JobEvent, JobState, JobView, PhaseStatus, Recorded};
use jiff::Timestamp;
use tokio::signal::unix::SignalKind;

use crate::client::{ClientError, JobEvents};
use crate::codes;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::{Reached, reach};
use crate::question;
use crate::runtime::signal_stream;
use crate::terminal::{Bars, Reading, Terminal};

pub(crate) use failures::{Reported, print_job, reports_of};
pub(crate) use lines::meaning;
pub(crate) use report::job_report;

pub(crate) struct Watched {
    /// The job as it stood last.
    pub(crate) view: JobView,
    /// How `helix` is to end.
    pub(crate) exit: Exit,
    /// The host, as it is now: it may be another one than at the beginning.
    pub(crate) reached: Reached,
    /// Whether the user left before the end.
    pub(crate) left: Left,
}

/// Whether the user left before the job's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    No,
    /// Yes, by a second interrupt.
    Early,
    /// The job can do nothing until a person answers.
    Waiting,
}

/// How long nothing has to happen before it is asked why, and between that and the next time: what hinders a job is in no event.
const STILL: Duration = Duration::from_secs(2);
const STILL_AGAIN: Duration = Duration::from_secs(10);

/// What was said about a job's silence, since something happened last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Told {
    asked: bool,
    /// What its phases wait for.
    waits: Vec<String>,
    /// What keeps it from going on.
    hindrance: Option<String>,
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

/// One of the ways to show a job.
enum Display {
    Bars(bars::PhaseBars),
    Lines(Terminal),
    Json,
}

/// Shows a job until it is over. The first interrupt cancels it and waits, the second one leaves it.
///
/// # Errors
/// When neither the host nor another one can be reached, or an event cannot be understood.
pub(crate) async fn watch(context: &Context, mut reached: Reached, job: &JobView) -> Result<Watched, CommandError> {
    let mut interrupts = signal_stream(SignalKind::interrupt())?;
    let mut terminations = signal_stream(SignalKind::terminate())?;
    let mut display = match (context.terminal.reading, context.terminal.bars) {
        (Reading::Programs, _) => Display::Json,
        (Reading::People, Bars::Drawn) => Display::Bars(bars::PhaseBars::new(context.terminal)),
        (Reading::People, Bars::Plain) => Display::Lines(context.terminal),
    };
    let mut state = JobState::New;
    let mut view = job.clone();
    let mut last = 0;
    let mut cancelling = false;
    loop {
        let mut events = match reached.client().events(&job.id, last).await {
            Ok(events) => events,
            Err(ClientError::Refused(error)) => return Err(error),
            Err(ClientError::Gone(_)) => {
                reached = take_over(context, reached).await?;
                continue;
            }
        };
        let mut overtaken = None;
        let mut told = Told::default();
        loop {
            let next = match overtaken.take() {
                Some(next) => next,
                None => tokio::select! {
                    next = events.next() => next?,
                    _ = interrupts.recv() => {
                        if cancelling {
                            display.finish();
                            return Ok(Watched { view, exit: Exit::Interrupted, reached, left: Left::Early });
                        }
                        cancelling = true;
                        display.note("Cancelling the job… (Ctrl-C again: quit without waiting)");
                        cancel(context, &reached, job).await?;
                        continue;
                    }
                    _ = terminations.recv() => {
                        display.finish();
                        return Ok(Watched { view, exit: Exit::Interrupted, reached, left: Left::Early });
                    }
                    () = tokio::time::sleep(if told.asked { STILL_AGAIN } else { STILL }) => {
                        told = tell_silence(&reached, job, is_still(&view), &display, told).await?;
                        continue;
                    }
                },
            };
            if next.is_some() && std::mem::take(&mut told).hindrance.is_some() {
                display.note(RESUMED);
            }
            let Some(event) = next else { break };
            if event.number <= last {
                continue;
            }
            last = event.number;
            state = state.apply(&event).map_err(|error| {
                CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the job's events contradict each other")
                    .because(&error)
            })?;
            if let Some(projected) = JobView::project(&job.id, &state) {
                view = projected;
            }
            display.event(context, &event, &view)?;
            if state.end().is_some() && is_latest(&reached, job, last).await? {
                display.finish();
                let exit = exit::of_job(&state, cancelling);
                return Ok(Watched { view, exit, reached, left: Left::No });
            }
            if state.waits_for_person(Timestamp::now()) && is_latest(&reached, job, last).await? {
                display.finish();
                match put_questions(context, &reached, &view, &mut events).await? {
                    Put::Answered => {}
                    Put::NotNow => {
                        return Ok(Watched { view, exit: Exit::NeedsPerson, reached, left: Left::Waiting });
                    }
                    Put::Overtaken(next) => overtaken = Some(next),
                }
            }
        }
        reached = take_over(context, reached).await?;
        if cancelling {
            // The request may have died with the host; asking twice is as good as once.
            cancel(context, &reached, job).await?;
        }
    }
}

/// Whether nothing of the job is under way.
fn is_still(view: &JobView) -> bool {
    view.phases.iter().all(|phase| phase.status != PhaseStatus::Running)
}

/// Said when what was in the way of a job is gone.
const RESUMED: &str = "running again";

/// Says what the job waits for besides time and persons, each thing once as long as nothing happens: what its phases wait for
/// (a place, memory), and what keeps it from being recorded (a full disk).
async fn tell_silence(
    reached: &Reached,
    job: &JobView,
    still: bool,
    display: &Display,
    mut told: Told,
) -> Result<Told, CommandError> {
    let now = match reached.client().job(job.id.as_str()).await {
        Ok(now) => now,
        // The event stream notices it too, and finds the next host.
        Err(ClientError::Gone(_)) => return Ok(told),
        Err(ClientError::Refused(error)) => return Err(error),
    };
    told.asked = true;
    // A job that is not over has an error of its own only while something is in its way.
    let error = now.error.as_ref().filter(|_| !now.status.is_final());
    let hindrance = error.map(|error| match &error.hint {
        Some(hint) => format!("{}\nhint: {hint}", error.message),
        None => error.message.clone(),
    });
    if hindrance != told.hindrance {
        display.note(hindrance.as_deref().unwrap_or(RESUMED));
        told.hindrance = hindrance;
    }
    let waits = now.phases.iter().filter_map(|phase| Some(format!("{}: {}", phase.id, phase.waits_for.as_ref()?)));
    for wait in waits.filter(|_| still) {
        if !told.waits.contains(&wait) {
            display.note(&wait);
            told.waits.push(wait);
        }
    }
    Ok(told)
}

/// Whether an event is the job's last: a job that was resumed, or a question that was answered, has later ones.
async fn is_latest(reached: &Reached, job: &JobView, last: u64) -> Result<bool, CommandError> {
    match reached.client().job(job.id.as_str()).await {
        Ok(now) => Ok(now.last_event <= last),
        // The next host will say.
        Err(ClientError::Gone(_)) => Ok(false),
        Err(ClientError::Refused(error)) => Err(error),
    }
}

/// Puts a job's open questions to whoever sits at the terminal, until something else happens to the job.
async fn put_questions(
    context: &Context,
    reached: &Reached,
    view: &JobView,
    events: &mut JobEvents,
) -> Result<Put, CommandError> {
    let open = view.questions.iter().filter(|question| question.status == QuestionStatus::Open);
    for question in open {
        context.terminal.say(&question::shown(context, question));
        if !question::can_ask(context) {
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
        match reached.client().answer(&question.id, &given).await {
            Ok(_) | Err(ClientError::Gone(_)) => {}
            // Somebody else was faster, or the answer did not fit: what became of it is the next event, or it is asked again.
            Err(ClientError::Refused(error)) => context.terminal.report(&error),
        }
    }
    Ok(if question::can_ask(context) { Put::Answered } else { Put::NotNow })
}

/// Goes on after a broken connection: with the same host if it lives, else with another, else as the host.
async fn take_over(context: &Context, reached: Reached) -> Result<Reached, CommandError> {
    match reached {
        Reached::Other(client) => {
            if client.is_healthy().await {
                return Ok(Reached::Other(client));
            }
            context.terminal.say("Reconnecting…");
            reach(&context.environment, context.settings()?).await
        }
        Reached::Own(mut host, client) => {
            if client.is_healthy().await {
                return Ok(Reached::Own(host, client));
            }
            Err(host.server_failed().await)
        }
    }
}

async fn cancel(context: &Context, reached: &Reached, job: &JobView) -> Result<(), CommandError> {
    match reached.client().cancel(job.id.as_str(), &context.environment.person()).await {
        // A host that is gone is noticed by the event stream, which reaches the next one; the user can ask again.
        Ok(_) | Err(ClientError::Gone(_)) => Ok(()),
        // Over in the meantime: its last event is on the way.
        Err(ClientError::Refused(error)) if error.exit() == Exit::Usage => Ok(()),
        Err(ClientError::Refused(error)) => Err(error),
    }
}

impl Display {
    fn event(&mut self, context: &Context, event: &Recorded<JobEvent>, view: &JobView) -> Result<(), CommandError> {
        match self {
            Self::Bars(bars) => bars.event(event, view),
            Self::Lines(terminal) => {
                lines::lines(&event.event, view, terminal).iter().for_each(|line| terminal.say(line));
            }
            Self::Json => match context.terminal.json_line(event) {
                // The job goes on when nobody reads any more; its end still decides the exit code.
                Err(CommandError::ReaderLeft) | Ok(()) => {}
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    fn note(&self, text: &str) {
        match self {
            Self::Bars(bars) => bars.note(text),
            Self::Lines(terminal) => terminal.say(text),
            Self::Json => {}
        }
    }

    fn finish(&mut self) {
        match self {
            Self::Bars(bars) => bars.finish(),
            Self::Lines(_) | Self::Json => {}
        }
    }
}
