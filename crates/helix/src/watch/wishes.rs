//! What a person at the screen wishes, carried out.
//!
//! Must not know which key it was.

use crossterm::event::Event;
use helix_core::ids::{PhaseId, QuestionId};
use helix_engine::evidence::{DiffSelection, OutputSelection};
use helix_job::{PhaseStatus, say};
use helix_server::wire::AnswerRequest;

use super::screen::{Read, Wish};
use super::{Watcher, unless_gone};
use crate::agent_log;
use crate::context::Context;
use crate::error::{CommandError, Exit};
use crate::offline::{archive, open_or_missing};
use crate::question::set_out;
use crate::terminal::Look;

impl Watcher<'_> {
    /// Carries out what a key means. The exit, if this command is to end.
    pub(super) async fn at_key(&mut self, event: Option<Event>) -> Result<Option<Exit>, CommandError> {
        let Some(event) = event else { return Ok(Some(Exit::Interrupted)) };
        let wish = self.display.screen().map_or(Wish::Nothing, |screen| screen.key(&event));
        match wish {
            Wish::Nothing => {}
            Wish::Interrupt => return self.interrupted().await,
            Wish::Leave => return Ok(Some(Exit::Interrupted)),
            Wish::Cancel => self.begin_cancelling().await?,
            Wish::NotNow if self.stuck => return Ok(Some(Exit::NeedsPerson)),
            Wish::NotNow => {}
            Wish::Ask(phase) => {
                if let Some(screen) = self.display.screen() {
                    screen.ask(Some(&phase), |one| set_out(self.context, one));
                }
            }
            Wish::Answer(question, answer) => self.answer(&question, &answer).await?,
            Wish::Log(phase) => self.read_log(&phase),
            Wish::Diff(phase) => self.read(Read::Patch, &phase).await,
            Wish::Output(phase) => self.read(Read::Output, &phase).await,
        }
        if self.stuck
            && let Some(screen) = self.display.screen()
        {
            screen.ask(None, |one| set_out(self.context, one));
        }
        Ok(None)
    }

    /// Shows what has come to the log that is open.
    pub(super) async fn look_again(&mut self) -> Result<(), CommandError> {
        if let Some(phase) = self.display.screen().and_then(|screen| screen.follows()) {
            self.read_log(&phase);
        }
        Ok(())
    }

    /// Begins what the screen shows of running phases with their logs.
    pub(super) fn seed(&mut self) {
        let Some(screen) = self.display.screen() else { return };
        let context = without_colour(self.context);
        for phase in self.view.phases.iter().filter(|phase| phase.status == PhaseStatus::Running) {
            // What cannot be read is said when it is asked for.
            screen.seed(&phase.id, agent_log::of_phase(&context, &self.view, phase).unwrap_or_default());
        }
    }

    async fn answer(&mut self, question: &QuestionId, answer: &AnswerRequest) -> Result<(), CommandError> {
        self.stuck = false;
        // Somebody else was faster, or the answer did not fit: what became of it is the next event, or it is asked again.
        let answered = unless_gone(self.reached.client().answer(question, answer).await);
        let trouble = answered.err().map(|error| error.in_one_line());
        self.stuck = trouble.is_some();
        if let Some(screen) = self.display.screen() {
            screen.notice(trouble);
        }
        Ok(())
    }

    fn read_log(&mut self, id: &PhaseId) {
        let Some(phase) = self.view.phases.iter().find(|phase| phase.id == *id) else { return };
        let read = agent_log::of_phase(&without_colour(self.context), &self.view, phase);
        let language = self.context.terminal.language;
        self.open(Read::Log, say!(language, "screen-log", phase = id.as_str()), id, read);
    }

    async fn read(&mut self, what: Read, id: &PhaseId) {
        let language = self.context.terminal.language;
        let (title, text) = match what {
            Read::Patch => (say!(language, "screen-diff", phase = id.as_str()), self.patch(id).await),
            Read::Output | Read::Log => match self.output(id).await {
                Ok((gate, text)) => (say!(language, "screen-output", phase = id.as_str(), gate = gate), Ok(text)),
                Err(error) => (String::new(), Err(error)),
            },
        };
        self.open(what, title, id, text);
    }

    fn open(&mut self, what: Read, title: String, of: &PhaseId, text: Result<Vec<String>, CommandError>) {
        let nothing = say!(self.context.terminal.language, "screen-nothing");
        let Some(screen) = self.display.screen() else { return };
        match text {
            Ok(text) if text.is_empty() => screen.notice(Some(nothing)),
            Ok(text) => screen.read(what, title, text, of),
            Err(error) => screen.notice(Some(error.in_one_line())),
        }
    }

    async fn patch(&self, phase: &PhaseId) -> Result<Vec<String>, CommandError> {
        let journal = open_or_missing(self.context, self.view.id.as_str()).await?;
        let selection = DiffSelection { phase: Some(phase.clone()), attempt: None };
        let found = archive(self.context, &journal)?.diff(self.view.id.as_str(), selection).await?;
        Ok(found.patch.lines().map(str::to_owned).collect())
    }

    async fn output(&self, phase: &PhaseId) -> Result<(String, Vec<String>), CommandError> {
        let journal = open_or_missing(self.context, self.view.id.as_str()).await?;
        let selection = OutputSelection { phase: Some(phase.clone()), ..OutputSelection::default() };
        let found = archive(self.context, &journal)?.gate_output(self.view.id.as_str(), selection).await?;
        Ok((found.report.gate, found.text.lines().map(str::to_owned).collect()))
    }
}

/// The screen has its own colours.
fn without_colour(context: &Context) -> Context {
    let mut plain = context.clone();
    plain.terminal.look = Look::Plain;
    plain
}
