//! Configuration: `helix.toml` files, flags, environment and built-in values, put together with where each came from.
//!
//! Must not know what the values are used for.

mod admission;
mod chat_api;
mod conversations;
mod document;
mod failures;
mod files;
mod layer;
mod roles;
mod settings;

pub(crate) use files::{FILE_NAME, user_directory};
pub(crate) use settings::{Overrides, Settings, skill_directories};
