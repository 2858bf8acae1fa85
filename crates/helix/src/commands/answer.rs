//! `helix answer`: lists what waits for a person, and answers it.
//!
//! Must not know what follows from an answer: the job goes on by itself, under the host that is there or one that is started.

use std::io::{IsTerminal, Write};

use clap::Args;
use helix_core::ids::QuestionId;
use helix_job::question::{QuestionKind, QuestionOption, QuestionStatus, QuestionView};
use helix_server::wire::AnswerRequest;
use helix_store::JobFilter;
use tokio::signal::unix::SignalKind;

use crate::cli::Context;
use crate::client::Client;
use crate::codes;
use crate::commands::jobs::offline;
use crate::config::Settings;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::{find, start_in_background};
use crate::terminal::{Meaning, Reading, typed_line};
use crate::watch::signal_stream;

/// Arguments of `helix answer`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The question, or a beginning of its id that fits only one; without it the open ones are listed
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
    /// Key of the option that you choose
    #[arg(long, value_name = "KEY", requires = "question")]
    choice: Option<String>,
    /// Words of your own: a reason, a hint, an answer
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
        context.terminal.say("nothing waits for an answer");
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
            context.terminal.say("left open");
            break;
        };
        let settled = client(context).await?.answer(&question.id, &given).await?;
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
                    context.terminal.say("left open");
                    return Ok(Exit::NeedsPerson);
                }
            }
        }
        (None, None) => {
            let error = CommandError::usage(codes::USAGE, format!("say what the answer to {} is", question.id));
            return Err(error.hint(how_to_answer(&question)));
        }
        (choice, text) => {
            AnswerRequest { choice: choice.clone(), text: text.clone(), by: Some(context.environment.person()) }
        }
    };
    let settled = client(context).await?.answer(&question.id, &given).await?;
    say_settled(context, &settled)?;
    Ok(Exit::Success)
}

/// The host that carries the job on; one is started if there is none.
async fn client(context: &Context) -> Result<Client, CommandError> {
    let settings = context.settings()?;
    match find(settings).await? {
        Some(client) => Ok(client),
        None => start_in_background(&context.environment, settings, context.overrides.config.as_deref()).await,
    }
}

fn say_settled(context: &Context, question: &QuestionView) -> Result<(), CommandError> {
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(question),
        Reading::People => {
            context.terminal.data(&format!("answered {}", question.id))?;
            context.terminal.say(&format!("job {0} goes on; `helix jobs watch {0}` follows it", question.job));
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
        CommandError::usage(codes::NOT_FOUND, format!("there is no question {id:?}"))
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

/// A question for people, with how to answer it.
pub(crate) fn shown(context: &Context, question: &QuestionView) -> String {
    let paint = |text: &str| context.terminal.paint(Meaning::Attention, text);
    let mut lines = vec![format!("{} {}, phase {} of {}", paint("?"), question.id, question.phase, question.job_name)];
    lines.extend(clean(&question.text).lines().map(|line| format!("    {line}")));
    for QuestionOption { key, label } in &question.options {
        lines.push(format!("    [{key}] {}", clean(label)));
    }
    if let Some(expires) = question.expires_at {
        lines.push(format!("    waits until {}", expires.strftime("%Y-%m-%d %H:%M UTC")));
    }
    lines.push(format!("    answer: {}", how_to_answer(question)));
    lines.join("\n")
}

/// The command that answers it.
pub(crate) fn how_to_answer(question: &QuestionView) -> String {
    let keys: Vec<&str> = question.options.iter().map(|option| option.key.as_str()).collect();
    let choice = if keys.is_empty() { String::new() } else { format!(" --choice {}", keys.join("|")) };
    let text = match (question.free_text, keys.is_empty()) {
        (_, true) => " --text \"…\"",
        (true, false) => " [--text \"…\"]",
        (false, false) => "",
    };
    format!("helix answer {}{choice}{text}", question.id)
}

/// What others have written must not steer the terminal.
fn clean(text: &str) -> String {
    text.chars().filter(|character| matches!(character, '\n' | '\t') || !character.is_control()).collect()
}

/// Whether somebody sits at the terminal.
pub(crate) fn can_ask(context: &Context) -> bool {
    context.terminal.reading == Reading::People && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks at the terminal; `None` when the user would rather not answer now: an empty line, Ctrl-C or Ctrl-D.
pub(crate) async fn ask(context: &Context, question: &QuestionView) -> Result<Option<AnswerRequest>, CommandError> {
    let by = Some(context.environment.person());
    if question.options.is_empty() {
        let text = line(context, "answer (empty: not now)").await?;
        return Ok(text.map(|text| AnswerRequest { choice: None, text: Some(text), by }));
    }
    loop {
        let keys: Vec<&str> = question.options.iter().map(|option| option.key.as_str()).collect();
        let Some(said) = line(context, &format!("{} (empty: not now)", keys.join(" / "))).await? else {
            return Ok(None);
        };
        let fitting: Vec<&&str> = keys.iter().filter(|key| key.starts_with(said.as_str())).collect();
        let choice = match (keys.iter().find(|key| **key == said), &fitting[..]) {
            (Some(exact), _) => (*exact).to_owned(),
            (None, [only]) => (**only).to_owned(),
            // What an agent asks may be answered in words although it named options.
            (None, _) if question.kind == QuestionKind::Agent => {
                return Ok(Some(AnswerRequest { choice: None, text: Some(said), by }));
            }
            (None, _) => {
                context.terminal.say(&format!("choose one of: {}", keys.join(", ")));
                continue;
            }
        };
        let text = if question.free_text { line(context, "your words (empty: none)").await? } else { None };
        return Ok(Some(AnswerRequest { choice: Some(choice), text, by }));
    }
}

/// A line from the terminal; `None` when it is empty, at its end, or interrupted.
async fn line(context: &Context, prompt: &str) -> Result<Option<String>, CommandError> {
    // Listened to before anybody can see the prompt: an interrupt must not kill what has only just asked.
    let mut interrupts = signal_stream(SignalKind::interrupt())?;
    let mut stderr = std::io::stderr().lock();
    if write!(stderr, "{} ", context.terminal.paint_error(Meaning::Strong, &format!("{prompt}:"))).is_err()
        || stderr.flush().is_err()
    {
        // The terminal is gone; reading from it will say so.
    }
    drop(stderr);
    let typed = tokio::select! {
        typed = typed_line() => typed.transpose(),
        _ = interrupts.recv() => return Ok(None),
    };
    let text = typed.map_err(|error| {
        CommandError::environment(codes::INPUT_UNREADABLE, "cannot read standard input").because(&error)
    })?;
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}
