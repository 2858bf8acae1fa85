//! Spawns a keeper and hears from it whether the run is its own.
//!
//! Must not know what the keeper does then. Spawning stays on the fast path of the standard library: no hook between
//! fork and exec (87 ms in a parent of 1 GiB, measured), which is why the keeper arranges its own session.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use helix_core::ids::RunId;
use helix_core::secrets::Secret;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::{StartError, SupervisorConfig};
use crate::keeper::word;
use crate::run_dir::{RunDir, RunDirError, name};

/// Longest complaint that is read from a keeper.
const MAX_COMPLAINT: u64 = 4 * 1024;

/// How often a keeper is started that a signal of the terminal ends before it has a session of its own.
const STARTS: u32 = 4;

/// Returns the process of a keeper that has, or found, the run claimed; to be reaped by the follower of the run.
pub(super) async fn keeper(config: &SupervisorConfig, run: &RunId, directory: &RunDir) -> Result<Child, StartError> {
    let log = directory.file(name::KEEPER_LOG);
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&log)
        .map_err(|error| StartError::Prepare { run: run.clone(), source: RunDirError::io("open", &log)(error) })?;
    let mut command = Command::new(&config.keeper);
    command
        .args(&config.keeper_args)
        .arg(directory.path())
        // It needs nothing, and what it does not have it cannot leak or pass on.
        .env_clear()
        .envs(std::env::var_os("LD_LIBRARY_PATH").map(|value| ("LD_LIBRARY_PATH", value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(log));
    let known: Vec<Secret> = crate::secrets::held().known().cloned().collect();
    let secrets = serde_json::to_vec(&known).unwrap_or_default();
    let mut starts = 1;
    loop {
        let mut child = command.spawn().map_err(|source| StartError::Keeper {
            run: run.clone(),
            program: config.keeper.clone(),
            source,
        })?;
        // It masks what the run prints also when this process is gone. One that has ended says why itself.
        if let Some(mut stdin) = child.stdin.take()
            && let Err(error) = stdin.write_all(&secrets).await
        {
            tracing::debug!(%run, %error, "a keeper has not taken what it is to mask");
        }
        let mut said = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MAX_COMPLAINT).read_to_end(&mut said).await.map_err(|error| StartError::KeeperFailed {
                run: run.clone(),
                said: format!("its answer cannot be read: {error}"),
            })?;
        }
        match said.split_first() {
            Some((&(word::CLAIMED | word::TAKEN), _)) => return Ok(child),
            Some((&word::FAULT, reason)) => {
                let said = String::from_utf8_lossy(reason).into_owned();
                return Err(StartError::KeeperFailed { run: run.clone(), said });
            }
            _ => {}
        }
        let ended = child.wait().await;
        if starts < STARTS && ended.as_ref().is_ok_and(by_the_terminal) {
            starts += 1;
            continue;
        }
        let ended = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
        let program = config.keeper.display();
        let said = format!("{program} is not a keeper: it ended ({ended}) without an answer");
        return Err(StartError::KeeperFailed { run: run.clone(), said });
    }
}

/// Whether a Ctrl-C, or the end of the terminal, reached a keeper that still belonged to the terminal's session. It has begun
/// nothing, and what the signal is to stop is told to the job, not to its processes.
fn by_the_terminal(status: &ExitStatus) -> bool {
    [Signal::INT, Signal::QUIT, Signal::HUP].iter().any(|signal| status.signal() == Some(signal.as_raw()))
}
