//! What a repository says of its work places (`[workspace]` of `helix.toml`).
//!
//! Must not know where that was read.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Longest set-up where nothing else is said.
const SETUP_SECONDS: u64 = 30 * 60;

/// How work places of a repository are prepared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The user's work tree, from which files are copied; empty where there is none.
    pub repository: PathBuf,
    /// Commands that install what the repository needs, one after the other.
    pub setup: Vec<String>,
    /// Patterns, as in a `.gitignore`, of ignored files in the user's work tree that are copied.
    pub copy: Vec<String>,
    /// Paths in the user's work tree that work places get links to.
    pub link: Vec<String>,
    /// Paths that the set-up fills and that are kept; all that git ignores where none is named.
    pub cache: Vec<String>,
    /// Variables for the set-up, agents, gates and services.
    pub env: BTreeMap<String, String>,
    /// What runs beside agents and gates, by name.
    pub services: BTreeMap<String, Service>,
    /// Longest time of the whole set-up, in seconds.
    pub timeout_seconds: u64,
}

/// A program that runs beside an agent or the command of a gate, as long as that does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    pub command: String,
    /// A command that succeeds as soon as the service can be used. Without it the service is ready when something listens on its port.
    pub ready: Option<String>,
    /// Variable that gets a free port.
    pub port: Option<String>,
    /// Longest time until it is ready, in seconds.
    pub timeout_seconds: u64,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            repository: PathBuf::new(),
            setup: Vec::new(),
            copy: Vec::new(),
            link: Vec::new(),
            cache: Vec::new(),
            env: BTreeMap::new(),
            services: BTreeMap::new(),
            timeout_seconds: SETUP_SECONDS,
        }
    }
}

impl Workspace {
    /// Nothing but the user's work tree.
    pub fn of_work_tree(repository: &Path) -> Self {
        Self { repository: repository.to_owned(), ..Self::default() }
    }

    /// The workspace of checkouts that somebody makes who works in a place with these paths: links to them, and the variables that are
    /// set there.
    #[must_use]
    pub fn seen_from(&self, place: &Path, paths: Vec<String>) -> Self {
        let ports = self.services.values().filter_map(|service| service.port.clone());
        let env = self.env.keys().cloned().chain(ports).map(|name| (name.clone(), format!("${{{name}}}")));
        Self { link: paths, env: env.collect(), ..Self::of_work_tree(place) }
    }
}

/// Whether a path of the configuration is one below the repository's root.
pub(crate) fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"))
}
