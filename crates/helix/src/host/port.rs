//! The port of hosts that take any free one: the next host takes the one of the host before it, if it is still free.
//!
//! Agents outlive a host and know Helix's tools by their address; under another port they could not ask anybody any more. Must
//! not know who is served.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use helix_store::StateDir;
use tokio::net::TcpListener;

/// Listens on the address; where it leaves the port open, on that of the former host if nobody else has taken it.
///
/// # Errors
/// What the system says of the address.
pub(super) async fn bind(address: SocketAddr, state: &StateDir) -> std::io::Result<TcpListener> {
    if address.port() != 0 {
        return TcpListener::bind(address).await;
    }
    let file = state.port_file();
    let former = former(&file);
    if let Some(port) = former {
        match TcpListener::bind(SocketAddr::new(address.ip(), port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) => tracing::info!(
                %error,
                "port {port} of the previous host is in use: its running agents cannot call Helix's tools"
            ),
        }
    }
    let listener = TcpListener::bind(address).await?;
    let port = listener.local_addr()?.port();
    // Without the note only the next host's agents are worse off; this one serves all the same.
    if let Err(error) = helix_process::replace_private(&file, format!("{port}\n").as_bytes()) {
        tracing::warn!(%error, "{} cannot be written: the next host will have another port", file.display());
    }
    Ok(listener)
}

fn former(file: &Path) -> Option<u16> {
    match std::fs::read_to_string(file) {
        Ok(text) => text.trim().parse().ok().filter(|port| *port != 0),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!(%error, "{} cannot be read: this host takes another port", file.display());
            None
        }
    }
}
