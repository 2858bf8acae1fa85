//! Prepared work places: what a repository needs besides its files (`node_modules`, `.venv`, `.env`, a database) is installed, copied and
//! started once, for agents, gates and reviewers alike.
//!
//! Must not know agents, prompts, the journal or what a gate checks.

mod copied;
mod key;
mod reach;
mod service;
mod settings;
mod setup;
mod store;

pub use reach::unreached_registry;
pub use service::{SERVICES, services_main};
pub use settings::{Service, Workspace};
pub use setup::SetupFailure;
pub use store::{Preparations, Wanted, Whole};
