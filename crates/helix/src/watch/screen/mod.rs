//! A job on the whole screen of a terminal: one line about it, its phases, what their agents do, and keys.
//!
//! Must not know hosts: what a person asks for is carried out by the watcher of the job.

mod dialog;
mod doing;
mod frame;
mod pager;
mod paint;

use std::collections::BTreeMap;
use std::io::{Stderr, Write, stderr};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use futures::StreamExt;
use helix_core::ids::{PhaseId, QuestionId};
use helix_job::phrases::open_questions;
use helix_job::{JobState, JobView};
use helix_language::Language;
use helix_server::wire::{ActivityFrame, AnswerRequest};
use jiff::Timestamp;
use ratatui::Terminal as Drawn;
use ratatui::backend::CrosstermBackend;

use crate::terminal::{Look, Terminal};

use dialog::Dialog;
use frame::{Over, Shown};
use pager::Pager;
use paint::Paint;

/// What a person at the screen asks for that the screen cannot do by itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Nothing,
    /// Ctrl-C.
    Interrupt,
    /// To leave the job to itself.
    Leave,
    Cancel,
    /// To read the log of a phase.
    Log(PhaseId),
    /// To read what a phase changed.
    Diff(PhaseId),
    /// To read what the last gate of a phase printed.
    Output(PhaseId),
    /// To answer an open question, of this phase if it has one.
    Ask(PhaseId),
    Answer(QuestionId, AnswerRequest),
    /// To answer the open question another time.
    NotNow,
}

/// What was opened to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// It grows as long as its phase runs.
    Log,
    Patch,
    Output,
}

/// The screen of one job.
pub(super) struct Screen {
    /// The terminal, unless it was given back.
    held: Option<Held>,
    shown: Shown,
    /// Whether the frame is not what was drawn last.
    stale: bool,
    drawn_at: Timestamp,
    /// The phase whose log is open.
    reading: Option<PhaseId>,
    /// The question that was asked last.
    asked: Option<QuestionId>,
}

/// A terminal in raw mode with another screen; it is as before when this is dropped, whatever happens.
struct Held {
    drawn: Drawn<CrosstermBackend<Stderr>>,
}

impl Held {
    fn begin() -> std::io::Result<Self> {
        let drawn = Drawn::new(CrosstermBackend::new(stderr()))?;
        enable_raw_mode()?;
        // From here on it is restored, also if the next step fails.
        let mut held = Self { drawn };
        execute!(stderr(), EnterAlternateScreen, Clear(ClearType::All), EnableBracketedPaste)?;
        held.drawn.hide_cursor()?;
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let shown = self.drawn.show_cursor();
        let left = execute!(stderr(), DisableBracketedPaste, LeaveAlternateScreen);
        if let Err(error) = disable_raw_mode().and(shown).and(left) {
            tracing::warn!(%error, "the terminal could not be restored: run `reset`");
        }
    }
}

/// The keys of a terminal, as long as somebody listens.
pub(super) struct Keys(Option<EventStream>);

impl Keys {
    pub(super) fn new(is_screen: bool) -> Self {
        Self(is_screen.then(EventStream::new))
    }

    /// The next key; `None` when the terminal is gone. Waits for ever where nobody listens to keys.
    pub(super) async fn next(&mut self) -> Option<Event> {
        match &mut self.0 {
            Some(events) => events.next().await?.ok(),
            None => std::future::pending().await,
        }
    }
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It is none that can be drawn on.
    pub(super) fn begin(
        terminal: Terminal,
        view: &JobView,
        number: Option<usize>,
        goes_on: bool,
    ) -> std::io::Result<Self> {
        let shown = Shown {
            paint: Paint { language: terminal.language, colour: terminal.error_look == Look::Colour },
            job: view.clone(),
            number,
            budget: None,
            doing: BTreeMap::new(),
            selected: None,
            notice: None,
            over: Over::Nothing,
            goes_on,
        };
        let (stale, drawn_at) = (true, Timestamp::now());
        let mut screen = Self { held: Some(Held::begin()?), shown, stale, drawn_at, reading: None, asked: None };
        screen.draw();
        Ok(screen)
    }

    /// The language of the person at the terminal.
    pub(super) fn language(&self) -> Language {
        self.shown.paint.language
    }

    /// Gives the terminal back.
    pub(super) fn end(&mut self) {
        self.held = None;
    }

