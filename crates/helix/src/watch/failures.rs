//! Reports of a job's failures under its summary: the last one of each phase that has failed, in few lines.
//!
//! Must not know how a report is made. They are read from the journal and the files beside it, with or without a host.

use helix_core::finding::Verdict;
use helix_core::said::Words;
use helix_engine::failures::FailureService;
use helix_engine::observer::{JobReport, job_reports, last_reports};
use helix_job::phrases::remedies;
use helix_job::{JobStatus, JobView, PhaseStatus};
use helix_language::{ErrorView, say};

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

fn drawn(context: &Context, view: &JobView, one: &JobReport) -> String {
    let language = context.terminal.language;
    let title = context.terminal.paint(Meaning::Strong, &say!(language, "report-of", what = one.title(language)));
    let found = own_words(view, one);
    // What failed stands above, as the reason of the phase, and what to do about it.
    let failed = view.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed);
    let errors: Vec<&ErrorView> = failed.filter_map(|phase| phase.error.as_ref()).collect();
    let body = match (&one.report, &one.trouble) {
        (Some(report), _) => report.brief_in(language.code(), |about, text| match about {
            // The table above says it.
            "attempt" | "check" | "ended" => String::new(),
            _ if errors.iter().any(|error| error.hint.as_deref() == Some(text)) => String::new(),
            _ => {
                // A log has Helix's own words in English.
                let own = found.iter().find(|(english, _)| is_said(text, english));
                let text = own.map_or_else(|| text.to_owned(), |(_, own)| language.words(own));
                say!(language, "report-line", label = about.replace(' ', "-"), text = text)
            }
        }),
        (None, trouble) => {
            format!("  {}\n", trouble.clone().unwrap_or_else(|| say!(language, "report-missing")))
        }
    };
    let is_above = one.report.as_ref().is_some_and(|report| {
        let headline = report.what_failed.headline.as_str();
        let of_finding = found.iter().map(|(english, _)| english.as_str()).find(|message| is_said(headline, message));
        errors.iter().any(|error| error.message.contains(of_finding.unwrap_or(headline.trim_end_matches('…'))))
    });
    let body = body.split_once('\n').filter(|_| is_above).map_or(body.as_str(), |(_, rest)| rest);
    let said: Vec<&str> = body.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("\n{title}\n{}", said.join("\n"))
}

/// Whether a headline, which may be cut, says what a finding says.
fn is_said(headline: &str, message: &str) -> bool {
    let said = headline.split_once("error: ").map_or(headline, |(_, said)| said);
    let is_begun = |cut: &str| !cut.is_empty() && message.starts_with(cut);
    !said.is_empty() && (said == message || said.strip_suffix('…').is_some_and(is_begun))
}

/// What the gates of a report's phase say in Helix's own words: in English, and as words.
fn own_words(view: &JobView, one: &JobReport) -> Vec<(String, Words)> {
    let phase = view.phases.iter().find(|phase| Some(&phase.id) == one.phase.as_ref());
    let mut all: Vec<(String, Words)> = remedies(&view.id).collect();
    for gate in phase.iter().flat_map(|phase| &phase.gates) {
        if let Verdict::Fail { findings } = &gate.verdict {
            all.extend(findings.iter().map(|one| (one.message.clone(), one.words())));
            all.extend(findings.iter().map(|one| (one.fix.clone().unwrap_or_default(), one.fix_words())));
        } else if let Verdict::Inconclusive { fault } = &gate.verdict {
            all.extend(fault.said.iter().map(|said| (fault.hint.clone().unwrap_or_default(), said.hint.clone())));
        }
    }
    all.retain(|(english, _)| !english.is_empty());
    all
}
