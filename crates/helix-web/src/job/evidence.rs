//! Why a phase counts as done, looked at again now: what was checked by which command on which tree, what held, who approved; and what
//! was not proven. Must not judge: the examiner does.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use helix_core::text::short_commit;
use helix_engine::evidence::{GateEvidence, JobEvidence, OutputEvidence, OutputState, PhaseEvidence};
use helix_job::phrases::{self, Sign};
use helix_language::{Language, say};
use maud::{Markup, html};

use super::detail::{JobDetail, Selected};
use crate::Pages;
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;
use crate::sign::{badge, sign};
use crate::when::ago;

pub(super) async fn evidence(pages: &Pages, language: Language, detail: &JobDetail, selected: &Selected<'_>) -> Markup {
    let found = match pages.engine.reports().archive().evidence(detail.view.id.as_str()).await {
        Ok(found) => found,
        Err(error) => return html! { p.warning { (helix_core::error_chain(&error)) } },
    };
    let phase = found.phases.iter().find(|one| selected.phase.is_some_and(|phase| phase.id == one.phase));
    html! {
        @if let Some(phase) = phase { (self::phase(language, phase)) }
        (whole(language, detail, &found))
    }
}

fn phase(language: Language, phase: &PhaseEvidence) -> Markup {
    let (of, word) = phase.standing.said(language);
    html! {
        section.proof {
            div.row { (badge(of, &word)) span.weak { (say!(language, "web-checked-again")) } }
            @for what in &phase.missing { p.warning { (say!(language, "evidence-missing")) " " (language.words(what)) } }
            @if let Some(result) = &phase.result {
                dl.facts {
                    div { dt { (say!(language, "web-commit")) } dd { code title=(result.commit) { (short_commit(result.commit.as_str())) } @if !result.found { " " (say!(language, "evidence-gone")) } } }
                    div { dt { (say!(language, "web-tree")) } dd { code title=(result.tree) { (short_commit(result.tree.as_str())) } } }
                    div { dt { (say!(language, "web-changed-files")) } dd.figure { (result.changed_files) } }
                    @if let Some(attempt) = phase.attempt { div { dt { (say!(language, "web-attempt-that-counts")) } dd.figure { (attempt) } } }
                }
            }
            @if let Some(run) = &phase.run {
                p { (sign(if run.completed { Sign::Passed } else { Sign::Failed }, None)) (say!(language, "web-agent-run")) " " (language.words(&run.outcome)) @if !run.found { " " (say!(language, "evidence-gone")) } }
            }
            @if !phase.gates.is_empty() { h3 { (say!(language, "web-gates-that-passed")) } }
            @for gate in phase.gates.iter().chain(&phase.validation) { (self::gate(language, gate)) }
            @for review in &phase.reviews {
                p { (sign(Sign::from(&review.review.verdict), None)) (phrases::review(language, &review.review)) ": " (phrases::review_summary(language, &review.review.verdict, &review.review.summary)) }
            }
            @if !phase.answers.is_empty() {
                h3 { (say!(language, "web-persons")) }
                @for answer in &phase.answers {
                    p { (sign(Sign::Note, None)) b { (phrases::person(language, &answer.answer.by)) } ": " (phrases::answer(language, &[], &answer.answer)) " " span.weak { (ago(language, answer.at)) } }
                    p.weak.detail { (answer.question) }
                }
            }
            @if phase.attempts.len() > 1 {
                h3 { (say!(language, "web-all-attempts")) }
                ol.plain { @for one in &phase.attempts { li { (say!(language, "evidence-attempt", attempt = one.attempt, summary = language.words(&one.summary))) } } }
            }
        }
    }
}

fn gate(language: Language, gate: &GateEvidence) -> Markup {
    let report = &gate.report;
    html! {
        section.check {
            div.row {
                (sign(Sign::from(&report.verdict), Some(&say!(language, "verdict", verdict = report.verdict.word()))))
                h4 { (report.gate) }
                span { (phrases::gate_summary(language, report)) }
            }
            @if let Some(command) = &report.command {
                pre.command { (command.argv.join(" ")) }
                p.weak.row {
                    @match command.exit_code {
                        Some(code) => span { (say!(language, "evidence-exit", code = code.to_string())) },
                        None => span { (say!(language, "evidence-no-exit")) },
                    }
                    @if let Some(walls) = &command.walls { span { (say!(language, "web-confined", walls = phrases::walls(language, walls))) } }
                }
            }
            p.weak.row { span { (say!(language, "web-on-tree")) " " code title=(report.tree) { (short_commit(report.tree.as_str())) } } @for output in gate.output.iter().chain(&gate.step_outputs) { (self::output(language, output)) } }
        }
    }
}

fn output(language: Language, output: &OutputEvidence) -> Markup {
    let (of, word) = match output.state {
        OutputState::Intact => (Sign::Passed, say!(language, "web-output-intact")),
        OutputState::Changed => (Sign::Failed, say!(language, "web-output-changed")),
        OutputState::Missing => (Sign::Unclear, say!(language, "web-output-missing")),
    };
    let hash = output.sha256_now.as_deref().unwrap_or_default();
    html! { span title={ (output.file) " sha256 " (hash) } { (sign(of, None)) (word) } }
}

/// The job as a whole: what was not proven, where the result went, and the bundle.
fn whole(language: Language, detail: &JobDetail, found: &JobEvidence) -> Markup {
    html! {
        section.proof.whole {
            h3 { (say!(language, "web-whole-job")) }
            div.row {
                @if found.proved { (badge(Sign::Passed, &say!(language, "evidence-proved"))) }
                @else { (badge(Sign::Unclear, &say!(language, "web-not-proved"))) }
                a.button.right href={ "/jobs/" (detail.view.id) "/bundle" } download { (say!(language, "web-bundle")) }
            }
            @for what in &found.lacking { p { (say!(language, "evidence-missing")) " " (language.words(what)) } }
            @if let Some(integration) = &found.integration {
                @let (of, word) = integration.standing.said(language);
                p.row { (sign(of, None)) (say!(language, "web-integrated")) " " code title=(integration.result.commit) { (short_commit(integration.result.commit.as_str())) } " " (word) }
            }
            p.weak { (say!(language, "web-verify-bundle")) " " code { "helix verify FILE" } }
        }
    }
}

/// `GET /jobs/{id}/bundle`
pub(crate) async fn bundle(State(pages): State<Pages>, reader: Reader, Path(id): Path<String>) -> Shown<Response> {
    let made = async {
        let job = pages.engine.jobs().get(&id).await?.id;
        Ok::<_, helix_engine::EngineError>((
            pages.engine.reports().bundle(job.as_str(), env!("CARGO_PKG_VERSION")).await?,
            job,
        ))
    };
    let (text, job) = made.await.map_err(|error| PageError::from(error).page(&reader))?;
    let named = format!("attachment; filename=\"evidence-{job}.json\"");
    Ok(([(header::CONTENT_TYPE, "application/json".to_owned()), (header::CONTENT_DISPOSITION, named)], text)
        .into_response())
}