    /// Shows the job as it is now.
    pub(super) fn job(&mut self, view: &JobView, state: &JobState) {
        self.stale = true;
        self.shown.job = view.clone();
        self.shown.budget = state.active().and_then(|active| active.spec.policy.budget_usd);
        // Somebody else was faster, or it does not matter any more.
        if let Over::Question(dialog) = &self.shown.over
            && !open_questions(view).any(|open| open.id == dialog.question.id)
        {
            self.shown.over = Over::Nothing;
        }
    }

    pub(super) fn hear(&mut self, heard: &ActivityFrame) {
        self.stale = true;
        let doing = self.shown.doing.entry(heard.phase.clone()).or_default();
        doing.hear(self.shown.paint.language, &self.shown.job.id, &heard.event);
    }

    /// What the agent of a phase did before anybody listened.
    pub(super) fn seed(&mut self, phase: &PhaseId, lines: Vec<String>) {
        self.stale = true;
        self.shown.doing.entry(phase.clone()).or_default().seed(lines);
    }

    /// Says what the job waits for, or what became of a action; `None` takes that back.
    pub(super) fn notice(&mut self, text: Option<String>) {
        self.stale = true;
        self.shown.notice = text;
    }

    /// Asks an open question, of this phase if it has one, unless something else is looked at.
    pub(super) fn ask(&mut self, phase: Option<&PhaseId>) {
        let is_free = matches!(self.shown.over, Over::Nothing);
        let of_phase = phase.and_then(|phase| open_questions(&self.shown.job).find(|open| open.phase == *phase));
        let question = of_phase.or_else(|| open_questions(&self.shown.job).next());
        let Some(question) = question.filter(|_| is_free) else { return };
        let is_new = self.asked.replace(question.id.clone()).as_ref() != Some(&question.id);
        self.shown.over = Over::Question(Box::new(Dialog::new(question.clone())));
        self.stale = true;
        let mut bell = stderr().lock();
        // A person who looks elsewhere hears that something waits.
        if is_new && bell.write_all(b"\x07").and_then(|()| bell.flush()).is_err() {
            // A terminal that is gone has nobody before it.
        }
    }

    /// Asks whether the job is to be left or cancelled; `false` if that is what is asked already.
    pub(super) fn ask_to_leave(&mut self) -> bool {
        let is_new = !matches!(self.shown.over, Over::Leaving);
        self.shown.over = if is_new { Over::Leaving } else { Over::Nothing };
        self.stale = true;
        is_new
    }

    /// Opens a text.
    pub(super) fn read(&mut self, what: Read, title: String, text: Vec<String>, of: &PhaseId) {
        self.stale = true;
        self.reading = (what == Read::Log).then(|| of.clone());
        self.shown.over = Over::Text(match what {
            Read::Log => Pager::growing(title, text),
            Read::Patch => Pager::patch(title, text),
            Read::Output => Pager::new(title, text),
        });
    }

    /// Adds what has come to the text that is open.
    pub(super) fn read_on(&mut self, lines: Vec<String>) {
        if let Over::Text(pager) = &mut self.shown.over {
            self.stale |= !lines.is_empty();
            pager.add(lines);
        }
    }

    /// The phase whose log is open at its end, so that what comes belongs there.
    pub(super) fn follows(&self) -> Option<PhaseId> {
        match &self.shown.over {
            Over::Text(pager) if pager.follows() => self.reading.clone(),
            _ => None,
        }
    }

    /// Draws what has changed; times go on every second.
    pub(super) fn tick(&mut self) {
        if self.stale || Timestamp::now().duration_since(self.drawn_at).as_millis() >= 1_000 {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let now = Timestamp::now();
        (self.stale, self.drawn_at) = (false, now);
        let Some(held) = &mut self.held else { return };
        if held.drawn.draw(|frame| self.shown.draw(frame, now)).is_err() {
            // The terminal is gone; its keys end, too.
        }
    }

    /// What follows from something that happened at the keyboard.
    pub(super) fn key(&mut self, event: &Event) -> Action {
        self.stale = true;
        let room = self.held.as_ref().and_then(|held| held.drawn.size().ok()).map_or(24, |size| size.height);
        let action = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => pressed(&mut self.shown, *key, room.into()),
            Event::Paste(text) => {
                if let Over::Question(dialog) = &mut self.shown.over {
                    dialog.typed(text);
                }
                Action::Nothing
            }
            _ => Action::Nothing,
        };
        self.draw();
        action
    }
}

