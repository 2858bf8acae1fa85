//! `helix chat`: the Consultant in the terminal, over the same HTTP API as every other client.

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;

use crate::cli::Context;
use crate::client::{ChatEvent, chat_body};
use crate::codes;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::{Reached, reach};
use crate::terminal::{Meaning, one_line};

/// Arguments of `helix chat`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Continues this conversation
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Says this, prints the answer and leaves
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Model of the Consultant
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    context.block_on(async {
        let reached = reach(&context.environment, context.settings()?).await?;
        let result = converse(context, &reached, arguments).await;
        if let Reached::Own(host, _) = reached {
            host.stop().await?;
        }
        result
    })
}

async fn converse(context: &Context, reached: &Reached, arguments: &Arguments) -> Ended {
    let key = match &arguments.session {
        Some(session) => session.clone(),
        None => format!("terminal-{}-{}", jiff::Timestamp::now().as_millisecond(), std::process::id()),
    };
    let model = arguments.model.as_deref();
    if let Some(message) = &arguments.message {
        return say(context, reached, &key, model, message).await;
    }
    if std::io::stdin().is_terminal() {
        context.terminal.say(&format!("conversation {key}; an empty line or Ctrl-D ends it"));
    }
    loop {
        if std::io::stdin().is_terminal() {
            eprint_prompt(context);
        }
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|read| (read > 0).then_some(line))
        });
        let line = line
            .await
            .map_err(|error| CommandError::helix(codes::BROKEN, "reading standard input broke").because(&error))?
            .map_err(|error| {
                CommandError::environment(codes::INPUT_UNREADABLE, "cannot read standard input").because(&error)
            })?;
        let Some(line) = line.filter(|line| !line.trim().is_empty()) else {
            context.terminal.say(&format!("`helix chat --session {key}` goes on with it"));
            return Ok(Exit::Success);
        };
        say(context, reached, &key, model, line.trim()).await?;
    }
}

fn eprint_prompt(context: &Context) {
    let mut stderr = std::io::stderr().lock();
    let prompt = context.terminal.paint_error(Meaning::Strong, "you> ");
    if write!(stderr, "{prompt}").and_then(|()| stderr.flush()).is_err() {
        // Nobody sees the prompt; what is typed still counts.
    }
}

async fn say(context: &Context, reached: &Reached, key: &str, model: Option<&str>, message: &str) -> Ended {
    let mut answer = reached.client().chat(key, &chat_body(model, message)).await?;
    loop {
        match answer.next().await? {
            Some(ChatEvent::Text(text)) => {
                let text: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
                context.terminal.raw(&text)?;
            }
            Some(ChatEvent::Activity(text)) => {
                context
                    .terminal
                    .say(&context.terminal.paint_error(Meaning::Weak, &format!("  {}", one_line(&text, 120))));
            }
            None => {
                context.terminal.raw("\n")?;
                return Ok(Exit::Success);
            }
        }
    }
}
