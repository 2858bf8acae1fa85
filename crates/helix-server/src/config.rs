//! The server's settings, which `helix` fills in from `helix.toml` and flags.
//!
//! Must not know files or formats of configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;

use crate::profile::Profile;

/// Settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The owner's token, which opens everything over TCP. `None` asks nobody for one, and is only accepted on a loopback address.
    pub token: Option<String>,
    /// Where the terminal connects; the kernel says who does. `None`: nowhere.
    pub socket: Option<Arc<UnixListener>>,
    /// Allowed host names besides the loopback ones, without a port.
    pub allowed_hosts: Vec<String>,
    /// Origins (`scheme://host[:port]`) whose pages may call the server, besides its own.
    pub allowed_origins: Vec<String>,
    /// Address of this server in the users' browsers (`scheme://host[:port]`); `None`: the one that the chat client uses.
    pub public_url: Option<String>,
    /// Models that are offered as `helix:<model>`, by the agent's names.
    pub models: Vec<String>,
    /// Largest body of a chat request in bytes. Chat clients send every image of a conversation again with each turn.
    pub body_limit: usize,
    /// Pause after which a silent stream sends a comment.
    pub heartbeat: Duration,
    /// Time limit for the head of a request.
    pub header_timeout: Duration,
    /// What happens to a turn whose client disconnects.
    pub disconnect: Disconnect,
    /// Requests to the OpenAI-compatible API that a key may send in a minute; `None`: any number.
    pub rate_limit: Option<u32>,
    /// What all chat clients can show, unless a connection says otherwise; `None`: detected for each.
    pub client: Option<Profile>,
    /// What happens to the background tasks of chat clients.
    pub background_tasks: BackgroundTasks,
    /// File with a [`NewsKey`](crate::NewsKey), which may come and go.
    pub news_key: Option<PathBuf>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            token: None,
            socket: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            public_url: None,
            models: Vec::new(),
            body_limit: 32 * 1024 * 1024,
            heartbeat: Duration::from_secs(5),
            header_timeout: Duration::from_secs(10),
            disconnect: Disconnect::StopAfter(Duration::from_secs(10)),
            rate_limit: Some(600),
            client: None,
            background_tasks: BackgroundTasks::Answer,
            news_key: None,
        }
    }
}

/// What happens to a turn whose client disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disconnect {
    /// It is stopped after this time, or when the conversation gets another message.
    StopAfter(Duration),
    /// It runs to its end; the answer stays in the session.
    Detach,
}

/// What happens to the background tasks of chat clients, such as titles and tags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BackgroundTasks {
    /// They are answered at once, without an agent.
    #[default]
    Answer,
    /// They are refused; the client shows the user's first words as the title, and no tags or follow-ups.
    Refuse,
}
