//! `helix answer`: lists what waits for a person, and answers it.
//!
//! Must not know what follows from an answer: the job goes on by itself, under the host that is there or one that is started.

use clap::Args;
use helix_core::ids::QuestionId;
use helix_job::phrases::approvals;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_language::say;
use helix_server::wire::AnswerRequest;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::offline::questions;
use crate::question::{ask, how_to_answer, shown};

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
        match arguments.question {
            None => list(context).await,
            Some(question) => answer(context, &question, arguments.choice, arguments.text).await,
        }
    })
}

async fn list(context: &Context) -> Ended {
    let open = questions(context, None).await?;
    if open.is_empty() {
        context.terminal.note(&say!(context.terminal.language, "term-no-questions"));
    }
    let lines: Vec<String> = open.iter().map(|question| shown(context, question)).collect();
    context.terminal.answer(&for_programs(&open)?, &lines.join("\n"))?;
    for question in open.iter().filter(|_| context.terminal.is_attended()) {
        if put(context, question).await? == Exit::NeedsPerson {
            break;
        }
    }
    Ok(Exit::Success)
}

async fn answer(context: &Context, id: &str, choice: Option<String>, text: Option<String>) -> Ended {
    let question = question(context, id).await?;
    let given = match (choice, text) {
        // The host says what is wrong with it.
        (None, None) if question.status != QuestionStatus::Open => AnswerRequest::default(),
        (None, None) if context.terminal.is_attended() => {
            context.terminal.say(&shown(context, &question));
            return put(context, &question).await;
        }
        (None, None) => {
            let error = CommandError::usage(codes::USAGE, format!("the answer to {} is missing", question.id));
            return Err(error.hint(how_to_answer(context, &question)));
        }
        (choice, text) => AnswerRequest { choice, text },
    };
    send(context, &question, &given).await
}

/// Asks the person at the terminal, and sends what they say.
async fn put(context: &Context, question: &QuestionView) -> Ended {
    let Some(given) = ask(context, question).await? else {
        context.terminal.say(&say!(context.terminal.language, "term-not-answered"));
        return Ok(Exit::NeedsPerson);
    };
    send(context, question, &given).await
}

async fn send(context: &Context, question: &QuestionView, given: &AnswerRequest) -> Ended {
    let answered = context.host().await?.answer(&question.id, given).await?;
    let language = context.terminal.language;
    if answered.status == QuestionStatus::Open {
        let state = approvals(language, &answered).unwrap_or_default();
        let text = say!(language, "term-approved", id = answered.id.as_str(), state = state);
        return context.terminal.answer(&for_programs(&answered)?, &text);
    }
    context.terminal.answer(&for_programs(&answered)?, &say!(language, "term-answered", id = answered.id.as_str()))?;
    context.terminal.note(&say!(language, "term-follow", id = answered.job.as_str()));
    Ok(Exit::Success)
}

/// Questions without the pieces that their texts are put together of, which only Helix reads.
fn for_programs(questions: &impl Serialize) -> Result<Value, CommandError> {
    fn plain(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("said");
                fields.values_mut().for_each(plain);
            }
            Value::Array(items) => items.iter_mut().for_each(plain),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut value = serde_json::to_value(questions)
        .map_err(|error| CommandError::helix(codes::BROKEN, "a question cannot be written as JSON").because(&error))?;
    plain(&mut value);
    Ok(value)
}

/// A question by its complete id, or an open one by a prefix of it.
async fn question(context: &Context, id: &str) -> Result<QuestionView, CommandError> {
    let parts = QuestionId::new(id).ok().and_then(|id| id.parts());
    let job = parts.as_ref().map(|(job, ..)| job.as_str());
    // A complete id may be the prefix of another one, too.
    let fits = |known: &QuestionView| known.id.as_str() == id || job.is_none() && known.id.as_str().starts_with(id);
    let mut fitting: Vec<QuestionView> = questions(context, job).await?.into_iter().filter(fits).collect();
    if fitting.len() > 1 {
        let names: Vec<&str> = fitting.iter().map(|question| question.id.as_str()).collect();
        let error = CommandError::usage(codes::NOT_FOUND, format!("{id:?} matches several questions"));
        return Err(error.hint(format!("use one of: {}", names.join(", "))));
    }
    fitting.pop().ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("no open question {id:?}"))
            .hint("list open questions: `helix answer`")
    })
}
