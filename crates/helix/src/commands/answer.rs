//! `helix answer`: lists what waits for a person, and answers it.
//!
//! Must not know what follows from an answer: the job goes on by itself, under the host that is there or one that is started.

use clap::Args;
use helix_core::ids::QuestionId;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_server::wire::AnswerRequest;
use helix_store::JobFilter;

use crate::client::Client;
use crate::codes;
use crate::config::Settings;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::find;
use crate::offline;
use crate::question::{ask, can_ask, how_to_answer, shown};
use crate::terminal::Reading;

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
    let settings = context.settings()?;
    let open = questions(settings, find(settings).await?.as_ref(), None).await?;
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&open)?;
        return Ok(Exit::Success);
    }
    if open.is_empty() {
        context.terminal.say("no open questions");
        return Ok(Exit::Success);
    }
    for question in &open {
        context.terminal.data(&shown(context, question))?;
    }
    if !can_ask(context) {
        return Ok(Exit::Success);
    }
    for question in &open {
        let Some(given) = ask(context, question).await? else {
            context.terminal.say("not answered; the question stays open");
            break;
        };
        let settled = context.host().await?.answer(&question.id, &given).await?;
        say_settled(context, &settled)?;
    }
    Ok(Exit::Success)
}

async fn answer(context: &Context, id: &str, arguments: &Arguments) -> Ended {
    let question = question(context, id).await?;
    let given = match (&arguments.choice, &arguments.text) {
        (None, None) if question.status != QuestionStatus::Open => AnswerRequest::default(),
        (None, None) if can_ask(context) => {
            context.terminal.say(&shown(context, &question));
            match ask(context, &question).await? {
                Some(given) => given,
                None => {
                    context.terminal.say("not answered; the question stays open");
                    return Ok(Exit::NeedsPerson);
                }
            }
        }
        (None, None) => {
            let error = CommandError::usage(codes::USAGE, format!("the answer to {} is missing", question.id));
            return Err(error.hint(how_to_answer(&question)));
        }
        (choice, text) => {
            AnswerRequest { choice: choice.clone(), text: text.clone(), by: Some(context.environment.person()) }
        }
    };
    let settled = context.host().await?.answer(&question.id, &given).await?;
    say_settled(context, &settled)?;
    Ok(Exit::Success)
}

fn say_settled(context: &Context, question: &QuestionView) -> Result<(), CommandError> {
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(question),
        Reading::People => {
            context.terminal.data(&format!("answered {}", question.id))?;
            context.terminal.say(&format!("job {0} continues; follow it with: helix jobs watch {0}", question.job));
            Ok(())
        }
    }
}

/// A question by its id or a prefix of it. Only an id that fits no open question makes it read a whole job.
async fn question(context: &Context, id: &str) -> Result<QuestionView, CommandError> {
    let settings = context.settings()?;
    let client = find(settings).await?;
    let complete = QuestionId::new(id).is_ok_and(|id| id.parts().is_some());
    match fitting(id, questions(settings, client.as_ref(), None).await?)? {
        // A complete id may be the prefix of another one, too.
        Some(open) if !complete || open.id.as_str() == id => return Ok(open),
        Some(_) | None => {}
    }
    // The id of a question starts with its job's.
    let job = id.split('.').next().unwrap_or_default();
    fitting(id, questions(settings, client.as_ref(), Some(job)).await?)?.ok_or_else(|| {
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

/// All questions of a job, or the open questions of all jobs, oldest first; from the host if there is one.
async fn questions(
    settings: &Settings,
    client: Option<&Client>,
    job: Option<&str>,
) -> Result<Vec<QuestionView>, CommandError> {
    if let Some(client) = client {
        return Ok(client.questions(job).await?);
    }
    let mut questions = match job {
        Some(job) => offline::job(settings, job).await?.questions,
        None => {
            let jobs = offline::jobs(settings, JobFilter::unfinished()).await?;
            let all = jobs.into_iter().flat_map(|job| job.questions);
            all.filter(|question| question.status == QuestionStatus::Open).collect()
        }
    };
    questions.sort_by_key(|question| question.asked_at);
    Ok(questions)
}
