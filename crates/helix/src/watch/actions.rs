//! What a person at the screen asks for, carried out.
//!
//! Must not know which key it was.

use crossterm::event::Event;
use helix_core::ids::{PhaseId, QuestionId};
use helix_engine::evidence::{DiffSelection, OutputSelection};
use helix_job::PhaseStatus;
use helix_language::say;
use helix_server::wire::AnswerRequest;

use super::screen::{Action, Read};
use super::{Watcher, unless_gone};
use crate::agent_log::Logs;
use crate::error::{CommandError, Exit};
use crate::offline::{archive, open_or_missing};

impl Watcher<'_> {
    /// Carries out what a key means. The exit, if this command is to end.
    pub(super) async fn at_key(&mut self, event: Option<Event>) -> Result<Option<Exit>, CommandError> {
        let Some(event) = event else { return Ok(Some(Exit::Interrupted)) };
        let action = self.display.screen().map_or(Action::Nothing, |screen| screen.key(&event));
        match action {
            Action::Nothing => {}
            Action::Interrupt => return self.interrupted().await,
            Action::Leave => return Ok(Some(Exit::Interrupted)),
            Action::Cancel => self.begin_cancelling().await?,
            Action::NotNow if self.stuck => return Ok(Some(Exit::NeedsPerson)),
            Action::NotNow => {}
            Action::Ask(phase) => {
                if let Some(screen) = self.display.screen() {
                    screen.ask(Some(&phase));
                }
            }
            Action::Answer(question, answer) => self.answer(&question, &answer).await,
            Action::Log(phase) => self.read_log(&phase),
            Action::Diff(phase) => self.read_diff(&phase).await,
            Action::Output(phase) => self.read_output(&phase).await,
        }
        if self.stuck
            && let Some(screen) = self.display.screen()
        {
            screen.ask(None);
        }
        Ok(None)
    }

    /// Shows what has come to the log that is open.
    pub(super) fn look_again(&mut self) {
        let followed = self.display.screen().and_then(|screen| screen.follows());
        let Some(phase) = followed.and_then(|id| self.view.phases.iter().find(|phase| phase.id == id)) else { return };
        let more = self.logs.more(self.context, &self.view, phase);
        if let Some(screen) = self.display.screen() {
            match more {
                Ok(lines) => screen.read_on(lines),
                Err(error) => screen.notice(Some(error.in_one_line())),
            }
        }
    }

    /// Begins what the screen shows of running phases with their logs.
    pub(super) fn seed(&mut self) {
        let Some(screen) = self.display.screen() else { return };
        for phase in self.view.phases.iter().filter(|phase| phase.status == PhaseStatus::Running) {
            // What cannot be read is said when it is asked for.
            screen.seed(&phase.id, Logs::default().more(self.context, &self.view, phase).unwrap_or_default());
        }
    }

    async fn answer(&mut self, question: &QuestionId, answer: &AnswerRequest) {
        // Somebody else was faster, or the answer did not fit: what became of it is the next event, or it is asked again.
        let answered = unless_gone(self.reached.client().answer(question, answer).await);
        let refusal = answered.err().map(|error| error.in_one_line());
        // A job whose other phases go on is not stuck because of an answer that was refused.
        self.stuck &= refusal.is_some();
        if let Some(screen) = self.display.screen() {
            screen.notice(refusal);
        }
    }

    fn read_log(&mut self, id: &PhaseId) {
        let Some(phase) = self.view.phases.iter().find(|phase| phase.id == *id) else { return };
        self.logs = Logs::default();
        let read = self.logs.more(self.context, &self.view, phase);
        let language = self.context.terminal.language;
        self.open(Read::Log, say!(language, "screen-log", phase = id.as_str()), id, read);
    }

    async fn read_diff(&mut self, id: &PhaseId) {
        let title = say!(self.context.terminal.language, "screen-diff", phase = id.as_str());
        let text = self.patch(id).await;
        self.open(Read::Patch, title, id, text);
    }

    async fn read_output(&mut self, id: &PhaseId) {
        let (gate, text) =
            self.output(id).await.map_or_else(|error| (String::new(), Err(error)), |(gate, text)| (gate, Ok(text)));
        let title = say!(self.context.terminal.language, "screen-output", phase = id.as_str(), gate = gate);
        self.open(Read::Output, title, id, text);
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
