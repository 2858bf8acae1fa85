//! `helix failures list`, `show` and `search`. Must not know how failures are found.

use clap::Args;
use helix_failure::Category;
use helix_failure::memory::{FailureDetail, FailureEnd, FixLink};
use helix_store::failures::{FailureFilter, FailurePage};

use super::memory::{missing, reading, reading_of, short_id, shown};
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::terminal::{Meaning, Table, Terminal};

/// Arguments of `helix failures list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only of this category, such as TYPE_ERROR
    #[arg(long, value_name = "CATEGORY", value_parser = category)]
    category: Option<String>,
    /// Only of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only failures seen in this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only failures with this end
    #[arg(long, value_name = "HOW", value_parser = ["fixed", "went_away", "gave_up", "open"])]
    ended: Option<String>,
    /// Maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Continue an earlier list at its `next`
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

fn category(text: &str) -> Result<String, String> {
    let label = text.to_uppercase().replace('-', "_");
    let known: Vec<&str> = Category::ALL.iter().map(|category| category.label()).collect();
    if known.contains(&label.as_str()) { Ok(label) } else { Err(format!("use one of: {}", known.join(", "))) }
}

pub(super) async fn list(context: &Context, list: &List) -> Ended {
    let filter = FailureFilter {
        category: list.category.clone(),
        tool: list.tool.clone(),
        ended: list.ended.clone(),
        project: list.project.clone(),
    };
    let page = match reading(context.settings()?).await? {
        Some(memory) => memory.list(filter, list.after.clone(), list.limit.into()).await?,
        None => FailurePage::default(),
    };
    give(context, &page, "no matching failures")?;
    if let Some(next) = page.next {
        context.terminal.note(&format!("more: helix failures list --after {next}"));
    }
    Ok(Exit::Success)
}

pub(super) async fn search(context: &Context, text: &str, limit: usize) -> Ended {
    let failures = match reading(context.settings()?).await? {
        Some(memory) => memory.search(text.to_owned(), limit).await?,
        None => Vec::new(),
    };
    give(context, &FailurePage { failures, next: None }, "no matching failures")?;
    Ok(Exit::Success)
}

fn give(context: &Context, page: &FailurePage, nothing: &str) -> Result<(), CommandError> {
    if page.failures.is_empty() {
        context.terminal.note(nothing);
    }
    let mut table = Table::new(["id", "seen", "last", "ended", "category", "tool", "what"]);
    for failure in &page.failures {
        table.row([
            (short_id(failure), None),
            (failure.count.to_string(), None),
            (failure.last_seen.strftime("%Y-%m-%d").to_string(), None),
            (failure.end.word().replace('_', " "), Some(meaning(&failure.end))),
            (failure.diagnosis.category.label().to_owned(), None),
            (shown(&failure.diagnosis.tool, 12), None),
            (shown(&failure.diagnosis.summary, 80), None),
        ]);
    }
    context.terminal.answer(page, &table.for_data(&context.terminal))
}

fn meaning(end: &FailureEnd) -> Meaning {
    match end {
        FailureEnd::Fixed { .. } => Meaning::Good,
        FailureEnd::WentAway => Meaning::Strong,
        FailureEnd::GaveUp => Meaning::Bad,
        FailureEnd::Open => Meaning::Attention,
    }
}

pub(super) async fn show(context: &Context, id: &str) -> Ended {
    let found = reading_of(context.settings()?, id).await?.show(id.to_owned()).await?;
    let detail = found.ok_or_else(|| missing(id))?;
    context.terminal.answer(&detail, &drawn(&context.terminal, &detail))?;
    Ok(Exit::Success)
}

fn drawn(terminal: &Terminal, detail: &FailureDetail) -> String {
    let mut text = String::new();
    let mut add = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let label = |name: &str| terminal.paint(Meaning::Strong, &format!("{name:<10}"));
    let known = &detail.known;
    add(&terminal.paint(Meaning::Bad, &shown(&known.diagnosis.cause_line, 300)));
    add("");
    add(&format!("{} {}", label("id"), known.diagnosis.fingerprint));
    add(&format!("{} {}, {}", label("category"), known.diagnosis.category, shown(&known.diagnosis.cause, 80)));
    for (name, value) in
        [("tool", &known.diagnosis.tool), ("code", &known.diagnosis.code), ("place", &known.diagnosis.frame)]
    {
        if !value.is_empty() {
            add(&format!("{} {}", label(name), shown(value, 120)));
        }
    }
    let (first, last) = (known.first_seen.strftime("%Y-%m-%d %H:%M"), known.last_seen.strftime("%Y-%m-%d %H:%M"));
    add(&match known.count {
        1 => format!("{} once, {last}", label("seen")),
        many => format!("{} {many} times, from {first} to {last}", label("seen")),
    });
    add(&format!("{} {}", label("ended"), terminal.paint(meaning(&known.end), &known.end.word().replace('_', " "))));
    for project in &known.projects {
        add(&format!("{} {}", label("project"), shown(project, 200)));
    }
    for link in &detail.fixes {
        add("");
        add(&terminal.paint(Meaning::Strong, &fix_title(link)));
        for line in link.diff.lines() {
            add(&format!("  {}", shown(line, 200)));
        }
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            add(&format!("\n{}", terminal.paint(Meaning::Strong, title)));
        }
        lines.iter().for_each(|line| add(line));
    };
    let occurrences = detail.occurrences.iter().map(|entry| {
        let (at, place) = (entry.at.strftime("%Y-%m-%d %H:%M"), &entry.place);
        let (work, check) = (shown(&place.work.told(place.attempt), 200), shown(&place.check, 60));
        format!("  {at}  {work}, {check}: {}", entry.state.label().replace('_', " "))
    });
    section("Where", occurrences.collect());
    let suggestions = detail.suggestions.iter().map(|suggestion| {
        let outcome = suggestion.outcome.map_or("open", |outcome| outcome.label()).replace('_', " ");
        let exposure = suggestion.exposure.label().replace('_', " ");
        format!("  {outcome} ({exposure}): {}", shown(&suggestion.text, 160))
    });
    section("Suggestions", suggestions.collect());
    text
}

fn fix_title(link: &FixLink) -> String {
    let files: Vec<String> = link.files.iter().take(3).map(|file| shown(file, 80)).collect();
    let more = match link.files.len().saturating_sub(files.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let commit = link.commit.as_ref().map(|commit| format!(", commit {commit:.12}")).unwrap_or_default();
    let place = shown(&link.work.told(link.attempt), 200);
    format!("Gone in {place}{commit}, after a change of {}{more}", files.join(", "))
}
