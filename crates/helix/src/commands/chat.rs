//! `helix chat`: the Consultant in the terminal, over the same HTTP API as every other client.

use std::io::IsTerminal;

use clap::Args;
use helix_core::run::{Outcome, Retry};
use helix_job::phrases::described;
use helix_job::say;
use helix_job::session::{TurnEnd, TurnView};
use helix_server::wire::SessionDetail;
use jiff::Timestamp;
use serde_json::json;
use tokio::signal::unix::SignalKind;

use crate::client::{ChatEvent, Client, Talk};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::refuse_other_configuration;
use crate::runtime::signal_stream;
use crate::terminal::{Meaning, Reading, one_line, plain, typed_text};

/// Arguments of `helix chat`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Continue this session: an id, or the name that `helix chat` printed
    #[arg(long, value_name = "ID")]
    session: Option<String>,
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
        if !arguments.show {
            refuse_other_configuration(&context.environment, context.settings()?).await?;
        }
        context.with_host(async |reached| converse(context, reached.client(), arguments).await).await
    })
}

async fn converse(context: &Context, client: &Client, arguments: &Arguments) -> Ended {
    let talk = match &arguments.session {
        Some(name) => {
            let found = client.session(name).await?.ok_or_else(|| {
                CommandError::usage(codes::NOT_FOUND, format!("no session {name:?}"))
                    .hint("omit --session to start a new one")
            })?;
            if arguments.show {
                return show(context, &found);
            }
            Talk::Session(found.session.id)
        }
        None => Talk::New(format!("terminal-{}-{}", Timestamp::now().as_millisecond(), std::process::id())),
    };
    let language = context.terminal.language;
    let resume = say!(language, "term-continue", session = talk.name());
    let model = arguments.model.as_deref();
    if let Some(message) = &arguments.message {
        let said = match context.terminal.reading {
            Reading::People => match say(context, client, &talk, model, message).await {
                Ok(_) => turn(client, &talk, message).await.map(|turn| checked(&turn)),
                Err(error) => Err(error),
            },
            Reading::Programs => record(context, client, &talk, model, message).await,
        };
        // A message that reached no agent has left no session.
        if arguments.session.is_none() && (said.is_ok() || client.session(talk.name()).await?.is_some()) {
            context.terminal.say(&resume);
        }
        return said;
    }
    if std::io::stdin().is_terminal() {
        context.terminal.say(&say!(language, "term-start"));
    }
    let mut interrupts = signal_stream(SignalKind::interrupt())?;
    // Nobody can continue what was not begun.
    let mut begun = arguments.session.is_some();
    loop {
        if std::io::stdin().is_terminal() {
            context.terminal.prompt(&say!(language, "term-you"));
        }
        let text = tokio::select! {
            text = typed_text() => text?,
            _ = interrupts.recv() => None,
        };
        if text.as_deref().is_some_and(|text| text.trim() == "/help") {
            context.terminal.say(&say!(language, "term-start"));
            continue;
        }
        let Some(text) = text.filter(|text| !matches!(text.trim(), "" | "/quit" | "/exit")) else {
            if begun {
                context.terminal.say(&resume);
            }
            return Ok(Exit::Success);
        };
        begun = true;
        tokio::select! {
            said = say(context, client, &talk, model, text.trim()) => said?,
            _ = interrupts.recv() => {
                context.terminal.say(&resume);
                return Ok(Exit::Interrupted);
            }
        };
    }
}

/// Prints the record of a session.
fn show(context: &Context, session: &SessionDetail) -> Ended {
    let (mut text, language) = (String::new(), context.terminal.language);
    for turn in &session.turns {
        let after = turn.parent.as_ref().map(|parent| say!(language, "term-turn-after", turn = parent.as_str()));
        let after = after.map(|after| format!(" {after}")).unwrap_or_default();
        let you = say!(language, "term-you");
        text.push_str(&format!("── {}{after}\n{you} {}\n", turn.id, turn.begin.message.trim()));
        match &turn.end {
            None => text.push_str(&format!("{}\n", say!(language, "term-no-answer"))),
            Some(end) => {
                text.push_str(&format!("{}\n", end.text().trim()));
                let outcome = Outcome::from_facts(&end.facts);
                if outcome.retry() != Retry::Accept {
                    let why = described(language, &outcome).message;
                    text.push_str(&format!("{}\n", say!(language, "term-turn-failed", why = why)));
                }
            }
        }
    }
    context.terminal.answer(session, &plain(&text))
}

/// Sends a message and prints what is recorded of its turn.
async fn record(context: &Context, client: &Client, talk: &Talk, model: Option<&str>, message: &str) -> Ended {
    let mut answer = client.chat(talk, model, message).await?;
    while answer.next().await?.is_some() {}
    let turn = turn(client, talk, message).await?;
    let (end, findings) = (turn.end.as_ref(), turn.unfixed());
    context.terminal.json(&json!({
        "session": turn.session,
        "turn": turn.id,
        "answer": end.map(TurnEnd::text),
        "note": end.and_then(|end| end.note.as_ref()),
        "findings": findings,
        "usage": end.map(|end| &end.usage),
    }))?;
    Ok(checked(&turn))
}

/// The turn of a message that was answered.
///
/// # Errors
/// The host does not answer, or has no record of it.
async fn turn(client: &Client, talk: &Talk, message: &str) -> Result<TurnView, CommandError> {
    let turns = client.session(talk.name()).await?.map(|session| session.turns).unwrap_or_default();
    let answered = |turn: &TurnView| turn.begin.message == message && turn.end.is_some();
    turns.into_iter().rfind(answered).ok_or_else(|| {
        CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the host has no record of the answer")
            .hint("send the message again")
    })
}

/// An answer that did not pass its checks is a "no".
fn checked(turn: &TurnView) -> Exit {
    if turn.unfixed().is_empty() { Exit::Success } else { Exit::No }
}

async fn say(context: &Context, client: &Client, talk: &Talk, model: Option<&str>, message: &str) -> Ended {
    let mut answer = client.chat(talk, model, message).await?;
    while let Some(event) = answer.next().await? {
        match event {
            ChatEvent::Text(text) => drop(context.terminal.raw(&plain(&text))?),
            ChatEvent::Activity(text) => {
                let line = format!("  {}", one_line(&text, 120));
                context.terminal.say(&context.terminal.paint_error(Meaning::Weak, &line));
            }
        }
    }
    context.terminal.raw("\n")
}
