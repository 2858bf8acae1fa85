//! Calls Helix's own tools over MCP, as agents do. Must not know what the tools do.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, ClientError};
use crate::codes;
use crate::error::CommandError;

/// What a tool answers.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolResult {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    /// The same for programs.
    #[serde(default, rename = "structuredContent")]
    pub(crate) data: Value,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Envelope {
    result: Option<ToolResult>,
    error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
struct RpcError {
    message: String,
}

impl ToolResult {
    /// The text for people and agents.
    pub(crate) fn text(&self) -> String {
        self.content.iter().map(|content| content.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Client {
    /// Calls a tool on behalf of an MCP client whose relative paths begin at `directory`; the answer is MCP's own, also a refusal.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: serde_json::Map<String, Value>,
        directory: &Path,
    ) -> Result<Value, ClientError> {
        #[derive(Deserialize)]
        struct Bare {
            result: Option<Value>,
            error: Option<RpcError>,
        }
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments },
        });
        let request = self
            .request(Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("x-helix-directory", directory.as_os_str().as_bytes())
            .json(&call);
        let bare: Bare = self.decode(request).await?;
        match (bare.result, bare.error) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(ClientError::Refused(CommandError::usage(codes::HOST_REFUSED, error.message))),
            (None, None) => Err(ClientError::Refused(CommandError::helix(
                codes::HOST_UNINTELLIGIBLE,
                "the host's answer to a tool call is empty",
            ))),
        }
    }

    /// Calls a tool. A refusal of the tool is an error of the request.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Result<ToolResult, ClientError> {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments },
        });
        let request =
            self.request(Method::POST, "/mcp").header("accept", "application/json, text/event-stream").json(&call);
        let envelope: Envelope = self.decode(request).await?;
        let refused = |message: &str| {
            ClientError::Refused(CommandError::usage(codes::HOST_REFUSED, message).hint("nothing was changed"))
        };
        match (envelope.result, envelope.error) {
            (Some(result), _) if result.is_error => Err(refused(&result.text())),
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(refused(&error.message)),
            (None, None) => Err(ClientError::Refused(CommandError::helix(
                codes::HOST_UNINTELLIGIBLE,
                "the host's answer to a tool call is empty",
            ))),
        }
    }
}
