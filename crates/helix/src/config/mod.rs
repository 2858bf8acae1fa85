//! Configuration: `helix.toml` files, flags, environment and built-in values, put together with where each came from.
//!
//! Must not know what the values are used for.

mod document;
mod files;
mod layer;
mod settings;

pub(crate) use files::FILE_NAME;
pub(crate) use settings::{Overrides, Settings};
