//! What a person types: lines of standard input.
//!
//! Read on one thread that nothing waits for, so that a command that was interrupted can leave, and that a prompt that was
//! given up takes no line from the next one. Must not know what is asked.

use std::io::BufRead;
use std::sync::OnceLock;

use tokio::sync::{Mutex, mpsc};

/// Lines that are typed ahead before the thread stops reading.
const TYPED_AHEAD: usize = 16;

type Lines = Mutex<mpsc::Receiver<std::io::Result<String>>>;

static LINES: OnceLock<Lines> = OnceLock::new();

/// The next line without its end; `None` when there are no more.
///
/// # Errors
/// Standard input cannot be read.
pub(crate) async fn typed_line() -> Option<std::io::Result<String>> {
    LINES.get_or_init(start).lock().await.recv().await
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
