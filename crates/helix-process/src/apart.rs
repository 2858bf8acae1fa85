//! Work on what nobody trusts, done by a process of its own that may take little memory, time and stack, reaches nothing, and answers one
//! question after the other. What takes too much ends that process, and nothing else.
//!
//! Must not know what is asked.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};

use crate::tryout::shut_in;

/// Most memory of the process, in bytes.
const MEMORY: u64 = 1 << 30;
/// Most processor time of one answer, in seconds.
const SECONDS: u64 = 10;
/// Stack of the thread that answers: what others wrote may be nested deeply, and an overflow ends the process.
const STACK: usize = 128 << 20;
/// Most bytes of a question or an answer.
const LONGEST: u64 = 256 << 20;
/// How often it is asked, while an answer is awaited, whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// The process, from outside. It ends with this.
#[derive(Debug)]
pub struct Apart {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<Vec<u8>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("it takes more than 1 GiB of memory or 10 s of processor time, or is nested too deep")]
    TooMuch,
    #[error("nobody wants it any more")]
    Unwanted,
    #[error("no process can be started for it")]
    Unstartable(#[source] io::Error),
}

impl Apart {
    /// Starts the process; the program calls [`answer_apart`].
    ///
    /// # Errors
    /// [`NoAnswer::Unstartable`].
    pub fn start(program: &Path, argument: &str) -> Result<Self, NoAnswer> {
        let mut command = Command::new(program);
        command.arg(argument).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(NoAnswer::Unstartable)?;
        let (Some(questions), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(NoAnswer::Unstartable(io::ErrorKind::BrokenPipe.into()));
        };
        let (tell, answers) = mpsc::sync_channel(1);
        let read = move || while read_part(&mut output).is_ok_and(|answer| tell.send(answer).is_ok()) {};
        let reader = std::thread::Builder::new().name("answers".into()).spawn(read);
        let apart = Self { child, questions, answers };
        reader.map(|_| apart).map_err(NoAnswer::Unstartable)
    }

    /// Asks, and waits for the answer as long as it is wanted.
    ///
    /// # Errors
    /// [`NoAnswer`]; nothing more can be asked then.
    pub fn ask(&mut self, question: &[u8], wanted: impl Fn() -> bool) -> Result<Vec<u8>, NoAnswer> {
        write_part(&mut self.questions, question).map_err(|_| NoAnswer::TooMuch)?;
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(NoAnswer::TooMuch),
                Err(RecvTimeoutError::Timeout) if !wanted() => return Err(NoAnswer::Unwanted),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            tracing::debug!(%error, "a process that answers questions was not ended");
        }
    }
}

/// The process: answers what is asked on stdin, until there is nothing more or it takes too much. `None` ends it.
pub fn answer_apart(answer: impl FnMut(&[u8]) -> Option<Vec<u8>> + Send + 'static) -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let answered = shut_in(MEMORY).and_then(|()| thread.spawn(move || answer_all(answer)));
    match answered.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn answer_all(mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let (_, most) = getrlimit(Resource::RLIMIT_CPU)?;
    loop {
        let Ok(question) = read_part(&mut input) else { return Ok(()) };
        let used = getrusage(UsageWho::RUSAGE_SELF)?;
        let used = used.user_time().tv_sec().saturating_add(used.system_time().tv_sec());
        // Both times are rounded down.
        let limit = u64::try_from(used).unwrap_or_default().saturating_add(SECONDS + 1);
        setrlimit(Resource::RLIMIT_CPU, limit.min(most), most)?;
        match answer(&question) {
            Some(answer) => write_part(&mut output, &answer)?,
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn write_part(to: &mut impl Write, part: &[u8]) -> io::Result<()> {
    to.write_all(&(part.len() as u64).to_le_bytes())?;
    to.write_all(part)?;
    to.flush()
}

fn read_part(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut part = Vec::new();
    from.take(length).read_to_end(&mut part)?;
    if (part.len() as u64) < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(part) }
}

#[cfg(test)]
#[path = "apart_test.rs"]
mod tests;
