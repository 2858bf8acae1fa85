//! The responses form, as types. Must not know when they are sent.
//!
//! Text of agents only ever stands in fields of type string here, so that it cannot become an object of another kind.

use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_job::session::TurnView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::openai::error::ErrorBody;

/// A response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResponseObject {
    /// Its id, and the `previous_response_id` of a response that follows it.
    pub(crate) id: String,
    /// Always `response`.
    pub(crate) object: String,
    /// Seconds since 1970.
    pub(crate) created_at: i64,
    /// `in_progress`, `completed` or `failed`.
    pub(crate) status: String,
    /// Why it failed.
    pub(crate) error: Option<ResponseError>,
    /// Always null: a truncated answer is a failure.
    pub(crate) incomplete_details: Option<Value>,
    /// The model's name as the client gave it.
    pub(crate) model: String,
    /// Reasoning, tool calls and the message, in order.
    pub(crate) output: Vec<OutputItem>,
    /// The response that it follows.
    pub(crate) previous_response_id: Option<String>,
    /// Token usage and cost.
    pub(crate) usage: Option<ResponseUsage>,
    /// Always true: agents run their own tools.
    pub(crate) parallel_tool_calls: bool,
    /// Always `auto`.
    pub(crate) tool_choice: String,
    /// Always empty.
    pub(crate) tools: Vec<Value>,
    /// Always empty.
    pub(crate) metadata: std::collections::BTreeMap<String, String>,
}

/// Why a response failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResponseError {
    /// Finer kind.
    pub(crate) code: String,
    /// What happened and what to do.
    pub(crate) message: String,
}

/// Token usage in the responses form, with the cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResponseUsage {
    /// All input tokens, cached or not.
    pub(crate) input_tokens: u64,
    /// Where input tokens came from.
    pub(crate) input_tokens_details: InputDetails,
    /// Output tokens, thinking included.
    pub(crate) output_tokens: u64,
    /// Kinds of output.
    pub(crate) output_tokens_details: OutputDetails,
    /// Both.
    pub(crate) total_tokens: u64,
    /// US dollars by the agent's own account; 0 when it gave none.
    pub(crate) cost: f64,
}

/// Where input tokens came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InputDetails {
    /// Read from the provider's cache.
    pub(crate) cached_tokens: u64,
    /// Written to the provider's cache.
    pub(crate) cache_write_tokens: u64,
}

/// Kinds of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputDetails {
    /// Not told apart by agents.
    pub(crate) reasoning_tokens: u64,
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputItem {
    /// Thinking.
    Reasoning { id: String, summary: Vec<Part>, status: String },
    /// What the agent says.
    Message { id: String, role: String, content: Vec<Part>, status: String },
    /// A tool that the agent called on Helix's side; nothing for the client to do.
    McpCall {
        id: String,
        server_label: String,
        name: String,
        arguments: String,
        output: Option<String>,
        error: Option<String>,
        status: String,
    },
    /// As Open WebUI shows it: a call, which its output must follow.
    FunctionCall { id: String, call_id: String, name: String, arguments: String, status: String },
    /// What the tool said.
    FunctionCallOutput { id: String, call_id: String, output: Vec<Part>, status: String },
}

/// Text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names on the wire")]
pub(crate) enum Part {
    /// Of the answer.
    OutputText { text: String, annotations: Vec<String> },
    /// Of thinking.
    SummaryText { text: String },
    /// Of a tool.
    InputText { text: String },
}

impl ResponseObject {
    /// A response without output.
    pub(crate) fn new(id: String, model: String, created_at: i64, previous: Option<String>) -> Self {
        Self {
            id,
            object: "response".into(),
            created_at,
            status: "in_progress".into(),
            error: None,
            incomplete_details: None,
            model,
            output: Vec::new(),
            previous_response_id: previous,
            usage: None,
            parallel_tool_calls: true,
            tool_choice: "auto".into(),
            tools: Vec::new(),
            metadata: std::collections::BTreeMap::new(),
        }
    }

    /// A response from the record of its turn.
    pub(crate) fn of_turn(id: &str, turn: &TurnView, previous: Option<String>) -> Self {
        let model = turn.model.as_ref().map_or_else(|| "helix".into(), |model| format!("helix:{model}"));
        let mut response = Self::new(id.to_owned(), model, turn.started_at.as_second(), previous);
        let Some(end) = &turn.end else { return response };
        response.output.push(OutputItem::Message {
            id: format!("{id}-message"),
            role: "assistant".into(),
            content: vec![Part::OutputText { text: end.text().to_owned(), annotations: Vec::new() }],
            status: "completed".into(),
        });
        response.usage = Some(end.usage.into());
        response.status = if end.is_answer() { "completed" } else { "failed" }.into();
        if !end.is_answer() {
            let outcome = Outcome::from_facts(&end.facts);
            response.error = Some(ResponseError {
                code: "server_error".into(),
                message: helix_engine::consultant::outcome_error_line(&outcome),
            });
        }
        response
    }
}

impl From<&ErrorBody> for ResponseError {
    fn from(error: &ErrorBody) -> Self {
        Self { code: error.code.clone().unwrap_or_else(|| error.kind.clone()), message: error.message.clone() }
    }
}

impl From<Usage> for ResponseUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.total_input(),
            input_tokens_details: InputDetails {
                cached_tokens: usage.cache_read_tokens,
                cache_write_tokens: usage.cache_write_tokens,
            },
            output_tokens: usage.output_tokens,
            output_tokens_details: OutputDetails { reasoning_tokens: 0 },
            total_tokens: usage.total_input() + usage.output_tokens,
            cost: usage.cost_usd,
        }
    }
}
