//! `helix answer`: lists what waits for a person, and answers it.
//!
//! Must not know what follows from an answer: the job goes on by itself, under the host that is there or one that is started.

use clap::Args;
use helix_core::ids::QuestionId;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_server::wire::AnswerRequest;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::offline::questions;
use crate::question::{ask, can_ask, how_to_answer, shown};

/// Arguments of `helix answer`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Question id, or a unique prefix [default: list the open questions]
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
    /// Key of the chosen option
    #[arg(long, value_name = "KEY", requires = "question")]
    choice: Option<String>,
    /// Free text: a reason, a hint, an answer
    #[arg(long, value_name = "TEXT", requires = "question")]
    text: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    context.block_on(async {
        match &arguments.question {
            None => list(context).await,
            Some(question) => answer(context, question, &arguments).await,
        }
    })
}

async fn list(context: &Context) -> Ended {
    let open = questions(context, None).await?;
    if open.is_empty() {
        context.terminal.note("no open questions");
    }
    let lines: Vec<String> = open.iter().map(|question| shown(context, question)).collect();
    context.terminal.answer(&open, &lines.join("\n"))?;
    for question in open.iter().filter(|_| can_ask(context)) {
        let Some(given) = ask(context, question).await? else {
            context.terminal.say("not answered; the question stays open");
            break;
        };
        say_answered(context, &context.host().await?.answer(&question.id, &given).await?)?;
    }
    Ok(Exit::Success)
}

async fn answer(context: &Context, id: &str, arguments: &Arguments) -> Ended {
    let question = question(context, id).await?;
    let given = match (&arguments.choice, &arguments.text) {
        // The host says what is wrong with it.
        (None, None) if question.status != QuestionStatus::Open => AnswerRequest::default(),
        (None, None) if can_ask(context) => {
            context.terminal.say(&shown(context, &question));
            let Some(given) = ask(context, &question).await? else {
                context.terminal.say("not answered; the question stays open");
                return Ok(Exit::NeedsPerson);
            };
            given
        }
        (None, None) => {
            let error = CommandError::usage(codes::USAGE, format!("the answer to {} is missing", question.id));
            return Err(error.hint(how_to_answer(&question)));
        }
        (choice, text) => {
            AnswerRequest { choice: choice.clone(), text: text.clone(), by: Some(context.environment.person()) }
        }
    };
    say_answered(context, &context.host().await?.answer(&question.id, &given).await?)?;
    Ok(Exit::Success)
}

fn say_answered(context: &Context, question: &QuestionView) -> Result<(), CommandError> {
    context.terminal.answer(question, &format!("answered {}", question.id))?;
    let job = &question.job;
    context.terminal.note(&format!("job {job} continues; follow it with: helix jobs watch {job}"));
    Ok(())
}

/// A question by its id or a prefix of it. Only an id that fits no open question makes it read a whole job.
async fn question(context: &Context, id: &str) -> Result<QuestionView, CommandError> {
    let complete = QuestionId::new(id).is_ok_and(|id| id.parts().is_some());
    match fitting(id, questions(context, None).await?)? {
        // A complete id may be the prefix of another one, too.
        Some(open) if !complete || open.id.as_str() == id => return Ok(open),
        Some(_) | None => {}
    }
    // The id of a question starts with its job's.
    let job = id.split('.').next().unwrap_or_default();
    fitting(id, questions(context, Some(job)).await?)?.ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("no open question {id:?}"))
            .hint("list open questions: `helix answer`")
    })
}

/// The one question with this id, or else with this prefix.
fn fitting(id: &str, questions: Vec<QuestionView>) -> Result<Option<QuestionView>, CommandError> {
    if let Some(exact) = questions.iter().find(|question| question.id.as_str() == id) {
        return Ok(Some(exact.clone()));
    }
    let mut fitting: Vec<_> = questions.into_iter().filter(|question| question.id.as_str().starts_with(id)).collect();
    if fitting.len() > 1 {
        let names: Vec<&str> = fitting.iter().map(|question| question.id.as_str()).collect();
        let error = CommandError::usage(codes::NOT_FOUND, format!("{id:?} matches several questions"));
        return Err(error.hint(format!("use one of: {}", names.join(", "))));
    }
    Ok(fitting.pop())
}
