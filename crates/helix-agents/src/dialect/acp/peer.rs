//! The program that speaks with an agent: it starts the agent, and stands between it and the host.
//!
//! Must not know what is said. Whatever of the agent is left when it ends is cleared up by the keeper.

use std::io::{BufReader, Error, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use helix_process::bounded::read_line;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::ask::ASK_VARIABLE;
use super::talk::{Talk, introduced, introduction};

/// Longest message of an agent, in bytes.
const LONGEST: u64 = 16 << 20;

/// How long an agent may take to end when nothing more comes, and how long nothing may come of one that has ended.
const ENDING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How long putting a call to a person may take: nothing waits for the answer.
const ASKING: Duration = Duration::from_secs(60);

/// What has the program only say which version the agent is.
const VERSION: &str = "--version";

/// Runs the agent of this command to the end of one turn; with `--version` at its end, only asks it who it is.
pub fn acp_main(arguments: &[String]) -> ExitCode {
    let done = match arguments.split_last() {
        Some((last, command)) if last == VERSION => version(command),
        _ => converse(arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Standard error is the run's own log: nobody is told where it is closed.
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// An agent that is spoken with.
struct Agent {
    process: Child,
    to: Option<ChildStdin>,
    lines: Receiver<Result<String, Error>>,
}

impl Agent {
    fn start(command: &[String]) -> Result<Self, Error> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::other("no agent is named; set `command` to the program and its arguments"));
        };
        let mut agent = Command::new(program);
        // A group of its own: many agents are started by a launcher, which leaves them behind.
        agent.process_group(0);
        agent.args(arguments).env_remove(ASK_VARIABLE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = agent.spawn().map_err(|error| Error::other(format!("cannot start {program}: {error}")));
        let mut process = started?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let mut from = BufReader::new(from.ok_or_else(|| Error::other("the agent has no standard output"))?);
        let (sender, lines) = sync_channel(1);
        std::thread::spawn(move || {
            loop {
                let line = match read_line(&mut from, LONGEST).transpose() {
                    None => return,
                    Some(Ok(Ok(line))) => Ok(String::from_utf8_lossy(&line).into_owned()),
                    Some(Ok(Err(too_long))) => Err(Error::other(format!("the agent sent {too_long}"))),
                    Some(Err(error)) => Err(error),
                };
                let is_over = line.is_err();
                if sender.send(line).is_err() || is_over {
                    return;
                }
            }
        });
        Ok(Self { process, to, lines })
    }

    /// The next line that says something; `None` once the agent has ended: what it has started may still hold its output.
    fn hear(&mut self) -> Result<Option<String>, Error> {
        loop {
            match self.lines.recv_timeout(ENDING) {
                Ok(Ok(line)) if line.trim().is_empty() => {}
                Ok(line) => return line.map(Some),
                Err(RecvTimeoutError::Timeout) if self.process.try_wait()?.is_none() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    fn send(&mut self, line: &str) {
        let Some(to) = &mut self.to else { return };
        // An agent that has ended is seen by its output.
        drop(to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush()));
    }

    /// Ends what is left of it, if anything is.
    fn kill(&self) {
        let group = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        // There is none where all of it has ended.
        let _left = group.map(|group| kill_process_group(group, Signal::KILL));
    }

    /// Ends the agent; how it ended, if it did so by itself.
    fn end(mut self) -> Result<Option<ExitStatus>, Error> {
        drop(self.to.take());
        let until = Instant::now() + ENDING;
        while Instant::now() < until {
            if let Some(status) = self.process.try_wait()? {
                self.kill();
                return Ok(Some(status));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        self.kill();
        self.process.wait()?;
        Ok(None)
    }
}

fn before_it_answered(agent: Agent) -> Result<bool, Error> {
    let how = agent.end()?.map_or_else(|| "closed its output".to_owned(), |status| format!("ended with {status}"));
    Err(Error::other(format!("the agent {how} before it answered")))
}

fn converse(command: &[String]) -> Result<bool, Error> {
    let file = std::env::var_os(ASK_VARIABLE).ok_or_else(|| Error::other(format!("{ASK_VARIABLE} is not set")))?;
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let (mut talk, first) = Talk::begin(&std::fs::read(file)?, prompt)?;
    let mut agent = Agent::start(command)?;
    agent.send(&first);
    let mut out = std::io::stdout();
    loop {
        let mut heard = match agent.hear() {
            Ok(Some(line)) => talk.take(&line),
            Ok(None) => return before_it_answered(agent),
            Err(error) => Talk::broken(&error),
        };
        if let Some(asked) = heard.to_person.take() {
            let answer = put_to_person(&asked.hook, &asked.event);
            let (allowed, because) = answer.unwrap_or_else(|error| (false, format!("nobody could be asked: {error}")));
            heard = Talk::settle(asked, allowed, because);
        }
        for line in &heard.to_host {
            out.write_all(format!("{line}\n").as_bytes())?;
        }
        out.flush()?;
        for line in &heard.to_agent {
            agent.send(line);
        }
        if let Some(is_done) = heard.over {
            agent.end()?;
            return Ok(is_done);
        }
    }
}

/// Puts a call to a person by `helix hook ask`: whether it is allowed, and why. Whatever is no yes is none.
fn put_to_person(hook: &[String], event: &Value) -> Result<(bool, String), Error> {
    let (program, arguments) = hook.split_first().ok_or_else(|| Error::other("no program does that"))?;
    let mut asking = Command::new(program);
    asking.args(arguments).env_remove(ASK_VARIABLE).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut asking = asking.spawn()?;
    if let Some(mut to) = asking.stdin.take() {
        to.write_all(event.to_string().as_bytes())?;
    }
    let until = Instant::now() + ASKING;
    // What it answers is short: it never waits for somebody to read.
    while asking.try_wait()?.is_none() {
        if Instant::now() > until {
            asking.kill()?;
            asking.wait()?;
            return Err(Error::other("it took too long"));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    let mut answer = Vec::new();
    asking.stdout.take().into_iter().try_for_each(|from| from.take(LONGEST).read_to_end(&mut answer).map(drop))?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let said = &answer["hookSpecificOutput"];
    let because = said["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
    Ok((said["permissionDecision"] == "allow", because))
}

fn version(command: &[String]) -> Result<bool, Error> {
    let mut agent = Agent::start(command)?;
    agent.send(&introduction());
    while let Some(line) = agent.hear()? {
        let Some(introduced) = introduced(&line) else { continue };
        let told = introduced.map_err(|error| Error::other(format!("the agent refused: {}", error.message)))?;
        let told = told.agent_info.map_or_else(|| "0.0.0".to_owned(), |one| format!("{} {}", one.version, one.name));
        std::io::stdout().write_all(format!("{told}\n").as_bytes())?;
        agent.end()?;
        return Ok(true);
    }
    before_it_answered(agent)
}
