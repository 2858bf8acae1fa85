//! What gates and reviewers said, in words.
//!
//! Must not know what follows from it.

use helix_core::evidence::{CommandEvidence, GateReport, TestCounts};
use helix_core::finding::{Fault, Finding, Verdict};
use helix_core::ids::{JobId, PhaseId};
use helix_core::said::Words;
use helix_core::text::one_line;
use helix_language::{ErrorView, Language, RECORD, recorded, say};

use super::{FINDINGS, LINE, Phrase, Sign, hint};
use crate::event::Review;

pub(super) fn gate(language: Language, phase: &PhaseId, report: &GateReport, job: &JobId) -> Phrase {
    let text = format!("{} {}", report.gate, verdict(language, &report.verdict, &gate_summary(language, report)));
    let phrase = Phrase::new(Sign::from(&report.verdict), Some(phase), text);
    match &report.verdict {
        Verdict::Pass => phrase,
        Verdict::Fail { findings } => {
            let more = findings.iter().filter(|one| !one.is_all_said_in(&report.said));
            phrase.with(more.take(FINDINGS).map(|one| finding(language, one)))
        }
        Verdict::Inconclusive { fault } => {
            let ErrorView { message, hint: remedy, .. } = ErrorView::of_fault(fault).of_job(job).said_in(language);
            let message = Some(one_line(&message, LINE)).filter(|message| !phrase.text.contains(message));
            phrase.with(message.into_iter().chain(remedy.map(|text| hint(language, &text))))
        }
    }
}

/// What a gate found, in one line. What a former Helix recorded in English only is told by what was counted in other languages, and empty
/// where nothing was.
pub fn gate_summary(language: Language, report: &GateReport) -> String {
    match (&report.verdict, &report.tests, &report.command) {
        _ if language == RECORD => report.summary.clone(),
        _ if !report.said.is_empty() => language.words(&report.said),
        (Verdict::Inconclusive { fault }, _, _) if fault.said.is_some() => fault_message(language, fault),
        (Verdict::Inconclusive { .. }, _, _) => report.summary.clone(),
        (_, Some(TestCounts { passed, failed, skipped }), _) => {
            say!(language, "gate-tests", passed = *passed, failed = *failed, skipped = *skipped)
        }
        (_, None, Some(CommandEvidence { exit_code: Some(code), .. })) => {
            say!(language, "evidence-exit", code = code.to_string())
        }
        (_, None, _) => String::new(),
    }
}

/// What a gate found, as it is recorded: how its command ended, or how much it found; of what was recorded in English only, how much. The
/// first of the findings follows where that does not say it.
pub(crate) fn gate_found(report: &GateReport, findings: &[Finding]) -> Words {
    let counts = report.command.is_none() || report.tests.is_some();
    match findings.first().filter(|_| counts) {
        Some(first) if report.said.is_empty() && !first.is_said_in(&report.summary, &report.said) => {
            recorded!("gate-found", summary = &report.summary, problems = findings.len())
        }
        Some(_) | None => report.words(),
    }
}

/// Who looks at a result: the phase's own verifier, or the reviewer whom a gate asks for.
pub(crate) fn reviewer(language: Language, gate: Option<usize>) -> String {
    language.words(&reviewer_words(gate))
}

/// The same, as it is recorded.
pub(crate) fn reviewer_words(gate: Option<usize>) -> Words {
    recorded!("reviewer", who = if gate.is_some() { "gate" } else { "phase" })
}

/// A review in words.
pub fn review(language: Language, review: &Review) -> String {
    say!(language, "review", verdict = review.verdict.word())
}

pub(super) fn verdict(language: Language, verdict: &Verdict, summary: &str) -> String {
    let word = say!(language, "verdict", verdict = verdict.word());
    if summary.trim().is_empty() { word } else { format!("{word} ({})", one_line(summary, LINE)) }
}

/// What a reviewer says of the whole, or why they gave no answer.
pub fn review_summary(language: Language, verdict: &Verdict, summary: &str) -> String {
    match verdict {
        Verdict::Inconclusive { fault } if fault.said.is_some() => fault_message(language, fault),
        Verdict::Pass | Verdict::Fail { .. } | Verdict::Inconclusive { .. } => summary.to_owned(),
    }
}

fn fault_message(language: Language, fault: &Fault) -> String {
    ErrorView::of_fault(fault).said_in(language).message
}

/// What is wrong, in a language where these are Helix's own words.
pub fn found(language: Language, finding: &Finding) -> String {
    if finding.said.is_empty() { finding.message.clone() } else { language.words(&finding.said) }
}

/// What would fix it, in a language where these are Helix's own words.
pub fn fix(language: Language, finding: &Finding) -> Option<String> {
    finding.fix.as_ref().map(|_| language.words(&finding.fix_words()))
}

/// A finding with its place.
pub fn finding(language: Language, finding: &Finding) -> String {
    one_line(&language.words(&finding.placed()), LINE)
}

pub(super) fn first(language: Language, findings: &[Finding]) -> String {
    findings.first().map(|finding| found(language, finding)).unwrap_or_default()
}
