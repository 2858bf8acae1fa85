//! All jobs of a host: submitted, read, followed, stopped, taken up again, and asked about by people.
//!
//! Must not know how a job is carried out; each has its own loop for that.

mod figures;
mod pages;
mod questions;
mod recovery;
mod reopen;
mod revert;
mod status_file;
mod submission;

use async_recursion::async_recursion as boxed;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use helix_core::agent_event::AgentEvent;
use helix_core::finding::Fault;
use helix_core::ids::{JobId, RunId};
use helix_git::Workspaces;
use helix_job::{JobEvent, JobSpec, JobState, JobView, Person, Recorded};
use helix_store::{Follower, JobFilter, JobPage, MAX_ROWS_PER_PAGE, Stream};
use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc};

pub use figures::Figures;

pub use crate::admission::Places;
pub use questions::{AnswerError, QuestionFilter};
pub use reopen::{Again, ReopenRequest, RollbackRequest};

use crate::activity::Activity;
use crate::admission::{Owner, Permit};
use crate::agent_run::{Listener, RunError};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::event_log::JobLog;
use crate::job::{EffectRunner, JobHandle, JobLoop, LoopEnd};
use crate::job_record;
use crate::mutex::lock;
use crate::projects::Projects;
use crate::services::Services;

/// Events between a follower of the journal and its reader.
const FOLLOW_BUFFER: usize = 64;

/// All jobs of a host.
pub struct Jobs {
    services: Arc<Services>,
    config: Arc<EngineConfig>,
    projects: Arc<Projects>,
    effects: EffectRunner,
    running: Mutex<HashMap<JobId, JobHandle>>,
    /// One job at a time is taken up again: two that resume the same one would both write its next event.
    reopening: tokio::sync::Mutex<()>,
    /// Notified when the loop of a job has ended and cleaned up.
    settled: tokio::sync::Notify,
}

/// Whether to wait for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    UntilEnd,
    Now,
}

impl Jobs {
    pub(crate) fn new(
        services: Arc<Services>,
        config: Arc<EngineConfig>,
        projects: Arc<Projects>,
        effects: EffectRunner,
    ) -> Self {
        Self {
            services,
            config,
            projects,
            effects,
            running: Mutex::default(),
            reopening: tokio::sync::Mutex::default(),
            settled: tokio::sync::Notify::new(),
        }
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn list(&self, filter: JobFilter) -> Result<JobPage, EngineError> {
        let (mut all, mut cursor) = (JobPage::default(), None);
        loop {
            let page = self.page(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await?;
            all.jobs.extend(page.jobs);
            all.unreadable.extend(page.unreadable);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(all);
            }
        }
    }

    /// Some jobs, newest first: at most `limit` (and never more than 500) of those that are older than `after`.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn page(&self, filter: JobFilter, after: Option<JobId>, limit: usize) -> Result<JobPage, EngineError> {
        let page = self.services.journal().list_jobs(filter, after, limit).await?;
        Ok(JobPage { jobs: page.jobs.into_iter().map(|view| self.live(view)).collect(), ..page })
    }

    /// A job by its id or a unique prefix of it.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Ambiguous`], [`EngineError::Journal`].
    #[boxed]
    pub async fn get(&self, id: &str) -> Result<JobView, EngineError> {
        Ok(self.live(job_record::view(self.services.journal().as_ref(), id).await?))
    }

