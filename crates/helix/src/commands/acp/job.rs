//! A job in an editor: its phases as a plan, its questions as requests for permission, its end with what it changed.
//!
//! Must not know how a job was started. What is shown is folded from the job's events alone.

use agent_client_protocol_schema::v1::{
    Diff, PermissionOption, PermissionOptionKind, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    RequestPermissionRequest, SessionId, SessionUpdate, StopReason, ToolCall, ToolCallContent, ToolCallId,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use helix_engine::consultant::phrases::{job_asks, job_over};
use helix_job::phrases::{asks, chat_line, open_questions, option, phase_line};
use helix_job::question::{ACCEPT, FAIL, QuestionView, REJECT, SKIP};
use helix_job::{JobEvent, JobState, JobStatus, JobView, PhaseStatus, PhaseView, Recorded};
use helix_language::{Language, say};
use helix_server::wire::AnswerRequest;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::peer::Peer;
use super::text::{said, text, verbatim};
use crate::client::{Client, ClientError, JobEvents};
use crate::context::Context;
use crate::error::CommandError;
use crate::offline::{archive, open_or_missing};
use crate::question::how_to_answer;
use crate::watch::contradiction;

/// Lines of what happened that stay on view.
const LINES: usize = 40;
/// Changed files that are shown, and the largest of them, in bytes.
const MOST_FILES: usize = 50;
const LARGEST_FILE: usize = 256 << 10;

/// Somebody who watches a job in an editor.
pub(super) struct Watch<'a> {
    pub(super) peer: &'a Peer,
    pub(super) session: &'a SessionId,
    pub(super) context: &'a Context,
    pub(super) language: Language,
    /// The job as a tool call.
    pub(super) call: ToolCallId,
    pub(super) stop: &'a CancellationToken,
}

/// What became of a question.
enum Put {
    /// It is answered, as far as the host took the answer.
    Answered,
    /// It has to be answered elsewhere.
    Elsewhere,
    /// The person stopped.
    Stopped,
    /// Something happened meanwhile: somebody else may have answered.
    Overtaken(Option<Box<Recorded<JobEvent>>>),
}

