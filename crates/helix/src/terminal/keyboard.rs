//! What a person types: lines of standard input.
//!
//! Read on one thread that nothing waits for, so that a command that was interrupted can leave, and that a prompt that was
//! given up takes no line from the next one. Must not know what is asked.

use std::io::BufRead;
use std::sync::OnceLock;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::{Mutex, mpsc};

use super::to_standard_error;
use crate::error::{CommandError, codes};

/// Lines that are typed ahead before the thread stops reading.
const TYPED_AHEAD: usize = 16;

type Lines = Mutex<mpsc::Receiver<std::io::Result<String>>>;

static LINES: OnceLock<Lines> = OnceLock::new();

/// The next line without its end; `None` when there are no more.
///
/// # Errors
/// Standard input cannot be read.
pub(crate) async fn typed_line() -> Result<Option<String>, CommandError> {
    LINES.get_or_init(start).lock().await.recv().await.transpose().map_err(|error| {
        CommandError::environment(codes::INPUT_UNREADABLE, "cannot read standard input").because(&error)
    })
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

fn start() -> Lines {
    let (sender, receiver) = mpsc::channel(TYPED_AHEAD);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let broken = line.is_err();
            if sender.blocking_send(line).is_err() || broken {
                return;
            }
        }
    });
    Mutex::new(receiver)
}
