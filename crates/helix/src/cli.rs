//! The command line: which commands there are, and what all of them share.
//!
//! Must not do any command's work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::codes;
use crate::commands::{
    adr, answer, chat, completions, demo, doctor, events, failures, hook, init, jobs, man, mcp, outcome, plan, project,
    prompt, run, serve, skills, workflow,
};
use crate::config::{Overrides, Settings};
use crate::environment::Environment;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::runtime;
use crate::terminal::{Reading, Terminal};

/// Helix turns a conversation into verified software by driving coding agents.
#[derive(Debug, Parser)]
#[command(name = "helix", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    after_help = "Start with `helix demo`: it needs no account and no network.\nErrors have a code; what each means is in docs/errors/."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

/// Where the help lists the flags that every command has, so that they do not hide a command's own.
const SHARED: &str = "Options of every command";

/// Flags that every command has.
#[derive(Debug, Args)]
struct Shared {
    /// Directory that holds everything Helix keeps [env: HELIX_STATE_DIR] [default: ~/.local/state/helix]
    #[arg(long, global = true, value_name = "DIR", help_heading = SHARED)]
    state_dir: Option<PathBuf>,
    /// Configuration file [default: helix.toml here or above, then ~/.config/helix/helix.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = SHARED)]
    config: Option<PathBuf>,
    /// Writes JSON for programs
    #[arg(long, global = true, help_heading = SHARED)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows the whole way, from a chat to a merged commit, without account or network
    Demo(demo::Arguments),
    /// Prepares a repository: helix.toml, adr/, a first plan
    Init(init::Arguments),
    /// Examines everything that Helix needs, with a remedy for each problem
    Doctor(doctor::Arguments),
    /// Talks with the Consultant
    Chat(chat::Arguments),
    /// Serves the HTTP API
    Serve(serve::Arguments),
    /// Carries out a plan
    Run(run::Arguments),
    /// Lists, shows, follows, stops and resumes jobs; shows what they changed and what proves it
    Jobs(jobs::Arguments),
    /// Lists and answers questions and approvals that wait for a person
    Answer(answer::Arguments),
    /// Checks and makes plans
    Plan(plan::Arguments),
    /// Lists, shows and makes workflows, which plans share
    Workflow(workflow::Arguments),
    /// Works with architecture decision records
    Adr(adr::Arguments),
    /// Makes projects
    Project(project::Arguments),
    /// Says what a recorded run of an agent amounts to, with the evidence
    Outcome(outcome::Arguments),
    /// Says what failed in a log, why, and what to do
    Failures(failures::Arguments),
    /// Shows which skills agents have in reach
    Skills(skills::Arguments),
    /// Shows and checks the Consultant's instructions
    Prompt(prompt::Arguments),
    /// Serves Helix's tools over MCP on standard input and output
    Mcp,
    /// What agents call by themselves: checks of what they write
    Hook(hook::Arguments),
    /// Describes the journal's events
    Events(events::Arguments),
    /// Prints a completion script for a shell
    Completions(completions::Arguments),
    /// Prints the manual page
    Man,
}

/// What a command is given.
pub(crate) struct Context {
    /// The process' surroundings.
    pub(crate) environment: Environment,
    /// Where to write.
    pub(crate) terminal: Terminal,
    /// What flags say.
    pub(crate) overrides: Overrides,
    settings: OnceLock<Settings>,
}

impl Context {
    /// A context of its own, for commands that run others.
    pub(crate) fn new(environment: Environment, terminal: Terminal, overrides: Overrides) -> Self {
        Self { environment, terminal, overrides, settings: OnceLock::new() }
    }

    /// The configuration; read when first asked for, since not every command needs it.
    ///
    /// # Errors
    /// Those of [`Settings::load`].
    pub(crate) fn settings(&self) -> Result<&Settings, CommandError> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let settings = Settings::load(&self.environment, &self.overrides)?;
        Ok(self.settings.get_or_init(|| settings))
    }

    /// Runs a command's asynchronous part.
    ///
    /// # Errors
    /// Those of the command, and when there are no threads for it.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
        runtime::start()?.block_on(work)
    }
}

