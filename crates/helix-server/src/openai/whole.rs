//! An answer in one piece, for clients that do not stream. Must not know HTTP.

use helix_core::ids::{SessionId, TurnId};
use helix_engine::consultant::{TurnEnded, TurnEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::{CompletionUsage, Identity};
use super::error::ApiError;
use super::turn::Attended;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Completion {
    /// Id of the answer.
    pub(crate) id: String,
    /// Always `chat.completion`.
    pub(crate) object: String,
    /// Seconds since 1970.
    pub(crate) created: i64,
    /// The model's name as the client gave it.
    pub(crate) model: String,
    /// Always one.
    pub(crate) choices: Vec<Choice>,
    /// What it consumed.
    pub(crate) usage: CompletionUsage,
    /// Where Helix keeps it; absent for background tasks, which have no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) helix: Option<Kept>,
}

/// The one choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Choice {
    /// Always 0.
    pub(crate) index: u32,
    /// The answer.
    pub(crate) message: AnswerMessage,
    /// Always `stop`: an answer that ended otherwise is an error.
    pub(crate) finish_reason: String,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AnswerMessage {
    /// Always `assistant`.
    pub(crate) role: String,
    /// The text.
    pub(crate) content: String,
    /// The agent's reasoning, if it showed any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<String>,
}

/// Where Helix keeps an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Kept {
    /// The conversation.
    pub(crate) session: SessionId,
    /// The turn.
    pub(crate) turn: TurnId,
}

/// Waits for the end of a turn.
pub(crate) async fn collect(turn: &mut Attended) -> Option<(TurnEnded, String)> {
    let mut reasoning = String::new();
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Thinking { text } => reasoning.push_str(&text),
            TurnEvent::Ended(ended) => return Some((*ended, reasoning)),
            TurnEvent::Began { .. }
            | TurnEvent::Queued { .. }
            | TurnEvent::Waits { .. }
            | TurnEvent::Status { .. }
            | TurnEvent::JobNews { .. }
            | TurnEvent::Text { .. }
            | TurnEvent::ToolStarted { .. }
            | TurnEvent::ToolFinished { .. } => {}
        }
    }
    None
}

impl Completion {
    /// Makes the answer of a turn, or its error.
    pub(crate) fn of_turn(
        identity: Identity,
        kept: Option<&(SessionId, TurnId)>,
        ended: TurnEnded,
        reasoning: String,
    ) -> Result<Self, ApiError> {
        if let Some(error) = ApiError::of_turn(&ended, jiff::Timestamp::now()) {
            return Err(error);
        }
        let mut completion = Self::of_text(identity, ended.answer);
        completion.usage = ended.usage.into();
        completion.helix = kept.map(|(session, turn)| Kept { session: session.clone(), turn: turn.clone() });
        for choice in &mut completion.choices {
            choice.message.reasoning_content = Some(reasoning.clone()).filter(|text| !text.is_empty());
        }
        Ok(completion)
    }

    /// Makes an answer that nothing was consumed for.
    pub(crate) fn of_text(identity: Identity, text: String) -> Self {
        let message = AnswerMessage { role: "assistant".into(), content: text, reasoning_content: None };
        Self {
            id: identity.id,
            object: "chat.completion".into(),
            created: identity.created,
            model: identity.model,
            choices: vec![Choice { index: 0, message, finish_reason: "stop".into() }],
            usage: helix_core::usage::Usage::default().into(),
            helix: None,
        }
    }
}
