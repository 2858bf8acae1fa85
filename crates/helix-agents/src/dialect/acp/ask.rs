//! What is asked of an agent besides the prompt, from the host to the program that speaks with the agent.
//!
//! Must not be an argument: it may hold tokens of tool servers.

use std::path::PathBuf;

use agent_client_protocol_schema::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio, NewSessionRequest,
};
use serde::{Deserialize, Serialize};

use super::permission::Permissions;
use crate::profile::{AgentAsk, McpPlace};

/// The variable that names the file.
pub(super) const ASK_VARIABLE: &str = "HELIX_ACP_ASK";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) session: NewSessionRequest,
    pub(super) model: Option<String>,
    pub(super) may: Permissions,
}

impl Ask {
    pub(super) fn new(ask: &AgentAsk, model: Option<&str>) -> Self {
        let session = NewSessionRequest::new(ask.cwd.clone()).mcp_servers(ask.mcp.iter().map(server).collect());
        Self { session, model: model.map(str::to_owned), may: Permissions::new(&ask.tools, &ask.cwd) }
    }

    /// As the file holds it.
    pub(super) fn written(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Whether a tool server is reached over HTTP.
    pub(super) fn needs_http(&self) -> bool {
        self.session.mcp_servers.iter().any(|server| matches!(server, McpServer::Http(_)))
    }
}

fn server(server: &crate::profile::McpServer) -> McpServer {
    match &server.at {
        McpPlace::Http { url, headers } => {
            let headers = headers.iter().map(|(name, value)| HttpHeader::new(name, value)).collect();
            McpServer::Http(McpServerHttp::new(&server.name, url).headers(headers))
        }
        McpPlace::Program { command, args, env } => {
            let env = env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
            let program = McpServerStdio::new(&server.name, PathBuf::from(command)).args(args.clone());
            McpServer::Stdio(program.env(env))
        }
    }
}
