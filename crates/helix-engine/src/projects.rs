//! The projects of a host: plans are inspected in them before they become jobs, and their decisions are listed.
//!
//! Must not change anything; what makes a decision or a plan valid is `helix_adr`'s and `helix_plan`'s.

use async_recursion::async_recursion as boxed;
use std::path::PathBuf;
use std::sync::Arc;

use helix_git::GitEnvironment;
use helix_project::adr_files::{AdrDirectory, AdrSummary};

use crate::codes;
use crate::config::EngineConfig;
use crate::probes::Probes;
use crate::submit::{Blame, Inspection, Inspector, Site, SubmitError, SubmitRequest, confine, run_blocking};

/// The projects of a host.
pub struct Projects {
    pub(crate) config: Arc<EngineConfig>,
    pub(crate) git: GitEnvironment,
    probes: Probes,
}

impl Projects {
    pub(crate) fn new(config: Arc<EngineConfig>, git: GitEnvironment) -> Self {
        Self { config, git, probes: Probes::default() }
    }

    /// The directories below which projects must lie; none where there is no outside.
    pub fn roots(&self) -> &[PathBuf] {
        &self.config.roots
    }

    /// Finds everything that is wrong with a request. Its paths must lie under these roots; with none there is no outside.
    ///
    /// # Errors
    /// There is no such plan, or it lies where it must not be read.
    pub(crate) async fn inspect(
        &self,
        request: &SubmitRequest,
        site: &Site,
        roots: &[PathBuf],
    ) -> Result<Inspection, SubmitError> {
        Inspector { config: &self.config, git: self.git.clone(), probes: &self.probes, roots }
            .inspect(request, site)
            .await
    }

    /// The decisions in `adr/` of a project, by file name; none where there is no such directory.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] when the project is no directory, lies outside the roots, or cannot be read.
    #[boxed]
    pub async fn decisions(&self, project: PathBuf) -> Result<Vec<AdrSummary>, SubmitError> {
        let roots = self.config.roots.clone();
        run_blocking(move || {
            confine(&project, &roots)?;
            if !project.is_dir() {
                let message = format!("{} is not a directory", project.display());
                let hint = "name the directory of a project, as an absolute path";
                return Err(SubmitError::refused(codes::NO_REPOSITORY, Blame::Request, message, hint));
            }
            let read = AdrDirectory::open(&project).map_err(|error| {
                let message = format!("the decisions of {} cannot be read: {error}", project.display());
                let hint = "check the permissions of its directory adr/";
                SubmitError::refused(codes::ADR_MISSING, Blame::Environment, message, hint)
            })?;
            Ok(read.summaries())
        })
        .await
    }
}
