//! Being the host of a state directory: lock, token, engine, HTTP, announcement; and finding the one that is.
//!
//! Must not know what commands do with it.

mod background;
mod idle;
mod port;
mod reach;
mod token;
mod visit;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use helix_engine::peer::{Standing, standing};
use helix_engine::{AgentProfile, Engine, EngineConfig};
use helix_server::ServerConfig;
use helix_store::{HostInfo, HostLock, StateDir};
use rustix::io::Errno;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::config::Settings;
use crate::environment::Environment;
use crate::error::{CommandError, RAISE_OPEN_FILES, codes};
use crate::socket;

pub(crate) use background::{READY_MARK, start_in_background};
pub(crate) use idle::{busy_jobs, until_idle};
pub(crate) use reach::{Reached, find, reach, refuse_other_configuration, silent};
pub(crate) use token::Token;
pub(crate) use visit::Visit;

/// Address of hosts that nobody but this machine's `helix` commands looks for.
const EPHEMERAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// How often a host asks its own server before it gives up.
const OWN_HEALTH_TRIES: u32 = 6;

/// Whether requests need the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// They do; the token is the given one, or the kept one.
    Token(Option<String>),
    Open,
}

/// How the host is to be reached.
#[derive(Debug, Clone)]
pub(crate) struct Listening {
    address: SocketAddr,
    pub(crate) access: Access,
}

impl Listening {
    /// For a host within another command.
    pub(crate) const EPHEMERAL: Self = Self { address: EPHEMERAL, access: Access::Token(None) };

    /// Resolves an address as it is written, and refuses one that others can reach without a token.
    ///
    /// # Errors
    /// When it is no address, or an open one.
    pub(crate) async fn at(written: &str, access: Access) -> Result<Self, CommandError> {
        let wrong = || {
            CommandError::usage(codes::CANNOT_LISTEN, format!("{written:?} is not an address to listen on"))
                .hint("write ADDRESS:PORT, such as 127.0.0.1:8787 (port 0 lets the system choose)")
        };
        let mut addresses = tokio::net::lookup_host(written).await.map_err(|error| wrong().because(&error))?;
        let address = addresses.next().ok_or_else(wrong)?;
        if access == Access::Open && !address.ip().is_loopback() {
            let message = format!("{written} can be reached from other machines, and --no-auth would let anyone in");
            return Err(
                CommandError::usage(codes::OPEN_ADDRESS, message).hint("omit --no-auth, or listen on 127.0.0.1")
            );
        }
        Ok(Self { address, access })
    }
}

/// This process as the host.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    /// Where it can be reached.
    pub(crate) info: HostInfo,
    /// A client of it.
    pub(crate) client: Client,
    /// Whether the token is new: then it has never been shown.
    pub(crate) token: Token,
    shutdown: CancellationToken,
    server: JoinHandle<Result<(), helix_server::ServeError>>,
    /// Last, so that the lock outlives everything that needs it.
    lock: HostLock,
}

impl Host {
    /// Becomes the host of a locked directory. Everything that can be wrong with address and directory is found before the engine
    /// opens.
    ///
    /// # Errors
    /// When it cannot listen, open the engine, or be reached.
    pub(crate) async fn start(
        environment: &Environment,
        settings: &Settings,
        Listening { address, access }: &Listening,
        lock: HostLock,
    ) -> Result<Self, CommandError> {
        let state = lock.directory().clone();
        no_agent(&state)?;
        // Agents are the same user, and the host has tokens and keys in its memory.
        if let Err(error) = helix_process::close_to_others() {
            tracing::warn!(%error, "other processes of this user can read the host's memory");
        }
        // A symbolic link may have led to it.
        Environment::text_of(state.root())?;
        let listener = port::bind(*address, &state).await.map_err(|error| cannot_listen(*address, &error))?;
        let bound = listener.local_addr().map_err(|error| cannot_listen(*address, &error))?;
        let token = token::prepare(settings, &state, access)?;
        let required = (*access != Access::Open).then(|| token.value.clone());
        // Jobs of a former host go on as soon as the engine is open: their agents must have been told of the tools by then.
        let tools = Some(helix_server::tools_url(bound));
        let config = EngineConfig { tools, ..settings.engine(environment)? };
        // What the Consultant's own agent can be asked for; other agents have other words for theirs.
        let agent = config.agents.iter().find(|agent| agent.name == config.consultant.agent);
        let models = agent.map(offered_models).unwrap_or_default();
        let engine_state = state.clone();
        // Before any run starts, which is not to see it.
        let socket = socket::bind(&state).map_err(|error| {
            let message = format!("cannot listen on a socket in {}", state.terminal().display());
            CommandError::environment(codes::CANNOT_LISTEN, message)
                .because(&error)
                .hint("the state directory must be on a file system with sockets: choose another with --state-dir")
        })?;
        let engine = Engine::open(state, config).await?;

        let shutdown = CancellationToken::new();
        let (socket, news_key) = (Some(Arc::new(socket)), Some(engine_state.root().join(helix_server::NewsKey::FILE)));
        let built_in = ServerConfig { token: required, socket, models, news_key, ..ServerConfig::default() };
        let server_config = settings.server(built_in);
        let stopped = shutdown.clone().cancelled_owned();
        let server = tokio::spawn(helix_server::serve(listener, engine.clone(), server_config, stopped));
        let info = HostInfo {
            url: helix_server::local_url(bound),
            pid: std::process::id(),
            token_file: token.file.clone(),
            configuration: settings.files.paths().cloned().collect(),
            settings: settings.digest(environment)?,
            texts: settings.files.digests().collect(),
        };
        let client = Client::new(&info, &engine_state)?;
        let host = Self { engine, info, client, token, shutdown, server, lock };
        if let Err(error) = patient_health(&host.client).await {
            return Err(host.failed_to_serve(&error).await);
        }
        host.lock.announce(&host.info)?;
        Ok(host)
    }

