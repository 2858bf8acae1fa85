//! `helix failures stats`. Must not know how figures are made.

use helix_core::text::count;
use helix_failure::memory::{Benefit, Effectiveness, MemoryStatistics, SourceEffect, Tally};

use super::memory::reading;
use crate::context::Context;
use crate::error::Ended;
use crate::terminal::{Meaning, Terminal};

pub(super) async fn stats(context: &Context) -> Ended {
    let figures = match reading(context.settings()?).await? {
        Some(memory) => memory.statistics().await?,
        None => nothing(),
    };
    context.terminal.answer(&figures, &drawn(&context.terminal, &figures))
}

/// The figures of a memory that does not exist yet.
fn nothing() -> MemoryStatistics {
    let untried =
        |source: &str| SourceEffect { source: source.to_owned(), effectiveness: Effectiveness::of(Tally::default()) };
    MemoryStatistics {
        suggestions: SourceEffect::SOURCES.iter().map(|source| untried(source)).collect(),
        benefit: Benefit::of(Tally::default(), Tally::default()),
        ..MemoryStatistics::default()
    }
}

fn drawn(terminal: &Terminal, figures: &MemoryStatistics) -> String {
    let MemoryStatistics { failures, occurrences, fixed, went_away, gave_up, open, benefit, .. } = figures;
    let number = |number: u64| (number.to_string(), None);
    let mut lines = vec![
        format!("{}, seen {}", count(*failures as usize, "failure"), count(*occurrences as usize, "time")),
        format!("{fixed} fixed, {went_away} went away, {gave_up} gave up, {open} open"),
    ];
    if !figures.categories.is_empty() {
        let rows = figures.categories.iter().map(|(category, count)| [(category.label().into(), None), number(*count)]);
        lines.extend([String::new(), terminal.table(["category", "failures"], rows)]);
    }
    let rows = figures.suggestions.iter().map(|SourceEffect { source, effectiveness }| {
        let Tally { helped, no_effect, worse, unknown, open } = effectiveness.tally;
        let [helped, no_effect, worse, unknown, open] = [helped, no_effect, worse, unknown, open].map(number);
        let (source, rate) = ((source.replace('_', " "), None), (rate(effectiveness), None));
        [source, helped, no_effect, worse, unknown, open, rate]
    });
    let headings = ["suggestions from", "helped", "no effect", "worse", "unknown", "open", "rate"];
    lines.extend([String::new(), terminal.table(headings, rows), String::new()]);
    lines.push(terminal.paint(Meaning::Strong, "Effect of the memory"));
    for (name, effect) in [("shown    ", &benefit.shown.tally), ("held back", &benefit.held_back.tally)] {
        lines.push(format!("  {name}  {} of {} gone in the next attempt", effect.helped, effect.decided()));
    }
    let verdict = match benefit {
        Benefit { low, .. } if *low > 0.0 => "it helps",
        Benefit { high, .. } if *high < 0.0 => "it harms",
        Benefit { .. } => "not decided yet",
    };
    let [difference, low, high] = [benefit.difference, benefit.low, benefit.high].map(|share| share * 100.0);
    let range = format!("{low:+.0} to {high:+.0} points, with 95 % certainty");
    lines.push(format!("  difference {difference:+.0} points ({range}): {verdict}"));
    lines.join("\n")
}

fn rate(effectiveness: &Effectiveness) -> String {
    if effectiveness.tally.decided() == 0 {
        return "untried".to_owned();
    }
    let Effectiveness { rate, low, high, .. } = effectiveness;
    let [rate, low, high] = [rate, low, high].map(|share| share * 100.0);
    format!("{rate:.0} % ({low:.0} to {high:.0})")
}
