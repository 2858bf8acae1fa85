//! What a person types: lines of standard input.
//!
//! Read on one thread that nothing waits for, so that a command that was interrupted can leave, and that a prompt that was
//! given up takes no line from the next one. Must not know what is asked.

use std::io::{BufRead, IsTerminal};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

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

/// What a terminal puts around a paste once it was asked to.
const PASTE_BEGINS: &str = "\u{1b}[200~";
const PASTE_ENDS: &str = "\u{1b}[201~";
const MARK_PASTES: &str = "\u{1b}[?2004h";
const LEAVE_PASTES: &str = "\u{1b}[?2004l";
/// Lines of a paste follow each other within this time at terminals that do not mark it.
const SAME_PASTE: Duration = Duration::from_millis(30);

/// Text that a person typed or pasted: one line, or all lines of a paste. From a pipe, one line.
///
/// # Errors
/// Standard input cannot be read.
pub(crate) async fn typed_text() -> Result<Option<String>, CommandError> {
    if !std::io::stdin().is_terminal() {
        return typed_line().await;
    }
    let _marked = MarkedPastes::begin();
    pasted().await
}

/// Has the terminal mark pastes until it is dropped, also by who gives up waiting for the text.
struct MarkedPastes;

impl MarkedPastes {
    fn begin() -> Self {
        to_standard_error(MARK_PASTES);
        Self
    }
}

impl Drop for MarkedPastes {
    fn drop(&mut self) {
        to_standard_error(LEAVE_PASTES);
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

async fn pasted() -> Result<Option<String>, CommandError> {
    let Some(mut text) = typed_line().await? else { return Ok(None) };
    loop {
        let open = text.matches(PASTE_BEGINS).count() > text.matches(PASTE_ENDS).count();
        let more = match open {
            true => typed_line().await?,
            false => timeout(SAME_PASTE, typed_line()).await.unwrap_or(Ok(None))?,
        };
        let Some(line) = more else { break };
        text.push('\n');
        text.push_str(&line);
    }
    Ok(Some(text.replace(PASTE_BEGINS, "").replace(PASTE_ENDS, "")))
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
