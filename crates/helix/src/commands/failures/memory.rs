//! `helix failures list`, `show`, `search` and `stats`: what is remembered, read beside a running host or without one.
//!
//! Must not know how failures are found or figures made, nor change anything when it only reads, not even create a state directory.

use std::time::Duration;

use clap::Args;
use helix_core::text::short_commit;
use helix_failure::memory::{
    Benefit, Diagnosis, Effectiveness, FailureDetail, FailureEnd, FixLink, MemoryStatistics, SourceEffect, Tally, Work,
};
use helix_failure::report::report_text_in;
use helix_failure::{Category, plain_text};
use helix_language::{Language, say};
use helix_store::failures::{FailureFilter, FailureMemory, FailurePage};
use helix_store::{Access, DatabaseOptions, OpenError, StateDir};

use crate::config::Settings;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::{Meaning, Terminal, heading, one_line};

/// How long a person waits for an answer about a memory of a million failures.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(60);

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
    let known: Vec<&str> = Category::ALL.iter().map(|category| category.word()).collect();
    if known.contains(&label.as_str()) { Ok(label) } else { Err(format!("use one of: {}", known.join(", "))) }
}

pub(super) async fn list(context: &Context, list: List) -> Ended {
    let List { category, tool, project, ended, limit, after } = list;
    let filter = FailureFilter { category, tool, project, ended };
    let page = match reading(context.settings()?, ANSWER_LIMIT).await? {
        Some(memory) => memory.list(filter, after, limit.into()).await?,
        None => FailurePage::default(),
    };
    print(context, &page)?;
    if let Some(next) = page.next {
        context.terminal.note(&say!(context.terminal.language, "failures-more", next = next));
    }
    Ok(Exit::Success)
}

pub(super) async fn search(context: &Context, text: &str, limit: usize) -> Ended {
    let failures = match reading(context.settings()?, ANSWER_LIMIT).await? {
        Some(memory) => memory.search(text.to_owned(), limit).await?,
        None => Vec::new(),
    };
    print(context, &FailurePage { failures, next: None })
}

fn print(context: &Context, page: &FailurePage) -> Ended {
    let language = context.terminal.language;
    let rows = page.failures.iter().map(|failure| {
        [
            (failure.diagnosis.fingerprint.as_str().chars().take(SHORT_ID).collect(), None),
            (failure.count.to_string(), None),
            (failure.last_seen.strftime("%Y-%m-%d").to_string(), None),
            (word(language, failure.end.word()), Some(meaning(&failure.end))),
            (kind(&failure.diagnosis), None),
            (shown(&failure.diagnosis.tool, 12), None),
            (shown(&failure.diagnosis.summary, 80), None),
        ]
    });
    let headings = ["id", "seen", "last", "ended", "category", "tool", "what"];
    context.terminal.list(page, &say!(language, "failures-none"), headings, rows)
}

/// The category, or the cause where that is none of the known ones.
fn kind(diagnosis: &Diagnosis) -> String {
    match diagnosis.category {
        Category::Unknown => shown(&diagnosis.cause, 20),
        known => known.word().to_owned(),
    }
}

fn category_and_cause(diagnosis: &Diagnosis) -> String {
    let cause = shown(&diagnosis.cause, 80);
    if diagnosis.category == Category::Unknown { cause } else { format!("{}, {cause}", diagnosis.category) }
}

/// A word of the records.
fn word(language: Language, word: &str) -> String {
    say!(language, "failures-word", word = word.replace('_', "-"))
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
    context.terminal.answer(&detail, &failure(&context.terminal, &detail))
}

