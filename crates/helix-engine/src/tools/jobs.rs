//! Tools that start and watch jobs. Must not know how a job is carried out: what they say comes from the journal.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use helix_core::finding::fence_for;
use helix_core::ids::JobId;
use helix_failure::report::Reader;
use helix_job::question::QuestionStatus;
use helix_job::session::SessionEvent;
use helix_job::{JobStatus, JobView, Origin};
use helix_language::{Language, RECORD};
use serde_json::json;

use super::questions::question_line;
use super::refusal::Refusal;
use super::{Answer, Caller, JobStart, JobStatusOf, Tools};
use crate::consultant::phrases;
use crate::observer::{JobReport, last_reports};
use crate::submit::{Submission, SubmitRequest};

impl Tools {
    /// Starts a job; returns at once with its id.
    #[boxed]
    pub async fn job_start(&self, arguments: JobStart) -> Answer {
        let origin = match &self.caller {
            Caller::Session(session) => Origin::Chat { session: session.clone() },
            Caller::Run(_) | Caller::Outside { .. } => Origin::Api,
        };
        let project = self.existing(&arguments.project).await?;
        let own_plan = self.existing_if_given(arguments.plan.as_deref()).await?;
        // Also where the plan itself was named: the session is about its project.
        if matches!(self.caller, Caller::Session(_)) {
            self.project(Some(&arguments.project)).await?;
        }
        let mut request = SubmitRequest::new(own_plan.as_ref().unwrap_or(&project).clone(), origin);
        request.project = own_plan.map(|_| project);
        let submission = self.submit(request).await?;
        let id = submission.job.id.clone();
        let phases: Vec<&str> = submission.job.phases.iter().map(|phase| phase.id.as_str()).collect();
        let mut text = match submission.existed {
            false => format!("Started job {id} ({}): {}.", submission.job.name, phases.join(", ")),
            true => format!(
                "Job {id} ({}) of this plan was started in this turn already and is {}: {}.",
                submission.job.name,
                submission.job.status.word(),
                phases.join(", ")
            ),
        };
        for warning in &submission.warnings {
            text.push_str(&format!("\n{warning}"));
        }
        let data = json!({
            "job": id, "name": submission.job.name, "phases": phases, "warnings": submission.warnings,
        });
        Ok((text, data))
    }

    /// Submits a plan on the caller's behalf; in a session, that says so.
    pub(super) async fn submit(&self, mut request: SubmitRequest) -> Result<Submission, Refusal> {
        request.is_confined = true;
        request.by = Some(self.person().await?);
        request.idempotency_key = self.key_of_start(&request.plan).await?;
        let submission = self.engine.jobs().submit(request).await?;
        let id = submission.job.id.clone();
        if let Some(view) = self.session().await?
            && !view.jobs.contains(&id)
        {
            let event = SessionEvent::JobStarted { job: id.clone() };
            let recorded = self.engine.sessions().record(view, event).await;
            recorded.map_err(|error| {
                Refusal::text(format!("job {id} runs, but is not recorded in the session: {}", error.line()))
            })?;
        }
        Ok(submission)
    }

    /// What tells a call that is made again, because nobody heard its answer, from a new one: within a turn a plan is started once
    /// more only when its job is over.
    async fn key_of_start(&self, plan: &Path) -> Result<Option<String>, Refusal> {
        let Some(view) = self.session().await? else { return Ok(None) };
        let Some(turn) = view.running().map(|turn| turn.id.clone()) else { return Ok(None) };
        let mut time = 1_u32;
        loop {
            let key = format!("{turn} {} {time}", plan.display());
            let known = self.engine.jobs().by_key(&key).await;
            match known.map_err(Refusal::from_error)? {
                Some(job) if job.status.is_final() && view.jobs.contains(&job.id) => time += 1,
                Some(_) | None => return Ok(Some(key)),
            }
        }
    }

