//! A host that stays behind when its command leaves. Must not know which command started it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use helix_process::in_own_session;
use helix_store::StateDir;

use super::{EPHEMERAL, find};
use crate::client::Client;
use crate::config::Settings;
use crate::environment::Environment;
use crate::error::{CommandError, codes};
use crate::files::unwritable;

/// What a background host prints on standard output once it can be reached.
pub(crate) const READY_MARK: &str = "helix host ready";

/// How long another host may take from its lock to its announcement, and how long to wait between two looks.
const STARTING: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How much of a failed host's log is shown.
const LOG_TAIL: u64 = 2 * 1024;
/// A longer log is put aside when a host starts, in bytes.
const LONGEST_LOG: u64 = 8 << 20;

/// Starts `helix serve` in a session of its own and waits until it can be reached. It leaves when no job runs any more.
///
/// # Errors
/// When it does not come up; with the end of its log.
pub(crate) async fn start_in_background(
    environment: &Environment,
    settings: &Settings,
    config: Option<&Path>,
) -> Result<Client, CommandError> {
    let state = StateDir::open(&settings.state_dir.value)?;
    let log_path = state.root().join("host.log");
    let log = open_log(&log_path).map_err(unwritable(&log_path))?;
    let mut command = Command::new(&environment.program);
    command.arg("--state-dir").arg(state.root());
    if let Some(config) = config {
        command.arg("--config").arg(environment.directory.join(config));
    }
    command.args(["serve", "--listen", &EPHEMERAL.to_string(), "--until-idle", "--background"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    // Closing the terminal does not reach this host.
    in_own_session(&mut command);
    let child = command.spawn().map_err(|error| failed(&log_path).because(&error))?;
    tokio::task::spawn_blocking(move || wait_ready(child))
        .await
        .map_err(|error| CommandError::helix(codes::BROKEN, "waiting for the host failed").because(&error))?;
    // One that did not start may have lost a race against another host, which is as good, and may still be starting.
    let asked = Instant::now();
    loop {
        if let Some(host) = find(settings).await? {
            return Ok(host);
        }
        // The lock is not tried: holding it to look would keep a host from starting.
        if asked.elapsed() > STARTING {
            return Err(failed(&log_path));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Opens the log to be appended to; one that has grown too long is put aside first, in place of the one before it.
fn open_log(path: &Path) -> std::io::Result<File> {
    if path.metadata().is_ok_and(|log| log.len() > LONGEST_LOG) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Waits for the mark on the host's standard output, or its end.
fn wait_ready(mut child: Child) {
    let Some(stdout) = child.stdout.take() else { return };
    let ready = BufReader::new(stdout).lines().map_while(Result::ok).any(|line| line == READY_MARK);
    let mut wait = move || {
        if child.wait().is_err() {
            tracing::warn!("the end of a background host cannot be waited for");
        }
    };
    // A command that outlives its host leaves no dead process behind.
    if ready { drop(std::thread::spawn(wait)) } else { wait() }
}

fn failed(log: &Path) -> CommandError {
    let error = CommandError::environment(codes::BACKGROUND_HOST, "the background host did not start")
        .hint(format!("see {}", log.display()));
    match helix_process::end_of_file(log, LOG_TAIL).unwrap_or_default().trim() {
        "" => error,
        end => error.cause(format!("the end of its log:\n{end}")),
    }
}

#[cfg(test)]
#[path = "background_test.rs"]
mod tests;
