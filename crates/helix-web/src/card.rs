//! A job and its questions as they stand in lists. Must not know which list.

use std::hash::{DefaultHasher, Hash, Hasher};

use helix_core::text::{clip, one_line};
use helix_job::phrases::{self, Sign};
use helix_job::question::{APPROVE, FAIL, QuestionKind, QuestionOption, QuestionView, REJECT};
use helix_job::{JobStatus, JobView, PhaseStatus, PhaseView};
use helix_language::{Language, say};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::sign::{badge, class, sign};
use crate::when::{ago, length, phrase};

/// The address of a job.
pub(crate) fn address(job: &JobView) -> String {
    format!("/jobs/{}", job.id)
}

/// The address of a decision, by its file.
pub(crate) fn decision(project: &str, file: &str) -> String {
    format!("/decisions/{}?project={}", encoded(file), encoded(project))
}

/// A text as part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The name of a project: the last part of its path.
pub(crate) fn project(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// A job's phases as a bar of as many segments.
pub(crate) fn bar(language: Language, job: &JobView) -> Markup {
    let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
    let label = say!(language, "web-bar", passed = passed, phases = job.phases.len());
    html! {
        div.bar role="img" aria-label=(label) title=(label) {
            @for phase in &job.phases { i class=(class(phase.status.into())) {} }
        }
    }
}

/// What a phase is doing, without the command that does something about it: pages have buttons.
pub(crate) fn stage(language: Language, phase: &PhaseView) -> String {
    let stage = phrases::stage(language, phase);
    stage.split(" (`").next().unwrap_or_default().to_owned()
}

/// Where a form of a list leads back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Back {
    Board,
    Questions,
    Job,
}

impl Back {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::Questions => "questions",
            Self::Job => "job",
        }
    }

    /// The address, after something was done with a job.
    pub(crate) fn address(self, job: &str) -> String {
        match self {
            Self::Board => "/".into(),
            Self::Questions => "/questions".into(),
            Self::Job => format!("/jobs/{job}"),
        }
    }
}

/// A job on the board.
pub(crate) fn job(language: Language, job: &JobView, doing: Option<&str>) -> Markup {
    let under_way = !job.status.is_final();
    let questions: Vec<&QuestionView> = phrases::open_questions(job).collect();
    html! {
        article.card id={ "job-" (job.id) } data-v=(version(job, doing)) data-find=(searched(job)) {
            div.row {
                (sign(job.status.into(), Some(&phrases::job_status(language, job.status))))
                h3 { a.open href=(address(job)) { (one_line(&job.name, 80)) } }
                span.weak.right { (project(&job.project_path)) }
            }
            (bar(language, job))
            @if questions.is_empty() { p.doing { (standing(language, job, doing)) } }
            @for question in questions { (self::question(language, question, Back::Board, false)) }
            div.row.weak.figures {
                (length(language, job.duration_seconds, under_way))
                @if job.cost > 0.0 { span.figure { (language.cents(job.cost)) } }
                span.right { (ago(language, job.completed_at.unwrap_or(job.created_at))) }
            }
            (actions(language, job, Back::Board))
        }
    }
}

/// The text in which a job is searched.
pub(crate) fn searched(job: &JobView) -> String {
    format!("{} {} {}", job.name, job.project_path, job.id).to_lowercase()
}

/// What tells one state of a job, with what its agent does, from another: not everything that it waits for is an event.
pub(crate) fn version(job: &JobView, doing: Option<&str>) -> String {
    let waits: Vec<_> = job.phases.iter().map(|phase| &phase.waits_for).collect();
    format!("{}-{:x}", job.last_event, hash(&format!("{doing:?}{waits:?}{:?}", job.error)))
}

