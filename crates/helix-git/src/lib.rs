//! Work in git: work places for attempts, results as commits, merges, and integration, all through the `git` binary. All but the
//! landing happens in a repository of the host's own, beside the user's.
//!
//! Must not know phases' prompts, agents, gates or the journal. Everything here blocks: async callers use
//! `tokio::task::spawn_blocking`.

mod admissible;
mod attempt;
mod base;
mod batch;
mod clean;
mod disk;
mod environment;
mod error;
mod files;
mod fitting;
mod integrate;
mod leftover;
mod lfs;
mod objects;
mod own;
mod patch;
mod repository;
mod result;
mod revert;
mod runs_itself;
mod settings;
mod snapshot;
mod spawn;
mod submodule;
mod variant;
mod watched;
mod work_copy;
mod workspaces;

pub use admissible::target_of as link_target;
pub use attempt::AttemptKey;
pub use base::{MergeConflict, Merged};
pub use clean::SpentBranch;
pub use environment::GitEnvironment;
pub use error::{GitError, OpenError};
pub use fitting::{Fitting, pattern as ignore_pattern};
pub use integrate::{Integration, IntegrationRequest, Landing, PreparedMerge};
pub use leftover::wait_for_leftovers;
pub use objects::{CommitObject, EntryKind, TreeEntry, TreeListing, escape_path};
pub use patch::Patch;
pub use repository::{Head, OpenWarning, Operation, Repository};
pub use result::{AttemptCommit, CommitText};
pub use revert::{PreparedRevert, Revert, RevertRequest};
pub use settings::Identity;
pub use spawn::{Call, GitOutput};
pub use variant::VariantFile;
pub use work_copy::WorkCopy;
pub use workspaces::{AttemptWorktree, SetAside, Workspaces};
