//! Questions of jobs in words: what is asked, its options, its answers.
//!
//! Must not know how a question reaches a person.

use helix_core::evidence::{RunsBy, SelfRunning};
use helix_core::said::{Words, of_job};
use helix_core::text::{one_line, visible};
use helix_language::{Language, RECORD, recorded, say};

use super::{LINE, person};
use crate::question::{About, Answer, QuestionOption, QuestionStatus, QuestionView};
use crate::view::JobView;

/// What a person answered who had these options: the choice, their words, or both.
pub fn answer(language: Language, options: &[QuestionOption], answer: &Answer) -> String {
    // An agent's options are its own words, and its keys say nothing.
    let own = |choice: &str| options.iter().find(|one| one.key == choice && one.said.is_empty());
    let choice = answer.choice.as_deref().map(|choice| match own(choice) {
        Some(chosen) => chosen.label.clone(),
        None => say!(language, "answered-choice", choice = choice),
    });
    one_line(&choice.into_iter().chain(answer.text.clone()).collect::<Vec<_>>().join(": "), LINE)
}

/// What a question asks, in full. Helix's own words are in this language; those of the plan, of agents and of the record stay as
/// they are.
pub fn asks(language: Language, question: &QuestionView) -> String {
    match &question.about {
        About::RunsByItself { files, .. } if language != RECORD => {
            of_job(&runs_by_itself(language, question.phase.as_str(), &question.phase_name, files), &question.job)
        }
        _ => said_or(language, &question.said, &question.text),
    }
}

/// A phase by its id, and its name if it has one of its own.
pub(crate) fn titled(id: &str, name: &str) -> String {
    if id == name { id.to_owned() } else { format!("{id} ({name})") }
}

/// What is asked about files that run by themselves. Each line that an agent wrote is indented: chats show it as it is.
pub(crate) fn runs_by_itself(language: Language, phase: &str, name: &str, files: &[SelfRunning]) -> String {
    let mut text = format!("{}\n", say!(language, "ask-runs", phase = titled(phase, name)));
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
    text.push_str(&format!("\n\n{}", language.words(&recorded!("ask-accept-see", phase = phase))));
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
    let names: Vec<String> = question.approved_by.iter().map(|one| person(language, one)).collect();
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

/// What an option of a question means; an agent's options are its own words.
pub fn option(language: Language, option: &QuestionOption) -> String {
    said_or(language, &option.said, &option.label)
}

fn said_or(language: Language, said: &Words, text: &str) -> String {
    if said.is_empty() || language == RECORD { text.to_owned() } else { language.words(said) }
}

/// A question with what came of it.
pub fn question(language: Language, question: &QuestionView) -> String {
    let (id, text) = (question.id.as_str(), one_line(&asks(language, question), LINE));
    match &question.status {
        QuestionStatus::Open => say!(language, "question-open", id = id, question = text),
        QuestionStatus::Answered { answer: given, .. } => {
            let (by, answer) = (person(language, &given.by), answer(language, &question.options, given));
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
