//! Reports of a job's failures under its summary: the last one of each phase that has failed, in few lines.
//!
//! Must not know how a report is made. They are read from the journal and the files beside it, with or without a host.

use helix_core::finding::{Finding, Verdict};
use helix_engine::failures::FailureService;
use helix_engine::observer::{JobReport, job_reports, last_reports};
use helix_job::{JobStatus, JobView, PhaseStatus};
use helix_language::{Language, say};

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
    context.terminal.data(&job_report(context, view, details)?)?;
    let nothing_failed = view.phases.iter().all(|phase| phase.status != PhaseStatus::Failed);
    if nothing_failed && view.status != JobStatus::Failed {
        return Ok(());
    }
    match reports_of(context, view).await {
        Ok(reports) => {
            for report in last_reports(view, &reports) {
                context.terminal.data(&drawn(context, view, report))?;
            }
        }
        Err(error) => context.terminal.report(&error),
    }
    Ok(())
}

/// Where it happened, in one line.
fn title(language: Language, one: &JobReport) -> String {
    match &one.phase {
        Some(phase) => say!(language, "report-of-attempt", phase = phase.as_str(), attempt = one.attempt),
        None => say!(language, "report-of-job"),
    }
}

fn drawn(context: &Context, view: &JobView, one: &JobReport) -> String {
    let language = context.terminal.language;
    let title = context.terminal.paint(Meaning::Strong, &say!(language, "report-of", what = title(language, one)));
    let found = findings(view, one);
    // What failed stands above, as the reason of the phase, and what to do about it.
    let errors = || view.phases.iter().filter_map(|phase| phase.error.as_ref());
    let body = match (&one.report, &one.trouble) {
        (Some(report), _) => report.brief_in(language.code(), |about, text| match about {
            // The table above says it.
            "attempt" | "check" | "ended" => String::new(),
            _ if errors().any(|error| error.hint.as_deref() == Some(text)) => String::new(),
            _ => {
                // A log has Helix's own words in English.
                let own = found.iter().find_map(|one| match about {
                    "failed" => is_said(text, &one.message).then(|| one.words()),
                    _ => (one.fix.as_deref() == Some(text)).then(|| one.fix_words()),
                });
                let text = own.map_or_else(|| text.to_owned(), |own| language.words(&own));
                say!(language, "report-line", label = about.replace(' ', "-"), text = text)
            }
        }),
        (None, trouble) => {
            format!("  {}\n", trouble.clone().unwrap_or_else(|| say!(language, "report-missing")))
        }
    };
    let is_above = one.report.as_ref().is_some_and(|report| {
        let headline = report.what_failed.headline.as_str();
        let of_finding = found.iter().map(|one| one.message.as_str()).find(|message| is_said(headline, message));
        errors().any(|error| error.message.contains(of_finding.unwrap_or(headline.trim_end_matches('…'))))
    });
    let body = body.split_once('\n').filter(|_| is_above).map_or(body.as_str(), |(_, rest)| rest);
    let said: Vec<&str> = body.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("\n{title}\n{}", said.join("\n"))
}

/// Whether a headline, which may be cut, says what a finding says.
fn is_said(headline: &str, message: &str) -> bool {
    let headline = headline.trim_end_matches('…');
    let said = headline.split_once("error: ").map_or(headline, |(_, said)| said);
    !said.is_empty() && message.starts_with(said)
}

/// What the gates of a report's phase found.
fn findings<'a>(view: &'a JobView, one: &JobReport) -> Vec<&'a Finding> {
    let phase = view.phases.iter().find(|phase| Some(&phase.id) == one.phase.as_ref());
    let verdicts = phase.into_iter().flat_map(|phase| &phase.gates).map(|gate| &gate.verdict);
    let found = verdicts.filter_map(|verdict| match verdict {
        Verdict::Fail { findings } => Some(findings),
        Verdict::Pass | Verdict::Inconclusive { .. } => None,
    });
    found.flatten().collect()
}
