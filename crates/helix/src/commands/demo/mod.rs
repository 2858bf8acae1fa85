//! `helix demo`: the whole way, from a chat to a merged commit, with the embedded agent, without account or network.
//!
//! Must not take a short cut: the request goes through the HTTP API, the agent is a process under the keeper, the gates
//! run real tests.

mod cassette;
mod scratch;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use helix_job::{JobStatus, JobView};
use helix_language::{Language, say};
use helix_server::Profile;
use helix_server::wire::JobRequest;
use helix_store::StateDir;

use crate::client::{ChatEvent, Client, Here, Talk};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::{Host, Listening, Reached};
use crate::terminal::{Meaning, Reading, one_line, shell_word};
use crate::watch::{Interrupt, Watched, job_report, watch};

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

/// Shows the demo inside of the directory that was prepared for it, or prepares one and starts anew there.
pub(crate) fn run(context: &Context, inside: Option<&Path>) -> Ended {
    match inside {
        None => prepare_and_enter(context),
        Some(root) => {
            let scratch = Scratch::at(root, context.overrides.state_dir.as_deref());
            context
                .block_on(show(context, &scratch))
                .map_err(|error| error.cause(format!("the demo's files are in {}", scratch.root.display())))
        }
    }
}

/// Prepares the scratch directory and goes on as a process whose home is in it. Only returns what went wrong.
fn prepare_and_enter(context: &Context) -> Ended {
    if context.environment.find_program("git").is_none() {
        return Err(CommandError::environment(codes::DEMO, "the demo needs git, which is not in PATH")
            .hint("install git (apt-get install git)"));
    }
    let state = context.overrides.state_dir.as_ref().map(|directory| context.path(directory));
    let scratch = Scratch::prepare(&context.environment, state.as_deref())?;
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
    Err(CommandError::environment(codes::DEMO, "the demo cannot start itself").because(&error))
}

async fn show(context: &Context, scratch: &Scratch) -> Ended {
    let began = Instant::now();
    let settings = context.settings()?;
    let lock = StateDir::open(&settings.state_dir.value)?.lock()?;
    let host = Host::start(&context.environment, settings, &Listening::EPHEMERAL, lock).await?;
    let (language, root) = (context.terminal.language, scratch.root.display().to_string());
    tell(context, Meaning::Weak, &say!(language, "demo-host", url = &host.client.url, root = root));
    converse(context, &host.client, scratch).await?;
    // The embedded agent has a shell and none of Helix's tools: an agent's shell creates nothing and starts nothing, the user does.
    create(&host.client, scratch).await?;
    let request = JobRequest { project_path: Some(scratch.projects().join("shop")), ..JobRequest::default() };
    let job = host.client.submit(&request).await?.job;
    tell(context, Meaning::Weak, "");
    let Watched { view, exit, reached, .. } =
        watch(context, Reached::Own(Box::new(host)), &job, Interrupt::Cancels, 0).await?;
    reached.stop().await?;
    if exit == Exit::Interrupted {
        return Ok(exit);
    }
    judge(&view)?;
    if context.terminal.reading == Reading::People {
        context.terminal.data(&job_report(context, &view, true)?)?;
        context.terminal.data(&farewell(language, scratch, &view, began.elapsed().as_secs_f64()))?;
    }
    Ok(Exit::Success)
}

/// The user's request through `POST /v1/chat/completions`, as any client sends it.
async fn converse(context: &Context, client: &Client, scratch: &Scratch) -> Result<(), CommandError> {
    let language = context.terminal.language;
    let you = say!(language, "demo-you");
    tell(context, Meaning::Strong, &format!("{you:<11} {}", cassette::REQUEST));
    let here = Here { directory: scratch.root.clone(), profile: Profile::Terminal, confirms: false, language };
    let mut answer = client.chat(&talk(scratch), None, &here, cassette::REQUEST).await?;
    let mut text = String::new();
    while let Some(event) = answer.next().await? {
        if let ChatEvent::Text(piece) = event {
            text.push_str(&piece);
        }
    }
    for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
        tell(context, Meaning::Strong, &format!("Consultant  {}", one_line(paragraph, 400)));
    }
    Ok(())
}

fn talk(scratch: &Scratch) -> Talk {
    Talk::New(format!("demo {}", scratch.root.display()))
}

/// Makes a project of the Consultant's drafts.
async fn create(client: &Client, scratch: &Scratch) -> Result<(), CommandError> {
    let broken = |why: String| CommandError::helix(codes::DEMO, format!("the project cannot be created: {why}"));
    let session =
        client.session(talk(scratch).name()).await?.ok_or_else(|| broken("there is no session".to_owned()))?;
    let drafts = [("name", "shop"), ("adr", "adr-draft.md"), ("plan", "phases.yaml")];
    let drafts = drafts.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let made = client.call_tool("project_create", drafts, Path::new(&session.session.directory)).await?;
    if made.is_error == Some(true) {
        return Err(broken(format!("{:?}", made.content)));
    }
    Ok(())
}

fn tell(context: &Context, meaning: Meaning, text: &str) {
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

fn farewell(language: Language, scratch: &Scratch, view: &JobView, seconds: f64) -> String {
    let (job, root) = (&view.id, scratch.root.display().to_string());
    let done = say!(language, "demo-done", time = language.duration(seconds));
    let files = say!(language, "demo-files", root = root);
    let shop = shell_word(&scratch.root.join("projects/shop").to_string_lossy());
    let state = shell_word(&scratch.state.to_string_lossy());
    format!(
        "
{done}

  git -C {shop} log --stat
  helix --state-dir {state} jobs show {job}
  helix --state-dir {state} jobs logs {job}

{files}"
    )
}
