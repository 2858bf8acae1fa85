//! Configuration: `helix.toml` files, flags, environment and built-in values, put together with where each came from.
//!
//! Must not know what the values are used for.

mod agents;
mod files;
mod inherit;
mod keys;
mod overrides;
mod settings;
mod trust;
mod workspace;

pub(crate) use files::{BUILT_IN, FILE_NAME, Setting, in_words, project_file, user_directory};
pub(crate) use keys::sample;
pub(crate) use overrides::{GLOBAL, Overrides, state_dir};
pub(crate) use settings::{Origin, Settings, skill_directories};
pub(crate) use trust::{ProjectFile, Trust};
pub(crate) use workspace::{workspace_of, workspace_source};
