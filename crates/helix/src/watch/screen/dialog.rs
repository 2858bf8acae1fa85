//! A question on the screen: what is asked, what can be chosen, and what a person types.
//!
//! Must not know what follows from an answer.

use helix_job::PhaseView;
use helix_job::phrases::{approvals, asks, attempted, option};
use helix_job::question::{QuestionKind, QuestionView};
use helix_language::say;
use helix_server::wire::AnswerRequest;
use ratatui::text::Line;

use super::paint::{Paint, wrapped};
use crate::agent_log::clean_lines;
use crate::terminal::Meaning;

/// A question that somebody is about to answer.
pub(super) struct Dialog {
    pub(super) question: QuestionView,
    /// The option that would be chosen.
    at: usize,
    /// Words of their own, once they are typed.
    text: Option<String>,
    /// The first line of the question that is shown.
    from: usize,
}

impl Dialog {
    pub(super) fn new(question: QuestionView) -> Self {
        let text = question.options.is_empty().then(String::new);
        Self { question, at: 0, text, from: 0 }
    }

    pub(super) fn is_typing(&self) -> bool {
        self.text.is_some()
    }

    /// Goes to the next option, or to the one before.
    pub(super) fn go(&mut self, by: isize) {
        self.at = self.at.saturating_add_signed(by).min(self.question.options.len().saturating_sub(1));
    }

    /// Reads on in a long question.
    pub(super) fn scroll(&mut self, by: isize) {
        self.from = self.from.saturating_add_signed(by);
    }

    pub(super) fn typed(&mut self, text: &str) {
        if let Some(typed) = &mut self.text {
            typed.push_str(text);
        }
    }

    pub(super) fn erased(&mut self) {
        if let Some(typed) = &mut self.text {
            typed.pop();
        }
    }

    /// Chooses the option with this number, from 1.
    pub(super) fn choose(&mut self, number: usize) -> Option<AnswerRequest> {
        if number > self.question.options.len() {
            return None;
        }
        self.at = number - 1;
        self.enter()
    }

    /// Takes what is chosen and typed; the answer once it is complete.
    pub(super) fn enter(&mut self) -> Option<AnswerRequest> {
        let choice = self.question.options.get(self.at).map(|option| option.key.clone());
        match &self.text {
            None if self.question.free_text => {
                self.text = Some(String::new());
                None
            }
            None => Some(AnswerRequest { choice, text: None }),
            Some(text) => {
                let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                (choice.is_some() || text.is_some()).then_some(AnswerRequest { choice, text })
            }
        }
    }

    /// Goes back to the options; `false` where there is no back.
    pub(super) fn back(&mut self) -> bool {
        let back = self.is_typing() && !self.question.options.is_empty();
        if back {
            self.text = None;
        }
        back
    }

    /// `phase`: the one that it is about.
    pub(super) fn lines(
        &self,
        paint: Paint,
        phase: Option<&PhaseView>,
        width: usize,
        room: usize,
    ) -> Vec<Line<'static>> {
        let (language, question) = (paint.language, &self.question);
        let is_agents = question.kind == QuestionKind::Agent;
        let title = match is_agents {
            true => say!(language, "screen-agent-asks", phase = question.phase.as_str()),
            false => say!(language, "screen-question", phase = question.phase.as_str()),
        };
        let mut text: Vec<Line<'static>> = Vec::new();
        for line in asks(language, question).lines() {
            text.extend(wrapped(&format!("  {line}"), width).iter().map(|line| paint.line_of(None, line, width)));
        }
        if !question.set_out.is_empty() {
            text.push(paint.line(Meaning::Weak, &format!("  {}", say!(language, "ask-set-out")), width));
        }
        for line in clean_lines(&question.set_out) {
            text.extend(wrapped(&format!("  │ {line}"), width).iter().map(|line| paint.line_of(None, line, width)));
        }
        for one in &question.attempted {
            let line = attempted(language, one.run.as_str(), &one.asked);
            text.extend(wrapped(&format!("  {line}"), width).iter().map(|line| paint.line(Meaning::Bad, line, width)));
        }
        text.extend(approvals(language, question).map(|line| paint.line(Meaning::Weak, &format!("  {line}"), width)));
        if let Some(phase) = phase.filter(|phase| phase.attempt > 0) {
            let so_far = say!(
                language,
                "screen-so-far",
                attempts = phase.attempt,
                cost = language.money(phase.cost),
                time = language.duration(phase.duration_seconds.unwrap_or_default())
            );
            text.push(paint.line(Meaning::Weak, &format!("  {so_far}"), width));
        }
        let mut below = vec![Line::default()];
        for (at, one) in question.options.iter().enumerate() {
            let (mark, meaning) = if at == self.at { ("▸", Some(Meaning::Strong)) } else { (" ", None) };
            let text = format!("{mark} {}  {}", at + 1, option(language, one));
            below.push(paint.line_of(meaning, &text, width));
        }
        if let Some(typed) = &self.text {
            below.push(Line::default());
            let about = match question.options.is_empty() {
                true => say!(language, "screen-your-answer"),
                false => say!(language, "screen-your-text"),
            };
            let typed = format!("{about} {typed}▏");
            below
                .extend(wrapped(&typed, width).iter().map(|line| paint.line_of(Some(Meaning::Attention), line, width)));
        }
        let room = room.saturating_sub(below.len() + 1).max(1);
        let from = self.from.min(text.len().saturating_sub(room));
        let more = text.len().saturating_sub(from + room);
        let mut lines = vec![paint.line(Meaning::Attention, &title, width)];
        lines.extend(text.into_iter().skip(from).take(room));
        if more > 0 {
            lines.pop();
            lines.push(paint.line(Meaning::Weak, &say!(language, "screen-more", lines = more + 1), width));
        }
        lines.extend(below);
        lines
    }
}
