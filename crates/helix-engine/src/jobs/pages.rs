//! What pages show of a job besides its view: its plan as it is now, all its events so far, what an agent was told.
//!
//! Must not know how pages look.

use std::io::Read as _;

use async_recursion::async_recursion as boxed;
use helix_core::ids::{JobId, RunId};
use helix_job::{JobEvent, Recorded};
use helix_plan::Phase;
use helix_store::Subscription;

use super::Jobs;
use crate::absent::unless_absent;
use crate::error::EngineError;
use crate::job_record;

/// Most that is shown of what an agent was told, in bytes.
const MOST_PROMPT: u64 = 512 << 10;

impl Jobs {
    /// Tells which jobs and sessions have new events, as [`helix_store::Journal::subscribe`].
    pub fn moves(&self) -> Subscription {
        self.services.journal().subscribe()
    }

    /// The phases of a job as its plan has them now, those that joined it among them.
    ///
    /// # Errors
    /// [`EngineError::Journal`], [`EngineError::Contradiction`].
    #[boxed]
    pub async fn phases(&self, job: &JobId) -> Result<Vec<Phase>, EngineError> {
        let state = job_record::state(self.services.journal().as_ref(), job).await?;
        Ok(state.active().map(|active| active.pairs().map(|(phase, _)| phase.clone()).collect()).unwrap_or_default())
    }

    /// All events of a job so far.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn events_so_far(&self, job: &JobId) -> Result<Vec<Recorded<JobEvent>>, EngineError> {
        let mut events = helix_store::job_events(self.services.journal().as_ref(), job, 0).await?;
        events.iter_mut().for_each(|one| one.event.name_job(job));
        Ok(events)
    }

    /// What the agent of a run was given on its standard input, or the beginning of it; `None` where no run of this name is known.
    ///
    /// # Errors
    /// [`EngineError::Environment`]: it cannot be read.
    #[boxed]
    pub async fn told(&self, run: &RunId) -> Result<Option<String>, EngineError> {
        let file = self.run_dir(run).join("stdin");
        let read = helix_process::spawn_blocking(move || {
            let Some(file) = unless_absent(std::fs::File::open(file))? else { return Ok(None) };
            let mut bytes = Vec::new();
            file.take(MOST_PROMPT).read_to_end(&mut bytes)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        });
        let read: std::io::Result<Option<String>> = read.await.map_err(EngineError::environment)?;
        read.map_err(EngineError::environment)
    }
}
