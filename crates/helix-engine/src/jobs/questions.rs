//! Questions to persons: asked by jobs and by agents, answered from anywhere.
//!
//! Must not know terminals, HTTP or chats; the journal keeps every question and answer.

use async_recursion::async_recursion as boxed;
use helix_core::ids::{JobId, QuestionId, RunId};
use helix_core::said::Words;
use helix_job::question::{About, Answer, AnswerMisfit, Question, QuestionOption, QuestionStatus, QuestionView};
use helix_job::{Illegal, JobEvent, PhaseState, Stage};
use helix_store::JobFilter;
use jiff::Timestamp;

use super::Jobs;
use crate::error::EngineError;
use crate::job::Refused;
use crate::job_record;

/// Longest answer that is taken, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// Which questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionFilter {
    /// Those that wait for an answer, of all jobs.
    Open,
    /// All of a job, by its id or a unique prefix.
    Job(String),
}

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There is no such question.
    #[error("no question {0:?}")]
    NotFound(String),
    /// It is no longer open.
    #[error("question {id} is no longer open: {why}")]
    Settled {
        id: QuestionId,
        /// What became of it.
        why: String,
    },
    /// The answer does not fit the question.
    #[error("{0}")]
    Misfit(AnswerMisfit),
    /// This person may not give it.
    #[error("{0}")]
    Forbidden(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Most refused requests of agents that a job's record names.
const MOST_ATTEMPTED: usize = 50;

impl Jobs {
    /// Questions, those that were asked first coming first.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for an unknown job, [`EngineError::Journal`].
    #[boxed]
    pub async fn questions(&self, filter: QuestionFilter) -> Result<Vec<QuestionView>, EngineError> {
        let mut questions: Vec<QuestionView> = match filter {
            QuestionFilter::Job(id) => self.get(&id).await?.questions,
            QuestionFilter::Open => {
                let jobs = self.list(JobFilter::unfinished()).await?.jobs;
                let all = jobs.into_iter().flat_map(|job| job.questions);
                all.filter(|question| question.status == QuestionStatus::Open).collect()
            }
        };
        questions.sort_by_key(|question| question.asked_at);
        Ok(questions)
    }

    /// A question by its id.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`].
    #[boxed]
    pub async fn question(&self, id: &QuestionId) -> Result<QuestionView, EngineError> {
        let unknown = || EngineError::not_found("question", id);
        let (job, _, _) = id.parts().ok_or_else(unknown)?;
        let found = self.get(job.as_str()).await?.questions.into_iter().find(|question| &question.id == id);
        found.ok_or_else(unknown)
    }

    /// Answers a question; returns once the answer is durable. The job goes on by itself.
    ///
    /// # Errors
    /// [`AnswerError`]; then nothing has changed.
    #[boxed]
    pub async fn answer(&self, id: &QuestionId, answer: Answer) -> Result<QuestionView, AnswerError> {
        let Some((job, phase, number)) = id.parts() else { return Err(AnswerError::NotFound(id.to_string())) };
        if answer.text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(AnswerError::Misfit(AnswerMisfit::TooLong { most: MAX_TEXT }));
        }
        let view = match self.question(id).await {
            Err(EngineError::NotFound { .. }) => return Err(AnswerError::NotFound(id.to_string())),
            other => other?,
        };
        let settled = |why: String| AnswerError::Settled { id: id.clone(), why };
        match &view.status {
            QuestionStatus::Open => {}
            QuestionStatus::Answered { answer, .. } => return Err(settled(format!("{} has answered it", answer.by))),
            QuestionStatus::Expired { .. } => return Err(settled("it expired without an answer".into())),
            QuestionStatus::Closed => return Err(settled("its phase or job went another way".into())),
        }
        let Some(handle) = self.handle(&job) else { return Err(settled("the job is over".into())) };
        match handle.record(vec![JobEvent::QuestionAnswered { phase, asked: number, answer }]).await {
            Ok(()) => Ok(self.question(id).await?),
            Err(Refused::Illegal(Illegal::Answer { source: source @ AnswerMisfit::Unproven { .. }, .. })) => {
                Err(AnswerError::Forbidden(source.to_string()))
            }
            Err(Refused::Illegal(Illegal::Answer { source, .. })) => Err(AnswerError::Misfit(source)),
            // Somebody else was faster.
            Err(Refused::Illegal(why)) => Err(settled(why.to_string())),
            Err(Refused::Over) => Err(settled("the job is over".into())),
        }
    }

    /// Puts what a phase's agent asks to a person and returns at once: the agent ends its turn, the job waits without a process,
    /// and the agent's session goes on with the answer.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when no such run works for a job, [`EngineError::Refused`] when it may not ask (any more).
    #[boxed]
    pub async fn ask_from_run(
        &self,
        run: &RunId,
        text: String,
        options: Vec<String>,
    ) -> Result<QuestionView, EngineError> {
        let unknown = || EngineError::not_found("run of a job", run);
        let (job, phase) = run.job_and_phase().ok_or_else(unknown)?;
        let handle = self.handle(&job).ok_or_else(unknown)?;
        // In the same words it is the same question: what a person has said to it still counts.
        let known = self.get(job.as_str()).await?.questions.into_iter().rev().find(|one| {
            let counts = matches!(one.status, QuestionStatus::Open | QuestionStatus::Answered { .. });
            // A choice is known by its place among the options: with others, or in another order, it says something else.
            let same = one.text == text && one.options.iter().map(|option| &option.label).eq(&options);
            one.phase == phase && one.about == About::Agent && same && counts
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let options = options.into_iter().enumerate().map(|(index, label)| QuestionOption {
            key: (index + 1).to_string(),
            label,
            said: Words::default(),
        });
        let question = Question {
            number: 0,
            about: About::Agent,
            text,
            said: Words::default(),
            options: options.collect(),
            free_text: true,
            approvers: None,
        };
        let number = handle.ask(phase.clone(), question).await.map_err(EngineError::refused)?;
        self.question(&QuestionId::nth(&job, &phase, number)).await
    }

    /// Notes that a run's agent, or one of its processes, asked for what only a person may: once for each thing it asks for. What
    /// belongs to no job that goes on stands in the host's log alone.
    #[boxed]
    pub async fn agent_refused(&self, run: &str, asked: &str) {
        let id = RunId::new(run).ok();
        let job = id.as_ref().and_then(|id| JobId::new(id.as_str().split('.').next()?).ok());
        match id.zip(job) {
            Some((run, job)) => self.refused_at(&job, run, asked).await,
            None => tracing::warn!(run, asked, "an agent asked for what only a person may do: refused"),
        }
    }

    /// The same of an agent that asked it of this job.
    pub(crate) async fn refused_at(&self, job: &JobId, run: RunId, asked: &str) {
        tracing::warn!(%run, %job, asked, "an agent asked for what only a person may do: refused");
        let Some(handle) = self.handle(job) else { return };
        let Ok(view) = self.get(job.as_str()).await else { return };
        let known = view.attempted.iter().any(|one| one.run == run && one.asked == asked);
        if known || view.attempted.len() >= MOST_ATTEMPTED {
            return;
        }
        let event = JobEvent::AgentRefused { run, asked: asked.to_owned() };
        if handle.record(vec![event]).await.is_err() {
            tracing::warn!(%job, "what was refused is not on the record of the job, which is over");
        }
    }

    /// Whether the agent of a job's run is at work.
    pub(crate) async fn is_at_work(&self, run: &RunId) -> Result<bool, EngineError> {
        let Some((job, phase)) = run.job_and_phase() else { return Ok(false) };
        let state = job_record::state(self.services.journal().as_ref(), &job).await?;
        let progress = state.active().filter(|_| state.end().is_none()).and_then(|active| active.progress(&phase));
        Ok(progress.is_some_and(|progress| {
            progress.state == PhaseState::Working { stage: Stage::Agent }
                && progress.last_attempt().is_some_and(|last| last.begin.run == *run)
        }))
    }

    /// Whether a job can do nothing at all until a person answers: it needs no host until then.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn waits_for_person(&self, job: &JobId) -> Result<bool, EngineError> {
        let state = job_record::state(self.services.journal().as_ref(), job).await?;
        Ok(state.waits_for_person(Timestamp::now()))
    }
}
