//! Makes a job of a request that was inspected: its first event in the journal, its agents kept, its loop started.
//!
//! Must not know what is wrong with a request; `submit` finds that.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use helix_core::ids::JobId;
use helix_job::{JobEvent, JobState, JobView, Recorded};
use helix_store::{NewEvent, NewJob, Pending, Submitted};
use jiff::Timestamp;

use super::Jobs;
use crate::failures::Depth;
use crate::job::{Configured, keep_configured};
use crate::submit::{
    Checked, Inspection, Site, Submission, SubmitError, SubmitRequest, check_same, defect, journal_refusal,
    run_blocking,
};

impl Jobs {
    /// Checks a plan and its environment and starts the job.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was changed.
    pub fn submit(self: &Arc<Self>, request: SubmitRequest) -> Pending<'_, Submission, SubmitError> {
        Box::pin(self.accept(request))
    }

    async fn accept(self: &Arc<Self>, request: SubmitRequest) -> Result<Submission, SubmitError> {
        let journal = self.services.journal();
        if let Some(key) = request.idempotency_key.clone() {
            let known = journal.job_by_key(key).await.map_err(|error| journal_refusal(&error))?;
            if let Some(job) = known {
                return repeated(request, job, Vec::new()).await;
            }
        }
        let roots = if request.is_confined { &[][..] } else { &self.config.roots };
        let inspected = self.projects.inspect(&request, &Site::Repository, roots).await;
        let inspected = inspected.and_then(Inspection::accepted);
        self.remember(&inspected).await;
        let Checked { spec, workspace, warnings } = inspected?;
        let now = Timestamp::now();
        let random = uuid::Uuid::now_v7().as_u64_pair().1;
        let id = JobId::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), random);
        let event = JobEvent::JobSubmitted { spec: Box::new(spec) };
        let new = NewEvent::of(now, &event).map_err(|error| journal_refusal(&error))?;
        let state = JobState::New.apply(&Recorded { number: 1, at: now, event });
        let state = state.map_err(|error| defect(helix_core::error_chain(&error)))?;
        let view = JobView::project(&id, &state).ok_or_else(|| defect("a submitted job has no view".into()))?;
        let idempotency_key = request.idempotency_key.clone();
        let job = NewJob { idempotency_key, events: vec![new], view: Box::new(view.clone()) };
        // How its agents are configured is kept before anybody knows of the job.
        let (root, job_id) = (self.services.state.root().to_path_buf(), id.clone());
        let configured = Configured { agents: self.config.agents.clone(), workspace };
        run_blocking(move || keep_configured(&root, &job_id, &configured).map_err(|error| journal_refusal(&error)))
            .await?;
        self.services.writer.crash.pass(|| "before a submission".into());
        match journal.submit(job).await.map_err(|error| journal_refusal(&error))? {
            Submitted::Created(_) => {
                self.services.writer.crash.pass(|| "after a submission".into());
                self.start_loop(id, state, HashMap::new());
                Ok(Submission { job: view, existed: false, warnings })
            }
            Submitted::Existing(other) => {
                let job = self.get(other.as_str()).await.map_err(|error| journal_refusal(&error))?;
                repeated(request, job, warnings).await
            }
        }
    }

    /// Has it remembered that a plan was refused or accepted.
    async fn remember(&self, checked: &Result<Checked, SubmitError>) {
        let (path, project, diagnostics) = match checked {
            Ok(checked) => (&checked.spec.plan_path, Some(Path::new(&checked.spec.repo.path)), [].as_slice()),
            Err(SubmitError::Plan { file, diagnostics, .. }) => (file, None, diagnostics.as_slice()),
            Err(SubmitError::Refused { .. }) => return,
        };
        self.effects.shared.failures.document_checked(Path::new(path), project, Depth::Submission, diagnostics).await;
    }
}

/// The job that the request's key has started.
async fn repeated(
    request: SubmitRequest,
    job: JobView,
    warnings: Vec<helix_core::diagnostic::Diagnostic>,
) -> Result<Submission, SubmitError> {
    run_blocking(move || {
        check_same(&request, &job)?;
        Ok(Submission { job, existed: true, warnings })
    })
    .await
}
