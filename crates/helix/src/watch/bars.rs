//! A job as bars on a terminal: one line for each phase, with stage, attempt, gates, cost and time.
//!
//! Must not be used where standard error is no terminal.

use std::time::Duration;

use helix_core::ids::PhaseId;
use helix_job::phrases::{self, Sign};
use helix_job::{JobEvent, JobView, PhaseStatus, PhaseView, Recorded};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use jiff::Timestamp;

use super::lines::{lines, meaning};
use crate::terminal::{Look, Meaning, Terminal, duration, money, one_line};

/// How often spinners turn.
const TICK: Duration = Duration::from_millis(120);

/// The bars of one job.
pub(super) struct PhaseBars {
    terminal: Terminal,
    all: MultiProgress,
    /// In the order in which they are shown.
    phases: Vec<(PhaseId, ProgressBar)>,
}

impl PhaseBars {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal, all: MultiProgress::new(), phases: Vec::new() }
    }

    pub(super) fn event(&mut self, event: &Recorded<JobEvent>, view: &JobView) {
        if stays(&event.event) {
            for line in lines(&event.event, view, &self.terminal) {
                self.note(&line);
            }
        }
        // Phases may have joined the plan.
        self.begin(view);
        for ((_, bar), phase) in self.phases.iter().zip(&view.phases) {
            self.show(bar, phase);
        }
    }

    pub(super) fn note(&self, text: &str) {
        if self.all.println(text).is_err() {
            // The terminal is gone; there is nobody to be told.
        }
    }

    pub(super) fn finish(&self) {
        for (_, bar) in &self.phases {
            bar.finish_and_clear();
        }
        if self.all.clear().is_err() {
            // As above.
        }
    }

    fn begin(&mut self, view: &JobView) {
        let width = view.phases.iter().map(|phase| phase.id.as_str().len()).max().unwrap_or(0);
        for (place, phase) in view.phases.iter().enumerate() {
            // Phases keep their order; those that are added stand anywhere among them.
            if self.phases.get(place).is_some_and(|(known, _)| *known == phase.id) {
                continue;
            }
            let bar = self.all.insert(place, ProgressBar::new_spinner());
            bar.set_prefix(format!("{:width$}", phase.id.as_str()));
            self.phases.insert(place, (phase.id.clone(), bar));
        }
    }

    /// How a bar looks; with how long its phase has been under way, shown anew whenever the spinner turns.
    fn style(&self, timed: bool) -> Option<ProgressStyle> {
        let spinner = if self.terminal.error_look == Look::Colour { "{spinner:.cyan}" } else { "{spinner}" };
        let time = if timed { "  {time}" } else { "" };
        let style = ProgressStyle::with_template(&format!("{spinner} {{prefix}}  {{msg}}{time}")).ok()?;
        let style = style.with_key("time", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            if out.write_str(&duration(state.elapsed().as_secs_f64())).is_err() {
                // A bar that cannot be written is shown again at the next turn.
            }
        });
        Some(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "))
    }

    fn show(&self, bar: &ProgressBar, phase: &PhaseView) {
        let paint = |meaning, text: &str| self.terminal.paint_error(meaning, text);
        let sign = Sign::from(phase.status);
        let status = paint(meaning(sign), &format!("{} {}", sign.symbol(), phrases::stage(phase)));
        let mut parts = vec![status];
        if phase.attempt > 1 {
            parts.push(format!("attempt {}", phase.attempt));
        }
        parts.extend(phase.gates.iter().map(|gate| {
            let sign = Sign::from(&gate.verdict);
            paint(meaning(sign), &format!("{} {}", sign.symbol(), gate.gate))
        }));
        if phase.cost > 0.0 {
            parts.push(money(phase.cost));
        }
        if let Some(seconds) = phase.duration_seconds.filter(|_| phase.completed_at.is_some()) {
            parts.push(duration(seconds));
        }
        let under_way = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting);
        if let Some(error) = phase.error.as_ref().filter(|_| under_way) {
            parts.push(paint(Meaning::Weak, &one_line(&error.message, 60)));
        }
        let since = phase.started_at.filter(|_| under_way);
        if let Some(since) = since {
            bar.set_elapsed(Timestamp::now().duration_since(since).try_into().unwrap_or_default());
        }
        if let Some(style) = self.style(since.is_some()) {
            bar.set_style(style);
        }
        bar.set_message(parts.join("  "));
        if under_way {
            bar.enable_steady_tick(TICK);
        } else {
            bar.disable_steady_tick();
            bar.tick();
        }
    }
}

/// Whether the bars cannot show an event, so that it stays above them as a line.
fn stays(event: &JobEvent) -> bool {
    !matches!(
        event,
        JobEvent::AttemptStarted { .. }
            | JobEvent::RunFinished { .. }
            | JobEvent::ResultCommitted { .. }
            | JobEvent::CancelRequested { .. }
            | JobEvent::JobFinished { .. }
    )
}
