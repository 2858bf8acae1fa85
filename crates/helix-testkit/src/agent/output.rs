//! The agent's stdout and stderr, written without buffering so that a kill cuts where the script says.
//!
//! Must not know what is written.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Stdout, shared with the thread that handles signals.
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Mutex<File>>);

impl Output {
    /// Takes the process's stdout.
    pub(crate) fn stdout() -> Result<Self, String> {
        let owned = std::io::stdout().as_fd().try_clone_to_owned().map_err(|error| format!("stdout: {error}"))?;
        Ok(Self(Arc::new(Mutex::new(File::from(owned)))))
    }

    /// Writes bytes as they are. A closed reader is no error: the real CLI goes on working, too.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(bytes)
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            stderr_line(&format!("stdout: {error}"));
        }
    }

    pub(crate) fn line(&self, text: &str) {
        self.raw(format!("{text}\n").as_bytes());
    }

    /// Writes a last line and ends the process before anything else can be written.
    pub(crate) fn end_with(&self, line: Option<&str>, code: i32) -> ! {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = line
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            stderr_line(&format!("stdout: {error}"));
        }
        std::process::exit(code);
    }
}

/// Writes a line to stdout, for the few answers outside the dialect.
pub(crate) fn stdout_line(text: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}") {
        stderr_line(&format!("stdout: {error}"));
    }
}

/// Writes a line to stderr; there is nowhere left to report a failure of that.
pub(crate) fn stderr_line(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}
