//! Watches the jobs of a session after an answer, for anyone who still reads it.
//!
//! Must not know any client's form. Watching changes nothing: jobs neither notice it nor end with it.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll};
use helix_core::ids::{JobId, SessionId, TurnId};
use helix_job::phrases::{asks, chat_line, open_questions, outcome, phase_line, standing};
use helix_job::question::{QuestionStatus, QuestionView};
use helix_job::{JobEvent, JobView, PhaseStatus, PhaseView, Recorded};
use helix_language::{Language, say};
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::Sessions;
use crate::error::EngineError;
use crate::jobs::Jobs;

/// Most jobs that are watched at once, the newest of the session.
const MOST_JOBS: usize = 8;
/// Longest time of a watch.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// News that a slow reader may be behind; more are read from the journal when there is room.
const BUFFER: usize = 64;

/// Which part of a session's jobs is watched.
#[derive(Debug, Clone, Copy)]
pub enum Watch {
    /// From the beginning of the turn, for the configured time.
    Answer,
    /// From this time on, until the jobs are over: for a reader who need not wait.
    On(Timestamp),
}

/// What somebody who watches the jobs of a session is told.
#[derive(Debug, Clone, PartialEq)]
pub enum JobNews {
    /// Something happened.
    Progress {
        /// It in one line.
        text: String,
        /// How the phases of all jobs that are watched stand now.
        phases: Vec<PhaseNews>,
    },
    /// A job waits for a person. Nothing follows.
    Asks(Box<QuestionView>),
    /// A job is over. Nothing follows after the last one's.
    Over(Box<JobView>),
    /// Watching ends while jobs go on. Nothing follows.
    GoesOn {
        /// How they stand, in one line.
        text: String,
        /// The jobs, unless the session goes on.
        jobs: Vec<JobView>,
    },
}

/// How a phase stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseNews {
    /// Its name, with what it is doing.
    pub text: String,
    pub status: PhaseStatus,
}

impl JobNews {
    /// It in one line; what has no text yet in this language.
    pub fn line(&self, language: Language) -> String {
        match self {
            Self::Progress { text, .. } | Self::GoesOn { text, .. } => text.clone(),
            Self::Asks(question) => {
                let (job, question) = (&question.job_name, asks(language, question));
                // The rest may be long and in Markdown, and stands in the question itself.
                let first = question.trim().lines().next().unwrap_or_default();
                say!(language, "chat-job-waits", job = job, question = first)
            }
            Self::Over(job) => format!("{} {}", job.name, outcome(language, job)),
        }
    }
}

impl Sessions {
    /// Watches the jobs of a session after one of its answers, told in this language: until all are over, one waits for a person, the time of the
    /// watch has passed, or the session goes on. `None` where there is nothing to watch. Dropping the receiver stops
    /// watching, nothing else.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    #[boxed]
    pub async fn follow_jobs(
        &self,
        session: &SessionId,
        turn: &TurnId,
        language: Language,
        watch: Watch,
    ) -> Result<Option<mpsc::Receiver<JobNews>>, EngineError> {
        let limit = match watch {
            Watch::Answer => self.config.follow_jobs,
            Watch::On(_) => LONGEST,
        };
        let view = self.get(session).await?;
        if limit.is_zero() || view.jobs.is_empty() || view.latest.as_ref() != Some(turn) {
            return Ok(None);
        }
        // A question may have come when nobody watched any more: it is shown with the next answer, too.
        let (began, before) = match watch {
            Watch::Answer => {
                let turn = self.turn(turn).await?;
                let parent = match &turn.parent {
                    Some(parent) => self.turn(parent).await.ok(),
                    None => None,
                };
                (turn.started_at, parent.map_or(turn.started_at, |parent| parent.started_at))
            }
            Watch::On(since) => (since, since),
        };
        let jobs = self.known(&view.jobs[view.jobs.len().saturating_sub(MOST_JOBS)..]).await?;
        let turns = self.consultant.open_turns(view);
        if *turns.borrow() > 0 {
            return Ok(None);
        }
        let mut first = Vec::new();
        // The agent may have ended its turn without knowing of what came meanwhile.
        let over = jobs.iter().filter(|job| job.completed_at.is_some_and(|end| end > began));
        first.extend(over.map(|job| JobNews::Over(Box::new(job.clone()))));
        let asked: Vec<&QuestionView> = jobs.iter().flat_map(open_questions).collect();
        let new = asked.iter().filter(|question| question.asked_at > before);
        first.extend(new.map(|question| JobNews::Asks(Box::new((*question).clone()))));
        let under_way: Vec<JobView> = if asked.is_empty() {
            jobs.into_iter().filter(|job| !job.status.is_final()).collect()
        } else {
            // The answer that somebody waits for comes before anything else.
            Vec::new()
        };
        if first.is_empty() && under_way.is_empty() {
            return Ok(None);
        }
        let (sender, receiver) = mpsc::channel(BUFFER);
        let mut events = SelectAll::new();
        for job in &under_way {
            let id = job.id.clone();
            let stream = ReceiverStream::new(self.jobs.events(&id, job.last_event).await?);
            events.push(stream.map(move |event| (id.clone(), event)).boxed());
        }
        let follower = Follower {
            jobs: Arc::clone(&self.jobs),
            closing: self.services.closing.clone(),
            events,
            turns,
            sender,
            limit,
            language,
        };
        self.services.writer.crash.pass(|| "watching jobs".into());
        self.services.tasks.spawn(follower.run(first, under_way));
        Ok(Some(receiver))
    }

