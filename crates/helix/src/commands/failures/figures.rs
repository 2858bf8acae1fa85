//! `helix failures stats`. Must not know how figures are made.

use helix_failure::memory::{Benefit, Effectiveness, MemoryStatistics, SourceEffect, Tally};

use super::memory::reading;
use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;
use crate::terminal::{Meaning, Table, Terminal};

pub(super) async fn stats(context: &Context) -> Ended {
    let figures = match reading(context.settings()?).await? {
        Some(memory) => memory.statistics().await?,
        None => nothing(),
    };
    context.terminal.answer(&figures, &drawn(&context.terminal, &figures))?;
    Ok(Exit::Success)
}

/// The figures of a memory that does not exist yet.
fn nothing() -> MemoryStatistics {
    let untried =
        |source: &str| SourceEffect { source: source.to_owned(), effectiveness: Effectiveness::of(Tally::default()) };
    MemoryStatistics {
        failures: 0,
        occurrences: 0,
        fixed: 0,
        went_away: 0,
        gave_up: 0,
        open: 0,
        categories: Vec::new(),
        suggestions: SourceEffect::SOURCES.iter().map(|source| untried(source)).collect(),
        benefit: Benefit::of(Tally::default(), Tally::default()),
        first_seen: None,
        last_seen: None,
    }
}

fn drawn(terminal: &Terminal, figures: &MemoryStatistics) -> String {
    let mut text = String::new();
    let mut add = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let MemoryStatistics { failures, occurrences, fixed, went_away, gave_up, open, benefit, .. } = figures;
    let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    add(&format!("{}, seen {}", plural(*failures, "failure"), plural(*occurrences, "time")));
    add(&format!("{fixed} fixed, {went_away} went away, {gave_up} gave up, {open} open"));
    if !figures.categories.is_empty() {
        add("");
        let mut table = Table::new(["category", "failures"]);
        for (category, count) in &figures.categories {
            table.row([(category.label().to_owned(), None), (count.to_string(), None)]);
        }
        add(&table.for_data(terminal));
    }
    add("");
    let mut table = Table::new(["suggestions from", "helped", "no effect", "worse", "unknown", "open", "rate"]);
    for SourceEffect { source, effectiveness } in &figures.suggestions {
        let Tally { helped, no_effect, worse, unknown, open } = effectiveness.tally;
        let count = |number: u64| (number.to_string(), None);
        table.row([
            (source.replace('_', " "), None),
            count(helped),
            count(no_effect),
            count(worse),
            count(unknown),
            count(open),
            (rate(effectiveness), None),
        ]);
    }
    add(&table.for_data(terminal));
    add("");
    add(&terminal.paint(Meaning::Strong, "Effect of the memory"));
    add(&format!(
        "  shown      {} of {} gone in the next attempt",
        benefit.shown.tally.helped,
        benefit.shown.tally.decided()
    ));
    add(&format!(
        "  held back  {} of {} gone in the next attempt",
        benefit.held_back.tally.helped,
        benefit.held_back.tally.decided()
    ));
    let range = format!("{:+.0} to {:+.0} points, with 95 % certainty", benefit.low * 100.0, benefit.high * 100.0);
    let verdict = if benefit.low > 0.0 {
        "it helps"
    } else if benefit.high < 0.0 {
        "it harms"
    } else {
        "not decided yet"
    };
    add(&format!("  difference {:+.0} points ({range}): {verdict}", benefit.difference * 100.0));
    text
}

fn rate(effectiveness: &Effectiveness) -> String {
    if effectiveness.tally.decided() == 0 {
        return "untried".to_owned();
    }
    let percent = |share: f64| share * 100.0;
    format!(
        "{:.0} % ({:.0} to {:.0})",
        percent(effectiveness.rate),
        percent(effectiveness.low),
        percent(effectiveness.high)
    )
}
