//! A job as plain lines on standard error, for logs and pipes. Must not know how an event is worded.

use helix_job::phrases::{self, Sign};
use helix_job::{JobEvent, JobView};

use crate::terminal::{Meaning, Terminal};

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
pub(super) fn lines(event: &JobEvent, view: &JobView, terminal: &Terminal) -> Vec<String> {
    let Some(phrase) = phrases::event(event, view) else { return Vec::new() };
    let sign = terminal.paint_error(meaning(phrase.sign), &phrase.sign.symbol().to_string());
    let phase = phrase.phase.map(|phase| format!("[{phase}] ")).unwrap_or_default();
    let mut lines = vec![format!("{sign} {phase}{}", phrase.text)];
    lines.extend(phrase.details.iter().map(|detail| format!("    {detail}")));
    lines
}
