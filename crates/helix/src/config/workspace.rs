//! `[workspace]`: read for the repository that a job works in, wherever its host was started.
//!
//! Must not know what is prepared, nor when.

use std::path::Path;

use helix_core::document::Placed;
use helix_engine::WorkspaceSource;
use helix_workspace::{Service, Workspace};

use super::files::{Files, project_file};
use super::keys;
use super::overrides::{Overrides, state_dir};
use super::trust::Trust;
use crate::environment::Environment;
use crate::error::CommandError;

/// How long a service may take until it is ready where nothing is said.
const READY_SECONDS: u64 = 60;
/// Begins the names of the keys of this section.
const SECTION: &str = "workspace.";

/// What a host reads of the repositories that its jobs work in.
pub(crate) fn workspace_source(environment: &Environment, overrides: &Overrides) -> WorkspaceSource {
    let (environment, overrides) = (environment.clone(), overrides.clone());
    WorkspaceSource::new(move |repository| {
        workspace_of(&environment, &overrides, repository).map_err(|error| match error {
            CommandError::Problem(problem) => {
                let first = problem.diagnostics.first().map(|one| format!(": {}", one.message)).unwrap_or_default();
                (format!("{}{first}", problem.message), problem.hint.clone().unwrap_or_default())
            }
            error @ CommandError::ReaderLeft => (error.in_one_line(), String::new()),
        })
    })
}

/// How work places of a repository are prepared.
///
/// # Errors
/// A file that cannot be read, has errors, or says more of this than the user trusts.
pub(crate) fn workspace_of(
    environment: &Environment,
    overrides: &Overrides,
    repository: &Path,
) -> Result<Workspace, CommandError> {
    let mut there = environment.clone();
    there.directory = repository.to_owned();
    let state = state_dir(environment, overrides)?.value;
    let trust = Trust::new(environment, &state);
    let given = overrides.config.as_ref().map(|path| environment.directory.join(path));
    // Of a project that says nothing here nothing is asked; its other keys count where a host is started.
    let project = project_file(&there, None)?.filter(|_| given.is_none());
    let says = project.is_some_and(|project| project.keys.iter().any(|key| key.name.starts_with(SECTION)));
    let files = Files::read(&there, given.as_deref(), &trust, says)?;
    let (_, file) = files.merged();
    let written = file.workspace.map(|written| written.value).unwrap_or_default();
    Ok(workspace(repository, written))
}

fn workspace(repository: &Path, written: keys::Workspace) -> Workspace {
    let built_in = Workspace::of_work_tree(repository);
    let keys::Workspace { setup, copy, link, cache, env, services, timeout, .. } = written;
    let list = |written: Option<Placed<Vec<Placed<String>>>>| -> Vec<String> {
        written.into_iter().flat_map(|list| list.value).map(|one| one.value).collect()
    };
    let env = env.into_iter().flat_map(|env| env.value).map(|(name, value)| (name.value, value.value));
    let services = services.into_iter().flat_map(|services| services.value).filter_map(|(name, written)| {
        let keys::Service { command, ready, port, timeout, .. } = written.value;
        let timeout_seconds = timeout.map_or(READY_SECONDS, |time| time.value.as_secs().max(1));
        let (ready, port) = (ready.map(|ready| ready.value), port.map(|port| port.value));
        Some((name.value, Service { command: command?.value, ready, port, timeout_seconds }))
    });
    Workspace {
        repository: built_in.repository,
        setup: list(setup),
        copy: list(copy),
        link: list(link),
        cache: list(cache),
        env: env.collect(),
        services: services.collect(),
        timeout_seconds: timeout.map_or(built_in.timeout_seconds, |time| time.value.as_secs().max(1)),
    }
}

#[cfg(test)]
#[path = "workspace_test.rs"]
mod tests;
