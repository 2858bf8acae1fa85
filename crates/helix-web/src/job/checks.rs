//! What the gates and reviewers of an attempt said. Must not weigh it.

use helix_core::evidence::GateReport;
use helix_core::finding::{Finding, Verdict};
use helix_core::text::bounded;
use helix_job::Review;
use helix_job::phrases::{self, Sign};
use helix_language::{ErrorView, Language, say};
use maud::{Markup, html};

use super::detail::{JobDetail, Selected, Tab};
use crate::card::encoded;
use crate::sign::badge;

/// Longest piece of output that is shown, in bytes.
const LONGEST: usize = 16 << 10;

pub(super) fn checks(language: Language, detail: &JobDetail, selected: &Selected<'_>) -> Markup {
    let Some(attempt) = selected.attempt() else { return html! { p.empty { (say!(language, "web-no-attempt")) } } };
    let planned = selected.phase.and_then(|phase| detail.phases.iter().find(|one| one.id == phase.id));
    let open = planned.map_or(0, |phase| phase.gates.len().saturating_sub(attempt.gates.len()));
    let is_last = selected.attempt.map(|at| at + 1) == Some(selected.attempts.len());
    html! {
        @for one in selected.phase.iter().filter(|_| is_last).flat_map(|phase| &phase.accepted) {
            @let by = phrases::person(language, &one.by);
            p.warning { (say!(language, "report-accepted", by = by, gate = one.name.as_str(), why = one.reason.as_str())) }
        }
        @for report in &attempt.gates { (gate(language, selected, report)) }
        @for review in &attempt.reviews { (self::review(language, selected, review)) }
        @if attempt.gates.is_empty() && attempt.reviews.is_empty() { p.empty { (say!(language, "web-no-checks")) } }
        @else if open > 0 && !attempt.gates.iter().any(|report| !report.verdict.passed()) {
            p.weak { (say!(language, "web-checks-open", gates = open)) }
        }
    }
}

/// A verdict in a word.
fn word(language: Language, verdict: &Verdict) -> String {
    say!(language, "verdict", verdict = verdict.word())
}

/// A gate's answer.
pub(super) fn gate(language: Language, selected: &Selected<'_>, report: &GateReport) -> Markup {
    let summary = phrases::gate_summary(language, report);
    html! {
        section.check {
            div.row {
                (badge(Sign::from(&report.verdict), &word(language, &report.verdict)))
                h3 { (report.gate) }
                span { (summary) }
                span.weak.right.figure { (language.duration(seconds(report.duration_ms))) }
            }
            @if let Some(command) = &report.command { pre.command { (command.argv.join(" ")) } }
            @for step in &report.steps { p.step { code { (step.step) } " " span.weak { (language.words(&step.words())) } } }
            @match &report.verdict {
                Verdict::Pass => {}
                Verdict::Fail { findings: all } => (findings(language, selected, all)),
                Verdict::Inconclusive { fault } => {
                    @let told = ErrorView::of_fault(fault).said_in(language);
                    p.warning { (told.message) @if let Some(hint) = &told.hint { " " span.weak { (hint) } } }
                }
            }
            @for note in report.notes() { p.weak { (language.words(&note)) } }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a gate are far below 2^52")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

fn findings(language: Language, selected: &Selected<'_>, all: &[Finding]) -> Markup {
    html! {
        ul.findings {
            @for one in all {
                li {
                    p {
                        @if let Some(place) = &one.place {
                            a.path href={ (selected.query(Tab::Changes, None)) "&file=" (encoded(&place.file)) } { (place) }
                            " "
                        }
                        (phrases::found(language, one))
                    }
                    @if let Some(fix) = phrases::fix(language, one) { p.weak { (say!(language, "fix", fix = fix)) } }
                    @if let Some(evidence) = &one.evidence { pre.code { (bounded(evidence, LONGEST)) } }
                }
            }
        }
    }
}

fn review(language: Language, selected: &Selected<'_>, review: &Review) -> Markup {
    html! {
        section.check {
            div.row {
                (badge(Sign::from(&review.verdict), &phrases::review(language, review)))
                h3 { (say!(language, "web-review")) }
                span.weak.right { (review.agent) @if let Some(model) = &review.model { " · " (model) } }
            }
            p { (phrases::review_summary(language, &review.verdict, &review.summary)) }
            @if let Verdict::Fail { findings: all } = &review.verdict { (findings(language, selected, all)) }
            @for check in &review.checks_passed { p.weak { (say!(language, "evidence-checked", check = check)) } }
        }
    }
}
