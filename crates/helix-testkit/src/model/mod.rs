//! A scripted Anthropic Messages endpoint on loopback, so that the real agent CLI can be driven without an account.
//!
//! Must not know Helix: a script sees only requests of the Messages API and answers only with replies of it.

mod choose;
mod fault;
mod request;
mod responses;
mod script;
mod server;
mod stream;
mod template;
mod text_test;

pub use fault::{Fault, FaultKind, Repeat};
pub use request::{RecordedRequest, ToolResult};
pub use responses::{Exchange, ModelAnswer, ScriptedResponses, codex_environment};
pub use script::{AtEnd, LastMessage, Reply, Rule, Scene, Script, ScriptError, ToolCall, ToolResultTest, When};
pub use server::{ScriptedModel, StartError, WaitError};
pub use text_test::{Pattern, TextTest};
