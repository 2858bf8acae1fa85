//! Accepts and serves connections, and shuts down gracefully.
//!
//! Must not know any route. Slow or silent clients hold a connection only for a limited time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use helix_engine::Engine;
use helix_engine::peer::{Standing, standing};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{AcquireError, OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::config::ServerConfig;
use crate::connection::WatchedStream;
use crate::host_check::HostRules;
use crate::principal::{Peer, TcpPeer};
use crate::routes;
use crate::state::ServerState;

/// Most connections; further ones wait.
const MOST_CONNECTIONS: usize = 1_024;
/// Time limit for open connections once the server shuts down.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Without a token anyone on the network could run agents.
    #[error("refusing to listen on {address} without a token: only loopback addresses may be served without one")]
    NoToken { address: SocketAddr },
    /// The token is empty or cannot be sent in a header.
    #[error("the token is empty or has characters that are not allowed in a header")]
    UnusableToken,
    /// The listener has no address.
    #[error("the listener's address cannot be read")]
    Address(#[source] std::io::Error),
}

/// Serves the engine until `shutdown` is ready. Then streams end in order, and turns and jobs continue under their keepers.
///
/// # Errors
/// [`ServeError`] when the settings do not allow it.
pub async fn serve(
    listener: TcpListener,
    engine: Engine,
    config: ServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Address)?;
    match &config.token {
        None if !address.ip().is_loopback() => return Err(ServeError::NoToken { address }),
        Some(token) if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            return Err(ServeError::UnusableToken);
        }
        Some(_) | None => {}
    }
    let hosts = HostRules::new(&config, address);
    let shared = ServerState::new(engine, config);
    let server = Server {
        service: routes::router(shared.clone(), hosts),
        permits: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        connections: TaskTracker::new(),
        shared,
    };
    server.run(listener, shutdown).await;
    Ok(())
}

/// The URL of the tools for agents on this machine, for a server on this address.
pub fn tools_url(address: SocketAddr) -> String {
    format!("{}/mcp", local_url(address))
}

/// The URL of a server on this address, from this machine: one on all addresses is on the loopback too.
pub fn local_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

/// Waits where the system has no resources for a connection.
async fn accept(socket: &UnixListener) -> UnixStream {
    loop {
        match socket.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection of the terminal");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A place among the connections; the semaphore is never closed.
type Permit = Result<OwnedSemaphorePermit, AcquireError>;

struct Server {
    service: axum::Router,
    permits: Arc<Semaphore>,
    connections: TaskTracker,
    shared: ServerState,
}

impl Server {
    async fn run(self, mut listener: TcpListener, shutdown: impl Future<Output = ()> + Send) {
        tokio::pin!(shutdown);
        let own = listener.local_addr().ok();
        let socket = self.shared.config.socket.clone();
        loop {
            let over_tcp = async {
                let permit = self.permits.clone().acquire_owned().await;
                // Waits where the system has no resources for a connection.
                (Listener::accept(&mut listener).await, permit)
            };
            // What takes all of TCP's places does not keep the terminal out.
            let at_terminal = async {
                match &socket {
                    Some(socket) => accept(socket).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = &mut shutdown => break,
                ((stream, peer), permit) = over_tcp => {
                    // Sends every event at once.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "cannot set TCP_NODELAY");
                    }
                    let own = stream.local_addr().ok().or(own).unwrap_or(peer);
                    let peer = Peer::Tcp(Arc::new(TcpPeer { peer, own, standing: OnceCell::new() }));
                    self.connections.spawn(self.connection(stream, peer, Some(permit)));
                }
                stream = at_terminal => {
                    let peer = self.terminal(&stream);
                    self.connections.spawn(self.connection(stream, peer, None));
                }
            }
        }
        drop(listener);
        self.shared.shutdown.cancel();
        self.connections.close();
        self.shared.tasks.close();
        let ended = async {
            self.connections.wait().await;
            self.shared.tasks.wait().await;
        };
        if tokio::time::timeout(FAREWELL, ended).await.is_err() {
            tracing::warn!(connections = self.connections.len(), "some connections did not close in time");
        }
    }

    /// Who has connected to the terminal's socket. Looked at once, at the beginning: a process that hands the connection on answers for it.
    fn terminal(&self, stream: &UnixStream) -> Peer {
        let Ok(peer) = stream.peer_cred() else {
            return Peer::Socket { is_own_user: false, standing: Standing::Unknown };
        };
        let is_own_user = peer.uid() == rustix::process::geteuid().as_raw();
        let standing = peer.pid().map_or(Standing::Unknown, |pid| standing(pid, &self.shared.engine.runs()));
        Peer::Socket { is_own_user, standing }
    }

    fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        &self,
        stream: S,
        peer: Peer,
        permit: Option<Permit>,
    ) -> impl Future<Output = ()> + Send + use<S> {
        let service = TowerToHyperService::new(self.service.clone());
        let shutdown = self.shared.shutdown.clone();
        let header_timeout = self.shared.config.header_timeout;
        async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(header_timeout).max_buf_size(64 * 1024);
            let (stream, line) = WatchedStream::new(stream);
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(line.clone());
                request.extensions_mut().insert(peer.clone());
                service.call(request)
            });
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.as_mut().await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        }
    }
}

#[cfg(test)]
#[path = "listen_test.rs"]
mod tests;
