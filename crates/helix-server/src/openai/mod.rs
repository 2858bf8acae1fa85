//! The OpenAI-compatible API: what chat clients speak with the Consultant.
//!
//! `request`, `conversation`, `task` and `encoder` are pure and know no HTTP server; `completions` joins them to the engine.

mod abandoned;
mod address;
mod asking;
mod chunk;
mod completions;
mod conversation;
mod encoder;
mod error;
mod files;
mod items;
mod marks;
mod models;
mod profile;
mod request;
mod responses;
mod session_key;
mod status_line;
mod streaming;
mod task;
mod tool_name;
mod turn;
mod unsupported;
mod whole;

pub(crate) use abandoned::Abandoned;
pub(crate) use completions::create;
pub use encoder::{Encoder, StreamOptions};
pub(crate) use error::ApiError;
pub use error::{ErrorBody, ErrorEnvelope};
pub(crate) use models::{ModelList, ModelObject, list, retrieve};
pub use profile::{Profile, ToolDisplay};
pub(crate) use responses::{ResponseObject, create as create_response, retrieve as retrieve_response};
pub(crate) use whole::Completion;