fn failure(terminal: &Terminal, detail: &FailureDetail) -> String {
    let FailureDetail { known, .. } = detail;
    let diagnosis = &known.diagnosis;
    let language = terminal.language;
    let strong = |text: &str| terminal.paint(Meaning::Strong, text);
    let entry = |name: &str, text: &str| format!("{} {text}", strong(&format!("{:<10}", heading(language, name))));
    let mut lines = vec![
        terminal.paint(Meaning::Bad, &shown(&diagnosis.cause_line, 300)),
        String::new(),
        entry("id", diagnosis.fingerprint.as_str()),
        entry("category", &category_and_cause(diagnosis)),
    ];
    let places = [("tool", &diagnosis.tool), ("code", &diagnosis.code), ("place", &diagnosis.frame)];
    let known_places = places.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(known_places.map(|(name, text)| entry(name, &shown(text, 120))));
    let (first, last) = (language.local(known.first_seen), language.local(known.last_seen));
    lines.push(entry("seen", &say!(language, "failures-seen", times = known.count, first = first, last = last)));
    lines.push(entry("ended", &terminal.paint(meaning(&known.end), &word(language, known.end.word()))));
    lines.extend(known.projects.iter().map(|project| entry("project", &shown(project, 200))));
    for link in &detail.fixes {
        lines.extend([String::new(), strong(&fix_title(language, link))]);
        lines.extend(link.change.diff.lines().map(|line| format!("  {}", shown(line, 200))));
    }
    let occurrences = detail.occurrences.iter().map(|entry| {
        let (at, place) = (language.local(entry.at), &entry.place);
        let (work, check) = (attempt_label(language, &place.work, place.attempt), shown(&place.check, 60));
        format!("  {at}  {work}, {check}: {}", word(language, entry.state.word()))
    });
    let suggestions = detail.suggestions.iter().map(|suggestion| {
        let outcome = word(language, suggestion.outcome.map_or("open", |outcome| outcome.word()));
        let exposure = word(language, suggestion.exposure.word());
        let text = report_text_in(language.code(), &suggestion.text);
        format!("  {outcome} ({exposure}): {}", shown(&text, 160))
    });
    let sections: [(String, Vec<String>); 2] = [
        (say!(language, "failures-where"), occurrences.collect()),
        (say!(language, "failures-suggestions"), suggestions.collect()),
    ];
    for (title, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        lines.extend([String::new(), strong(&title)]);
        lines.extend(entries);
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// Where it was, and which attempt at it.
fn attempt_label(language: Language, work: &Work, attempt: u32) -> String {
    let text = match work {
        Work::Job { job, phase: Some(phase) } => {
            say!(language, "report-of-attempt", phase = format!("{job} {phase}"), attempt = attempt)
        }
        Work::Job { job, phase: None } => {
            say!(language, "report-of-attempt", phase = job.as_str(), attempt = attempt)
        }
        Work::Session { session } => say!(language, "failures-turn", session = session.as_str(), turn = attempt),
        Work::Document { document } => document.clone(),
    };
    shown(&text, 200)
}

fn fix_title(language: Language, link: &FixLink) -> String {
    let files: Vec<String> = link.change.files.iter().take(3).map(|file| shown(file, 80)).collect();
    let mut files = files.join(", ");
    if link.change.files.len() > 3 {
        files = format!("{files} {}", say!(language, "and-more", more = link.change.files.len() - 3));
    }
    let place = attempt_label(language, &link.change.work, link.change.attempt);
    match &link.change.commit {
        Some(commit) => {
            say!(language, "failures-gone-with", place = place, commit = short_commit(commit.as_str()), files = files)
        }
        None => say!(language, "failures-gone", place = place, files = files),
    }
}

pub(super) async fn stats(context: &Context) -> Ended {
    let figures = match reading(context.settings()?, ANSWER_LIMIT).await? {
        Some(memory) => memory.statistics().await?,
        None => nothing(),
    };
    context.terminal.answer(&figures, &statistics(&context.terminal, &figures))
}

/// The figures of a memory that does not exist yet.
fn nothing() -> MemoryStatistics {
    let untried = |source: &str| SourceEffect {
        source: source.to_owned(),
        effectiveness: Effectiveness::from_tally(Tally::default()),
    };
    MemoryStatistics {
        suggestions: SourceEffect::SOURCES.iter().map(|source| untried(source)).collect(),
        benefit: Benefit::from_tallies(Tally::default(), Tally::default()),
        ..MemoryStatistics::default()
    }
}

fn statistics(terminal: &Terminal, figures: &MemoryStatistics) -> String {
    let MemoryStatistics { failures, occurrences, fixed, went_away, gave_up, open, benefit, .. } = figures;
    let language = terminal.language;
    if *occurrences == 0 {
        return say!(language, "stats-none");
    }
    let number = |number: u64| (number.to_string(), None);
    let mut lines = vec![
        say!(language, "stats-sum", failures = *failures, times = *occurrences),
        say!(language, "stats-ends", fixed = *fixed, gone = *went_away, given_up = *gave_up, open = *open),
    ];
    if !figures.categories.is_empty() {
        let rows = figures.categories.iter().map(|(category, count)| [(category.word().into(), None), number(*count)]);
        lines.extend([String::new(), terminal.table(["category", "failures"], rows)]);
    }
    let rows = figures.suggestions.iter().map(|SourceEffect { source, effectiveness }| {
        let Tally { helped, no_effect, worse, unknown, open } = effectiveness.tally;
        let [helped, no_effect, worse, unknown, open] = [helped, no_effect, worse, unknown, open].map(number);
        let (source, rate) = ((word(language, source), None), (rate(language, effectiveness), None));
        [source, helped, no_effect, worse, unknown, open, rate]
    });
    let headings = ["source", "helped", "no-effect", "worse", "unknown", "open", "rate"];
    lines.extend([String::new(), terminal.table(headings, rows), String::new()]);
    lines.push(terminal.paint(Meaning::Strong, &say!(language, "stats-effect")));
    for (name, effect) in [("shown", &benefit.shown.tally), ("held_back", &benefit.held_back.tally)] {
        let gone = say!(language, "stats-gone", gone = effect.helped, of = effect.decided());
        lines.push(format!("  {:<14}  {gone}", word(language, name)));
    }
    let verdict = match benefit {
        Benefit { low, .. } if *low > 0.0 => say!(language, "stats-helps"),
        Benefit { high, .. } if *high < 0.0 => say!(language, "stats-harms"),
        Benefit { .. } => say!(language, "stats-undecided"),
    };
    let points = [benefit.difference, benefit.low, benefit.high].map(|share| format!("{:+.0}", share * 100.0));
    let [difference, low, high] = points;
    let difference = say!(language, "stats-difference", difference = difference, low = low, high = high);
    lines.push(format!("  {difference}: {verdict}"));
    lines.join("\n")
}

fn rate(language: Language, effectiveness: &Effectiveness) -> String {
    if effectiveness.tally.decided() == 0 {
        return say!(language, "stats-untried");
    }
    let Effectiveness { rate, low, high, .. } = effectiveness;
    let [rate, low, high] = [rate, low, high].map(|share| format!("{:.0}", share * 100.0));
    say!(language, "stats-rate", rate = rate, low = low, high = high)
}

/// The memory for reading, which answers within a time; `None`: nothing was ever remembered.
pub(super) async fn reading(settings: &Settings, limit: Duration) -> Result<Option<FailureMemory>, CommandError> {
    let path = settings.state_dir.value.join(StateDir::FAILURES);
    match FailureMemory::open(DatabaseOptions::new(path, Access::ReadOnly).within(limit)).await {
        Ok(memory) => Ok(Some(memory)),
        Err(OpenError::Missing { .. }) => Ok(None),
        Err(error) => Err(unopened(&error)),
    }
}

/// The memory for changing it; made if there is none.
pub(super) async fn writing(settings: &Settings) -> Result<FailureMemory, CommandError> {
    let state = StateDir::open(&settings.state_dir.value)?;
    let options = DatabaseOptions::new(state.failures(), Access::ReadWrite).within(ANSWER_LIMIT);
    FailureMemory::open(options).await.map_err(|error| unopened(&error))
}

/// Jobs go on without their memory: that it cannot be opened is never a wrong choice of directory.
fn unopened(error: &OpenError) -> CommandError {
    CommandError::wrapping(Exit::Environment, error.code(), error).hint(error.hint())
}

/// A remembered failure, by id or unique beginning.
pub(super) async fn detail(context: &Context, id: &str) -> Result<FailureDetail, CommandError> {
    let found = match reading(context.settings()?, ANSWER_LIMIT).await? {
        Some(memory) => memory.show(id.to_owned()).await?,
        None => None,
    };
    found.ok_or_else(|| missing(id))
}

/// There is no such failure.
pub(super) fn missing(id: &str) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, format!("no remembered failure {id:?}"))
        .hint("`helix failures list` shows all; a unique prefix of the id is enough")
}

/// Text of the past as it can be shown: one line, no control characters, not too long.
pub(super) fn shown(text: &str, most: usize) -> String {
    one_line(&plain_text(text), most)
}
