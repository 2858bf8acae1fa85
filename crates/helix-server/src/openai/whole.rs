//! A chat completion in one piece, as types. Must not know how the answer was made.

use helix_core::ids::{SessionId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::CompletionUsage;
use super::presenter::WholeAnswer;

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
    /// Token usage and cost.
    pub(crate) usage: CompletionUsage,
    /// The session and turn; absent for background tasks.
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

/// The session and turn of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Kept {
    /// The conversation.
    pub(crate) session: SessionId,
    /// The turn.
    pub(crate) turn: TurnId,
}

impl Completion {
    pub(crate) fn new(id: String, model: String, created: i64, answer: WholeAnswer) -> Self {
        let WholeAnswer { text, thinking, usage, turn } = answer;
        let reasoning_content = Some(thinking).filter(|text| !text.is_empty());
        let message = AnswerMessage { role: "assistant".into(), content: text, reasoning_content };
        Self {
            id,
            object: "chat.completion".into(),
            created,
            model,
            choices: vec![Choice { index: 0, message, finish_reason: "stop".into() }],
            usage: usage.into(),
            helix: turn.map(|(session, turn)| Kept { session, turn }),
        }
    }
}