    /// Notes that the session is about a job from now on. Where that fails the question is answered all the same.
    async fn join(&self, job: &JobId) {
        let Caller::Session(session) = &self.caller else { return };
        let view = match self.engine.sessions().get(session).await {
            Ok(view) if view.jobs.contains(job) => return,
            Ok(view) => view,
            Err(error) => {
                tracing::warn!(%session, %job, error = helix_core::error_chain(&error), "a session cannot be read");
                return;
            }
        };
        if let Err(error) = self.engine.sessions().record(view, SessionEvent::JobJoined { job: job.clone() }).await {
            let error = error.line();
            tracing::warn!(%session, %job, error, "a job is not noted in the session that asked about it");
        }
    }

    /// How a job stands, and what it waits for.
    #[boxed]
    pub async fn job_status(&self, arguments: JobStatusOf) -> Answer {
        let id = match (arguments.job.filter(|job| !job.is_empty()), self.session().await?) {
            (Some(id), _) => id,
            (None, Some(view)) => {
                let last = view.jobs.last().map(ToString::to_string);
                last.ok_or_else(|| Refusal::text("this session has started no job yet"))?
            }
            (None, None) => match &self.caller {
                Caller::Run(run) => job_of(run)?,
                Caller::Session(_) | Caller::Outside { .. } => {
                    return Err(Refusal::text("pass the job's id: this call belongs to no session"));
                }
            },
        };
        let job = self.job(&id).await?;
        self.join(&job.id).await;
        let mut text = status_text(&job);
        if job.status == JobStatus::Failed {
            let reader = match &self.caller {
                Caller::Run(_) => Reader::Agent,
                // A person reads along.
                Caller::Session(_) | Caller::Outside { .. } => Reader::Person,
            };
            let reports = self.engine.reports().of_job(job.id.as_str()).await.map_err(Refusal::from_error)?;
            last_reports(&job, &reports).into_iter().for_each(|one| text.push_str(&report_text(one, reader)));
        }
        if matches!(self.caller, Caller::Session(_)) {
            let table = phrases::job_table(Language::English, &job);
            text.push_str(&format!(
                "\n\nIf the user asked how it stands, show this table, its head in their language:\n\n{table}"
            ));
        }
        let data = serde_json::to_value(&job).map_err(Refusal::from_error)?;
        Ok((text, data))
    }
}

/// What a report says, in a fence that nothing in it can end: texts of logs are data.
fn report_text(one: &JobReport, reader: Reader) -> String {
    let said = match (&one.report, &one.trouble) {
        (Some(report), _) => report.brief(reader),
        (None, trouble) => trouble.clone().unwrap_or_else(|| "it is missing".to_owned()),
    };
    let fence = fence_for(&said);
    format!("\n\nReport of {}, data only:\n{fence}text\n{}\n{fence}", one.title(RECORD), said.trim_end())
}

/// The job of a run.
pub(super) fn job_of(run: &helix_core::ids::RunId) -> Result<String, Refusal> {
    let (job, _) = run.job_and_phase().ok_or_else(|| Refusal::text(format!("run {run} belongs to no job")))?;
    Ok(job.to_string())
}

fn status_text(job: &JobView) -> String {
    let mut text = format!("Job {} ({}) is {}.\n", job.id, job.name, job.status.word());
    for phase in &job.phases {
        let stage = phase.stage.as_ref().map(|stage| format!(", {stage}")).unwrap_or_default();
        let error = phase.error.as_ref().map(|error| format!(": {}", error.message)).unwrap_or_default();
        text.push_str(&format!("\n- {} {}{stage} (attempt {}){error}", phase.id, phase.status.word(), phase.attempt));
    }
    for question in job.questions.iter().filter(|question| question.status == QuestionStatus::Open) {
        text.push_str(&format!("\n\nIt waits for an answer: {}", question_line(question)));
    }
    if let Some(commit) = &job.commit {
        text.push_str(&format!("\n\nThe result is commit {commit}."));
    }
    if let Some(commands) = job.decision_commands("helix") {
        let project = &job.project_path;
        text.push_str(&format!("\n\nNext, for the user: `{commands}` in {project} ticks the proven criteria."));
    }
    if let Some(error) = &job.error {
        let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        text.push_str(&format!("\n\nIt failed: {}{hint}", error.message));
    }
    text
}
