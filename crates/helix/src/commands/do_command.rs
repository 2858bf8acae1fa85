//! `helix do`: a sentence becomes a plan for this repository, which is shown, and on a yes run and watched.

use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use helix_core::evidence::Land;
use helix_language::say;
use helix_server::wire::DraftStart;
use serde_json::json;

use crate::arguments::{budget, words};
use crate::client::Talk;
use crate::commands::chat::{is_attended, no_session};
use crate::commands::run::left_behind;
use crate::commands::talk::{Conversation, Drafts, Said};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::refuse_other_configuration;
use crate::terminal::Reading;
use crate::watch::Interrupt;

/// Longest text that is read from a pipe, in bytes.
const LONGEST: u64 = 1 << 20;

/// Arguments of `helix do`.
#[derive(Debug, Args)]
#[command(after_help = "Without a terminal the plan is printed and nothing runs (exit code 3), unless --yes is given.")]
pub(crate) struct Arguments {
    /// What is to be done, in your words [default: from a pipe]
    #[arg(value_name = "SENTENCE")]
    sentence: Vec<String>,
    /// Run the plan without asking
    #[arg(short, long)]
    yes: bool,
    /// Take the plan of this session, or say more in it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print the job's id and return; the job runs in the background
    #[arg(long)]
    detach: bool,
    /// Model of the Consultant
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Agent for all phases
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Budget for the whole job, in US dollars
    #[arg(long, value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// How the result lands [default: the plan's, or that of the configuration]
    #[arg(long, value_name = "HOW", value_parser = words(Land::WORDS.iter().copied()))]
    land: Option<Land>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let sentence = sentence(arguments)?;
    context.block_on(async {
        refuse_other_configuration(&context.environment, context.settings()?).await?;
        if arguments.session.is_none() && context.repository().is_none() {
            let message = format!("{} is in no git repository", context.environment.directory.display());
            return Err(CommandError::usage(helix_engine::codes::NO_REPOSITORY, message)
                .hint("go into a repository; or `helix chat`, which makes new projects"));
        }
        match is_attended(context) {
            true => carry_out(context, arguments, sentence).await,
            false => context.with_host(async |_| carry_out(context, arguments, sentence).await).await,
        }
    })
}

/// What is to be done: the arguments, or what comes through a pipe.
fn sentence(arguments: &Arguments) -> Result<Option<String>, CommandError> {
    let words = arguments.sentence.join(" ");
    if !words.trim().is_empty() {
        return Ok(Some(words));
    }
    let mut piped = String::new();
    if arguments.session.is_none() && !std::io::stdin().is_terminal() {
        let read = std::io::stdin().lock().take(LONGEST).read_to_string(&mut piped);
        read.map_err(|error| {
            CommandError::environment(codes::INPUT_UNREADABLE, "cannot read standard input").because(&error)
        })?;
    }
    let piped = Some(piped.trim().to_owned()).filter(|text| !text.is_empty());
    if piped.is_none() && arguments.session.is_none() {
        return Err(
            CommandError::usage(codes::USAGE, "no task was given").hint("name it: helix do \"add a CSV export\"")
        );
    }
    Ok(piped)
}

async fn carry_out(context: &Context, arguments: &Arguments, sentence: Option<String>) -> Ended {
    let talk = match &arguments.session {
        Some(name) => {
            let found = context.host().await?.session(name).await?.ok_or_else(|| no_session(name))?;
            Talk::Session(found.session.id)
        }
        None => Conversation::named(),
    };
    let mut conversation = Conversation::new(context, talk, arguments.model.clone(), true);
    conversation.start = DraftStart {
        agent: arguments.agent.clone(),
        budget_usd: arguments.budget,
        land: arguments.land,
        ..DraftStart::default()
    };
    if is_attended(context) && !arguments.yes && !arguments.detach {
        return conversation.converse(sentence, true).await;
    }
    if let Some(sentence) = &sentence {
        let said = match context.terminal.reading {
            Reading::People => conversation.say(sentence).await?,
            Reading::Programs => conversation.send(sentence).await.map(|()| Said::Answered)?,
        };
        if said == Said::Stopped {
            return Ok(Exit::Interrupted);
        }
    }
    conversation.begun = true;
    let drafts = conversation.drafts().await?;
    // What is wrong with a plan, people see as the error.
    if context.terminal.reading == Reading::Programs || drafts.as_ref().is_none_or(Drafts::is_valid) {
        tell(context, &conversation, drafts.as_ref()).await?;
    }
    let Some(drafts) = drafts else {
        if sentence.is_none()
            && let Some(job) = conversation.started().await?
        {
            context.terminal.say(&say!(context.terminal.language, "do-started", job = job.as_str()));
        }
        conversation.say_how_to_continue().await?;
        return Ok(Exit::NeedsPerson);
    };
    if !drafts.is_valid() {
        return Err(CommandError::plan(helix_engine::tools::PLAN_DRAFT, drafts.diagnostics, drafts.text));
    }
    let language = context.terminal.language;
    if !arguments.yes {
        context.terminal.say(&say!(language, "do-run-it", session = conversation.talk.name()));
        return Ok(Exit::NeedsPerson);
    }
    if arguments.detach {
        let (job, client) = conversation.start_drafts().await?;
        return left_behind(context, &json!({ "job": job.id, "host": client.url, "host_pid": client.pid }), &job.id);
    }
    conversation.run_drafts(Interrupt::Cancels).await
}

/// Says what would run: to people as text, to programs as one line of JSON before those of the job's events.
async fn tell(context: &Context, conversation: &Conversation<'_>, drafts: Option<&Drafts>) -> Result<(), CommandError> {
    if context.terminal.reading == Reading::People {
        return drafts.map_or(Ok(()), |drafts| drafts.show(context));
    }
    let session = conversation.session().await?;
    let answer = session.as_ref().and_then(|found| Some(found.turns.last()?.end.as_ref()?.text().to_owned()));
    let value = json!({
        "type": "drafts",
        "session": session.as_ref().map(|found| &found.session.id),
        "answer": answer,
        "decision": drafts.and_then(|drafts| drafts.decision.as_ref()),
        "plan": drafts.and_then(|drafts| drafts.plan.as_ref()),
        "diagnostics": drafts.map(|drafts| &drafts.diagnostics),
    });
    context.terminal.json_line(&value).map(drop)
}
