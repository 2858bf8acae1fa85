//! Checks of the user's own: a command that reads an answer and prints what is wrong with it.
//!
//! Must not know what an answer is about. A command that fails says nothing about the answer: it is neither passed nor refused by it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_agents::{Grace, Invocation, RunHandle, RunKind, RunRequest, Supervisor, ToolEnvironment, Walls};
use helix_core::error_chain;
use helix_core::finding::{Finding, Place};
use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause};
use helix_core::said::Words;
use helix_core::text::one_line;
use helix_job::session::AnswerFinding;
use helix_language::recorded;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::validators::MOST_FINDINGS;

/// Most that a command may print, in bytes.
const MOST_OUTPUT: usize = 64 << 10;
/// Longest message and longest remedy, in characters.
const LONGEST_TEXT: usize = 2_000;
/// How long each step of a stop waits.
const GRACE: Duration = Duration::from_millis(500);

/// A check of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnValidator {
    /// Its name in records and corrections.
    pub name: String,
    /// Program and arguments, without a shell.
    pub command: Vec<String>,
    /// Longest time it may take.
    pub timeout: Duration,
}

impl OwnValidator {
    /// Its time limit when nothing else is said.
    pub const TIMEOUT: Duration = Duration::from_secs(10);
}

/// What all checks of one answer are given.
pub(crate) struct CheckedAnswer<'a> {
    pub(crate) supervisor: &'a Supervisor,
    /// The run that gave the answer.
    pub(crate) run: &'a RunId,
    /// The answer as the user reads it.
    pub(crate) answer: &'a str,
    /// The session's directory, where commands run.
    pub(crate) directory: &'a Path,
    /// The session's project.
    pub(crate) project: Option<&'a str>,
    pub(crate) stop: &'a CancellationToken,
}

/// A finding as a command may print it; any other line is a message.
#[derive(Default, Deserialize)]
struct Line {
    message: String,
    file: Option<String>,
    line: Option<u32>,
    fix: Option<String>,
}

impl CheckedAnswer<'_> {
    /// What a check finds: one finding for each line that it prints, and none if it exits with 0 and prints nothing.
    ///
    /// # Errors
    /// Why the command says nothing of the answer.
    pub(crate) async fn findings(&self, number: usize, validator: &OwnValidator) -> Result<Vec<AnswerFinding>, Words> {
        let run = RunId::new(format!("{}.check{number}", self.run)).map_err(|error| Words::from(error.to_string()))?;
        // What a former host began was read by nobody and is of no use.
        if let Some(former) =
            self.supervisor.attach_or_withdraw(&run).await.map_err(|error| Words::from(error_chain(&error)))?
        {
            end(former).await?;
        }
        let Some((program, args)) = validator.command.split_first() else { return Err(recorded!("check-no-command")) };
        let mut environment = ToolEnvironment::from_process(&[]);
        if let Some(project) = self.project {
            environment = environment.with("HELIX_PROJECT", project);
        }
        let request = RunRequest {
            run,
            invocation: Invocation {
                program: program.into(),
                args: args.to_vec(),
                env: environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
                cwd: self.directory.to_path_buf(),
                stdin: self.answer.as_bytes().to_vec(),
            },
            deadline: Some(validator.timeout),
            grace: Grace::each(GRACE),
            kind: RunKind::Work,
            labels: [("validator".to_owned(), validator.name.clone())].into(),
            walls: Some(self.walls(args)),
        };
        let handle = self.supervisor.start(request).await.map_err(|error| Words::from(error_chain(&error)))?;
        let said = tokio::select! {
            said = said(&handle, validator.timeout) => said,
            () = self.stop.cancelled() => Err(recorded!("check-stopped")),
        };
        end(handle).await?;
        let lines = said?;
        let lines = lines.lines().filter(|line| !line.trim().is_empty()).take(MOST_FINDINGS);
        Ok(lines
            .map(|line| AnswerFinding { validator: validator.name.clone(), finding: finding(&validator.name, line) })
            .collect())
    }
}

impl CheckedAnswer<'_> {
    /// It may change the session's directory, and read the project and what the user's configuration names in its command.
    fn walls(&self, args: &[String]) -> Walls {
        let session = self.directory.parent().unwrap_or(self.directory).to_owned();
        let named = args.iter().map(PathBuf::from).filter(|path| path.is_absolute());
        let readable = [session].into_iter().chain(self.project.map(PathBuf::from)).chain(named).collect();
        Walls { writable: vec![self.directory.to_owned()], readable, ..Walls::default() }
    }
}

/// Ends a command, whatever it has come to, and forgets it.
async fn end(handle: RunHandle) -> Result<(), Words> {
    handle.cancel().await;
    handle.forget().await.map_err(|error| Words::from(error_chain(&error)))
}

/// What a command has printed when it has ended; why that says nothing where it does not count.
async fn said(handle: &RunHandle, limit: Duration) -> Result<String, Words> {
    let (mut lines, mut text) = (handle.lines(), String::new());
    while let Some(line) = lines.next().await {
        let line = line.map_err(|error| Words::from(error_chain(&error)))?;
        text.push_str(&String::from_utf8_lossy(&line));
        text.push('\n');
        if text.len() > MOST_OUTPUT {
            return Err(recorded!("check-long", kib = MOST_OUTPUT >> 10));
        }
    }
    // The last line needs no newline.
    text.push_str(&String::from_utf8_lossy(&lines.end().tail));
    let ended = handle.ended().await;
    match (ended.stopped, ended.ending) {
        (Some(StopCause::Deadline), _) => Err(recorded!("check-slow", seconds = limit.as_secs_f32().to_string())),
        (Some(StopCause::Output), _) => Err(recorded!("run-cut-output")),
        (Some(StopCause::Memory), _) => Err(recorded!("run-cut-memory")),
        (None, Ending::Exited { code: 0 }) => Ok(text),
        // As linters do it.
        (None, Ending::Exited { code: 1 }) if !text.trim().is_empty() => Ok(text),
        (None, Ending::Exited { code }) => {
            Err(recorded!("check-exited", code = code.to_string(), said = one_line(&ended.stderr_tail, 300)))
        }
        (None, Ending::NotStarted { reason, .. }) => Err(reason),
        _ => Err(recorded!("check-ended")),
    }
}

fn finding(validator: &str, line: &str) -> Finding {
    let cut = |text: &str| one_line(text, LONGEST_TEXT);
    let read = serde_json::from_str(line);
    let read: Line = read.unwrap_or_else(|_| Line { message: line.to_owned(), ..Line::default() });
    let place = read.file.map(|file| Place { file: cut(&file), line: read.line, column: None });
    let fix = read.fix.as_deref().map(cut);
    Finding { place, fix, ..Finding::new(format!("own.{validator}"), cut(&read.message)) }
}
