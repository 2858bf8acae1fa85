//! The decisions of a project, for programs that watch over it.
//!
//! Must not know how they are asked for; what makes a decision valid is `helix_adr`'s.

use std::path::PathBuf;

use crate::codes;
use crate::engine::Engine;
use crate::submit::{Blame, SubmitError, confine, run_blocking};
use helix_project::adr_files::{AdrDirectory, AdrSummary};

impl Engine {
    /// The decisions in `adr/` of a project, by file name; none where there is no such directory.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] when the project is no directory, lies outside the roots, or cannot be read.
    pub async fn decisions(&self, project: PathBuf) -> Result<Vec<AdrSummary>, SubmitError> {
        let roots = self.inner.config.roots.clone();
        run_blocking(move || {
            confine(&project, &roots)?;
            if !project.is_dir() {
                return Err(SubmitError::Refused {
                    code: codes::NO_REPOSITORY,
                    message: format!("{} is no directory", project.display()),
                    hint: Some("name the directory of a project, as an absolute path".into()),
                    blame: Blame::Request,
                });
            }
            let read = AdrDirectory::open(&project).map_err(|error| SubmitError::Refused {
                code: codes::ADR_MISSING,
                message: format!("the decisions of {} cannot be read: {error}", project.display()),
                hint: Some("check the permissions of its directory adr/".into()),
                blame: Blame::Environment,
            })?;
            Ok(read.summaries())
        })
        .await
    }
}
