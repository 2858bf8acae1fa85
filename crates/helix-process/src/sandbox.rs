//! The sandbox of all runs: what the machine's owner says of it, and what every run may reach besides what it is for.
//!
//! Must not know what a run is for.

mod places;

use std::path::{Path, PathBuf};

use helix_core::run::{NetworkAccess, SandboxMode};
use helix_core::said::Words;

use crate::invocation::RunRequest;
use crate::keeper::landlock;
use crate::walls::{Limits, Walls};
use places::Places;

/// What the machine's owner says of the walls of all runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub mode: SandboxMode,
    /// The network of runs of which nobody says anything else.
    pub network: NetworkAccess,
    /// What every run may change besides.
    pub writable: Vec<PathBuf>,
    /// What every run may read besides.
    pub readable: Vec<PathBuf>,
    /// What no run may see, whatever else is open: a file that nobody may read, a directory that is empty.
    pub hidden: Vec<PathBuf>,
    pub limits: Limits,
    /// Whether agents have the keys of their providers themselves.
    pub agent_keys: bool,
}

impl Sandbox {
    /// The whole walls of a run of which the caller has named its own part: the system, toolchains and caches added, and nothing of
    /// the state directory but what the caller named below it. Looks at the disk.
    pub(crate) fn around(&self, request: &RunRequest, state: &Path, keeper: &Path) -> Option<Walls> {
        let own = request.walls.as_ref().filter(|_| self.mode != SandboxMode::Off)?;
        let closed: Vec<PathBuf> = self.hidden.iter().chain(&own.closed).cloned().collect();
        let places = Places::new(&request.invocation, &own.writable, state, &closed);
        let (mut writable, mut readable) = (places.caches(), places.system());
        writable.extend(own.writable.iter().chain(&self.writable).flat_map(|path| places.resolved(path)));
        readable.extend(places.toolchains());
        let keeper = [keeper.to_owned()];
        let made_at = own.prepared.iter().map(|prepared| &prepared.made_at);
        let named = own.readable.iter().chain(&self.readable).chain(&keeper).chain(made_at);
        readable.extend(named.flat_map(|path| places.resolved(path)));
        let writable = places::outermost(writable, &[]);
        let readable = places::outermost(readable, &writable);
        let required = self.mode == SandboxMode::Required;
        let limits = Some(own.limits.unwrap_or(self.limits));
        let hidden = self.hidden.iter().filter_map(|path| path.canonicalize().ok());
        // What lies in the state directory could be named there, and have its rights taken away.
        let empty = [state.to_owned()].into_iter().chain(hidden.filter(|path| path.is_dir())).collect();
        let mut gateway = own.gateway.clone();
        if let Some(gateway) = gateway.as_mut().filter(|_| self.agent_keys) {
            gateway.keys.clear();
        }
        // What is open has been named: nothing is left to be closed.
        let (network, prepared, closed) = (own.network.clone(), own.prepared.clone(), Vec::new());
        Some(Walls { required, writable, readable, closed, empty, network, limits, gateway, prepared })
    }

    /// Whether runs get walls around files and signals on this machine.
    pub fn holds(&self) -> bool {
        self.mode != SandboxMode::Off && landlock::version().missing_for_all().is_none()
    }

    /// Why runs that need the walls cannot be started on this machine; `None` where they can, or need not.
    pub fn obstacle(&self) -> Option<Words> {
        (self.mode == SandboxMode::Required).then(|| landlock::version().missing_for_all()).flatten()
    }
}
