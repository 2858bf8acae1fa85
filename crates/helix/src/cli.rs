//! The command line: which commands there are, and what all of them share.
//!
//! Must not do any command's work.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands::{
    acp, adr, answer, chat, clean, demo, describe, do_command, doctor, explain, failures, gates, hook, init, jobs,
    keys, mcp, open, openwebui, outcome, plan, preflight, project, prompt, run, sandbox, serve, skills, trust, verify,
    workflow,
};
use crate::config::{GLOBAL, Overrides};
use crate::context::Context;
use crate::environment::Environment;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::{Look, Reading, Terminal};

/// Helix turns a conversation into verified software by driving coding agents.
#[derive(Debug, Parser)]
#[command(name = "helix", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    after_help = "Start with `helix demo`: it needs no account and no network.\n`helix explain HX0403` explains an error code."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    overrides: Overrides,
    /// Print JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a full example, from chat to merged commit, without account or network
    Demo {
        /// The prepared directory; set by the demo itself
        #[arg(long, hide = true, value_name = "DIR")]
        inside: Option<PathBuf>,
    },
    /// Set up a repository: helix.toml, adr/, a first plan
    Init {
        /// Directory to set up [default: .]
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Check everything that Helix needs, with a fix for each problem
    Doctor {
        /// Fix what Helix owns: missing directories, the token's permissions
        #[arg(long)]
        fix: bool,
        /// Try the sandbox instead, with real attacks from inside (exit code 4: a wall that is required does not hold)
        #[arg(long, conflicts_with = "fix")]
        sandbox: bool,
        #[command(flatten)]
        preflight: preflight::Choice,
    },
    /// Chat with the Consultant
    Chat(chat::Arguments),
    /// Serve the HTTP API
    Serve(serve::Arguments),
    /// Open Helix's pages in a browser, logged in
    Open(open::Arguments),
    /// Have something done here: a sentence becomes a plan and, on your yes, a job
    Do(do_command::Arguments),
    /// Run a plan
    Run(run::Arguments),
    /// List, show, follow, cancel and resume jobs; show their changes and evidence
    Jobs(jobs::Arguments),
    /// Remove runs and merged branches of jobs that are over
    Clean(clean::Arguments),
    /// List and answer open questions and approvals
    Answer(answer::Arguments),
    /// Give keys to further people, who answer and approve under their own names
    #[command(subcommand)]
    People(keys::People),
    /// Make tokens for chat clients, which open the OpenAI-compatible API alone
    #[command(subcommand)]
    Token(keys::Tokens),
    /// Check and create plans
    #[command(subcommand)]
    Plan(plan::Action),
    /// List, show and create workflows
    #[command(subcommand)]
    Workflow(workflow::Action),
    /// Run the gates of phases on your work as it stands
    #[command(subcommand)]
    Gates(gates::Action),
    /// Check the signed evidence of a job
    Verify(verify::Arguments),
    /// Manage architecture decision records
    #[command(subcommand)]
    Adr(adr::Action),
    /// Trust the configuration of a project
    Trust(trust::Arguments),
    /// Connect Open WebUI
    #[command(name = "openwebui", subcommand)]
    OpenWebUi(openwebui::Action),
    /// Create projects
    #[command(subcommand)]
    Project(project::Action),
    /// Explain the outcome of a recorded agent run
    Outcome(outcome::Arguments),
    /// Explain an error code
    Explain {
        /// The code, such as HX0403
        #[arg(value_name = "CODE")]
        code: String,
    },
    /// Explain failures: what failed, why, and what to do
    #[command(subcommand)]
    Failures(failures::Action),
    /// List the skills that agents can use
    #[command(subcommand)]
    Skills(skills::Action),
    /// Show and check the Consultant's instructions
    #[command(subcommand)]
    Prompt(prompt::Action),
    /// Serve Helix's tools over MCP on standard input and output
    Mcp,
    /// Serve the Consultant to editors over ACP on standard input and output
    Acp,
    /// Hooks for agents: check what they write
    #[command(subcommand)]
    Hook(hook::Hook),
    /// Describe the journal's events
    #[command(subcommand)]
    Events(Events),
    /// Print a shell completion script
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Subcommand)]
enum Events {
    /// Print the JSON Schema of events
    Schema,
}

pub(crate) fn main() -> Exit {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &Terminal::new(wanted_reading(&arguments))),
    };
    let terminal = Terminal::new(if cli.json { Reading::Programs } else { Reading::People });
    keep_panics();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let environment = Environment::of_this_process()?;
        helix_process::untrusted_work_by(environment.program.clone());
        helix_process::secrets::hold_environment();
        log_to_stderr(&environment, matches!(cli.command, Command::Serve(_)));
        dispatch(&Context::new(environment, terminal, cli.overrides), cli.command)
    }));
    ended.unwrap_or_else(|_| Err(broken())).unwrap_or_else(|error| {
        terminal.report(&error);
        error.exit()
    })
}

fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    if let Some(name) = empty_value(&matches) {
        return Err(command.error(ErrorKind::InvalidValue, format!("the value of {name} is empty")));
    }
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The argument that was given nothing but blanks, which no command can mean.
fn empty_value(matches: &ArgMatches) -> Option<String> {
    let is_blank = |value: &OsStr| value.to_str().is_some_and(|text| text.trim().is_empty());
    let own = matches.ids().find(|id| {
        let values = matches.try_get_raw(id.as_str()).ok().flatten();
        values.is_some_and(|mut values| values.any(is_blank))
    });
    own.map(|id| format!("`{id}`")).or_else(|| matches.subcommand().and_then(|(_, inner)| empty_value(inner)))
}

fn dispatch(context: &Context, command: Command) -> Ended {
    match command {
        Command::Demo { inside } => demo::run(context, inside.as_deref()),
        Command::Init { directory } => init::run(context, directory.as_deref()),
        Command::Doctor { sandbox: true, .. } => sandbox::run(context),
        Command::Doctor { fix, preflight, .. } => doctor::run(context, fix, preflight),
        Command::Chat(arguments) => chat::run(context, &arguments),
        Command::Serve(arguments) => serve::run(context, arguments),
        Command::Open(arguments) => open::run(context, &arguments),
        Command::Do(arguments) => do_command::run(context, &arguments),
        Command::Run(arguments) => run::run(context, arguments),
        Command::Jobs(arguments) => jobs::run(context, arguments),
        Command::Clean(arguments) => clean::run(context, &arguments),
        Command::Answer(arguments) => answer::run(context, arguments),
        Command::People(action) => keys::people(context, action),
        Command::Token(action) => keys::tokens(context, action),
        Command::Plan(action) => plan::run(context, &action),
        Command::Workflow(action) => workflow::run(context, &action),
        Command::Gates(action) => gates::run(context, action),
        Command::Verify(arguments) => verify::run(context, arguments),
        Command::Adr(action) => adr::run(context, action),
        Command::Project(action) => project::run(context, action),
        Command::OpenWebUi(action) => openwebui::run(context, action),
        Command::Outcome(arguments) => outcome::run(context, &arguments),
        Command::Explain { code } => explain::run(context, &code),
        Command::Failures(action) => failures::run(context, action),
        Command::Skills(action) => skills::run(context, &action),
        Command::Prompt(action) => prompt::run(context, &action),
        Command::Trust(arguments) => trust::run(context, &arguments),
        Command::Mcp => mcp::run(context),
        Command::Acp => acp::run(context),
        Command::Hook(action) => hook::run(context, &action),
        Command::Events(Events::Schema) => describe::events(context),
        Command::Completions { shell } => describe::completions(context, shell, Cli::command()),
        Command::Man => describe::manual(context, Cli::command()),
    }
}

/// Who reads the error about arguments that cannot be parsed. What follows `--` is not a flag.
fn wanted_reading(arguments: &[OsString]) -> Reading {
    let mut flags = arguments.iter().take_while(|argument| *argument != "--");
    if flags.any(|flag| flag == "--json") { Reading::Programs } else { Reading::People }
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
    if !is_help {
        let text = match terminal.error_look {
            Look::Colour => error.render().ansi().to_string(),
            Look::Plain => error.render().to_string(),
        };
        terminal.say(text.trim_end());
        return Exit::Usage;
    }
    if let Err(full) = error.print()
        && full.kind() != std::io::ErrorKind::BrokenPipe
    {
        let error = CommandError::unwritten(&full);
        terminal.report(&error);
        return error.exit();
    }
    Exit::Success
}

/// Standard error, without what nobody may read. The log writes whole events.
struct CleanLog;

impl Write for CleanLog {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let mut shown = event.to_vec();
        helix_process::secrets::held().mask(&mut shown);
        std::io::stderr().lock().write_all(&shown).map(|()| event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

fn log_to_stderr(environment: &Environment, serves: bool) {
    use tracing_subscriber::EnvFilter;
    let default = if serves { "info,rmcp=warn,rusqlite_migration=warn" } else { "error" };
    let wanted = environment.variable("HELIX_LOG").unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_writer(|| CleanLog).with_env_filter(filter).with_ansi(false).init();
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
    CommandError::helix(codes::BROKEN, "internal error in helix").cause(what)
}

#[cfg(test)]
#[path = "cli_test.rs"]
mod tests;
