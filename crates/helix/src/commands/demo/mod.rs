//! `helix demo`: the whole way, from a chat to a merged commit, with the embedded agent, without account or network.
//!
//! Must not take a short cut: the request goes through the HTTP API, the agent is a process under the keeper, the gates
//! run real tests.

mod cassette;
mod flavour;
mod scratch;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use helix_job::{JobStatus, JobView};

use crate::client::{ChatEvent, Client, Talk, chat_body};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::{Host, Listening, Reached};
use crate::terminal::{Meaning, Reading, duration, one_line, shell_word};
use crate::watch::{Left, job_report, watch};

use scratch::Scratch;

/// Variables of the user's that would reach into the demo.
const FOREIGN_VARIABLES: &[&str] = &[
    "HELIX_STATE_DIR",
    "HELIX_TOKEN",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "GIT_DIR",
    "GIT_WORK_TREE",
];

/// Arguments of `helix demo`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The prepared directory; set by the demo itself
    #[arg(long, hide = true, value_name = "DIR")]
    inside: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    match &arguments.inside {
        None => Err(prepare_and_enter(context)?),
        Some(root) => {
            let scratch = Scratch::at(root, context.overrides.state_dir.as_deref());
            context.block_on(show(context, &scratch)).map_err(|error| failed(&scratch, error))
        }
    }
}

/// Prepares the scratch directory and goes on as a process whose home is in it. Only returns what went wrong.
fn prepare_and_enter(context: &Context) -> Result<CommandError, CommandError> {
    if context.environment.find_program("git").is_none() {
        return Err(CommandError::environment(codes::DEMO, "the demo needs git, which is not in PATH")
            .hint("install git (apt-get install git)"));
    }
    let flavour = flavour::runnable().ok_or_else(|| {
        CommandError::environment(codes::DEMO, "the demo needs python3 or sh to run tests").hint("install python3")
    })?;
    say(context, Meaning::Weak, &format!("Using {} for the demo project", flavour.name));
    let state = context.overrides.state_dir.as_ref().map(|directory| context.path(directory));
    let scratch = Scratch::prepare(&context.environment, flavour, state.as_deref())?;
    let mut command = Command::new(&context.environment.program);
    command.arg("--state-dir").arg(&scratch.state).arg("--config").arg(scratch.config());
    if context.terminal.reading == Reading::Programs {
        command.arg("--json");
    }
    command.args(["demo", "--inside"]).arg(&scratch.root);
    command.env("HOME", scratch.home()).env("GIT_CONFIG_GLOBAL", scratch.home().join(".gitconfig"));
    command.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&scratch.root);
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    let error = command.exec();
    Ok(CommandError::environment(codes::DEMO, "the demo cannot start itself").because(&error))
}

async fn show(context: &Context, scratch: &Scratch) -> Ended {
    let began = std::time::Instant::now();
    let host = Host::start(&context.environment, context.settings()?, &Listening::ephemeral()).await?;
    let client = host.client()?;
    say(context, Meaning::Weak, &format!("Host: {}  Files: {}", client.url, scratch.root.display()));
    converse(context, &client, scratch).await?;
    let started = client.jobs().await?.into_iter().next();
    let job = started.ok_or_else(|| CommandError::helix(codes::DEMO, "the Consultant did not start a job"))?;
    say(context, Meaning::Weak, "");
    let watched = watch(context, Reached::Own(Box::new(host), client), &job).await?;
    let view = watched.view;
    watched.reached.stop().await?;
    if watched.left == Left::Early {
        return Ok(Exit::Interrupted);
    }
    judge(&view)?;
    if context.terminal.reading == Reading::People {
        context.terminal.data(&job_report(&view, &context.settings()?.state_dir, &context.terminal))?;
        context.terminal.data(&farewell(scratch, &view, began.elapsed().as_secs_f64()))?;
    }
    Ok(Exit::Success)
}

/// The user's request through `POST /v1/chat/completions`, as any client sends it.
async fn converse(context: &Context, client: &Client, scratch: &Scratch) -> Result<(), CommandError> {
    say(context, Meaning::Strong, &format!("you         {}", cassette::REQUEST));
    let talk = Talk::Key(format!("demo {}", scratch.root.display()));
    let mut answer = client.chat(&talk, &chat_body(None, cassette::REQUEST)).await?;
    let mut text = String::new();
    while let Some(event) = answer.next().await? {
        if let ChatEvent::Text(piece) = event {
            text.push_str(&piece);
        }
    }
    for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
        say(context, Meaning::Strong, &format!("Consultant  {}", one_line(paragraph, 400)));
    }
    Ok(())
}

fn say(context: &Context, meaning: Meaning, text: &str) {
    context.terminal.note(&context.terminal.paint_error(meaning, text));
}

/// The demo has shown what it promises only if the first try failed and the second one passed.
fn judge(view: &JobView) -> Result<(), CommandError> {
    let broken = |what: &str| Err(CommandError::helix(codes::DEMO, format!("the demo failed: {what}")));
    if view.status != JobStatus::Succeeded {
        let why = view.error.as_ref().map_or("no reason was recorded", |error| error.message.as_str());
        return broken(&format!("the job {}: {why}", view.status.word()));
    }
    match view.phases.iter().find(|phase| phase.id.as_str() == "implement") {
        Some(phase) if phase.attempt == 2 => Ok(()),
        Some(phase) => broken(&format!("`implement` took {} attempts instead of 2", phase.attempt)),
        None => broken("no phase `implement`"),
    }
}

fn farewell(scratch: &Scratch, view: &JobView, seconds: f64) -> String {
    let root = scratch.root.display();
    let shop = shell_word(&scratch.root.join("projects/shop").to_string_lossy());
    let state = shell_word(&scratch.state.to_string_lossy());
    format!(
        "
Done in {}: a chat became an ADR and a plan, the first attempt failed a real test, the agent
got the findings, the second attempt passed, an independent verifier approved it, every criterion
of the decision was proven, and the result was merged.

  git -C {shop} log --stat
  helix --state-dir {state} jobs show {}
  helix --state-dir {state} jobs logs {}

All files are in {root}; delete it when you are done.",
        duration(seconds),
        view.id,
        view.id,
    )
}

fn failed(scratch: &Scratch, mut error: CommandError) -> CommandError {
    if let CommandError::Problem(problem) = &mut error {
        problem.causes.push(format!("the demo's files are in {}", scratch.root.display()));
    }
    error
}
