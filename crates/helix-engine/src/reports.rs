//! What is known of jobs and failures, for those who read it: evidence, differences, reports, and the memory of failures.
//!
//! Must not change anything: what is asked about here is neither remembered nor measured.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use helix_failure::memory::FailureDetail;
use helix_failure::report::FailurePlace;
use helix_failure::{FailureObservation, LogSample};
use helix_git::GitEnvironment;
use helix_store::failures::{FailureFilter, FailureMemory, FailurePage, MemoryError};

use crate::error::EngineError;
use crate::evidence::{Archive, EvidenceKey};
use crate::failures::{FailureService, MemoryUse};
use crate::job_record;
use crate::observer::{Explanation, JobReport, job_reports};
use crate::services::Services;

/// What is known of jobs and failures.
pub struct Reports {
    pub(crate) services: Arc<Services>,
    pub(crate) failures: FailureService,
    pub(crate) git: GitEnvironment,
}

impl Reports {
    /// What is recorded of jobs: their evidence and what they changed.
    pub fn archive(&self) -> Archive<'_> {
        let journal = self.services.journal().as_ref();
        Archive { journal, state_dir: self.services.state.root(), git: self.git.clone() }
    }

    /// The evidence of a job as a signed bundle for others, which `helix`, this version, makes: the text of a file.
    ///
    /// # Errors
    /// As for [`Archive::statement`], and [`EngineError::Refused`] where it is too large.
    #[boxed]
    pub async fn bundle(&self, job: &str, helix: &str) -> Result<String, EngineError> {
        let stated = self.archive().statement(job, helix).await?;
        let key = helix_store::kept_key(&self.services.state.root().join(EvidenceKey::FILE));
        stated.signed(&EvidenceKey::new(&key.map_err(EngineError::environment)?))
    }

    /// Failures that are remembered, the latest seen first, after a cursor.
    ///
    /// # Errors
    /// [`EngineError::Environment`] when none are remembered here, or the memory fails.
    #[boxed]
    pub async fn failures(
        &self,
        filter: FailureFilter,
        after: Option<String>,
        limit: usize,
    ) -> Result<FailurePage, EngineError> {
        self.memory().await?.list(filter, after, limit).await.map_err(memory_error)
    }

    /// Failures whose texts have all of these words (the last one may be a beginning), best first.
    ///
    /// # Errors
    /// As for [`Reports::failures`].
    #[boxed]
    pub async fn search(&self, words: &str, limit: usize) -> Result<FailurePage, EngineError> {
        let failures = self.memory().await?.search(words.to_owned(), limit).await.map_err(memory_error)?;
        Ok(FailurePage { failures, next: None })
    }

    /// All that is remembered of one failure, by its fingerprint or a beginning of it that no other one has.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Ambiguous`], and as for [`Reports::failures`].
    #[boxed]
    pub async fn failure(&self, id: &str) -> Result<FailureDetail, EngineError> {
        match self.memory().await?.show(id.to_owned()).await {
            Ok(found) => found.ok_or_else(|| EngineError::not_found("failure", id)),
            Err(MemoryError::Ambiguous { prefix, candidates }) => Err(EngineError::Ambiguous { prefix, candidates }),
            Err(error) => Err(memory_error(error)),
        }
    }

    /// What a log amounts to. Nothing of it is remembered.
    ///
    /// # Errors
    /// [`EngineError::Environment`] when there is no classifier.
    #[boxed]
    pub async fn explain(&self, observation: FailureObservation, text: String) -> Result<Explanation, EngineError> {
        // Megabytes take a while, away from the runtime's threads.
        let reading = helix_process::spawn_blocking(move || LogSample::from_texts(&text, ""));
        let log = reading.await.map_err(EngineError::environment)?;
        self.failures.explain(observation, log, FailurePlace::default()).await.ok_or_else(|| EngineError::Environment {
            message: "failures cannot be classified".into(),
            hint: Some("this is a bug in Helix; see the host's log".into()),
        })
    }

    /// The reports of all failures of a job, oldest first; the job by id or unique prefix.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`]. A report that cannot be read says so itself.
    #[boxed]
    pub async fn of_job(&self, id: &str) -> Result<Vec<JobReport>, EngineError> {
        let journal = self.services.journal().as_ref();
        let job = job_record::view(journal, id).await?.id;
        job_reports(journal, self.services.state.root(), &job, &self.failures).await
    }

    async fn memory(&self) -> Result<FailureMemory, EngineError> {
        self.failures.memory().await.ok_or_else(|| match self.failures.memory_use() {
            MemoryUse::Off => EngineError::Environment {
                message: "failures are not remembered: the memory is switched off".into(),
                hint: Some("write `memory = \"on\"` into [failures] of helix.toml, and start the host again".into()),
            },
            MemoryUse::On => EngineError::Environment {
                message: "failures are not remembered: the memory could not be opened".into(),
                hint: Some("run `helix doctor`, and see the host's log".into()),
            },
        })
    }
}

fn memory_error(error: MemoryError) -> EngineError {
    EngineError::Environment { message: helix_core::error_chain(&error), hint: Some(error.hint()) }
}