/// What follows from a key, at a terminal with so many lines.
fn pressed(shown: &mut Shown, key: KeyEvent, room: usize) -> Action {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Action::Interrupt,
            KeyCode::Char('d') if matches!(shown.over, Over::Question(_)) => not_now(shown),
            _ => Action::Nothing,
        };
    }
    match &mut shown.over {
        Over::Leaving => {
            shown.over = Over::Nothing;
            match key.code {
                KeyCode::Char('d') if shown.goes_on => Action::Leave,
                KeyCode::Char('c') => Action::Cancel,
                _ => Action::Nothing,
            }
        }
        Over::Text(pager) => {
            // What is around the text: two lines above, its title, the keys.
            let room = room.saturating_sub(4);
            let page = room.cast_signed();
            match key.code {
                KeyCode::Up | KeyCode::Char('k') => pager.go(-1, room),
                KeyCode::Down | KeyCode::Char('j') => pager.go(1, room),
                KeyCode::PageUp | KeyCode::Char('b') => pager.go(-page, room),
                KeyCode::PageDown | KeyCode::Char(' ') => pager.go(page, room),
                KeyCode::Home | KeyCode::Char('g') => pager.go(isize::MIN, room),
                KeyCode::End | KeyCode::Char('G') => pager.go(isize::MAX, room),
                KeyCode::Char('q') | KeyCode::Esc | KeyCode::Enter => shown.over = Over::Nothing,
                _ => {}
            }
            Action::Nothing
        }
        Over::Question(dialog) => {
            let chosen = match key.code {
                KeyCode::Enter => Some(dialog.enter()),
                KeyCode::Char(letter @ '1'..='9') if !dialog.is_typing() => {
                    Some(dialog.choose(letter.to_digit(10).unwrap_or_default() as usize))
                }
                _ => None,
            };
            if let Some(answer) = chosen {
                let Some(answer) = answer else { return Action::Nothing };
                let id = dialog.question.id.clone();
                shown.over = Over::Nothing;
                return Action::Answer(id, answer);
            }
            match key.code {
                KeyCode::Esc if dialog.back() => {}
                KeyCode::Esc => return not_now(shown),
                KeyCode::Up => dialog.go(-1),
                KeyCode::Down => dialog.go(1),
                KeyCode::PageUp => dialog.scroll(-5),
                KeyCode::PageDown => dialog.scroll(5),
                KeyCode::Backspace => dialog.erased(),
                KeyCode::Char(letter) if dialog.is_typing() => dialog.typed(letter.encode_utf8(&mut [0; 4])),
                KeyCode::Char('d') => return Action::Diff(dialog.question.phase.clone()),
                KeyCode::Char('l') => return Action::Log(dialog.question.phase.clone()),
                KeyCode::Char('g') => return Action::Output(dialog.question.phase.clone()),
                _ => {}
            }
            Action::Nothing
        }
        Over::Nothing => at_phases(shown, key),
    }
}

fn not_now(shown: &mut Shown) -> Action {
    shown.over = Over::Nothing;
    Action::NotNow
}

fn at_phases(shown: &mut Shown, key: KeyEvent) -> Action {
    let phases = &shown.job.phases;
    let Some(phase) = shown.phase().map(|phase| phase.id.clone()) else { return Action::Nothing };
    let at = phases.iter().position(|one| one.id == phase).unwrap_or_default();
    // The first key shows where one is.
    let go = |by: isize| if shown.selected.is_some() { at.saturating_add_signed(by).min(phases.len() - 1) } else { at };
    match key.code {
        KeyCode::Up | KeyCode::Char('k') => shown.selected = Some(phases[go(-1)].id.clone()),
        KeyCode::Down | KeyCode::Char('j') => shown.selected = Some(phases[go(1)].id.clone()),
        KeyCode::Esc => shown.selected = None,
        KeyCode::Char('l') | KeyCode::Enter => return Action::Log(phase),
        KeyCode::Char('d') => return Action::Diff(phase),
        KeyCode::Char('g') => return Action::Output(phase),
        KeyCode::Char('a') => return Action::Ask(phase),
        KeyCode::Char('c') => shown.over = Over::Leaving,
        KeyCode::Char('q') if shown.goes_on => return Action::Leave,
        KeyCode::Char('q') => shown.over = Over::Leaving,
        _ => {}
    }
    Action::Nothing
}

#[cfg(test)]
#[path = "mod_test.rs"]
mod tests;
