//! Finding the host of a state directory, or becoming it. Must not know what is asked of it.

use std::time::Duration;

use helix_store::{StateDir, StateDirError};
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
    let Some(state) = StateDir::existing(&settings.state_dir.value)? else { return Ok(None) };
    let Some(info) = state.host()? else { return Ok(None) };
    let client = Client::new(&info, &state)?;
    // A dead host leaves its announcement behind.
    Ok(client.health().await.is_ok().then_some(client))
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
