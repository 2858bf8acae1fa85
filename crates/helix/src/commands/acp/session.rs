//! One conversation in an editor: a message, its answer, the drafts that wait for a yes, and the job that goes on.
//!
//! Must not know JSON-RPC.

use std::cell::{Cell, RefCell};

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandsUpdate, ContentBlock, ContentChunk, EmbeddedResourceResource, Error,
    PermissionOption, PermissionOptionKind, RequestPermissionRequest, SessionId, SessionUpdate, StopReason, ToolCall,
    ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use helix_job::JobView;
use helix_job::session::{TurnEnd, TurnView};
use helix_language::{Language, say};
use helix_server::wire::{CallFrame, CallKind, CallState};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::job::Watch;
use super::peer::Peer;
use super::text::{said, text, verbatim};
use crate::client::{ChatEvent, ChatStream, Client, Talk};
use crate::commands::talk::{Conversation, Drafts};
use crate::context::Context;
use crate::error::CommandError;

/// The command that offers a plan again.
const PLAN: &str = "plan";
/// What a person may choose about drafts.
const RUN: &str = "run";
const NOT_NOW: &str = "not-now";

pub(super) struct Session {
    pub(super) id: SessionId,
    context: Context,
    talk: Talk,
    /// Stops the message that is being answered.
    running: RefCell<Option<CancellationToken>>,
    /// The language of the conversation.
    language: Cell<Language>,
    /// Messages so far.
    messages: Cell<usize>,
    /// The drafts that were offered last, which are offered once.
    offered: RefCell<Option<Drafts>>,
}

impl Session {
    pub(super) fn new(context: Context, id: SessionId, talk: Talk) -> Self {
        let language = Cell::new(context.terminal.language);
        let (running, offered) = Default::default();
        Self { id, context, talk, running, language, messages: Cell::new(0), offered }
    }

