//! A job while it is watched: on a screen of its own at a terminal, as plain lines for logs and pipes, or as JSON lines for programs.
//!
//! Must not know how an event is worded, nor take a terminal where nobody sits.

use helix_job::phrases;
use helix_job::{JobEnd, JobEvent, JobState, JobStatus, JobView, Recorded};
use helix_language::say;

use super::screen::Screen;
use super::sign::meaning;
use crate::context::Context;
use crate::error::CommandError;
use crate::offline::{jobs, numbers};
use crate::terminal::{Reading, Terminal};

/// One of the ways to show a job.
pub(super) enum Display {
    Screen(Box<Screen>),
    /// Without the events up to this number.
    Lines(Terminal, u64),
    Json(Terminal),
}

impl Display {
    /// `goes_on`: whether the job goes on when this command leaves; `seen`: the last event that lines need not tell.
    pub(super) async fn new(context: &Context, view: &JobView, goes_on: bool, seen: u64) -> Self {
        let terminal = context.terminal;
        if terminal.reading == Reading::Programs {
            return Self::Json(terminal);
        }
        if terminal.draws && terminal.is_attended() {
            let number = jobs(context).await.ok().and_then(|page| numbers(&page).get(&view.id).copied());
            // A terminal that cannot be drawn on still shows lines.
            if let Ok(screen) = Screen::begin(terminal, view, number, goes_on) {
                return Self::Screen(Box::new(screen));
            }
        }
        Self::Lines(terminal, seen)
    }

    pub(super) fn screen(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Screen(screen) => Some(screen),
            Self::Lines(..) | Self::Json(_) => None,
        }
    }

    pub(super) fn event(
        &mut self,
        event: &Recorded<JobEvent>,
        view: &JobView,
        state: &JobState,
    ) -> Result<(), CommandError> {
        match self {
            Self::Screen(screen) => {
                screen.job(view, state);
                if let JobEvent::JobResumed { plan: Some(_), .. } = &event.event
                    && let Some(phrase) = phrases::event(screen.language(), &event.event, view)
                {
                    screen.notice(phrase.details.into_iter().next());
                }
            }
            Self::Lines(_, seen) if event.number <= *seen => {}
            Self::Lines(terminal, _) => lines(&event.event, view, terminal).iter().for_each(|line| terminal.say(line)),
            Self::Json(terminal) => match terminal.json_line(event) {
                // The job goes on when nobody reads any more; its end still decides the exit code.
                Err(CommandError::ReaderLeft) | Ok(_) => {}
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    /// Says something about the job that is in no event.
    pub(super) fn note(&mut self, text: &str) {
        match self {
            Self::Screen(screen) => screen.notice(Some(text.to_owned())),
            Self::Lines(terminal, _) => terminal.say(text),
            Self::Json(_) => {}
        }
    }

    /// Gives the terminal back.
    pub(super) fn finish(&mut self) {
        if let Self::Screen(screen) = self {
            screen.end();
        }
    }
}

/// An event as lines: the first one with its sign, the others below it.
fn lines(event: &JobEvent, view: &JobView, terminal: &Terminal) -> Vec<String> {
    let language = terminal.language;
    let Some(mut phrase) = phrases::event(language, event, view) else { return Vec::new() };
    if matches!(event, JobEvent::JobFinished { end: JobEnd::Failed { .. } }) {
        // Its report says why, and follows.
        phrase.text = say!(language, "term-ended", status = phrases::job_status(language, JobStatus::Failed));
    }
    let sign = terminal.paint_error(meaning(phrase.sign), &phrase.sign.symbol().to_string());
    let phase = phrase.phase.map(|phase| format!("[{phase}] ")).unwrap_or_default();
    let mut lines = vec![format!("{sign} {phase}{}", phrase.text)];
    lines.extend(phrase.details.iter().map(|detail| format!("    {detail}")));
    lines
}
