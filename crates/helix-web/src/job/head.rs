//! What a job is and how it stands, at the top of its page. Must not know its phases' details.

use helix_core::text::{one_line, short_commit};
use helix_job::{PhaseStatus, phrases};
use helix_language::{Language, say};
use maud::{Markup, html};

use super::detail::JobDetail;
use crate::card::{self, Back, actions};
use crate::sign::{badge, sign};
use crate::when::{ago, length, phrase};

pub(super) fn head(language: Language, detail: &JobDetail) -> Markup {
    let job = &detail.view;
    let is_over = job.status.is_final();
    let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
    let budget = detail.budget().map(|budget| format!(" / {}", language.cents(budget)));
    html! {
        section #job-head.job-head data-v=(version(detail)) {
            p.crumbs { a href="/" { (say!(language, "web-board")) } " / " span title=(job.project_path) { (card::project(&job.project_path)) } }
            div.row.title {
                h1 { (one_line(&job.name, 120)) }
                (badge(job.status.into(), &phrases::job_status(language, job.status)))
                div.right { (actions(language, job, Back::Job)) }
            }
            @if phrases::open_questions(job).next().is_none() { p.standing { (phrase(&phrases::standing(language, job))) } }
            @for tried in &job.attempted {
                p.warning { (sign(phrases::Sign::Unclear, None)) (phrases::attempted(language, tried.run.as_str(), &tried.asked)) }
            }
            dl.facts {
                div { dt { (say!(language, "web-phases")) } dd { (say!(language, "web-bar", passed = passed, phases = job.phases.len())) } }
                div { dt { (say!(language, "web-time")) } dd { (length(language, job.duration_seconds, !is_over)) } }
                div { dt { (say!(language, "web-cost")) } dd.figure { (language.cents(job.cost)) @if let Some(budget) = budget { span.weak { (budget) } } } }
                div { dt { (say!(language, "web-submitted")) } dd {
                    (ago(language, job.created_at))
                    @if let Some(by) = &job.by { " · " (phrases::person(language, by)) }
                } }
                @if let Some(commit) = &job.commit {
                    div { dt { (say!(language, "web-commit")) } dd { code title=(commit) { (short_commit(commit.as_str())) } } }
                }
                @if let Some(adr) = &job.adr {
                    div { dt { (say!(language, "web-decision")) } dd { a href=(card::decision(&job.project_path, adr)) { (adr.rsplit('/').next().unwrap_or(adr)) } } }
                }
                div { dt { (say!(language, "web-terminal")) } dd { code.copy data-copy { "helix jobs watch " (job.id) } } }
            }
            @for question in phrases::open_questions(job) { (card::question(language, question, Back::Job, false)) }
        }
    }
}

/// What tells one state of a job from another.
pub(super) fn version(detail: &JobDetail) -> String {
    card::version(&detail.view, None)
}
