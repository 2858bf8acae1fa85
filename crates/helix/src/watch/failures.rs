//! Reports of a job's failures under its summary: the last one of each phase that has failed, in few lines.
//!
//! Must not know how a report is made. They are read from the journal and the files beside it, with or without a host.

use helix_core::finding::Verdict;
use helix_core::said::Words;
use helix_engine::failures::FailureService;
use helix_engine::observer::{JobReport, job_reports, last_reports};
use helix_job::{JobStatus, JobView, PhaseStatus};
use helix_language::{ErrorView, RECORD, say};

use crate::context::Context;
use crate::error::CommandError;
use crate::offline::open_or_missing;
use crate::terminal::Meaning;

use super::report::job_report;

/// All reports of a job, oldest first.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) async fn reports_of(context: &Context, view: &JobView) -> Result<Vec<JobReport>, CommandError> {
    let journal = open_or_missing(context, view.id.as_str()).await?;
    let root = &context.settings()?.state_dir.value;
    Ok(job_reports(&journal, root, &view.id, &FailureService::read_only(root)).await?)
}

/// Prints a job with the last report of each phase that has failed, and where its `details` are. Trouble with the reports is said and changes nothing else.
///
/// # Errors
/// [`CommandError::ReaderLeft`], and when standard output is broken.
pub(crate) async fn print_job(context: &Context, view: &JobView, details: bool) -> Result<(), CommandError> {
    let above = job_report(context, view, details)?;
    context.terminal.data(&above)?;
    if view.status != JobStatus::Failed && view.phases.iter().all(|phase| phase.status != PhaseStatus::Failed) {
        return Ok(());
    }
    let reports =
        reports_of(context, view).await.inspect_err(|error| context.terminal.report(error)).unwrap_or_default();
    let mut last = last_reports(view, &reports).into_iter();
    last.try_for_each(|one| context.terminal.data(&drawn(context, view, one, &above)).map(drop))
}

/// A report in lines, without what stands above it.
fn drawn(context: &Context, view: &JobView, one: &JobReport, above: &str) -> String {
    let language = context.terminal.language;
    let title = context.terminal.paint(Meaning::Strong, &say!(language, "report-of", what = one.title(language)));
    let found = own_words(view, one);
    let line = |about: &str, text: &str| {
        // A log has Helix's own words in English.
        let own = |(english, own): &(String, Words)| Some(format!("{}{}", language.words(own), after(text, english)?));
        let text = found.iter().find_map(own).unwrap_or_else(|| text.to_owned());
        let is_said = || about != "places" && above.contains(text.trim_end_matches('…'));
        let is_above = matches!(about, "attempt" | "check" | "ended") || is_said();
        let drawn = || say!(language, "report-line", label = about.replace(' ', "-"), text = text);
        (!is_above).then(drawn).unwrap_or_default()
    };
    let body = match &one.report {
        Some(report) => report.brief_in(language.code(), line),
        None => format!("  {}", one.trouble.clone().unwrap_or_else(|| say!(language, "report-missing"))),
    };
    let text = |line: &str| line.split_once(": ").map(|(_, text)| text.to_owned()).unwrap_or_default();
    let is_cause = |(first, rest): &(&str, &str)| first.contains(": ") && text(rest).starts_with(&text(first));
    let body = body.split_once('\n').filter(is_cause).map_or(body.as_str(), |(_, rest)| rest);
    let said: Vec<&str> = body.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("\n{title}\n{}", said.join("\n"))
}

/// What follows in a headline, which may be cut, on what a finding says; `None` if it says something else.
fn after<'a>(headline: &'a str, message: &str) -> Option<&'a str> {
    let said = headline.split_once("error: ").map_or(headline, |(_, said)| said);
    let is_cut = said.strip_suffix('…').is_some_and(|cut| !cut.is_empty() && message.starts_with(cut));
    let rest = || said.strip_prefix(message).filter(|rest| rest.is_empty() || rest.starts_with(';'));
    if is_cut || message.is_empty() { is_cut.then_some("") } else { rest() }
}

/// What is recorded of a report's phase in Helix's own words: in English, and as words.
fn own_words(view: &JobView, one: &JobReport) -> Vec<(String, Words)> {
    let Some(phase) = view.phases.iter().find(|phase| Some(&phase.id) == one.phase.as_ref()) else { return Vec::new() };
    let of_error = |error: &ErrorView| [error.words(), error.hint_words()];
    let mut said: Vec<Words> = phase.error.iter().flat_map(of_error).collect();
    for gate in &phase.gates {
        said.extend(gate.notes());
        match &gate.verdict {
            Verdict::Fail { findings } => said.extend(findings.iter().flat_map(|one| [one.words(), one.fix_words()])),
            Verdict::Inconclusive { fault } => said.extend(of_error(&ErrorView::of_fault(fault))),
            Verdict::Pass => {}
        }
    }
    said.iter().flat_map(Words::parts).map(|part| (RECORD.words(&part), part)).collect()
}