    /// Tells what can be said besides messages.
    pub(super) fn greet(&self, peer: &Peer) -> Result<(), CommandError> {
        let what = say!(self.context.terminal.language, "acp-plan-again");
        let commands = vec![AvailableCommand::new(PLAN, what)];
        peer.update(&self.id, SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands)))
    }

    pub(super) fn is_answering(&self) -> bool {
        self.running.borrow().is_some()
    }

    /// Stops what is being answered.
    pub(super) fn stop(&self) {
        if let Some(running) = self.running.borrow().as_ref() {
            running.cancel();
        }
    }

    /// Tells the conversation so far.
    pub(super) fn replay(&self, peer: &Peer, turns: &[TurnView]) -> Result<(), CommandError> {
        for turn in turns {
            let asked = SessionUpdate::UserMessageChunk(ContentChunk::new(text(turn.begin.message.trim())));
            peer.update(&self.id, asked)?;
            if let Some(answer) = turn.end.as_ref().map(TurnEnd::text).filter(|answer| !answer.trim().is_empty()) {
                peer.update(&self.id, said(answer))?;
            }
        }
        Ok(())
    }

    /// Answers a message.
    pub(super) async fn prompt(&self, peer: &Peer, prompt: &[ContentBlock]) -> Result<StopReason, Failure> {
        let message = in_words(prompt)?;
        if self.is_answering() {
            return Err(Error::invalid_request().data(json!("the message before this one is being answered")).into());
        }
        let stop = CancellationToken::new();
        self.running.replace(Some(stop.clone()));
        self.messages.set(self.messages.get() + 1);
        let answered = self.answer(peer, &message, &stop).await;
        self.running.replace(None);
        Ok(answered?)
    }

    async fn answer(&self, peer: &Peer, message: &str, stop: &CancellationToken) -> Result<StopReason, CommandError> {
        let conversation = Conversation::in_editor(&self.context, self.talk.clone());
        let client = conversation.client().await?;
        if message.strip_prefix('/') == Some(PLAN) {
            self.offered.take();
            if conversation.drafts().await?.is_none() {
                peer.update(&self.id, said(say!(self.language.get(), "drafts-none")))?;
            }
        } else {
            let answer = tokio::select! {
                answer = conversation.ask(&client, message) => answer?,
                () = stop.cancelled() => return Ok(StopReason::Cancelled),
            };
            self.language.set(answer.language.unwrap_or(self.language.get()));
            if !self.show(peer, &client, answer, stop).await? {
                return Ok(StopReason::Cancelled);
            }
        }
        let language = self.language.get();
        let is_yes = tokio::select! {
            is_yes = self.offer(peer, &conversation, language) => is_yes?,
            () = stop.cancelled() => return Ok(StopReason::Cancelled),
        };
        // Not given up half-way: a job that has begun is told of, even to a person who stopped.
        let job = match is_yes {
            true => Some(conversation.start_drafts().await?.0),
            false => unfinished(&conversation, &client).await?,
        };
        let Some(job) = job else { return Ok(StopReason::EndTurn) };
        let call = format!("{}-{}", job.id, self.messages.get());
        let watch = Watch { peer, session: &self.id, context: &self.context, language, call: call.into(), stop };
        watch.follow(job).await
    }

    /// Shows an answer; whether it came to its end.
    async fn show(
        &self,
        peer: &Peer,
        client: &Client,
        mut answer: ChatStream,
        stop: &CancellationToken,
    ) -> Result<bool, CommandError> {
        let mut stopping = false;
        loop {
            let event = tokio::select! {
                event = answer.next() => event,
                () = stop.cancelled(), if !stopping => {
                    // What has reached no agent ends with its connection.
                    let Some(session) = client.session(self.talk.name()).await? else { return Ok(false) };
                    client.stop_turn(&session.session.id).await?;
                    stopping = true;
                    continue;
                }
            };
            let thought = |what: String| SessionUpdate::AgentThoughtChunk(ContentChunk::new(text(what)));
            let update = match event {
                Ok(Some(ChatEvent::Text(text))) => said(text),
                Ok(Some(ChatEvent::Thought(text))) => thought(text),
                Ok(Some(ChatEvent::Activity(line))) => thought(format!("{line}\n")),
                Ok(Some(ChatEvent::Call(call))) => self.call(call),
                Ok(None) => return Ok(!stopping),
                Err(_) if stopping => return Ok(false),
                Err(error) => return Err(error),
            };
            peer.update(&self.id, update)?;
        }
    }

    fn call(&self, CallFrame { call, kind, title, file, state }: CallFrame) -> SessionUpdate {
        let id = format!("call-{}-{call}", self.messages.get());
        let kind = match kind {
            CallKind::Execute => ToolKind::Execute,
            CallKind::Search => ToolKind::Search,
            CallKind::Fetch => ToolKind::Fetch,
            CallKind::Edit => ToolKind::Edit,
            CallKind::Read => ToolKind::Read,
            CallKind::Other => ToolKind::Other,
        };
        let status = match state {
            CallState::Begun => {
                let locations = file.into_iter().map(ToolCallLocation::new).collect();
                let call = ToolCall::new(id, title).kind(kind).locations(locations);
                return SessionUpdate::ToolCall(call.status(ToolCallStatus::InProgress));
            }
            CallState::Done => ToolCallStatus::Completed,
            CallState::Failed => ToolCallStatus::Failed,
        };
        let fields = ToolCallUpdateFields::new().title(title).status(status);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
    }

    /// Offers drafts that are new; whether the answer is yes.
    async fn offer(
        &self,
        peer: &Peer,
        conversation: &Conversation<'_>,
        language: Language,
    ) -> Result<bool, CommandError> {
        let Some(drafts) = conversation.drafts().await? else { return Ok(false) };
        if self.offered.borrow().as_ref() == Some(&drafts) {
            return Ok(false);
        }
        let plan = drafts.plan_in_words(&self.context, language);
        let mut content: Vec<ToolCallContent> = drafts.decision.iter().cloned().map(ToolCallContent::from).collect();
        content.extend(
            plan.iter()
                .chain(&Some(drafts.problems(&self.context)))
                .filter(|text| !text.is_empty())
                .map(|text| verbatim(text)),
        );
        let is_valid = drafts.is_valid();
        self.offered.replace(Some(drafts));
        if !is_valid {
            let update = ToolCall::new(format!("drafts-{}", self.messages.get()), say!(language, "acp-plan-invalid"));
            let update = update.kind(ToolKind::Think).status(ToolCallStatus::Failed).content(content);
            peer.update(&self.id, SessionUpdate::ToolCall(update))?;
            return Ok(false);
        }
        let fields = ToolCallUpdateFields::new().title(say!(language, "acp-run-plan")).content(content);
        let fields = fields.kind(ToolKind::Execute).status(ToolCallStatus::Pending);
        let id = format!("drafts-{}", self.messages.get());
        let options = vec![
            PermissionOption::new(RUN, say!(language, "acp-run"), PermissionOptionKind::AllowOnce),
            PermissionOption::new(NOT_NOW, say!(language, "acp-not-now"), PermissionOptionKind::RejectOnce),
        ];
        let request = RequestPermissionRequest::new(self.id.clone(), ToolCallUpdate::new(id.clone(), fields), options);
        let is_yes = peer.choose(&request).await?.as_deref() == Some(RUN);
        let status = if is_yes { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let done = ToolCallUpdate::new(id, ToolCallUpdateFields::new().status(status));
        peer.update(&self.id, SessionUpdate::ToolCallUpdate(done))?;
        if !is_yes {
            return Ok(false);
        }
        // Another client may have changed them meanwhile: a yes is to what was shown.
        let now = conversation.drafts().await?;
        let is_same = now == *self.offered.borrow();
        if is_same { Ok(true) } else { Box::pin(self.offer(peer, conversation, language)).await }
    }
}

/// The newest job of a conversation that is not over.
async fn unfinished(conversation: &Conversation<'_>, client: &Client) -> Result<Option<JobView>, CommandError> {
    let jobs = conversation.session().await?.map(|found| found.session.jobs).unwrap_or_default();
    let Some(last) = jobs.last() else { return Ok(None) };
    Ok(Some(client.job(last.as_str()).await?).filter(|job| !job.status.is_final()))
}

/// A message as the Consultant reads it: files are named, or quoted where the editor sends what is in them.
fn in_words(prompt: &[ContentBlock]) -> Result<String, Error> {
    let mut message = String::new();
    for part in prompt {
        let part = match part {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
            ContentBlock::Resource(file) => match &file.resource {
                EmbeddedResourceResource::TextResourceContents(file) => {
                    let fence = "`".repeat(3.max(longest_run(&file.text) + 1));
                    format!("\n\n{}:\n{fence}\n{}\n{fence}\n\n", file.uri, file.text.trim_end())
                }
                other => return Err(unreadable(&format!("{other:?}"))),
            },
            other => return Err(unreadable(&format!("{other:?}"))),
        };
        message.push_str(&part);
    }
    match message.trim() {
        "" => Err(Error::invalid_params().data(json!("the message is empty"))),
        message => Ok(message.to_owned()),
    }
}

/// Backquotes in a row.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default()
}

fn unreadable(part: &str) -> Error {
    let kind = part.split(['(', ' ']).next().unwrap_or_default().to_owned();
    Error::invalid_params().data(json!(format!("a message has text and files in text form, not {kind}")))
}

#[cfg(test)]
#[path = "session_test.rs"]
mod tests;