    /// The job that a key has started.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub(crate) async fn by_key(&self, key: &str) -> Result<Option<JobView>, EngineError> {
        Ok(self.services.journal().job_by_key(key.to_owned()).await?)
    }

    /// A job with what it waits for at this moment and what keeps it from being recorded: neither is anywhere in its record.
    fn live(&self, mut view: JobView) -> JobView {
        if view.status.is_final() {
            return view;
        }
        if view.error.is_none() {
            view.error = self.handle(&view.id).and_then(|handle| handle.blocked.now());
        }
        view = view.at(Timestamp::now());
        let owner = Owner::Job(view.id.clone());
        let mut waits = self.services.runner.admission().waiting_of(&owner);
        waits.extend(self.effects.shared.gate_places.waiting_of(&owner));
        let waits = waits.into_iter().filter_map(|(phase, wait)| Some((phase?, wait)));
        let for_targets = self.effects.waits_of(&view.id);
        view.with_waits(waits.chain(for_targets))
    }

    /// The way into the loop of a job that this host carries out.
    pub(crate) fn handle(&self, job: &JobId) -> Option<JobHandle> {
        lock(&self.running).get(job).cloned()
    }

    /// The worktrees of a job's repository, as it is at its path now.
    pub(crate) async fn workspaces(&self, spec: &JobSpec) -> Result<Workspaces, Fault> {
        self.effects.workspaces(spec).await
    }

    /// Asks a job to stop; returns once the request is durable.
    ///
    /// # Errors
    /// [`EngineError::Over`] when it has already ended, [`EngineError::Refused`] when this host cannot carry it on, and as for
    /// [`Jobs::get`].
    #[boxed]
    pub async fn cancel(&self, id: &JobId, by: &Person) -> Result<JobView, EngineError> {
        let view = self.get(id.as_str()).await?;
        let handle = self.handle(id);
        if let Some(broken) = handle.as_ref().and_then(JobHandle::broken) {
            return Err(EngineError::refused(broken.line()));
        }
        let asked = match handle {
            Some(handle) if !view.status.is_final() => handle.cancel(by).await,
            Some(_) | None => false,
        };
        let view = self.get(id.as_str()).await?;
        let status = view.status.word().to_owned();
        match asked {
            true => Ok(view),
            false if view.status.is_final() => Err(EngineError::Over { id: id.clone(), status }),
            // Its record contradicts itself, which was logged.
            false => Err(EngineError::refused(format!(
                "job {id} is {status}, but this host does not carry it on: see the host's log"
            ))),
        }
    }

    /// Starts the loop of a job whose first event is in the journal; `places` are those of its agents that are at work already.
    fn start_loop(self: &Arc<Self>, id: JobId, state: JobState, places: HashMap<String, Permit>) {
        let Services { writer, tasks, closing, .. } = self.services.as_ref();
        let log = JobLog::new(id.clone(), state, writer.clone());
        let (job_loop, handle) = JobLoop::new(log, self.effects.clone(), places, closing.clone(), writer.crash.clone());
        lock(&self.running).insert(id.clone(), handle);
        let jobs = Arc::clone(self);
        tasks.spawn(Arc::clone(self).keep_status_file(id.clone()));
        tasks.spawn(async move {
            match job_loop.run().await {
                LoopEnd::Settled => drop(lock(&jobs.running).remove(&id)),
                // Its handle says why it does not go on, to anyone who looks at it or wants something of it.
                LoopEnd::Broken => jobs.effects.leave_alone(&id),
            }
            jobs.settled.notify_waiters();
        });
    }

    /// Events of a job after a number, first those that are there, then new ones as they are written. The stream ends
    /// after the job's last event. Any number of readers; none misses an event.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    #[boxed]
    pub async fn events(
        &self,
        id: &JobId,
        after: u64,
    ) -> Result<mpsc::Receiver<Result<Recorded<JobEvent>, EngineError>>, EngineError> {
        let view = self.get(id.as_str()).await?;
        let (sender, receiver) = mpsc::channel(FOLLOW_BUFFER);
        if view.status.is_final() && after >= view.last_event {
            return Ok(receiver);
        }
        let (journal, stream) = (Arc::clone(self.services.journal()), Stream::Job(id.clone()));
        let id = id.clone();
        let closing = self.services.closing.clone();
        self.services.tasks.spawn(async move {
            let mut follower = Follower::new(journal.as_ref(), stream, after);
            loop {
                let next = tokio::select! {
                    next = follower.next() => next,
                    () = sender.closed() => return,
                    () = closing.cancelled() => return,
                };
                let event = match next {
                    Ok(Some(stored)) => stored.decode::<JobEvent>().map_err(EngineError::journal),
                    Ok(None) => return,
                    Err(error) => Err(error.into()),
                };
                let last = match &event {
                    Err(_) => true,
                    // A job that was resumed, rolled back or reverted has events after its end.
                    Ok(Recorded { number, event: JobEvent::JobFinished { .. } | JobEvent::Reverted(_), .. }) => {
                        let view = journal.job(id.to_string()).await.ok().flatten();
                        view.is_none_or(|view| view.last_event <= *number)
                    }
                    Ok(_) => false,
                };
                if sender.send(event).await.is_err() || last {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    /// What agents do in jobs, as it happens (of all jobs). A reader that is too slow misses some.
    pub fn activity(&self) -> broadcast::Receiver<Activity> {
        self.effects.shared.activity.subscribe()
    }

    /// The events of a run, from its first; ends when the run has ended (`follow`) or at what is there now.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Environment`].
    #[boxed]
    pub async fn run_events(&self, run: &RunId, follow: Follow) -> Result<mpsc::Receiver<AgentEvent>, EngineError> {
        let Services { runner, tasks, closing, .. } = self.services.as_ref();
        if !runner.supervisor().knows(run).unwrap_or(false) {
            return Err(EngineError::not_found("run", run));
        }
        let (sender, receiver) = mpsc::channel(FOLLOW_BUFFER);
        let (runner, run, closing) = (runner.clone(), run.clone(), closing.clone());
        tasks.spawn(async move {
            let mut listener = ChannelListener { sender: sender.clone() };
            let read = async {
                match follow {
                    Follow::UntilEnd => runner.follow(&run, &mut listener).await.map(|_| ()),
                    Follow::Now => runner.replay(&run, &mut listener).await,
                }
            };
            let result = tokio::select! {
                result = read => result,
                () = sender.closed() => Ok(()),
                () = closing.cancelled() => Err(RunError::Closing),
            };
            if let Err(error) = result {
                tracing::warn!(%run, %error, "a run's record cannot be read to its end");
            }
        });
        Ok(receiver)
    }

    /// The directory of a run's record.
    pub(crate) fn run_dir(&self, run: &RunId) -> PathBuf {
        self.services.runner.run_dir(run)
    }
}

struct ChannelListener {
    sender: mpsc::Sender<AgentEvent>,
}

impl Listener for ChannelListener {
    async fn hear(&mut self, event: AgentEvent) {
        // A reader that has gone ends the whole task by `closed`.
        drop(self.sender.send(event).await);
    }
}