    /// Waits for the server to fail; a host without a server is useless.
    ///
    /// # Errors
    /// Always, with what the server failed with.
    pub(crate) async fn server_failed(&mut self) -> CommandError {
        serve_result((&mut self.server).await)
    }

    /// Stops serving. Agents go on under their keepers; the next host re-attaches to them.
    ///
    /// # Errors
    /// What the server ended with, if not in order.
    pub(crate) async fn stop(self) -> Result<(), CommandError> {
        self.engine.close().await;
        self.shutdown.cancel();
        match self.server.await {
            Ok(Ok(())) => Ok(()),
            other => Err(serve_result(other)),
        }
    }

    async fn failed_to_serve(self, unanswered: &dyn std::error::Error) -> CommandError {
        let serves = !self.server.is_finished();
        self.shutdown.cancel();
        let ended = self.server.await;
        self.engine.close().await;
        if !serves {
            return serve_result(ended);
        }
        let url = &self.info.url;
        CommandError::environment(codes::HOST_SILENT, format!("this host cannot be reached at its own address {url}"))
            .because(unanswered)
            .hint("bring the loopback interface up (`ip link set lo up`), and check the firewall; if it timed out, the machine is too busy")
    }
}

/// Refuses to be the host where an agent asks for it: with it, it would be its own judge.
fn no_agent(state: &StateDir) -> Result<(), CommandError> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    match standing(own, &state.runs()) {
        Standing::Within(run) => {
            let message = format!("run {run} is an agent's: it cannot be the host of the jobs that it belongs to");
            Err(CommandError::usage(codes::AGENT, message)
                .hint("an agent calls its own tools, such as `ask_user`, and `helix gates run` in its worktree"))
        }
        Standing::Outside | Standing::Unknown => Ok(()),
    }
}

/// Asks the own server, more than once where the machine is too busy to let it answer in time.
async fn patient_health(client: &Client) -> Result<(), reqwest::Error> {
    for _ in 1..OWN_HEALTH_TRIES {
        match client.health().await {
            Err(error) if error.is_timeout() => tracing::warn!("this machine is very busy: this host is slow to start"),
            answered => return answered,
        }
    }
    client.health().await
}

fn serve_result(result: Result<Result<(), helix_server::ServeError>, tokio::task::JoinError>) -> CommandError {
    let error = CommandError::helix(codes::HOST_SILENT, "the HTTP server ended");
    match result {
        Ok(Ok(())) => error,
        Ok(Err(source)) => error.because(&source),
        Err(source) => error.because(&source),
    }
}

/// The models that an agent can be asked for: those that it names, and its own.
fn offered_models(agent: &AgentProfile) -> Vec<String> {
    let own = agent.default_model.iter().filter(|own| !agent.models.contains(own));
    own.chain(&agent.models).cloned().collect()
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> CommandError {
    let cannot = || format!("cannot listen on {address}");
    let shown = match Errno::from_io_error(error) {
        Some(Errno::ADDRINUSE) => {
            CommandError::usage(codes::PORT_TAKEN, format!("another program listens on {address}")).hint(
                "choose another port with --listen, or `[server] listen` in helix.toml; 127.0.0.1:0 chooses a free one",
            )
        }
        Some(Errno::MFILE | Errno::NFILE) => {
            CommandError::environment(codes::CANNOT_LISTEN, cannot()).hint(RAISE_OPEN_FILES)
        }
        Some(_) | None => CommandError::usage(codes::CANNOT_LISTEN, cannot())
            .hint("choose an address of this machine with --listen; ports below 1024 need privileges"),
    };
    shown.because(error)
}
