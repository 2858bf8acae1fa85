//! What a person types: lines of standard input.
//!
//! Read on a thread that nothing waits for, so that a command that was interrupted can leave; only while somebody waits for a line,
//! so that one that was given up takes nothing from the next prompt, nor from the line editor. Must not know what is asked.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

use super::to_standard_error;
use crate::error::{CommandError, codes};

/// Between two looks whether somebody still waits for a line.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

type Line = std::io::Result<Option<String>>;

/// Standard input, with lines that were read when nobody waited for them any more.
#[derive(Default)]
struct Input {
    reader: Option<BufReader<File>>,
    unheard: VecDeque<Line>,
}

static INPUT: Mutex<Option<Input>> = Mutex::new(None);

/// Whether somebody waits for a line: until it is dropped.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The next line without its end; `None` when there are no more.
///
/// # Errors
/// Standard input cannot be read.
pub(crate) async fn typed_line() -> Result<Option<String>, CommandError> {
    let (sender, line) = oneshot::channel();
    let wanted = Wanted(Arc::new(AtomicBool::new(true)));
    let is_wanted = Arc::clone(&wanted.0);
    std::thread::spawn(move || {
        let mut input = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
        let input = input.get_or_insert_default();
        let next = match input.unheard.pop_front() {
            Some(line) => Some(line),
            None => input.next(&is_wanted),
        };
        if let Some(Err(unheard)) = next.map(|line| sender.send(line)) {
            input.unheard.push_front(unheard);
        }
    });
    // The thread ends without a line only when nobody waits.
    line.await.unwrap_or(Ok(None)).map_err(|error| {
        CommandError::environment(codes::INPUT_UNREADABLE, "cannot read standard input").because(&error)
    })
}

impl Input {
    /// The next line; none at all if nobody wants it any more.
    fn next(&mut self, is_wanted: &AtomicBool) -> Option<Line> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => match std::io::stdin().as_fd().try_clone_to_owned() {
                Ok(input) => none.insert(BufReader::new(File::from(input))),
                Err(error) => return Some(Err(error)),
            },
        };
        while reader.buffer().is_empty() {
            if !is_wanted.load(Ordering::Relaxed) {
                return None;
            }
            match poll(&mut [PollFd::new(reader.get_ref(), PollFlags::IN)], Some(&LOOK_AGAIN)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Some(Err(error.into())),
            }
        }
        let mut line = String::new();
        Some(reader.read_line(&mut line).map(|bytes| {
            let text = line.strip_suffix('\n').unwrap_or(&line);
            (bytes > 0).then(|| text.strip_suffix('\r').unwrap_or(text).to_owned())
        }))
    }
}

/// Has the terminal not show what is typed until it is dropped.
pub(crate) struct Hidden(Option<Termios>);

impl Hidden {
    pub(crate) fn begin() -> Self {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok();
        let hidden = before.clone().is_some_and(|mut modes| {
            modes.local_modes.remove(LocalModes::ECHO);
            tcsetattr(&stdin, OptionalActions::Now, &modes).is_ok()
        });
        Self(before.filter(|_| hidden))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            if let Err(error) = tcsetattr(std::io::stdin(), OptionalActions::Now, before) {
                tracing::warn!(%error, "the terminal does not show what is typed: run `stty echo`");
            }
            to_standard_error("\n");
        }
    }
}