/// A number that tells texts apart.
pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// How a job stands, in one line, with what its agent does right now where that is known.
fn standing(language: Language, job: &JobView, doing: Option<&str>) -> Markup {
    let busy = job.phases.iter().find(|phase| matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting));
    match busy.filter(|_| !job.status.is_final()) {
        Some(phase) => html! {
            b { (one_line(&phase.name, 60)) }
            " · " (stage(language, phase))
            @if let Some(doing) = doing { span.now { (doing) } }
        },
        None => match &job.error {
            // What to do about it stands below, as a button.
            Some(error) if job.status == JobStatus::Failed => phrase(&clip(&error.said_in(language).message, 240)),
            _ => phrase(&clip(&phrases::standing(language, job), 240)),
        },
    }
}

/// What a person can do about a job.
pub(crate) fn actions(language: Language, job: &JobView, back: Back) -> Markup {
    let can_resume = matches!(job.status, JobStatus::Failed | JobStatus::Cancelled);
    html! {
        @if !job.status.is_final() {
            details.act {
                summary { (say!(language, "web-cancel")) }
                form method="post" action={ (address(job)) "/cancel" } {
                    input type="hidden" name="back" value=(back.word());
                    p { (say!(language, "web-cancel-sure")) }
                    button.danger { (say!(language, "web-cancel-now")) }
                }
            }
        } @else if can_resume {
            form.act method="post" action={ (address(job)) "/resume" } {
                input type="hidden" name="back" value=(back.word());
                button { (say!(language, "web-resume")) }
            }
        }
    }
}

/// A question with the form that answers it.
pub(crate) fn question(language: Language, question: &QuestionView, back: Back, with_job: bool) -> Markup {
    let id = question.id.as_str();
    let field = format!("text-{id}");
    html! {
        section.question id={ "question-" (id) } data-v="open" {
            @if with_job {
                p.row {
                    (badge(Sign::Waiting, &kind(language, question)))
                    a.open href={ "/jobs/" (question.job) "?phase=" (question.phase) } { (one_line(&question.job_name, 60)) " · " (one_line(&question.phase_name, 60)) }
                    span.weak.right { (ago(language, question.asked_at)) }
                }
            }
            p.asks { (phrase(&phrases::asks(language, question))) }
            @if !question.set_out.is_empty() {
                p.weak { (say!(language, "ask-set-out")) }
                p.asks { (phrase(&question.set_out)) }
            }
            @if let Some(approvals) = phrases::approvals(language, question) { p.weak { (approvals) } }
            @for tried in &question.attempted {
                p.warning { (sign(Sign::Unclear, None)) (phrases::attempted(language, tried.run.as_str(), &tried.asked)) }
            }
            @if question.kind == QuestionKind::Approval {
                p { a href={ "/jobs/" (question.job) "?phase=" (question.phase) "&tab=changes" } { (say!(language, "web-see-changes")) } }
            }
            form method="post" action={ "/questions/" (id) } {
                input type="hidden" name="back" value=(back.word());
                @if question.free_text {
                    label for=(field) { (say!(language, "web-your-words")) }
                    textarea #(field) name="text" rows="2" maxlength="16000" {}
                }
                div.choices {
                    @for choice in &question.options { (option(language, choice)) }
                    @if question.free_text && (question.options.is_empty() || question.kind == QuestionKind::Agent) {
                        button.primary[question.options.is_empty()] { (say!(language, "web-answer")) }
                    }
                }
            }
        }
    }
}

fn option(language: Language, choice: &QuestionOption) -> Markup {
    let style = match choice.key.as_str() {
        APPROVE => "primary",
        REJECT | FAIL => "danger",
        _ => "",
    };
    html! { button class=(style) name="choice" value=(choice.key) { (phrases::option(language, choice)) } }
}

/// What kind of question it is, in a word.
fn kind(language: Language, question: &QuestionView) -> String {
    match question.kind {
        QuestionKind::Approval => say!(language, "web-kind-approval"),
        QuestionKind::Escalation => say!(language, "web-kind-escalation"),
        QuestionKind::Agent => say!(language, "web-kind-agent"),
        QuestionKind::Conflict => say!(language, "web-kind-conflict"),
    }
}
