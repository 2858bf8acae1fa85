//! The OpenAI-compatible API, through which chat clients talk with the Consultant.
//!
//! Must not know the jobs API. Parsing and encoding are pure; `call`, `streaming` and `turn_stream` connect them to the engine.

mod call;
mod chat_wire;
mod chunk;
mod error;
mod files;
mod items;
mod marks;
mod models;
mod presenter;
mod profile;
mod request;
mod responses;
mod status_line;
mod streaming;
mod task;
mod tool_name;
mod turn_request;
mod turn_stream;
mod unsupported;
mod whole;

pub(crate) use call::create;
pub(crate) use chat_wire::ChatWire;
pub(crate) use error::ApiError;
pub use error::{ErrorBody, ErrorEnvelope};
pub(crate) use models::{ModelList, ModelObject, list, retrieve};
pub use profile::{Profile, ToolDisplay};
pub(crate) use responses::{ResponseObject, ResponsesWire, retrieve as retrieve_response};
pub(crate) use whole::Completion;
