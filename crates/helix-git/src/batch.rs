//! Long-lived git processes that answer many questions: one reads objects, one compares trees. A spawn per question costs
//! milliseconds; an answer here costs microseconds.
//!
//! Must not know what the answers are for. A process that dies is started anew once; a second death is an error.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::environment::GitEnvironment;
use super::error::GitError;
use super::spawn::{TimedReader, render};
use helix_process::{Input, SessionLeader};

/// Longest silence in the middle of an answer. A missing object of a partial clone may have to be fetched first.
const SILENCE: Duration = Duration::from_secs(120);

/// A git process that answers questions one after the other.
pub(crate) struct Batch {
    git: GitEnvironment,
    directory: PathBuf,
    args: Vec<OsString>,
    live: Mutex<Option<Live>>,
}

pub(crate) struct Live {
    child: SessionLeader,
    // Order matters in `drop`: closing stdin is what ends the process.
    stdin: Option<PipeWriter>,
    pub(crate) stdout: BufReader<TimedReader<PipeReader>>,
    // Held so that a complaint does not become a broken pipe; read only when the process has failed.
    stderr: Option<PipeReader>,
    /// Counts questions, for answers that need a mark of their end.
    pub(crate) asked: u64,
}

impl Live {
    pub(crate) fn send(&mut self, question: &[u8]) -> std::io::Result<()> {
        self.asked += 1;
        let stdin = self.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        stdin.write_all(question)?;
        stdin.flush()
    }

    pub(crate) fn line(&mut self) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&self.until(b'\n')?).into_owned())
    }

    /// What is there until `end`, without it.
    pub(crate) fn until(&mut self, end: u8) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stdout.read_until(end, &mut bytes)?;
        if bytes.pop() != Some(end) {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }

    pub(crate) fn exactly(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stdout.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn peek(&mut self) -> std::io::Result<u8> {
        self.stdout.fill_buf()?.first().copied().ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stdin = None;
        // Both commands end when their stdin does; a kill is for one that hangs in a fetch or on a dead disk, and does nothing to one that
        // has ended and was not waited for.
        self.child.kill();
        if let Err(error) = self.child.wait() {
            tracing::debug!(%error, "a git process was reaped by somebody else");
        }
    }
}

impl Batch {
    pub(crate) fn new(git: GitEnvironment, directory: PathBuf, args: &[&str]) -> Self {
        Self { git, directory, args: args.iter().map(OsString::from).collect(), live: Mutex::new(None) }
    }

    fn start(&self) -> Result<Live, GitError> {
        let mut child = self.git.start(None, &self.directory, &self.args, &[], Input::Pipe)?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let Some(stdout) = child.stdout.take() else {
            return Err(GitError::Unreadable { command: render(&self.args), problem: "it has no stdout".into() });
        };
        Ok(Live { child, stdin, stdout: BufReader::new(TimedReader::new(stdout, SILENCE)), stderr, asked: 0 })
    }

    /// Asks one question. `ask` writes it and reads the whole answer; it may be called a second time.
    pub(crate) fn ask<T>(&self, ask: impl Fn(&mut Live) -> std::io::Result<T>) -> Result<T, GitError> {
        let mut slot = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problem = String::new();
        for _ in 0..2 {
            let mut live = match slot.take() {
                Some(live) => live,
                None => self.start()?,
            };
            match ask(&mut live) {
                Ok(answer) => {
                    *slot = Some(live);
                    return Ok(answer);
                }
                // An answer that was not read to its end leaves the process in the middle of it: it cannot be used again.
                Err(error) => problem = complaint(live, &error),
            }
        }
        Err(GitError::Unreadable { command: render(&self.args), problem })
    }
}

fn complaint(mut live: Live, error: &std::io::Error) -> String {
    let stderr = live.stderr.take();
    drop(live);
    let mut said = Vec::new();
    if let Some(stderr) = stderr
        && let Err(error) = stderr.take(4096).read_to_end(&mut said)
    {
        tracing::debug!(%error, "what git complained of is lost");
    }
    format!("{error}; it said: {}", String::from_utf8_lossy(&said).trim())
}
