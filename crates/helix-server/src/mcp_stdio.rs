//! Helix's tools over stdio, for MCP clients that start their servers as programs. Calls are forwarded to the host over HTTP.
//!
//! Must not know how a host is found, nor what the tools do.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult, PaginatedRequestParams,
    ResultType, ServerConfig, Tool,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};

use crate::mcp::{all_tools, server_config};

/// Forwards a call to the host.
pub trait ToolForwarder: Clone + Send + Sync + 'static {
    /// Calls a tool; the answer is the `result` of MCP's `tools/call`.
    ///
    /// # Errors
    /// Why it failed and what to do, for the user.
    fn call(
        &self,
        name: String,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<CallToolResult, String>> + Send;
}

/// Why the connection failed.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client's first message is not MCP.
    #[error("the client does not speak MCP")]
    Initialize(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A task of the connection broke.
    #[error("the connection broke")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Serves the tools on standard input and output until the client closes them.
///
/// # Errors
/// [`StdioError`].
pub async fn serve_mcp_stdio(forwarder: impl ToolForwarder) -> Result<(), StdioError> {
    let running = match (Proxy { forwarder }).serve(stdio_pipes()).await {
        Ok(running) => running,
        // A client that closes the connection before its first message is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Initialize(Box::new(error))),
    };
    match running.waiting().await {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broken(Box::new(error))),
        Ok(other) => Err(StdioError::Broken(format!("it ended with {other:?}").into())),
    }
}

#[derive(Clone)]
struct Proxy<F> {
    forwarder: F,
}

impl<F: ToolForwarder> ServerHandler for Proxy<F> {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(all_tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        all_tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}", request.name), None));
        }
        let called = self.forwarder.call(request.name.into_owned(), request.arguments.unwrap_or_default()).await;
        let mut result = called.map_err(|message| ErrorData::internal_error(message, None))?;
        // The host's answer lacks this field, which older protocol versions imply.
        result.result_type.get_or_insert(ResultType::COMPLETE);
        Ok(result.into())
    }
}