/// The definition, for completions, manual and documentation.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let asked_json = arguments.iter().any(|argument| argument == "--json");
    let environment = match Environment::of_this_process() {
        Ok(environment) => environment,
        Err(error) => {
            Terminal::without_surroundings().report(&error);
            return error.exit().into();
        }
    };
    let reading = if asked_json { Reading::Programs } else { Reading::People };
    let terminal = Terminal::new(&environment, reading);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &terminal).into(),
    };
    log_to_stderr(&environment, matches!(cli.command, Command::Serve(_)));
    keep_panics();
    let overrides = Overrides { config: cli.shared.config, state_dir: cli.shared.state_dir, listen: None };
    let context = Context::new(environment, terminal, overrides);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dispatch(&context, cli.command)));
    let ended = ended.unwrap_or_else(|_| Err(broken()));
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => {
            context.terminal.report(&error);
            error.exit().into()
        }
    }
}

fn dispatch(context: &Context, command: Command) -> Ended {
    match command {
        Command::Demo(arguments) => demo::run(context, &arguments),
        Command::Init(arguments) => init::run(context, &arguments),
        Command::Doctor(arguments) => doctor::run(context, &arguments),
        Command::Chat(arguments) => chat::run(context, &arguments),
        Command::Serve(arguments) => serve::run(context, arguments),
        Command::Run(arguments) => run::run(context, arguments),
        Command::Jobs(arguments) => jobs::run(context, arguments),
        Command::Answer(arguments) => answer::run(context, arguments),
        Command::Plan(arguments) => plan::run(context, &arguments),
        Command::Workflow(arguments) => workflow::run(context, &arguments),
        Command::Adr(arguments) => adr::run(context, arguments),
        Command::Project(arguments) => project::run(context, arguments),
        Command::Outcome(arguments) => outcome::run(context, &arguments),
        Command::Failures(arguments) => failures::run(context, &arguments),
        Command::Skills(arguments) => skills::run(context, &arguments),
        Command::Prompt(arguments) => prompt::run(context, &arguments),
        Command::Mcp => mcp::run(context),
        Command::Hook(arguments) => hook::run(context, &arguments),
        Command::Events(arguments) => events::run(context, &arguments),
        Command::Completions(arguments) => completions::run(context, &arguments),
        Command::Man => man::run(context),
    }
}

/// Shows help and wrong usage.
fn usage(error: &clap::Error, terminal: &Terminal) -> Exit {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_help && terminal.reading == Reading::Programs {
        let message = error.render().to_string();
        let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        terminal.report(&CommandError::usage(codes::USAGE, message).hint("see `helix --help`"));
        return Exit::Usage;
    }
    match error.print() {
        Ok(()) => {}
        Err(closed) if closed.kind() == std::io::ErrorKind::BrokenPipe => {}
        Err(full) => {
            let error =
                CommandError::environment(codes::OUTPUT_STREAM, "cannot write to standard output").because(&full);
            terminal.report(&error);
            return error.exit();
        }
    }
    if is_help { Exit::Success } else { Exit::Usage }
}

fn log_to_stderr(environment: &Environment, serves: bool) {
    use tracing_subscriber::EnvFilter;
    let default = if serves { "info,rmcp=warn,rusqlite_migration=warn" } else { "error" };
    let wanted = environment.variable("HELIX_LOG").unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(default));
    let subscriber = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter).with_ansi(false);
    if subscriber.try_init().is_err() {
        // Set already: only in tests that run a command within their own process.
    }
}

/// What broke last, for [`broken`].
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics are told as errors with a code, not as a trace of Helix's insides.
fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(%place, "a part of helix broke: {what}");
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(format!("{what} ({place})"));
        }
    }));
}

fn broken() -> CommandError {
    let what = LAST_PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
    CommandError::helix(codes::BROKEN, "helix broke; this is not your fault").because(&std::io::Error::other(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }
}