impl Watch<'_> {
    /// Shows a job until it is over, asks what cannot be asked here, or is left.
    pub(super) async fn follow(&self, job: JobView) -> Result<StopReason, CommandError> {
        let title = say!(self.language, "acp-job", name = &job.name);
        let call = ToolCall::new(self.call.clone(), title).kind(ToolKind::Other).status(ToolCallStatus::InProgress);
        self.tell(SessionUpdate::ToolCall(call))?;
        let (mut view, mut state, mut last) = (job, JobState::New, 0);
        let (mut lines, mut plan): (Vec<String>, Vec<PlanEntry>) = (Vec::new(), Vec::new());
        loop {
            // The host that runs, or the next one if it is gone.
            let client = self.context.host().await?;
            let mut events = match client.events(&view.id, last).await {
                Err(ClientError::Gone(_)) => continue,
                events => events?,
            };
            // A host can go between the job's last event and the question whether it is the last; the next one has no event to tell it by.
            let (mut overtaken, mut unjudged) = (None, true);
            loop {
                if std::mem::take(&mut unjudged) {
                    let (ended, waits) = (state.end().is_some(), state.waits_for_person(Timestamp::now()));
                    // A job that was resumed, or a question that was answered, has later events.
                    let is_still = (ended || waits) && is_latest(&client, &view, last).await?;
                    if is_still && ended {
                        self.over(&view, &lines).await?;
                        return Ok(StopReason::EndTurn);
                    }
                    for question in open_questions(&view).filter(|_| is_still) {
                        match self.put(&client, question, &mut events).await? {
                            Put::Answered => {}
                            Put::Elsewhere => return self.asks_elsewhere(question),
                            Put::Stopped => return self.left(&view),
                            Put::Overtaken(next) => {
                                overtaken = Some(next);
                                break;
                            }
                        }
                    }
                }
                let next = match overtaken.take() {
                    Some(next) => next,
                    None => tokio::select! {
                        next = events.next() => next?,
                        () = self.stop.cancelled() => return self.left(&view),
                    },
                };
                let Some(event) = next else { break };
                if event.number <= last {
                    continue;
                }
                last = event.number;
                state = state.apply(&event).map_err(contradiction)?;
                view = JobView::project(&view.id, &state).unwrap_or(view);
                if let Some(line) = chat_line(self.language, &event.event, &view) {
                    lines.push(line);
                    let from = lines.len().saturating_sub(LINES);
                    self.update(ToolCallUpdateFields::new().content(vec![verbatim(&lines[from..].join("\n"))]))?;
                }
                let entries = self.entries(&view);
                if entries != plan {
                    plan = entries;
                    self.tell(SessionUpdate::Plan(Plan::new(plan.clone())))?;
                }
                unjudged = true;
            }
        }
    }

    fn tell(&self, update: SessionUpdate) -> Result<(), CommandError> {
        self.peer.update(self.session, update)
    }

    fn update(&self, fields: ToolCallUpdateFields) -> Result<(), CommandError> {
        self.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(self.call.clone(), fields)))
    }

    fn entries(&self, view: &JobView) -> Vec<PlanEntry> {
        let entry = |phase: &PhaseView| {
            let status = match phase.status {
                PhaseStatus::Pending => PlanEntryStatus::Pending,
                PhaseStatus::Running | PhaseStatus::Waiting => PlanEntryStatus::InProgress,
                // There is no other end in a plan; the line says which it was.
                PhaseStatus::Passed | PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled => {
                    PlanEntryStatus::Completed
                }
            };
            PlanEntry::new(phase_line(self.language, phase), PlanEntryPriority::Medium, status)
        };
        view.phases.iter().map(entry).collect()
    }

    /// Puts a question to the person.
    async fn put(&self, client: &Client, question: &QuestionView, events: &mut JobEvents) -> Result<Put, CommandError> {
        let options: Vec<PermissionOption> = question
            .options
            .iter()
            // Accepting what did not pass needs a reason, which nobody can say here.
            .filter(|one| one.key != ACCEPT)
            .map(|one| {
                let is_no = [REJECT, SKIP, FAIL].contains(&one.key.as_str());
                let kind = if is_no { PermissionOptionKind::RejectOnce } else { PermissionOptionKind::AllowOnce };
                PermissionOption::new(one.key.clone(), option(self.language, one), kind)
            })
            .collect();
        // An editor may answer by itself: what only a person who is known may say is not asked here.
        if options.is_empty() || question.wants_proof() {
            return Ok(Put::Elsewhere);
        }
        let title = say!(self.language, "acp-job-asks", name = &question.job_name, phase = &question.phase_name);
        let content = vec![ToolCallContent::from(text(asks(self.language, question).trim()))];
        let fields = ToolCallUpdateFields::new().title(title).content(content).status(ToolCallStatus::Pending);
        let asked = ToolCallUpdate::new(question.id.as_str().to_owned(), fields);
        let request = RequestPermissionRequest::new(self.session.clone(), asked, options);
        let choice = tokio::select! {
            choice = self.peer.choose(&request) => choice?,
            () = self.stop.cancelled() => return Ok(Put::Stopped),
            next = events.next() => return Ok(Put::Overtaken(next?)),
        };
        let Some(choice) = choice else { return Ok(Put::Elsewhere) };
        let answer = AnswerRequest { choice: Some(choice), text: None };
        match client.answer(&question.id, &answer).await {
            // The next host has the question, too.
            Ok(_) | Err(ClientError::Gone(_)) => {}
            // Somebody else was faster, or the answer did not fit: what became of it is the next event.
            Err(ClientError::Refused(error)) => self.tell(said(format!("{}\n\n", error.in_one_line())))?,
        }
        Ok(Put::Answered)
    }

    fn asks_elsewhere(&self, question: &QuestionView) -> Result<StopReason, CommandError> {
        let mut told = job_asks(self.language, question);
        if question.wants_proof() {
            let command = how_to_answer(self.context, question);
            told =
                format!("{}\n\n{}", told.trim_end(), say!(self.language, "acp-answer-at-terminal", command = command));
        }
        self.tell(said(format!("\n\n{told}")))?;
        Ok(StopReason::EndTurn)
    }

    fn left(&self, view: &JobView) -> Result<StopReason, CommandError> {
        let goes_on = say!(self.language, "term-keeps-running", id = view.id.as_str());
        self.tell(said(format!("\n\n{goes_on}")))?;
        Ok(StopReason::Cancelled)
    }

    async fn over(&self, view: &JobView, lines: &[String]) -> Result<(), CommandError> {
        let journal = open_or_missing(self.context, view.id.as_str()).await?;
        let archive = archive(self.context, &journal)?;
        let evidence = archive.evidence(view.id.as_str()).await?;
        let happened = &lines[lines.len().saturating_sub(LINES)..];
        let mut content =
            vec![verbatim(&happened.join("\n")), verbatim(&evidence.text(self.language, |_, text| text.to_owned()))];
        // A job without a result of its own changed nothing that could be shown.
        if view.commit.is_some() {
            let (changed, left_out) = archive.changed_texts(view.id.as_str(), MOST_FILES, LARGEST_FILE).await?;
            content.extend(changed.into_iter().map(|file| {
                let path = std::path::Path::new(&view.project_path).join(file.path);
                ToolCallContent::from(Diff::new(path, file.new.unwrap_or_default()).old_text(file.old))
            }));
            if left_out > 0 {
                content.push(verbatim(&say!(self.language, "acp-left-out", files = left_out, job = view.id.as_str())));
            }
        }
        let is_good = view.status == JobStatus::Succeeded;
        let status = if is_good { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        self.update(ToolCallUpdateFields::new().status(status).content(content))?;
        self.tell(said(format!("\n\n{}", job_over(self.language, view))))
    }
}

/// Whether an event is the job's last.
async fn is_latest(client: &Client, view: &JobView, last: u64) -> Result<bool, CommandError> {
    match client.job(view.id.as_str()).await {
        // The next host will say.
        Err(ClientError::Gone(_)) => Ok(false),
        now => Ok(now?.last_event <= last),
    }
}
