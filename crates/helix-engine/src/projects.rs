//! The projects of a host: plans are inspected in them before they become jobs, and their decisions are listed.
//!
//! Must not change anything; what makes a decision or a plan valid is `helix_adr`'s and `helix_plan`'s.

use async_recursion::async_recursion as boxed;
use std::path::PathBuf;

use helix_project::adr_files::{AdrDirectory, AdrFileError, AdrSummary};

use crate::codes;
pub use crate::submit::Projects;
use crate::submit::{Blame, SubmitError, confine, run_blocking};

impl Projects {
    /// The directories below which projects must lie; none where there is no outside.
    pub fn roots(&self) -> &[PathBuf] {
        &self.config.roots
    }

    /// The decisions of a project, where they lie, by file name; none where there is no directory for them.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] when the project is no directory, lies outside the roots, or cannot be read.
    #[boxed]
    pub async fn decisions(&self, project: PathBuf) -> Result<Vec<AdrSummary>, SubmitError> {
        self.read_decisions(project, |read| read.summaries()).await
    }

    /// One of them by its file, with its text; `None` where there is no such decision.
    ///
    /// # Errors
    /// As for [`Projects::decisions`].
    #[boxed]
    pub async fn decision(&self, project: PathBuf, file: String) -> Result<Option<(AdrSummary, String)>, SubmitError> {
        let found = move |read: &AdrDirectory| {
            let adr = read.adrs().iter().find(|adr| adr.file == file)?;
            Some((AdrSummary::from(adr), adr.body().to_owned()))
        };
        self.read_decisions(project, found).await
    }

    async fn read_decisions<T: Send + 'static>(
        &self,
        project: PathBuf,
        of: impl FnOnce(&AdrDirectory) -> T + Send + 'static,
    ) -> Result<T, SubmitError> {
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
                let hint = match &error {
                    AdrFileError::Place { hint, .. } => hint.clone(),
                    _ => "check the permissions of their directory".to_owned(),
                };
                SubmitError::refused(codes::ADR_MISSING, Blame::Environment, message, hint)
            })?;
            Ok(of(&read))
        })
        .await
    }
}
