//! A job while it is watched: as bars on a terminal, as plain lines for logs and pipes, or as JSON lines for programs.
//!
//! Must not know how an event is worded, nor draw bars where standard error is no terminal.

use std::time::Duration;

use helix_core::ids::PhaseId;
use helix_job::phrases::{self, Sign};
use helix_job::{JobEvent, JobView, PhaseStatus, PhaseView, Recorded, say};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use jiff::Timestamp;

use crate::error::CommandError;
use crate::terminal::{Look, Meaning, Reading, Terminal, coloured, one_line};

/// One of the ways to show a job.
pub(super) enum Display {
    Bars(PhaseBars),
    Lines(Terminal),
    Json(Terminal),
}

impl Display {
    pub(super) fn new(terminal: Terminal) -> Self {
        match terminal.reading {
            Reading::Programs => Self::Json(terminal),
            Reading::People if terminal.bars => Self::Bars(PhaseBars::new(terminal)),
            Reading::People => Self::Lines(terminal),
        }
    }

    pub(super) fn event(&mut self, event: &Recorded<JobEvent>, view: &JobView) -> Result<(), CommandError> {
        match self {
            Self::Bars(bars) => bars.event(event, view),
            Self::Lines(terminal) => lines(&event.event, view, terminal).iter().for_each(|line| terminal.say(line)),
            Self::Json(terminal) => match terminal.json_line(event) {
                // The job goes on when nobody reads any more; its end still decides the exit code.
                Err(CommandError::ReaderLeft) | Ok(_) => {}
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    pub(super) fn note(&self, text: &str) {
        match self {
            Self::Bars(bars) => bars.note(text),
            Self::Lines(terminal) => terminal.say(text),
            Self::Json(_) => {}
        }
    }

    pub(super) fn finish(&self) {
        if let Self::Bars(bars) = self {
            bars.finish();
        }
    }
}

/// What a state means, for its colour.
pub(crate) fn meaning(sign: Sign) -> Meaning {
    match sign {
        Sign::Passed => Meaning::Good,
        Sign::Failed => Meaning::Bad,
        Sign::Waiting | Sign::Skipped | Sign::Unclear => Meaning::Attention,
        Sign::Running => Meaning::Strong,
        Sign::Pending | Sign::Note => Meaning::Weak,
    }
}

/// An event as lines: the first one with its sign, the others below it.
fn lines(event: &JobEvent, view: &JobView, terminal: &Terminal) -> Vec<String> {
    let Some(phrase) = phrases::event(terminal.language, event, view) else { return Vec::new() };
    let sign = terminal.paint_error(meaning(phrase.sign), &phrase.sign.symbol().to_string());
    let phase = phrase.phase.map(|phase| format!("[{phase}] ")).unwrap_or_default();
    let mut lines = vec![format!("{sign} {phase}{}", phrase.text)];
    lines.extend(phrase.details.iter().map(|detail| format!("    {detail}")));
    lines
}

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
    fn new(terminal: Terminal) -> Self {
        Self { terminal, all: MultiProgress::new(), phases: Vec::new() }
    }

    fn event(&mut self, event: &Recorded<JobEvent>, view: &JobView) {
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

    fn note(&self, text: &str) {
        if self.all.println(coloured(text)).is_err() {
            // The terminal is gone; there is nobody to be told.
        }
    }

    fn finish(&self) {
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
        let language = self.terminal.language;
        let style = style.with_key("time", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            if out.write_str(&language.duration(state.elapsed().as_secs_f64())).is_err() {
                // A bar that cannot be written is shown again at the next turn.
            }
        });
        Some(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "))
    }

    fn show(&self, bar: &ProgressBar, phase: &PhaseView) {
        let paint = |meaning, text: &str| self.terminal.paint_error(meaning, text);
        let sign = Sign::from(phase.status);
        let status =
            paint(meaning(sign), &format!("{} {}", sign.symbol(), phrases::stage(self.terminal.language, phase)));
        let mut parts = vec![status];
        if phase.attempt > 1 {
            parts.push(say!(self.terminal.language, "term-attempt", attempt = phase.attempt));
        }
        parts.extend(phase.gates.iter().map(|gate| {
            let sign = Sign::from(&gate.verdict);
            paint(meaning(sign), &format!("{} {}", sign.symbol(), gate.gate))
        }));
        if phase.cost > 0.0 {
            parts.push(self.terminal.language.money(phase.cost));
        }
        if let Some(seconds) = phase.duration_seconds.filter(|_| phase.completed_at.is_some()) {
            parts.push(self.terminal.language.duration(seconds));
        }
        let under_way = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting);
        if let Some(error) = phase.error.as_ref().filter(|_| under_way) {
            parts.push(paint(Meaning::Weak, &one_line(&error.said_in(self.terminal.language).message, 60)));
        }
        let since = phase.started_at.filter(|_| under_way);
        if let Some(since) = since {
            bar.set_elapsed(Timestamp::now().duration_since(since).try_into().unwrap_or_default());
        }
        if let Some(style) = self.style(since.is_some()) {
            bar.set_style(style);
        }
        bar.set_message(coloured(&parts.join("  ")).into_owned());
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
