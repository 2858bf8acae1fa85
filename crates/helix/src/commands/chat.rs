//! `helix chat`: the Consultant in the terminal, over the same HTTP API as every other client.

use std::io::IsTerminal as _;

use clap::Args;
use helix_job::session::{TurnEnd, TurnView};
use serde_json::json;

use crate::client::Talk;
use crate::commands::talk::{Conversation, Said, show_list, transcript};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::refuse_other_configuration;
use crate::terminal::{Reading, typed_line};

/// Sessions that `--list` shows.
const MOST_LISTED: usize = 20;

/// Arguments of `helix chat`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Continue this session: an id, or the name that `helix chat` printed
    #[arg(long, value_name = "ID", conflicts_with_all = ["continue", "list"])]
    session: Option<String>,
    /// Continue the last session of this project
    #[arg(long = "continue", short = 'c', id = "continue")]
    last: bool,
    /// List the last sessions and exit
    #[arg(long, conflicts_with_all = ["continue", "message", "model", "show"])]
    list: bool,
    /// Print the session so far, partial answers included, and exit
    #[arg(long, requires = "session", conflicts_with_all = ["message", "model"])]
    show: bool,
    /// Send this message, print the answer and exit
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Model of the Consultant
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    context.block_on(async {
        if !arguments.show && !arguments.list {
            refuse_other_configuration(&context.environment, context.settings()?).await?;
        }
        // What a person begins goes on when the terminal is closed; a program leaves nothing behind.
        match is_attended(context) {
            true => converse(context, arguments).await,
            false => context.with_host(async |_| converse(context, arguments).await).await,
        }
    })
}

/// Whether a person types, and sees what is answered.
pub(crate) fn is_attended(context: &Context) -> bool {
    std::io::stdin().is_terminal() && context.terminal.columns().is_some()
}

async fn converse(context: &Context, arguments: &Arguments) -> Ended {
    let client = context.host().await?;
    if arguments.list {
        let page = client.sessions(MOST_LISTED).await?;
        return show_list(context, &client, &page).await;
    }
    let talk = match &arguments.session {
        Some(name) => {
            let found = client.session(name).await?.ok_or_else(|| no_session(name))?;
            if arguments.show {
                return context.terminal.answer(&found, &transcript(context, &found));
            }
            Talk::Session(found.session.id)
        }
        None if arguments.last => last_of_project(context).await?,
        None => Conversation::named(),
    };
    let attended = is_attended(context) && arguments.message.is_none();
    let mut conversation = Conversation::new(context, talk, arguments.model.clone(), attended);
    if let Some(message) = &arguments.message {
        let said = match context.terminal.reading {
            Reading::People => match conversation.say(message).await {
                Ok(Said::Answered) => conversation.turn(message).await.map(|turn| checked(&turn)),
                Ok(Said::Stopped) => Ok(Exit::Interrupted),
                Err(error) => Err(error),
            },
            Reading::Programs => record(context, &conversation, message).await,
        };
        if said.is_ok() {
            conversation.say_what_goes_on().await?;
        }
        if arguments.session.is_none() {
            conversation.begun = true;
            conversation.say_how_to_continue().await?;
        }
        return said;
    }
    if attended {
        return conversation.converse(None, false).await;
    }
    // Each line of a pipe is a message.
    while let Some(text) = typed_line().await? {
        match text.trim() {
            "" => {}
            "/quit" | "/exit" => break,
            text => {
                if conversation.say(text).await? == Said::Stopped {
                    conversation.say_how_to_continue().await?;
                    return Ok(Exit::Interrupted);
                }
            }
        }
    }
    conversation.say_what_goes_on().await?;
    conversation.say_how_to_continue().await?;
    Ok(Exit::Success)
}

pub(crate) fn no_session(name: &str) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, format!("no session {name:?}")).hint("omit --session to start a new one")
}

/// The last session about the project of the working directory; outside of projects, the last one.
async fn last_of_project(context: &Context) -> Result<Talk, CommandError> {
    let place = context.environment.directory.canonicalize().unwrap_or_else(|_| context.environment.directory.clone());
    let here = helix_project::project::project_above(&place, None);
    let here = here.map(|path| path.to_string_lossy().into_owned());
    let sessions = context.host().await?.sessions(usize::MAX).await?.sessions;
    let last = sessions.into_iter().find(|session| here.is_none() || session.project == here);
    last.map(|session| Talk::Session(session.id)).ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, "no session of this project").hint("omit --continue to start a new one")
    })
}

/// Sends a message and prints what is recorded of its turn.
async fn record(context: &Context, conversation: &Conversation<'_>, message: &str) -> Ended {
    conversation.send(message).await?;
    let turn = conversation.turn(message).await?;
    let (end, findings) = (turn.end.as_ref(), turn.unfixed());
    let jobs = conversation.session().await?.map(|found| found.session.jobs).unwrap_or_default();
    context.terminal.json(&json!({
        "session": turn.session,
        "turn": turn.id,
        "answer": end.map(TurnEnd::text),
        "note": end.and_then(|end| end.note.as_ref()),
        "findings": findings,
        "jobs": jobs,
        "usage": end.map(|end| &end.usage),
    }))?;
    Ok(checked(&turn))
}

/// An answer that did not pass its checks is a "no".
fn checked(turn: &TurnView) -> Exit {
    if turn.unfixed().is_empty() { Exit::Success } else { Exit::No }
}
