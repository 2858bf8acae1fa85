//! The OpenAI-compatible API: what chat clients speak with the Consultant.
//!
//! `request`, `conversation`, `task` and `encoder` are pure and know no HTTP server; `completions` joins them to the engine.

mod abandoned;
mod chunk;
mod completions;
mod conversation;
mod encoder;
mod error;
mod items;
mod marks;
mod models;
mod profile;
mod request;
mod session_key;
mod task;
mod turn;
mod whole;

pub(crate) use abandoned::Abandoned;
pub(crate) use completions::create;
pub use encoder::{Encoder, StreamOptions};
pub(crate) use error::ApiError;
pub(crate) use models::{ModelList, ModelObject, list, retrieve};
pub use profile::{Profile, ToolDisplay};
pub(crate) use {error::ErrorEnvelope, whole::Completion};
