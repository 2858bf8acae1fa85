//! The OpenAI-compatible API, through which chat clients talk with the Consultant.
//!
//! Must not know the jobs API. Parsing and encoding are pure; `call`, `streaming` and `turn_stream` connect them to the engine.

mod blocks;
mod call;
mod chat_wire;
mod error;
mod field;
mod files;
mod items;
mod link_forms;
mod link_scan;
mod links;
mod marks;
mod models;
mod news;
mod open_text;
mod presenter;
mod request;
mod responses_wire;
mod status_line;
mod streaming;
mod task;
mod tool_name;
mod turn_request;
mod turn_stream;
mod unsupported;
mod wanted;

pub(crate) use call::{create, stored};
pub(crate) use chat_wire::ChatWire;
pub(crate) use error::{ApiError, is_openai, refusal};
pub use error::{ErrorBody, ErrorEnvelope};
pub(crate) use models::{list, retrieve};
pub use news::NewsKey;
pub(crate) use responses_wire::ResponsesWire;
pub use tool_name::{CALL_EVENT, CallFrame, CallKind, CallState};