    /// Those of these jobs that the journal knows.
    pub(super) async fn known(&self, ids: &[JobId]) -> Result<Vec<JobView>, EngineError> {
        let mut jobs = Vec::new();
        for id in ids {
            match self.jobs.get(id.as_str()).await {
                Ok(job) => jobs.push(job),
                Err(EngineError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(jobs)
    }
}

type JobEvents = SelectAll<BoxStream<'static, (JobId, Result<Recorded<JobEvent>, EngineError>)>>;

/// Reads the journal for one who watches.
struct Follower {
    jobs: Arc<Jobs>,
    closing: CancellationToken,
    events: JobEvents,
    turns: watch::Receiver<usize>,
    sender: mpsc::Sender<JobNews>,
    limit: Duration,
    language: Language,
}

impl Follower {
    /// `None`: nobody reads any more.
    async fn run(mut self, first: Vec<JobNews>, mut jobs: Vec<JobView>) -> Option<()> {
        for news in first {
            self.tell(news).await?;
        }
        for job in &jobs {
            let text = format!("{} {}", job.name, standing(self.language, job));
            self.tell(JobNews::Progress { text, phases: phases(self.language, &jobs) }).await?;
        }
        // One job needs no name in every line.
        let several = jobs.len() > 1;
        let (deadline, closing) = (Instant::now() + self.limit, self.closing.clone());
        while !jobs.is_empty() {
            let next = tokio::select! {
                next = self.events.next() => next,
                () = tokio::time::sleep_until(deadline) => None,
                _ = self.turns.wait_for(|open| *open > 0) => None,
                () = self.sender.closed() => return None,
                () = closing.cancelled() => return None,
            };
            let Some((id, event)) = next else {
                let standing = |job: &JobView| format!("{} {}", job.name, standing(self.language, job));
                let standing: Vec<String> = jobs.iter().map(standing).collect();
                let text = say!(self.language, "chat-jobs-go-on", standing = standing.join("; "));
                // Who goes on talking needs no table between the lines.
                let goes_on = *self.turns.borrow() > 0;
                let jobs = if goes_on { Vec::new() } else { jobs };
                return self.tell(JobNews::GoesOn { text, jobs }).await;
            };
            let read = match event {
                Ok(recorded) => self.jobs.get(id.as_str()).await.map(|job| (recorded.event, job)),
                Err(error) => Err(error),
            };
            let (event, job) = match read {
                Ok(read) => read,
                Err(error) => {
                    tracing::warn!(job = %id, error = helix_core::error_chain(&error), "a job cannot be watched");
                    jobs.retain(|job| job.id != id);
                    continue;
                }
            };
            jobs.iter_mut().filter(|known| known.id == id).for_each(|known| known.clone_from(&job));
            if let Some(news) = news_of_event(self.language, &event, &job, &jobs, several) {
                let ends = matches!(news, JobNews::Asks(_));
                self.tell(news).await?;
                if ends {
                    return Some(());
                }
            }
            if job.status.is_final() && matches!(event, JobEvent::JobFinished { .. }) {
                jobs.retain(|known| known.id != id);
            }
        }
        Some(())
    }

    async fn tell(&mut self, news: JobNews) -> Option<()> {
        self.sender.send(news).await.ok()
    }
}

/// The phases of jobs; of several, with the job's name.
fn phases(language: Language, jobs: &[JobView]) -> Vec<PhaseNews> {
    let of = |job: &JobView| -> Vec<PhaseNews> {
        let name = if jobs.len() > 1 { format!("{}: ", job.name) } else { String::new() };
        let line = |phase: &PhaseView| format!("{name}{}", phase_line(language, phase));
        job.phases.iter().map(|phase| PhaseNews { text: line(phase), status: phase.status }).collect()
    };
    jobs.iter().flat_map(of).collect()
}

/// What an event is worth telling. The job's view may be of a later time than the event.
fn news_of_event(
    language: Language,
    event: &JobEvent,
    job: &JobView,
    jobs: &[JobView],
    several: bool,
) -> Option<JobNews> {
    if let JobEvent::QuestionAsked { phase, question } = event {
        let asked = job.question(phase, question.number);
        if let Some(open) = asked.filter(|one| one.status == QuestionStatus::Open) {
            return Some(JobNews::Asks(Box::new(open.clone())));
        }
    }
    if let JobEvent::JobFinished { .. } = event
        && job.status.is_final()
    {
        return Some(JobNews::Over(Box::new(job.clone())));
    }
    let text = chat_line(language, event, job)?;
    let text = if several { format!("{}: {text}", job.name) } else { text };
    Some(JobNews::Progress { text, phases: phases(language, jobs) })
}
