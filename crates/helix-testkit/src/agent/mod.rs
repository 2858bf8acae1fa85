//! An agent that speaks the claude stream-json dialect and fails in every way that an agent process can, on demand.
//!
//! Must not know Helix; it uses no runtime and does no work beyond its script, because benchmarks start it often.

mod arguments;
mod attempts;
mod directives;
mod faults;
mod output;
mod play;
mod records;
mod script;
mod signals;
mod tools;

use std::ffi::OsString;
use std::io::{BufRead, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

pub use arguments::{Arguments, InputFormat, OutputFormat};
pub use attempts::overlaps;
pub use directives::{Directive, DirectiveError};
pub use script::{Act, AgentFault, AgentFaultKind, AgentScript, AgentScriptError, Part, SessionRule, Step};

use play::Player;

/// Runs the agent; the arguments are those of the process, without its name.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().map(|text| text.to_string_lossy().into_owned()).collect();
    match arguments.first().map(String::as_str) {
        Some("--fake-orphan") => return orphan(&arguments),
        Some("--fake-own-session") => return own_session(&arguments[1..]),
        _ => {}
    }
    match run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(message) => complain(&message),
    }
}

fn complain(message: &str) -> ExitCode {
    output::stderr_line(message);
    ExitCode::from(1)
}

fn run(arguments: Vec<String>) -> Result<u8, String> {
    let arguments = Arguments::parse(arguments)?;
    let script = match &arguments.script {
        Some(path) => AgentScript::load(path).map_err(|error| error.to_string())?,
        None => AgentScript::default(),
    };
    if arguments.version {
        output::stdout_line(&format!("{} (Claude Code)", script.version));
        return Ok(0);
    }
    let mut player = Player::new(script, arguments.clone())?;
    if arguments.input == InputFormat::StreamJson {
        let mut code = 0;
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| format!("stdin: {error}"))?;
            if line.trim().is_empty() {
                continue;
            }
            if let Some(prompt) = streamed_prompt(&line, &mut player)? {
                code = player.turn(&prompt)?;
                if player.is_over() {
                    break;
                }
            }
        }
        return Ok(code);
    }
    let prompt = match arguments.prompt {
        Some(prompt) => prompt,
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("stdin: {error}"))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    if prompt.is_empty() {
        return Err(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print".into()
        );
    }
    player.turn(&prompt)
}

/// The prompt of a line of streamed input; control requests are answered here.
fn streamed_prompt(line: &str, player: &mut Player) -> Result<Option<String>, String> {
    let message: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("Error parsing streaming input line: {error}"))?;
    if message["type"] == "control_request" {
        player.answer_control(&message);
        return Ok(None);
    }
    if message["type"] != "user" {
        return Ok(None);
    }
    let content = &message["message"]["content"];
    Ok(Some(match content.as_str() {
        Some(text) => text.to_owned(),
        None => content
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
    }))
}

/// Lives in a session of its own, deaf to polite signals, for at most the given seconds.
fn orphan(arguments: &[String]) -> ExitCode {
    let seconds = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(600);
    if let Err(error) = rustix::process::setsid() {
        return complain(&format!("setsid: {error}"));
    }
    if let Err(error) = signals::ignore_polite_ones() {
        return complain(&error);
    }
    if let Some(path) = arguments.get(2)
        && let Err(error) = std::fs::write(path, std::process::id().to_string())
    {
        return complain(&format!("{path}: {error}"));
    }
    std::thread::sleep(Duration::from_secs(seconds));
    ExitCode::SUCCESS
}

/// Becomes the given command in a session of its own, as the real CLI starts its tools.
fn own_session(command: &[String]) -> ExitCode {
    if let Err(error) = rustix::process::setsid() {
        return complain(&format!("setsid: {error}"));
    }
    let Some((program, arguments)) = command.split_first() else { return complain("no command given") };
    let error = Command::new(program).args(arguments).exec();
    output::stderr_line(&format!("{program}: {error}"));
    ExitCode::from(127)
}
