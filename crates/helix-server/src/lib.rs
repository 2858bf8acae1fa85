//! The HTTP server: the Consultant's OpenAI-compatible API, the jobs API with its event streams, and Helix's tools over MCP.
//!
//! Must not know SQL, processes or agents: it translates calls of [`helix_engine::Engine`] into wire formats.

pub mod config;
pub mod openai;

mod api;
mod auth;
mod body;
mod host_check;
mod listen;
mod mcp;
mod mcp_stdio;
mod openapi;
mod problem;
mod rate_limit;
mod routes;
mod shared;
mod sse;
pub mod wire;

pub use config::{BackgroundTasks, Disconnect, ServerConfig};
pub use listen::{ServeError, serve, tools_endpoint};
pub use mcp_stdio::{StdioError, ToolForwarder, serve_mcp_stdio};
pub use openapi::document as openapi_document;
