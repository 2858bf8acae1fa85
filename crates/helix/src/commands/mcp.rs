//! `helix mcp`: Helix's tools on standard input and output, for clients that start their servers as programs.
//!
//! Must not know what the tools do, and is never a host itself: clients end their servers without ceremony, and jobs must go on.

use std::sync::Arc;

use helix_server::wire::CallToolResult;
use helix_server::{ToolForwarder, serve_mcp_stdio};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::client::{Client, ClientError};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::Reading;

pub(crate) fn run(context: &Context) -> Ended {
    if context.terminal.reading == Reading::People && std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        context.terminal.say("helix mcp reads MCP requests from standard input (docs/mcp.md); press Ctrl-D to exit");
    }
    context.settings()?;
    let way = WayToHost { context: Arc::new(context.clone()), client: Arc::default() };
    context.block_on(async {
        let served = serve_mcp_stdio(way).await.map(|()| Exit::Success);
        let hint = "`helix mcp` is for MCP clients: see docs/mcp.md";
        served.map_err(|error| CommandError::wrapping(Exit::Usage, codes::USAGE, &error).hint(hint))
    })
}

/// The host that calls go to: found, or started in the background, when the first one comes, and again when it is gone. One that
/// was started leaves by itself when it has nothing to do.
#[derive(Clone)]
struct WayToHost {
    context: Arc<Context>,
    client: Arc<Mutex<Option<Client>>>,
}

impl WayToHost {
    async fn client(&self) -> Result<Client, CommandError> {
        let mut known = self.client.lock().await;
        if let Some(client) = known.as_ref() {
            return Ok(client.clone());
        }
        Ok(known.insert(self.context.host().await?).clone())
    }

    async fn tool(&self, name: &str, arguments: Map<String, Value>) -> Result<CallToolResult, CommandError> {
        let directory = self.context.environment.directory.as_path();
        let first = self.client().await?.call_tool(name, arguments.clone(), directory).await;
        match first {
            // Nothing has reached the host, so that nothing happens twice.
            Err(ClientError::Gone(error)) if error.is_connect() => {
                *self.client.lock().await = None;
                Ok(self.client().await?.call_tool(name, arguments, directory).await?)
            }
            other => Ok(other?),
        }
    }
}

impl ToolForwarder for WayToHost {
    async fn call(&self, name: String, arguments: Map<String, Value>) -> Result<CallToolResult, String> {
        self.tool(&name, arguments).await.map_err(|error| error.in_one_line())
    }
}
