//! The HTTP server: the Consultant's OpenAI-compatible API, the jobs API with its event streams, and Helix's tools over MCP.
//!
//! Must not know SQL, processes or agents: it translates calls of [`helix_engine::Engine`] into wire formats.

pub mod config;
pub mod openai;

mod api;
mod body;
mod connection;
mod digest;
mod gateway;
mod guard;
mod host_check;
mod job_links;
mod linked_files;
mod listen;
mod mcp;
mod mcp_stdio;
mod openapi;
mod principal;
mod problem;
mod profile;
mod rate_limit;
mod route;
mod routes;
mod sse;
mod state;
pub mod wire;

pub use config::{BackgroundTasks, Disconnect, ServerConfig};
pub use gateway::serve_gateway;
pub use listen::{ServeError, local_url, serve, tools_url};
pub use mcp_stdio::{StdioError, ToolForwarder, serve_mcp_stdio};
pub use openai::NewsKey;
pub use profile::Profile;
pub use routes::openapi_document;
