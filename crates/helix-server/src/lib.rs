//! HTTP: the OpenAI-compatible API of the Consultant, the jobs API with its event streams, and Helix's tools over MCP.
//!
//! Must not know SQL, processes or agents: everything it serves is a call of [`helix_engine::Engine`], put into a wire format.

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
