//! What the screen shows of a job, for any size of a terminal.
//!
//! Must not know keys or terminals: a frame is made of the job, what its agents do, and what lies over that.

use std::collections::BTreeMap;

use helix_core::ids::PhaseId;
use helix_core::text::plain;
use helix_job::phrases::{self, Sign, open_questions};
use helix_job::{JobView, PhaseStatus, PhaseView};
use helix_language::say;
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::dialog::Dialog;
use super::doing::Doing;
use super::pager::Pager;
use super::paint::{Paint, cut, fitted, wrapped};
use crate::terminal::{Meaning, one_line};
use crate::watch::sign::meaning;

/// Longest name of a phase that keeps its column, in characters.
const NAME: usize = 24;
/// Fewest lines below the phases that are worth a pane of their own.
const LEAST_PANE: usize = 3;

/// All that a frame is made of.
pub(super) struct Shown {
    pub(super) paint: Paint,
    pub(super) job: JobView,
    /// What people call it by.
    pub(super) number: Option<usize>,
    pub(super) budget: Option<f64>,
    pub(super) doing: BTreeMap<PhaseId, Doing>,
    /// The phase that a person has gone to; otherwise the one that matters most.
    pub(super) selected: Option<PhaseId>,
    /// What the job waits for, or what was done last.
    pub(super) notice: Option<String>,
    pub(super) over: Over,
    /// Whether the job goes on when this command leaves.
    pub(super) goes_on: bool,
}

/// What lies over the phases.
pub(super) enum Over {
    Nothing,
    /// Whether the job is to be left or cancelled.
    Leaving,
    Question(Box<Dialog>),
    Text(Pager),
}

/// A phase as lines, the first of which has its name.
struct Row<'a> {
    phase: &'a PhaseView,
    lines: Vec<Line<'static>>,
}

impl Shown {
    /// The phase that the keys are about: the selected one, else what runs, waits or failed, else the last that did something.
    pub(super) fn phase(&self) -> Option<&PhaseView> {
        let phases = &self.job.phases;
        let is = |status| move |phase: &&PhaseView| phase.status == status;
        let selected = self.selected.as_ref().and_then(|id| phases.iter().find(|phase| phase.id == *id));
        let wanted = [PhaseStatus::Running, PhaseStatus::Waiting, PhaseStatus::Failed];
        selected
            .or_else(|| wanted.into_iter().find_map(|status| phases.iter().find(is(status))))
            .or_else(|| phases.iter().rev().find(|phase| phase.attempt > 0))
            .or_else(|| phases.first())
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, now: Timestamp) {
        let area = frame.area();
        if area.height < 3 || area.width < 10 {
            return;
        }
        let (top, bottom) = (Rect { height: 2, ..area }, Rect { y: area.bottom() - 1, height: 1, ..area });
        let middle = Rect { y: 2, height: area.height - 3, ..area };
        let job = self.job.clone().at(now);
        let width = area.width.into();
        let mut head = vec![self.head(&job, width)];
        head.push(match &self.notice {
            Some(notice) => self.paint.line(Meaning::Attention, &one_line(notice, 400), width),
            None => self.paint.line(Meaning::Weak, &"─".repeat(width), width),
        });
        put(frame, top, head);
        match &self.over {
            Over::Nothing | Over::Leaving => put(frame, middle, self.phases(&job, width, middle.height.into())),
            Over::Question(dialog) => {
                put(frame, middle, dialog.lines(self.paint, self.asking(dialog), width, middle.height.into()))
            }
            Over::Text(pager) => put(frame, middle, pager.lines(self.paint, width, middle.height.into())),
        }
        put(frame, bottom, vec![self.paint.line(Meaning::Weak, &self.keys(), width)]);
    }

    /// The phase that a question is about.
    fn asking(&self, dialog: &Dialog) -> Option<&PhaseView> {
        self.job.phases.iter().find(|phase| phase.id == dialog.question.phase)
    }

    /// The keys that do something now.
    fn keys(&self) -> String {
        match &self.over {
            Over::Leaving if self.goes_on => say!(self.paint.language, "screen-leave-or-cancel"),
            Over::Leaving => say!(self.paint.language, "screen-cancel"),
            Over::Question(dialog) if dialog.is_typing() => say!(self.paint.language, "screen-keys-type"),
            Over::Question(_) => say!(self.paint.language, "screen-keys-question"),
            Over::Text(_) => say!(self.paint.language, "screen-keys-text"),
            Over::Nothing => {
                let answer = open_questions(&self.job).next().map(|_| say!(self.paint.language, "screen-key-answer"));
                let keys = say!(self.paint.language, "screen-keys");
                answer.into_iter().chain([keys]).collect::<Vec<_>>().join("  ")
            }
        }
    }

