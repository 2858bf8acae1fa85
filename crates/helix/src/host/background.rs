//! A host that stays behind when its command leaves. Must not know which command started it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

/// How much of a failed host's log is shown.
const LOG_TAIL: u64 = 2 * 1024;

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
    let log =
        OpenOptions::new().create(true).append(true).mode(0o600).open(&log_path).map_err(unwritable(&log_path))?;
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
    // One that did not start may have lost a race against another host, which is as good.
    find(settings).await?.ok_or_else(|| failed(&log_path))
}

/// Waits for the mark on the host's standard output, or its end.
fn wait_ready(mut child: Child) {
    let Some(stdout) = child.stdout.take() else { return };
    let ready = BufReader::new(stdout).lines().map_while(Result::ok).any(|line| line == READY_MARK);
    if !ready && child.wait().is_err() {
        tracing::warn!("the host that did not start cannot be waited for");
    }
}

fn failed(log: &Path) -> CommandError {
    let error = CommandError::environment(codes::BACKGROUND_HOST, "the background host did not start")
        .hint(format!("see {}; or run without --detach", log.display()));
    match helix_process::end_of_file(log, LOG_TAIL).unwrap_or_default().trim() {
        "" => error,
        end => error.cause(format!("the end of its log:\n{end}")),
    }
}
