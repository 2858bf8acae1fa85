//! Calls of Helix's own tools over MCP, as agents make them. Must not know what the tools do.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Client, ClientError, unreadable_answer};
use crate::codes;
use crate::error::CommandError;

/// A tool's answer.
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

/// A JSON-RPC response.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Result(Value),
    Error { message: String },
}

impl ToolResult {
    /// The text for people and agents.
    pub(crate) fn text(&self) -> String {
        self.content.iter().map(|content| content.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

fn refused(message: &str) -> ClientError {
    ClientError::Refused(CommandError::usage(codes::HOST_REFUSED, message).hint("nothing was changed"))
}

impl Client {
    /// Calls a tool for an MCP client whose relative paths start at `directory`, if it has one. The result is MCP's own, also for
    /// a refusal of the tool.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        directory: Option<&Path>,
    ) -> Result<Value, ClientError> {
        #[derive(Deserialize)]
        struct Envelope {
            #[serde(flatten)]
            reply: Reply,
        }
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments },
        });
        let mut request =
            self.request(Method::POST, "/mcp").header("accept", "application/json, text/event-stream").json(&call);
        if let Some(directory) = directory {
            request = request.header("x-helix-directory", directory.as_os_str().as_bytes());
        }
        match self.decode::<Envelope>(request).await?.reply {
            Reply::Result(result) => Ok(result),
            Reply::Error { message } => Err(refused(&message)),
        }
    }

    /// Calls a tool. A refusal of the tool is an error.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn tool(&self, name: &str, arguments: Map<String, Value>) -> Result<ToolResult, ClientError> {
        let result = self.call_tool(name, arguments, None).await?;
        let result: ToolResult =
            serde_json::from_value(result).map_err(|error| ClientError::Refused(unreadable_answer(&error)))?;
        if result.is_error { Err(refused(&result.text())) } else { Ok(result) }
    }
}
