//! Configuration: `helix.toml` files, flags, environment and built-in values, put together with where each came from.
//!
//! Must not know what the values are used for.

mod agents;
mod files;
mod inherit;
mod keys;
mod settings;
mod trust;

pub(crate) use files::{BUILT_IN, FILE_NAME, Setting, in_words, project_file, user_directory};
pub(crate) use keys::sample;
pub(crate) use settings::{GLOBAL, Origin, Overrides, Settings, skill_directories, state_dir};
pub(crate) use trust::{ProjectFile, Trust};