    /// The job in one line.
    fn head(&self, job: &JobView, width: usize) -> Line<'static> {
        let language = self.paint.language;
        let sign = Sign::from(job.status);
        let done = job.phases.iter().filter(|phase| is_over(phase)).count();
        let cost = language.money(job.cost);
        let cost = match self.budget {
            Some(budget) => say!(language, "screen-budget", cost = cost, budget = language.money(budget)),
            None => cost,
        };
        let parts = [
            say!(language, "screen-phases", done = done, phases = job.phases.len()),
            cost,
            language.duration(job.duration_seconds),
        ];
        let status = format!("{} {}", sign.symbol(), phrases::job_status(language, job.status));
        let number = self.number.map(|number| format!("#{number} ")).unwrap_or_default();
        let spans = vec![
            self.paint.span(Some(Meaning::Weak), &number),
            self.paint.span(Some(Meaning::Strong), &one_line(&job.name, 40)),
            Span::raw("  "),
            self.paint.span(Some(meaning(sign)), &status),
            Span::raw("  "),
            self.paint.span(None, &parts.join(" · ")),
        ];
        fitted(Line::from(spans), width)
    }

    /// All phases, as far as there is room: what runs, waits or failed always is there. Below them what the phase does that
    /// matters most, or why it failed.
    fn phases(&self, job: &JobView, width: usize, room: usize) -> Vec<Line<'static>> {
        let names = job.phases.iter().map(|phase| phase.id.as_str().len()).max().unwrap_or_default().min(NAME);
        let mut rows: Vec<Row<'_>> =
            job.phases.iter().map(|phase| Row { phase, lines: self.row(phase, names, width) }).collect();
        let chosen = self.phase().map(|phase| phase.id.clone());
        let mut folded: Vec<(PhaseStatus, Line<'static>)> = Vec::new();
        for status in [PhaseStatus::Passed, PhaseStatus::Skipped, PhaseStatus::Pending] {
            if rows.iter().map(|row| row.lines.len()).sum::<usize>() + folded.len() <= room {
                break;
            }
            let is_folded = |row: &Row<'_>| row.phase.status == status && Some(&row.phase.id) != self.selected.as_ref();
            let ids: Vec<&str> = rows.iter().filter(|row| is_folded(row)).map(|row| row.phase.id.as_str()).collect();
            if ids.len() > 1 {
                let sign = Sign::from(status);
                let what = phrases::phase_status(self.paint.language, status);
                let text = format!(" {} {} {what}: {}", sign.symbol(), ids.len(), ids.join(", "));
                folded.push((status, self.paint.line(meaning(sign), &text, width)));
                rows.retain(|row| !is_folded(row));
            }
        }
        let total = |rows: &[Row<'_>]| rows.iter().map(|row| row.lines.len()).sum::<usize>() + folded.len();
        if total(&rows) > room {
            rows.iter_mut().filter(|row| Some(&row.phase.id) != chosen.as_ref()).for_each(|row| row.lines.truncate(1));
        }
        // More than that at once: those around the one that is looked at.
        let is_chosen = |row: &Row<'_>| Some(&row.phase.id) == chosen.as_ref();
        while total(&rows) > room && rows.len() > 1 {
            let at = rows.iter().position(is_chosen).unwrap_or_default();
            if at * 2 >= rows.len() { drop(rows.remove(0)) } else { drop(rows.pop()) }
        }
        let (before, after): (Vec<_>, Vec<_>) =
            folded.into_iter().partition(|(status, _)| *status != PhaseStatus::Pending);
        let mut lines: Vec<Line<'static>> = before.into_iter().map(|(_, line)| line).collect();
        lines.extend(rows.into_iter().flat_map(|row| row.lines));
        lines.extend(after.into_iter().map(|(_, line)| line));
        lines.truncate(room);
        lines.extend(self.pane(width, room - lines.len()));
        lines
    }

    /// A phase in one line, and what its agent does in a second one.
    fn row(&self, phase: &PhaseView, names: usize, width: usize) -> Vec<Line<'static>> {
        let language = self.paint.language;
        let sign = Sign::from(phase.status);
        let style = Some(meaning(sign));
        let is_busy = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting);
        let mut right = Vec::new();
        right.extend((phase.cost > 0.0).then(|| language.money(phase.cost)));
        right.extend(phase.duration_seconds.filter(|_| phase.attempt > 0).map(|time| language.duration(time)));
        let right = right.join("  ");
        let name = one_line(phase.id.as_str(), names.max(1));
        let chosen = self.selected.as_ref() == Some(&phase.id);
        let name_meaning = if chosen { Some(Meaning::Strong) } else { None };
        let mut spans = vec![
            Span::raw(if chosen { "▸" } else { " " }),
            self.paint.span(style, &sign.symbol().to_string()),
            Span::raw(" "),
            self.paint.span(name_meaning, &format!("{name:names$}")),
            Span::raw("  "),
            self.paint.span(style, &phrases::stage(language, phase)),
        ];
        if phase.attempt > 1 {
            spans
                .push(self.paint.span(None, &format!("  {}", say!(language, "term-attempt", attempt = phase.attempt))));
        }
        // What passed is told by its phase.
        let (passed, others): (Vec<_>, Vec<_>) = phase.gates.iter().partition(|gate| gate.verdict.passed());
        for gate in others.into_iter().chain(passed.into_iter().filter(|_| is_busy)) {
            let sign = Sign::from(&gate.verdict);
            spans.push(self.paint.span(Some(meaning(sign)), &format!("  {} {}", sign.symbol(), gate.gate)));
        }
        let mut line = fitted(Line::from(spans), width.saturating_sub(Span::raw(right.as_str()).width() + 2));
        let gap = width.saturating_sub(line.width() + Span::raw(right.as_str()).width());
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(self.paint.span(Some(Meaning::Weak), &right));
        let mut lines = vec![fitted(line, width)];
        let doing = self.doing.get(&phase.id).filter(|_| phase.status == PhaseStatus::Running);
        if let Some(doing) = doing {
            let tokens = (doing.tokens > 0).then(|| say!(language, "doing-tokens", tokens = thousands(doing.tokens)));
            let (meaning, what) = match (&doing.limit, &doing.now) {
                (Some(limit), _) => (Meaning::Attention, Some(limit)),
                (None, now) => (Meaning::Weak, now.as_ref()),
            };
            if let Some(what) = what {
                let room = width.saturating_sub(6 + tokens.as_ref().map_or(0, |tokens| tokens.len() + 3));
                let what = cut(&plain(what), room);
                let text = [Some(what), tokens].into_iter().flatten().collect::<Vec<_>>().join(" · ");
                lines.push(self.paint.line(meaning, &format!("    {text}"), width));
            }
        }
        lines
    }

    /// What the phase that matters most says, or why it failed.
    fn pane(&self, width: usize, room: usize) -> Vec<Line<'static>> {
        let Some(phase) = self.phase().filter(|_| room >= LEAST_PANE) else { return Vec::new() };
        let language = self.paint.language;
        let text: Vec<String> = match (phase.status, &phase.error, self.doing.get(&phase.id)) {
            (PhaseStatus::Failed | PhaseStatus::Skipped, Some(error), _) => {
                let said = error.said_in(language);
                let hint = said.hint.as_ref().map(|hint| phrases::hint(language, hint));
                std::iter::once(said.message.clone()).chain(hint).collect()
            }
            (_, _, Some(doing)) => doing.tail.iter().cloned().collect(),
            (_, _, None) => Vec::new(),
        };
        let mut lines: Vec<String> = text.iter().flat_map(|line| wrapped(line, width.saturating_sub(2))).collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let from = lines.len().saturating_sub(room - 2);
        let title = format!("── {} ", phase.id);
        let rule = "─".repeat(width.saturating_sub(title.chars().count()));
        let head = [Line::default(), self.paint.line(Meaning::Weak, &format!("{title}{rule}"), width)];
        head.into_iter()
            .chain(lines.drain(from..).map(|line| self.paint.line_of(None, &format!("  {line}"), width)))
            .collect()
    }
}

fn put(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>) {
    for (line, y) in lines.into_iter().zip(area.top()..area.bottom()) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

fn is_over(phase: &PhaseView) -> bool {
    matches!(phase.status, PhaseStatus::Passed | PhaseStatus::Skipped)
}

/// `950`, `12.3k`, `1.2M`.
fn thousands(number: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "tokens of a run are far below 2^52")]
    let number_of = |unit: f64| number as f64 / unit;
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number_of(1e3)),
        _ => format!("{:.1}M", number_of(1e6)),
    }
}

#[cfg(test)]
#[path = "frame_test.rs"]
pub(super) mod tests;
