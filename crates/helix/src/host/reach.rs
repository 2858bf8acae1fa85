//! Finding the host of a state directory, or becoming it. Must not know what is asked of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_store::{HostInfo, StateDir, StateDirError};
use tokio::time::Instant;

use super::{Host, Listening};
use crate::client::Client;
use crate::config::Settings;
use crate::environment::Environment;
use crate::error::{CommandError, codes};

/// How long another process may hold the lock without answering: it is starting, or ending.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks. The other process cannot be awaited: it is nobody's child here and announces itself by a file.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A host, one way or the other.
pub(crate) enum Reached {
    /// Another process is the host.
    Other(Client),
    Own(Box<Host>),
}

impl Reached {
    /// The client of the host.
    pub(crate) fn client(&self) -> &Client {
        match self {
            Self::Other(client) => client,
            Self::Own(host) => &host.client,
        }
    }

    /// Leaves the host; if it is this process, its agents continue without it.
    ///
    /// # Errors
    /// What the own server ended with, if not in order.
    pub(crate) async fn stop(self) -> Result<(), CommandError> {
        match self {
            Self::Other(_) => Ok(()),
            Self::Own(host) => host.stop().await,
        }
    }
}

/// The host that is there; `None` if there is none. Creates nothing.
///
/// # Errors
/// When the announcement cannot be read.
pub(crate) async fn find(settings: &Settings) -> Result<Option<Client>, CommandError> {
    Ok(announced(settings).await?.map(|(_, client)| client))
}

/// The process of a host that holds the state directory and does not answer, where [`find`] finds none: one that is stopped, or
/// hangs.
///
/// # Errors
/// When that cannot be told.
pub(crate) fn silent(settings: &Settings) -> Result<Option<u32>, CommandError> {
    let state = StateDir::existing(&settings.state_dir.value)?;
    Ok(state.map(|state| state.holder()).transpose()?.flatten())
}

async fn announced(settings: &Settings) -> Result<Option<(HostInfo, Client)>, CommandError> {
    let Some(state) = StateDir::existing(&settings.state_dir.value)? else { return Ok(None) };
    let Some(info) = state.host()? else { return Ok(None) };
    let client = Client::new(&info, &state)?;
    // A dead host leaves its announcement behind.
    Ok(client.health().await.is_ok().then_some((info, client)))
}

/// Refuses new work where the running host has not read a file of this command's configuration: its agents and limits would
/// silently be others than those written there.
///
/// # Errors
/// When it has not, or the announcement cannot be read.
pub(crate) async fn refuse_other_configuration(
    environment: &Environment,
    settings: &Settings,
) -> Result<(), CommandError> {
    let Some((host, _)) = announced(settings).await? else { return Ok(()) };
    let read = |path: &PathBuf| host.configuration.iter().zip(&host.texts).find(|(known, _)| *known == path);
    let mut files = settings.files.paths().zip(settings.files.digests());
    let other = files.find(|(path, digest)| read(path).is_none_or(|(_, known)| known != digest));
    let Some((unread, _)) = other else { return Ok(()) };
    // Files that say the same are as good as one.
    if host.settings == settings.digest(environment)? {
        return Ok(());
    }
    if host.configuration.contains(unread) {
        let message = format!("{} has changed since the running host (process {}) read it", unread.display(), host.pid);
        let hint = "stop that host, and the file is read anew; one in the background stops soon after its last job";
        return Err(CommandError::usage(codes::OTHER_CONFIGURATION, message).hint(hint));
    }
    let read: Vec<String> = host.configuration.iter().map(|path| path.display().to_string()).collect();
    let read = if read.is_empty() { "no configuration file".to_owned() } else { read.join(" and ") };
    let message = format!("the running host (process {}) uses {read}; {} is not read", host.pid, unread.display());
    // Another project's file is not for this one.
    let take = match &host.configuration[..] {
        [only] if settings.files.paths().any(|own| own == only) => {
            format!("; to use the host's: --config {}", only.display())
        }
        _ => String::new(),
    };
    let name = unread.parent().and_then(Path::file_name).unwrap_or_default();
    let own = settings.state_dir.value.with_file_name(format!(
        "{}-{}",
        settings.state_dir.value.file_name().unwrap_or_default().display(),
        name.display()
    ));
    Err(CommandError::usage(codes::OTHER_CONFIGURATION, message).hint(format!(
        "give this project its own host: --state-dir {}; or stop the other host first (one in the background stops soon after its last job){take}",
        own.display()
    )))
}

/// The host that is there, or this process as the host.
///
/// # Errors
/// When neither is possible.
pub(crate) async fn reach(environment: &Environment, settings: &Settings) -> Result<Reached, CommandError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // A living host needs nothing of this process, not even room on the disk.
        if let Some(client) = find(settings).await? {
            return Ok(Reached::Other(client));
        }
        let held = match StateDir::open(&settings.state_dir.value)?.lock() {
            Ok(lock) => {
                let host = Host::start(environment, settings, &Listening::EPHEMERAL, lock).await?;
                return Ok(Reached::Own(Box::new(host)));
            }
            Err(held @ StateDirError::Held { .. }) => held,
            Err(error) => return Err(error.into()),
        };
        if Instant::now() >= deadline {
            let error =
                CommandError::environment(codes::HOST_SILENT, "the host of this state directory does not answer");
            return Err(error
                .because(&held)
                .hint("wait until it has started or ended; if it hangs, end that process: its agents continue"));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
