//! What is asked of an agent besides the prompt, from the host to the program that speaks with the agent.
//!
//! Must not be an argument: it may hold tokens of tool servers.

use std::path::PathBuf;

use agent_client_protocol_schema::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio, NewSessionRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::permission::Permissions;
use crate::profile::{AgentAsk, McpPlace};

/// The variable that names the file.
pub(super) const ASK_VARIABLE: &str = "HELIX_ACP_ASK";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) session: NewSessionRequest,
    pub(super) model: Option<String>,
    pub(super) may: Permissions,
    /// What puts a call to a person.
    pub(super) ask_person: Option<Vec<String>>,
}

impl Ask {
    pub(super) fn new(ask: &AgentAsk, model: Option<&str>, ask_person: Option<Vec<String>>) -> Self {
        let session = NewSessionRequest::new(ask.cwd.clone()).mcp_servers(ask.mcp.iter().map(server).collect());
        let may = Permissions::new(&ask.tools, &ask.cwd, ask_person.is_some())
            .with_servers(ask.mcp.iter().map(|server| server.name.clone()).collect());
        Self { session, model: model.map(str::to_owned), may, ask_person }
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

/// The tool servers of a run as what puts a call to a person reads them.
pub(super) fn servers(ask: &AgentAsk) -> Vec<u8> {
    let entry = |server: &crate::profile::McpServer| match &server.at {
        McpPlace::Http { url, headers } => Some((server.name.clone(), json!({ "url": url, "headers": headers }))),
        McpPlace::Program { .. } => None,
    };
    let servers: Map<String, Value> = ask.mcp.iter().filter_map(entry).collect();
    json!({ "mcpServers": servers }).to_string().into_bytes()
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
