//! Tools between agents and people: asking, and passing an answer on. Must not know how a question reaches a person.
//!
//! Nothing here blocks: who asks ends its turn, and is resumed with the answer.

use async_recursion::async_recursion as boxed;
use helix_core::ids::{JobId, QuestionId, RunId};
use helix_job::question::{self, QuestionStatus, QuestionView};
use serde_json::json;

use super::refusal::Refusal;
use super::{Answer, AnswerQuestion, AskUser, Caller, Tools};
use crate::jobs::AnswerError;

/// Longest question, in characters; a longer one is a report, and belongs into a file.
const LONGEST_QUESTION: usize = 4_000;
/// Most options of a question.
const MOST_OPTIONS: usize = 12;

impl Tools {
    /// Asks the user. In a session the agent ends its turn with the question; in a phase the job waits for the answer.
    #[boxed]
    pub async fn ask_user(&self, arguments: AskUser) -> Answer {
        let question = arguments.question.trim().to_owned();
        let options: Vec<String> =
            arguments.options.iter().map(|option| option.trim().to_owned()).filter(|one| !one.is_empty()).collect();
        if question.is_empty() {
            return Err(Refusal::text("the question is empty: write a complete one"));
        }
        if question.chars().count() > LONGEST_QUESTION || options.len() > MOST_OPTIONS {
            return Err(Refusal::text(format!(
                "a question has at most {LONGEST_QUESTION} characters and {MOST_OPTIONS} options: ask for one thing"
            )));
        }
        match &self.caller {
            Caller::Session(_) => {
                let text = "End your turn now, with this question as the end of your answer: the user's next message is \
                            the reply. Nothing waits in the meantime.";
                Ok((text.to_owned(), json!({ "question": question, "options": options, "asked": "in the session" })))
            }
            Caller::Run(run) => {
                let asked = self.engine.jobs().ask_from_run(run, question, options).await;
                let asked = asked.map_err(Refusal::from_error)?;
                let text = match &asked.status {
                    QuestionStatus::Answered { answer, .. } => {
                        let (by, said) = (&answer.by, chosen(&asked, answer));
                        format!("You have asked this before, as {}, and {by} has answered: {said}", asked.id)
                    }
                    QuestionStatus::Expired { .. } => {
                        format!("You have asked this as {}, and nobody has answered in time: do without.", asked.id)
                    }
                    QuestionStatus::Open | QuestionStatus::Closed => format!(
                        "Asked as {}. End your turn now with the state of your work: you will be resumed with the answer.",
                        asked.id
                    ),
                };
                let data = serde_json::to_value(&asked).map_err(Refusal::from_error)?;
                Ok((text, data))
            }
            Caller::Outside { .. } => {
                Err(Refusal::text("no user is connected: ask_user is for the Consultant and for agents of phases"))
            }
        }
    }

    /// Passes a user's answer on to the job that waits for it.
    #[boxed]
    pub async fn answer(&self, arguments: AnswerQuestion) -> Answer {
        let (jobs, by) = (self.session().await?.map(|view| view.jobs), self.person().await?);
        let id = match arguments.question.filter(|id| !id.is_empty()) {
            Some(id) => QuestionId::new(id).map_err(Refusal::from_error)?,
            None => {
                let jobs =
                    jobs.ok_or_else(|| Refusal::text("pass the question's id: job_status of its job lists it"))?;
                only_one(self.open_questions(&jobs).await?)?
            }
        };
        if let (Caller::Session(_), Some((job, _, _))) = (&self.caller, id.parts())
            && let Err(refusal) = self.job(job.as_str()).await
        {
            self.refused(&id).await;
            return Err(refusal);
        }
        let words = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let reply = question::Answer { choice: words(arguments.choice), text: words(arguments.text), by };
        let answered = match self.engine.jobs().answer(&id, reply).await {
            Err(error @ AnswerError::Forbidden(_)) => {
                self.refused(&id).await;
                return Err(Refusal::from_error(error));
            }
            other => other.map_err(Refusal::from_error)?,
        };
        let text = match &answered.status {
            QuestionStatus::Open => format!("Recorded for {}: it needs more approvals.", answered.id),
            _ => format!("Answered {}: job {} continues.", answered.id, answered.job),
        };
        let data = serde_json::to_value(&answered).map_err(Refusal::from_error)?;
        Ok((text, data))
    }

    /// Records at the job that a session's agent wanted to answer what it may not.
    async fn refused(&self, question: &QuestionId) {
        if let (Caller::Session(session), Some((job, _, _))) = (&self.caller, question.parts())
            && let Ok(run) = RunId::new(session.as_str())
        {
            self.engine.jobs().refused_at(&job, run, "answer").await;
        }
    }

    /// Open questions of these jobs, oldest first.
    async fn open_questions(&self, jobs: &[JobId]) -> Result<Vec<QuestionView>, Refusal> {
        let mut open = Vec::new();
        for job in jobs {
            let view = self.job(job.as_str()).await?;
            open.extend(view.questions.into_iter().filter(|question| question.status == QuestionStatus::Open));
        }
        open.sort_by_key(|question| question.asked_at);
        Ok(open)
    }
}

/// What was answered, in words.
fn chosen(asked: &QuestionView, answer: &question::Answer) -> String {
    let option = asked.options.iter().find(|option| Some(&option.key) == answer.choice.as_ref());
    let words = option.map(|option| option.label.clone()).into_iter().chain(answer.text.clone());
    words.collect::<Vec<_>>().join("; ")
}

fn only_one(mut open: Vec<QuestionView>) -> Result<QuestionId, Refusal> {
    match (open.pop(), open.is_empty()) {
        (Some(only), true) => Ok(only.id),
        (Some(last), false) => {
            open.push(last);
            let lines: Vec<String> = open.iter().map(question_line).collect();
            Err(Refusal::text(format!("several questions are open; pass one in `question`:\n{}", lines.join("\n"))))
        }
        (None, _) => Err(Refusal::text("no job of this session waits for an answer")),
    }
}

/// A question in one line, for agents.
pub(super) fn question_line(question: &QuestionView) -> String {
    let options: Vec<String> =
        question.options.iter().map(|option| format!("{} ({})", option.key, option.label)).collect();
    let options = if options.is_empty() { "any text".to_owned() } else { options.join(", ") };
    format!("{} (phase {}): {} [{options}]", question.id, question.phase, question.text)
}
