//! `helix failures list`, `show` and `search`. Must not know how failures are found.

use clap::Args;
use helix_failure::Category;
use helix_failure::memory::{FailureDetail, FailureEnd, FixLink};
use helix_store::failures::{FailureFilter, FailurePage};

use super::memory::{detail, reading, shown};
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::terminal::{Meaning, Terminal};

/// Digits of an id that are shown in lists.
const SHORT_ID: usize = 12;

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
    print(context, &page)?;
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
    print(context, &FailurePage { failures, next: None })
}

fn print(context: &Context, page: &FailurePage) -> Ended {
    let rows = page.failures.iter().map(|failure| {
        [
            (failure.diagnosis.fingerprint.as_str().chars().take(SHORT_ID).collect(), None),
            (failure.count.to_string(), None),
            (failure.last_seen.strftime("%Y-%m-%d").to_string(), None),
            (failure.end.word().replace('_', " "), Some(meaning(&failure.end))),
            (failure.diagnosis.category.label().to_owned(), None),
            (shown(&failure.diagnosis.tool, 12), None),
            (shown(&failure.diagnosis.summary, 80), None),
        ]
    });
    let headings = ["id", "seen", "last", "ended", "category", "tool", "what"];
    context.terminal.list(page, "no matching failures", headings, rows)
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
    let detail = detail(context, id).await?;
    context.terminal.answer(&detail, &drawn(&context.terminal, &detail))
}

fn drawn(terminal: &Terminal, detail: &FailureDetail) -> String {
    let FailureDetail { known, .. } = detail;
    let diagnosis = &known.diagnosis;
    let strong = |text: &str| terminal.paint(Meaning::Strong, text);
    let entry = |name: &str, text: &str| format!("{} {text}", strong(&format!("{name:<10}")));
    let mut lines = vec![
        terminal.paint(Meaning::Bad, &shown(&diagnosis.cause_line, 300)),
        String::new(),
        entry("id", diagnosis.fingerprint.as_str()),
        entry("category", &format!("{}, {}", diagnosis.category, shown(&diagnosis.cause, 80))),
    ];
    let places = [("tool", &diagnosis.tool), ("code", &diagnosis.code), ("place", &diagnosis.frame)];
    let known_places = places.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(known_places.map(|(name, text)| entry(name, &shown(text, 120))));
    let (first, last) = (known.first_seen.strftime("%Y-%m-%d %H:%M"), known.last_seen.strftime("%Y-%m-%d %H:%M"));
    lines.push(match known.count {
        1 => entry("seen", &format!("once, {last}")),
        many => entry("seen", &format!("{many} times, from {first} to {last}")),
    });
    lines.push(entry("ended", &terminal.paint(meaning(&known.end), &known.end.word().replace('_', " "))));
    lines.extend(known.projects.iter().map(|project| entry("project", &shown(project, 200))));
    for link in &detail.fixes {
        lines.extend([String::new(), strong(&fix_title(link))]);
        lines.extend(link.diff.lines().map(|line| format!("  {}", shown(line, 200))));
    }
    let occurrences = detail.occurrences.iter().map(|entry| {
        let (at, place) = (entry.at.strftime("%Y-%m-%d %H:%M"), &entry.place);
        let (work, check) = (shown(&place.work.told(place.attempt), 200), shown(&place.check, 60));
        format!("  {at}  {work}, {check}: {}", entry.state.label().replace('_', " "))
    });
    let suggestions = detail.suggestions.iter().map(|suggestion| {
        let outcome = suggestion.outcome.map_or("open", |outcome| outcome.label()).replace('_', " ");
        let exposure = suggestion.exposure.label().replace('_', " ");
        format!("  {outcome} ({exposure}): {}", shown(&suggestion.text, 160))
    });
    let sections: [(&str, Vec<String>); 2] = [("Where", occurrences.collect()), ("Suggestions", suggestions.collect())];
    for (title, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        lines.extend([String::new(), strong(title)]);
        lines.extend(entries);
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
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
