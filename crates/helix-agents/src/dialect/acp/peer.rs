//! The program that speaks with an agent: it starts the agent, and stands between it and the host.
//!
//! Must not know what is said. Whatever of the agent is left when it ends is cleared up by the keeper.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::ask::ASK_VARIABLE;
use super::talk::{Talk, introduced, introduction};

/// How long an agent may take to end when nothing more comes.
const ENDING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

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
}

impl Agent {
    fn start(command: &[String]) -> Result<(Self, impl Iterator<Item = std::io::Result<String>>), Error> {
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
        let from = from.ok_or_else(|| Error::other("the agent has no standard output"))?;
        let lines = BufReader::new(from).split(b'\n');
        let lines = lines.map(|line| line.map(|line| String::from_utf8_lossy(&line).into_owned()));
        Ok((Self { process, to }, lines.filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()))))
    }

    fn send(&mut self, line: &str) -> Result<(), Error> {
        let Some(to) = &mut self.to else { return Ok(()) };
        // An agent that has ended is seen by its output.
        drop(to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush()));
        Ok(())
    }

    /// Ends what is left of it, if anything is.
    fn kill(&self) {
        let group = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        // There is none where all of it has ended.
        let _left = group.map(|group| kill_process_group(group, Signal::KILL));
    }

    /// Ends the agent; how it ended, if it did so by itself.
    fn end(mut self) -> Result<Option<std::process::ExitStatus>, Error> {
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
    let (mut agent, lines) = Agent::start(command)?;
    agent.send(&first)?;
    let mut out = std::io::stdout();
    for line in lines {
        let heard = talk.take(&line?);
        for line in &heard.to_host {
            out.write_all(format!("{line}\n").as_bytes())?;
        }
        out.flush()?;
        for line in &heard.to_agent {
            agent.send(line)?;
        }
        if let Some(is_done) = heard.over {
            agent.end()?;
            return Ok(is_done);
        }
    }
    before_it_answered(agent)
}

fn version(command: &[String]) -> Result<bool, Error> {
    let (mut agent, lines) = Agent::start(command)?;
    agent.send(&introduction())?;
    for line in lines {
        let Some(introduced) = introduced(&line?) else { continue };
        let told = introduced.map_err(|error| Error::other(format!("the agent refused: {}", error.message)))?;
        let told = told.agent_info.map_or_else(|| "0.0.0".to_owned(), |one| format!("{} {}", one.version, one.name));
        std::io::stdout().write_all(format!("{told}\n").as_bytes())?;
        agent.end()?;
        return Ok(true);
    }
    before_it_answered(agent)
}
