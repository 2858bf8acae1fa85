//! Questions of jobs in words: what is asked, its options, its answers.
//!
//! Must not know how a question reaches a person.

use helix_core::evidence::{RunsBy, SelfRunning};
use helix_core::text::{one_line, visible};
use helix_plan::Approval;

use super::LINE;
use crate::language::Language;
use crate::question::{About, Answer, QuestionKind, QuestionOption, QuestionStatus, QuestionView};
use crate::say;
use crate::view::JobView;

/// The language of what is recorded.
const RECORD: Language = Language::English;

/// What a person answered: the choice, their words, or both.
pub fn answer(answer: &Answer) -> String {
    let said = [answer.choice.as_deref(), answer.text.as_deref()].into_iter().flatten();
    one_line(&said.collect::<Vec<_>>().join(": "), LINE)
}

/// What a question asks, in full. Helix's own words are in this language; those of the plan, of agents and of the record stay as
/// they are.
pub fn asks(language: Language, question: &QuestionView) -> String {
    let (phase, name) = (question.phase.as_str(), question.phase_name.as_str());
    let below = || question.text.split_once("\n\n").map(|(_, below)| below).unwrap_or_default();
    match &question.about {
        // As it was asked.
        _ if language == RECORD => question.text.clone(),
        About::Agent => question.text.clone(),
        About::Approval { when: Approval::Before } => {
            format!("{}\n\n{}", say!(language, "ask-start", phase = phase, name = name), below())
        }
        About::Approval { when: Approval::After } => {
            let asked = say!(language, "ask-accept", phase = phase, name = name);
            format!("{asked}\n{}", say!(language, "ask-accept-see"))
        }
        About::Gate { .. } => {
            match question.text.strip_prefix(&say!(RECORD, "ask-gate", phase = phase, name = name, question = "")) {
                Some(own) => {
                    say!(language, "ask-gate", phase = phase, name = name, question = translated(language, own))
                }
                None => say!(language, "ask-gate-result", phase = phase),
            }
        }
        About::RunsByItself { files, .. } => runs_by_itself(language, phase, name, files),
        About::Escalation { conflict } => {
            let stuck = match conflict {
                true => say!(language, "ask-unmerged", phase = phase),
                false => say!(language, "ask-stuck", phase = phase, name = name),
            };
            let below = below();
            let trouble = below.strip_suffix(&say!(RECORD, "ask-what")).unwrap_or(below).trim_end();
            format!("{stuck}.\n\n{trouble}\n\n{}", say!(language, "ask-what"))
        }
    }
}

/// What is asked about files that run by themselves. Each line that an agent wrote is indented: chats show it as it is.
pub(crate) fn runs_by_itself(language: Language, phase: &str, name: &str, files: &[SelfRunning]) -> String {
    let mut text = format!("{}\n", say!(language, "ask-runs", phase = phase, name = name));
    for file in files {
        let by = match file.by {
            RunsBy::Shell => say!(language, "runs-shell"),
            RunsBy::Editor => say!(language, "runs-editor"),
            RunsBy::Agent => say!(language, "runs-agent"),
            RunsBy::Helix => say!(language, "runs-helix"),
            RunsBy::Server => say!(language, "runs-server"),
            RunsBy::Git => say!(language, "runs-git"),
            RunsBy::Interpreter => say!(language, "runs-interpreter"),
            RunsBy::Tool => say!(language, "runs-tool"),
            RunsBy::FileManager => say!(language, "runs-file-manager"),
        };
        text.push_str(&format!("\n    {}: {by}", visible(&file.path)));
        for line in &file.shown {
            text.push_str(&format!("\n    + {line}"));
        }
        match file.more {
            0 if file.shown.is_empty() => text.push_str(&format!("\n    {}", say!(language, "runs-nothing-new"))),
            0 => {}
            more => text.push_str(&format!("\n    {}", say!(language, "runs-more", lines = more))),
        }
    }
    text.push_str(&format!("\n\n{}", say!(language, "ask-accept-see")));
    text
}

/// Who has to approve, and who has so far; `None` where anybody may.
pub fn approvals(language: Language, question: &QuestionView) -> Option<String> {
    let approvers = question.approvers?;
    let who = match approvers.other {
        true => say!(language, "approvals-other", count = approvers.count),
        false => say!(language, "approvals-any", count = approvers.count),
    };
    if question.approved_by.is_empty() {
        return Some(who);
    }
    let names: Vec<String> = question.approved_by.iter().map(ToString::to_string).collect();
    let so_far = say!(
        language,
        "approvals-so-far",
        given = question.approved_by.len() as u32,
        count = approvers.count,
        names = names.join(", ")
    );
    Some(format!("{who}; {so_far}"))
}

/// What an agent asked for although only a person may.
pub fn attempted(language: Language, run: &str, asked: &str) -> String {
    say!(language, "agent-refused", run = run, asked = asked)
}

/// What an option of a question means.
pub fn option(language: Language, question: &QuestionView, option: &QuestionOption) -> String {
    // An agent's options are its own words.
    if question.kind == QuestionKind::Agent { option.label.clone() } else { translated(language, &option.label) }
}

/// One of the texts that Helix asks with and that have no values, in another language; any other text stays as it is.
fn translated(language: Language, text: &str) -> String {
    let own = |language: Language| {
        [
            say!(language, "ask-gate-manual"),
            say!(language, "ask-gate-approval"),
            say!(language, "option-start"),
            say!(language, "option-no-start"),
            say!(language, "option-accept"),
            say!(language, "option-send-back"),
            say!(language, "option-approve"),
            say!(language, "option-reject"),
            say!(language, "option-let-in"),
            say!(language, "option-leave-out"),
            say!(language, "option-retry"),
            say!(language, "option-skip"),
            say!(language, "option-skip-optional"),
            say!(language, "option-fail"),
        ]
    };
    let known = own(RECORD).into_iter().zip(own(language)).find(|(recorded, _)| recorded == text);
    known.map_or_else(|| text.to_owned(), |(_, text)| text)
}

/// A question with what came of it.
pub fn question(language: Language, question: &QuestionView) -> String {
    let (id, text) = (question.id.as_str(), one_line(&asks(language, question), LINE));
    match &question.status {
        QuestionStatus::Open => say!(language, "question-open", id = id, question = text),
        QuestionStatus::Answered { answer: given, .. } => {
            let (by, answer) = (given.by.to_string(), answer(given));
            say!(language, "question-answered", id = id, by = by, answer = answer, question = text)
        }
        QuestionStatus::Expired { .. } => say!(language, "question-expired", id = id, question = text),
        QuestionStatus::Closed => say!(language, "question-closed", id = id, question = text),
    }
}

/// Questions of a job that wait for a person.
pub fn open_questions(job: &JobView) -> impl Iterator<Item = &QuestionView> {
    job.questions.iter().filter(|question| question.status == QuestionStatus::Open)
}
